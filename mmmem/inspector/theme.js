/** Light, dark, or as the system has it. Kept in localStorage: it is no secret. */

const NAME = "mmmem-theme";
const THEMES = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

function stored() {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(NAME)) ?? "system";
  } catch {
    return "system"; // blocked
  }
}

let theme = stored();

function apply() {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (!button) return;
  button.textContent = SIGNS[theme];
  button.title = `Colours: ${theme}`;
  button.setAttribute("aria-label", `Colours: ${theme}; change`);
}

function change() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  apply();
  try {
    localStorage.setItem(NAME, theme);
  } catch {
    // blocked: for this page alone
  }
}

export function start() {
  apply();
  document.getElementById("theme").addEventListener("click", change);
}

apply(); // before the first paint

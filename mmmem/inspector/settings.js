/** Settings of the ranking, changed for one question. */

import * as api from "./api.js";
import { el } from "./dom.js";
import { problem } from "./notice.js";

export class SettingsForm {
  element;
  #known = null;
  #changed = new Map();
  #onChange;
  #chips = el("ul", { class: "chips", "aria-label": "Changed settings" });
  #find = el("input", { type: "search", placeholder: "Find a setting", "aria-label": "Find a setting", autocomplete: "off" });
  #list = el("div", { class: "settings" });
  #said = el("div", { class: "settings-problem" });

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#find.addEventListener("input", () => this.#filter());
    this.element = el("div", { class: "settings-form" },
      this.#chips, this.#said,
      el("details", {}, el("summary", {}, "Change settings"), this.#find, this.#list));
    this.#tellChips();
  }

  /** Bring the settings in force, once. */
  async load() {
    if (this.#known) return;
    this.#known = [];
    try {
      const { data } = await api.settings();
      this.#known = data.map((setting) => ({ ...setting, row: this.#row(setting) }));
      this.#list.replaceChildren(...this.#known.map(({ row }) => row));
      this.#filter();
    } catch (error) {
      this.#known = null;
      this.#list.replaceChildren(problem(error, () => this.load()));
    }
  }

  /** What differs, for the body of /explain; null for nothing. */
  changed() {
    return this.#changed.size ? Object.fromEntries(this.#changed) : null;
  }

  clearProblem() {
    this.#said.replaceChildren();
    this.#list.querySelectorAll("[aria-invalid]").forEach((field) => field.removeAttribute("aria-invalid"));
    this.#chips.querySelectorAll(".wrong").forEach((chip) => chip.classList.remove("wrong"));
  }

  /** Show a refused setting where it is. @returns {boolean} whether it was one */
  tellProblem({ status, field, problem: why, message }) {
    if (status !== 422 || !field?.startsWith("settings")) return false;
    const name = field.slice("settings.".length);
    const found = this.#known?.find((setting) => setting.name === name);
    found?.row.querySelector("input, select").setAttribute("aria-invalid", "true");
    [...this.#chips.children].find((chip) => chip.dataset.name === name)?.classList.add("wrong");
    this.#said.replaceChildren(el("p", { class: "problem", role: "alert" }, name ? `${name} ${why}` : message));
    return true;
  }

  #filter() {
    const words = this.#find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { name, description, row } of this.#known ?? []) {
      const text = `${name} ${description}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  }

  #row(setting) {
    const { name, value, type, description } = setting;
    const id = `setting-${name}`;
    const field = control(setting, id);
    field.addEventListener("change", () => {
      const chosen = read(field, type);
      if (chosen === null || chosen === value) this.#reset(setting, field);
      else this.#changed.set(name, chosen);
      this.#tell();
    });
    return el("div", { class: "setting" },
      el("label", { for: id }, name), field, el("p", { class: "faint", id: `${id}-what` }, description));
  }

  #reset({ name, value, type }, field) {
    this.#changed.delete(name);
    if (type === "boolean") field.checked = value;
    else field.value = value;
  }

  #tell() {
    this.#tellChips();
    this.#onChange();
  }

  #tellChips() {
    const chips = [...this.#changed].map(([name, chosen]) => {
      const setting = this.#known.find((known) => known.name === name);
      const back = () => {
        this.#reset(setting, setting.row.querySelector("input, select"));
        this.#tell();
        this.element.querySelector("summary").focus();
      };
      return el("li", { "data-name": name }, el("code", {}, name), ` ${setting.value} → `, el("strong", {}, String(chosen)),
        el("button", { type: "button", class: "quiet remove", "aria-label": `${name} as in force`, title: "As in force", onclick: back }, "×"));
    });
    this.#chips.replaceChildren(...(chips.length ? chips : [el("li", { class: "faint none" }, "Nothing is changed: both columns are the same.")]));
  }
}

function control({ name, value, type, choices, minimum, maximum }, id) {
  const described = { id, "aria-describedby": `${id}-what` };
  if (type === "boolean") {
    const box = el("input", { ...described, type: "checkbox" });
    box.checked = value;
    return box;
  }
  if (type === "choice") {
    const list = el("select", described, choices.map((choice) => el("option", { value: choice }, choice)));
    list.value = value;
    return list;
  }
  const field = el("input", { ...described, type: "number", min: minimum, max: maximum, step: type === "integer" ? "1" : "any", "data-name": name });
  field.value = value;
  return field;
}

/** What a field holds; null for nothing that can be sent. */
function read(field, type) {
  if (type === "boolean") return field.checked;
  if (type === "choice") return field.value;
  const number = field.value === "" ? NaN : Number(field.value);
  return Number.isFinite(number) ? number : null;
}

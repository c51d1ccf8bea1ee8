"""Makes .venv and installs mmmem into it, showing what happens. Called by scripts/setup; standard library only."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from install_progress import ProgressView, lines_or_ticks

CHECKOUT = Path(__file__).resolve().parent.parent
VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "mmmem-installed.txt"
COVERS = {"demo": ["demo"], "test": ["test", "demo"]}

# Import what comes with compiled parts: a mismatch shows here, with its name, and not in the middle of a run.
TRIAL = "import torch, torchvision, open_clip, transformers, lancedb, mmmem"

FROM_ONE_PLACE = "with the one command that pytorch.org's selector prints (pip3 there is .venv/bin/pip here)"
NO_REGISTRY = re.compile(
    r"No matching distribution|Could not find a version|Retrying \(|Max retries|Connection|name resolution|SSLError|ProxyError"
)


class SetupError(Exception):
    """The environment could not be made; the message says what to do."""


def main(extra: str) -> int:
    """Make the environment ready for `extra`; 0 when it is."""
    try:
        ensure_environment()
        if is_installed(extra):
            return 0
        STAMP.unlink(missing_ok=True)
        ensure_pip()
        check_chosen_torch()
        install(extra)
        try_imports()
        STAMP.write_text("".join(f"{name} {fingerprint()}\n" for name in COVERS[extra]))
    except SetupError as error:
        print(f"\nmmmem: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nmmmem: stopped while installing; run it again to go on.", file=sys.stderr)
        return 130
    return 0


def ensure_environment() -> None:
    """Leave a .venv whose Python runs and is new enough; what is installed in a sound one stays."""
    version = environment_version()
    if version is None:
        print(f"Making .venv with Python {sys.version.split()[0]}", flush=True)
        # --clear: a half-made environment is no use, and a moved Python leaves dead links behind.
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=False)
        version = environment_version()
    if version is None:
        raise SetupError("python -m venv could not make .venv, for the reason above.")
    if version < (3, 11):
        raise SetupError(
            f"the .venv in this checkout runs Python {version[0]}.{version[1]} and mmmem needs 3.11 or newer. "
            "Remove it (rm -r .venv) and run this again."
        )


def environment_version() -> tuple[int, ...] | None:
    """(major, minor) of .venv's Python, or None where there is none that runs."""
    if not PYTHON.exists() or not (VENV / "pyvenv.cfg").exists():
        return None
    code = "import sys; assert sys.prefix != sys.base_prefix; print(*sys.version_info[:2])"
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def ensure_pip() -> None:
    """Some tools make environments without pip; Python brings one along."""

    def succeeds(*arguments: str) -> bool:
        return subprocess.run([PYTHON, *arguments], capture_output=True, check=False).returncode == 0

    if not succeeds("-m", "pip", "--version") and not succeeds("-m", "ensurepip"):
        raise SetupError("the .venv in this checkout has no pip. Remove it (rm -r .venv) and run this again.")


def fingerprint() -> str:
    """Changes with anything that calls for another install: the dependencies, the Python, the checkout's place."""
    code = "import sys; print(sys.version)"
    python = subprocess.run([PYTHON, "-c", code], capture_output=True, check=True).stdout
    parts = (CHECKOUT / "pyproject.toml").read_bytes(), python, os.fsencode(CHECKOUT)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_installed(extra: str) -> bool:
    """Whether an earlier run finished installing exactly this."""
    return STAMP.exists() and f"{extra} {fingerprint()}" in STAMP.read_text().splitlines()


def install(extra: str) -> None:
    """Install mmmem, editable, with one extra; pip's own last words come before what to do about them."""
    print(f"Installing mmmem[{extra}] into .venv (the first time about 6 GB, with the CUDA build of torch)", flush=True)
    command = [str(PYTHON), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "-e", f".[{extra}]"]
    began, last = time.monotonic(), deque[str](maxlen=12)
    process = subprocess.Popen(
        command,
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    view = ProgressView(began)
    try:
        for line in lines_or_ticks(process):
            if line:
                last.append(line)
            view.show(line)
        code = process.wait()
    except KeyboardInterrupt:
        with suppress(subprocess.TimeoutExpired):  # pip was interrupted too, and tidies up
            process.wait(10)
        raise
    finally:
        view.close()
        process.kill()
        process.wait()
    if code:
        print("\n".join(["pip said:", *(f"  {line}" for line in last)]), file=sys.stderr)
        raise SetupError(advice("\n".join(last)))
    print(f"Installed in {time.monotonic() - began:.0f} s; trying the large packages", flush=True)


def check_chosen_torch() -> None:
    """Stop where pip would replace the torch build that a user put into .venv.

    A version with a local label, such as 2.14.1+cpu, was chosen. pip keeps it when its torchvision is there too;
    torch alone it replaces, with the CUDA build whose torchvision it finds.
    """
    code = "from importlib.metadata import distributions as all; print(*(f'{d.name}=={d.version}' for d in all()))"
    listing = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    versions = dict(package.lower().split("==") for package in listing if package.startswith("torch"))
    if "+" in versions.get("torch", "") and "torchvision" not in versions:
        raise SetupError(
            f"the torch in .venv ({versions['torch']}) has no torchvision beside it. "
            f"Install both, {FROM_ONE_PLACE}, and run this again."
        )


def advice(pip_output: str) -> str:
    """One sentence on what to do, from pip's last lines."""
    if "No space left" in pip_output:
        return "the disk is full; make room for about 7 GB, here and in the temporary folder, and run this again."
    if NO_REGISTRY.search(pip_output):
        return (
            "pip reached no package registry that has what is needed; check the network, or set PIP_INDEX_URL to your "
            "mirror (PIP_PROXY for a proxy), and run this again."
        )
    return "pip failed for the reason above; mend that and run this again (what is installed by then stays)."


def try_imports() -> None:
    """Import the large packages once; two that do not fit together are named now."""
    done = subprocess.run([PYTHON, "-c", TRIAL], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    print("\n".join(done.stderr.splitlines()[-4:]), file=sys.stderr)
    if "torchvision" in done.stderr:
        raise SetupError(
            f"the torch and torchvision in .venv do not belong together. Install both, {FROM_ONE_PLACE}, "
            "or remove .venv, and run this again."
        )
    raise SetupError("a package that was installed cannot be imported. Remove .venv (rm -r .venv) and run this again.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

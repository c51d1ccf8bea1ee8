"""Every model of mmmem and where it is: those that came with pip, and those that a hub has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mmmem.encoders.catalogue import HubFile, HubModel, fetched, fetched_folder, hub_models
from mmmem.encoders.weights import Model, ModelFile, model_files, packaged_folder, read_manifest, verified_folder
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mmmem.settings import Settings


@dataclass(frozen=True, slots=True)
class Stock:
    """One model. `folder` is None where its package is not installed, `command` brings it.

    `check` hashes its files and says what is wrong, with the command that mends it; "" when each was found with its sha256.
    """

    name: str
    profile: str
    source: str
    revision: str
    licence: str
    dimensions: int | None
    files: tuple[ModelFile, ...] | tuple[HubFile, ...]
    folder: Path | None
    command: str
    check: Callable[[], str]

    @property
    def present(self) -> bool:
        """Whether its folder is there."""
        return self.folder is not None and self.folder.is_dir()

    @property
    def size(self) -> int | None:
        """Bytes of its files; None where that is not known before it is fetched."""
        sizes = [file.size for file in self.files if file.size is not None]
        return sum(sizes) if len(sizes) == len(self.files) else None


def stock(settings: Settings) -> tuple[Stock, ...]:
    """Every model, those that came with pip first. Raises WeightsError when a manifest cannot be read."""
    on_hub = (_on_hub(model, fetched_folder(settings) / model.name) for model in hub_models(settings))
    return (*map(_packaged, read_manifest()), *on_hub)


def _packaged(model: Model) -> Stock:
    try:
        folder: Path | None = packaged_folder(model)
    except WeightsError:
        folder = None
    return _stock(model, model.files, folder, model.reinstall, partial(_packaged_fault, model.name))


def _on_hub(model: HubModel, folder: Path) -> Stock:
    command = f"mmmem models fetch {model.name}"
    pinned = fetched(folder)
    check = partial(_fetched_fault, model, folder, command)
    return _stock(model, pinned.files if pinned else model.files, folder, command, check)


def _stock(
    model: Model | HubModel,
    files: tuple[ModelFile, ...] | tuple[HubFile, ...],
    folder: Path | None,
    command: str,
    check: Callable[[], str],
) -> Stock:
    return Stock(
        name=model.name,
        profile=model.profile,
        source=model.source,
        revision=model.revision,
        licence=model.licence,
        dimensions=model.dimensions,
        files=files,
        folder=folder,
        command=command,
        check=check,
    )


def _packaged_fault(name: str) -> str:
    try:
        verified_folder(name)
    except WeightsError as error:
        return str(error).removeprefix(f"{name}: ")
    return ""


def _fetched_fault(model: HubModel, folder: Path, command: str) -> str:
    pinned = fetched(folder)
    if not folder.is_dir():
        return f"not fetched; run `{command}`"
    if pinned is None or pinned.revision != model.revision:
        return f"not fetched at this revision; run `{command}`"
    found = {file.path: file for file in model_files(folder)}
    for file in pinned.files:
        if found.pop(file.path, None) != file:
            return f"{file.path} is missing or is not the file that was fetched; run `{command}`"
    return f"{next(iter(found))} is there but is not the model's; run `{command}`" if found else ""

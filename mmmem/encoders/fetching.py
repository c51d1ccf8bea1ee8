"""A model's files brought from a hub or from a folder, checked one by one, and put in place together.

huggingface_hub is not used: a download that it is stopped in begins again from the first byte. Here a file grows as
`NAME.part`, also over several runs, and gets its name when it is whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from mmmem.encoders.catalogue import PIN, HubFile, HubModel, fetched
from mmmem.encoders.weights import Model, entry, model_files, sha256
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from typing import BinaryIO

HUB = "https://huggingface.co"
PATIENCE = httpx.Timeout(30, connect=10)  # seconds without a byte
TRIES = 3  # in a row that brought nothing
PIECE = 1 << 20  # bytes

Meter = Callable[[str, int, int | None], None]  # a file's path, bytes so far, bytes in all when known
Bring = Callable[[HubFile, Path, Meter], None]  # puts a file at a path


def fetch(model: HubModel, folder: Path, bring: Bring, meter: Meter) -> Model:
    """Bring the model into `folder`/NAME, unless it is there and whole, and return the entry that pins its files.

    Files that the manifest has no sha256 for are pinned as they come, and from then on must stay so. Raises WeightsError:
    for a file that is not what it should be, after removing it, and when the model cannot be had.
    """
    place = folder / model.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / f".{model.name}.lock", model.name):
            before = fetched(place)
            if before and before.revision == model.revision:
                if model_files(place) == before.files:
                    return before
                model = _expecting(model, before)
            staging = folder / f".{model.name}.{model.revision[:12]}"
            for file in model.files:
                _bring(model, file, staging / file.path, bring, meter)
            return _put_in_place(model, staging, place)
    except OSError as error:
        raise WeightsError(f"{model.name}: cannot be written to models_dir ({error.strerror})") from None


def from_folder(origin: Path) -> Bring:
    """Copies files from a folder that has them under the same names."""

    def bring(file: HubFile, target: Path, meter: Meter) -> None:
        if not (origin / file.path).is_file():
            raise WeightsError(f"--from: {file.path} is missing there")
        part = _part(target)
        with (origin / file.path).open("rb") as source, part.open("wb") as copy:
            size = os.fstat(source.fileno()).st_size
            while piece := source.read(PIECE):
                copy.write(piece)
                meter(file.path, copy.tell(), size)
        part.rename(target)

    return bring


def from_hub(model: HubModel) -> Bring:
    """Downloads from the Hugging Face hub, or from one that speaks like it (HF_ENDPOINT), unless HF_HUB_OFFLINE is set."""
    base = f"{(os.environ.get('HF_ENDPOINT') or HUB).rstrip('/')}/{model.repository}/resolve/{model.revision}"

    def bring(file: HubFile, target: Path, meter: Meter) -> None:
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
            raise _unreachable(model, "HF_HUB_OFFLINE is set")
        part = _part(target)
        tries = TRIES
        while True:
            had = part.stat().st_size if part.exists() else 0
            try:
                etag = _download(f"{base}/{file.path}", part, lambda done, size: meter(file.path, done, size))
                break
            except httpx.HTTPStatusError as error:
                raise _unreachable(model, f"{file.path}: the hub answers {error.response.status_code}") from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                brought = part.exists() and part.stat().st_size > had
                tries = TRIES if brought else tries - 1
                if not tries or isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL)):
                    raise _unreachable(model, f"{type(error).__name__}") from None
        if etag and not _is(part, etag):
            part.unlink()
            raise WeightsError(f"{model.name}: {file.path} did not come as the hub has it, and was removed")
        part.rename(target)

    return bring


def _download(url: str, part: Path, meter: Callable[[int, int | None], None]) -> str:
    """Append what `part` lacks. Returns the hub's hash of the file: a sha256, a git blob's sha1, or "" for neither."""
    had = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={had}-"} if had else {})
    with httpx.stream("GET", url, headers=headers, timeout=PATIENCE, follow_redirects=True) as answer:
        whole = answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE  # nothing is lacking
        if not whole:
            answer.raise_for_status()
            resumed = answer.status_code == httpx.codes.PARTIAL_CONTENT
            length = answer.headers.get("Content-Length")
            size = int(length) + (had if resumed else 0) if length else None
            with part.open("ab" if resumed else "wb") as file:
                _write(answer, file, lambda done: meter(done, size))
        # The answer that redirects to where the bytes are has the hash.
        first = (answer.history or [answer])[0].headers
        etag = str(first.get("X-Linked-ETag") or first.get("ETag") or "")
    return etag.removeprefix("W/").strip('"')


def _write(answer: httpx.Response, file: BinaryIO, meter: Callable[[int], None]) -> None:
    for piece in answer.iter_raw():  # as it comes: what waits for a piece to fill is lost when the connection breaks
        file.write(piece)
        meter(file.tell())


def _is(file: Path, etag: str) -> bool:
    """Whether the hub's hash is that of this file; True for a hash of another kind."""
    if len(etag) == 64:
        return sha256(file) == etag
    if len(etag) == 40:
        blob = hashlib.sha1(f"blob {file.stat().st_size}\0".encode(), usedforsecurity=False)
        with file.open("rb") as content:
            while piece := content.read(PIECE):
                blob.update(piece)
        return blob.hexdigest() == etag
    return True


def _bring(model: HubModel, file: HubFile, target: Path, bring: Bring, meter: Meter) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file() and _fits(target, file):  # from a run that was stopped
        return
    target.unlink(missing_ok=True)
    bring(file, target, meter)
    if not _fits(target, file):
        target.unlink()
        raise WeightsError(f"{model.name}: {file.path} is not the file of the manifest, and was removed")


def _fits(path: Path, file: HubFile) -> bool:
    sized = file.size is None or path.stat().st_size == file.size
    return sized and (file.sha256 is None or sha256(path) == file.sha256)


def _expecting(model: HubModel, before: Model) -> HubModel:
    """The model with every file that was pinned at an earlier fetch of the same commit expected to be the same."""
    pinned = {file.path: HubFile(file.path, file.size, file.sha256) for file in before.files}
    return replace(model, files=tuple(file if file.sha256 else pinned.get(file.path, file) for file in model.files))


def _put_in_place(model: HubModel, staging: Path, place: Path) -> Model:
    found = model.pinned(model_files(staging))
    (staging / PIN).write_text(entry(found), encoding="utf-8")
    old = place.with_name(f".{model.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        place.rename(old)
    staging.rename(place)
    shutil.rmtree(old, ignore_errors=True)
    return found


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _unreachable(model: HubModel, why: str) -> WeightsError:
    return WeightsError(
        f"{model.name}: cannot be fetched from the hub ({why}). Where there is none: get {model.repository} at revision "
        f"{model.revision} on another machine and run `mmmem models fetch {model.name} --from FOLDER`"
    )


@contextmanager
def _alone(lock: Path, name: str) -> Iterator[None]:
    """Two that fetch one model would write into the same files."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WeightsError(f"{name}: is being fetched by another process") from None
        yield

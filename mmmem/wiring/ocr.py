"""What reads the text in images."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from mmmem.encoders.weights import read_manifest, verified_folder
from mmmem.errors import WeightsError
from mmmem.media.ocr import NoTextReader

if TYPE_CHECKING:
    from mmmem.encoders.device import Device
    from mmmem.media.ocr import TextReader
    from mmmem.settings import Settings

NAME = "PP-OCRv4"


def wanted(settings: Settings, *, models: bool) -> bool:
    """Whether text is read. `models`: whether any other model is used."""
    installed = importlib.util.find_spec("rapidocr_onnxruntime") is not None
    return settings.ocr == "on" or (settings.ocr == "auto" and models and installed)


def check(settings: Settings, *, models: bool) -> None:
    """Raises StartupError when a file is missing or not what it should be."""
    if wanted(settings, models=models):
        verified_folder(NAME)


def load(settings: Settings, device: Device, *, models: bool) -> TextReader:
    """The reader, or one that reads nothing."""
    if not wanted(settings, models=models):
        return NoTextReader()
    folder = verified_folder(NAME)

    try:
        from mmmem.media.rapidocr import RapidTextReader
    except ImportError as error:  # OpenCV's wheel needs libraries of the system, which small containers lack
        raise WeightsError(
            f"{NAME}: cannot be loaded ({error}); install what is missing (Debian: libgl1, libglib2.0-0) or set MMMEM_OCR=off"
        ) from None

    return RapidTextReader(
        folder,
        version=next(model.version for model in read_manifest() if model.name == NAME),
        threads=device.threads,
        max_lines=settings.ocr_lines,
        max_seconds=settings.ocr_seconds,
    )

"""Text in pictures by PP-OCRv4 (PaddleOCR, 2023) through rapidocr-onnxruntime: Chinese and English, on the CPU."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from rapidocr_onnxruntime import RapidOCR

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from PIL.Image import Image

DETECTION = "ch_PP-OCRv4_det_infer.onnx"
RECOGNITION = "ch_PP-OCRv4_rec_infer.onnx"
DIRECTION = "ch_ppocr_mobile_v2.0_cls_infer.onnx"

CONFIDENCE = 0.6  # of a line; below it textures are read as text
LONGEST = (
    3.0  # a picture longer than this many times its shorter side is read in pieces: scaled as a whole it is illegible
)
MOST_PIECES = 8
OVERLAP = 0.1  # of a piece, so that a line on its edge is whole in one of them
LARGEST_SIDE = 2_000  # pixels; a larger piece is scaled down


class RapidTextReader:
    """A TextReader. One picture at a time: the models take all cores that they are given.

    `max_lines` and `max_seconds` bound a picture: the lines beyond are left out, and after the time no further piece or batch
    is begun.
    """

    def __init__(self, folder: Path, *, version: str, threads: int, max_lines: int, max_seconds: float) -> None:
        self._engine = RapidOCR(
            det_model_path=str(folder / DETECTION),
            rec_model_path=str(folder / RECOGNITION),
            cls_model_path=str(folder / DIRECTION),
            intra_op_num_threads=threads,
            inter_op_num_threads=1,
        )
        for name in ("RapidOCR", "OrtInferSession"):  # the library gives them a handler and a level of its own
            logging.getLogger(name).setLevel(logging.ERROR)
        self._max_lines = max_lines
        self._max_seconds = max_seconds
        self._lock = threading.Lock()
        self.name = f"PP-OCRv4@{version}"

    def read(self, image: Image) -> str:
        """See TextReader."""
        lines: dict[str, None] = {}  # in order; those of an overlap once
        with self._lock:
            end = time.monotonic() + self._max_seconds
            for piece in _pieces(image):
                for line in self._lines(piece, self._max_lines - len(lines), end):
                    lines.setdefault(line)
                if len(lines) >= self._max_lines or time.monotonic() > end:
                    break
        return "\n".join(lines)

    def _lines(self, image: Image, most: int, end: float) -> Iterator[str]:
        """The lines of one piece in reading order."""
        engine = self._engine
        pixels, *_ = engine.preprocess(np.ascontiguousarray(np.asarray(image)[:, :, ::-1]))
        pixels, _ = engine.maybe_add_letterbox(pixels, {})
        boxes, _ = engine.auto_text_det(pixels)
        if boxes is None:
            return
        cuts: list[NDArray[Any]] = engine.get_crop_img_list(pixels, boxes[:most])
        for start in range(0, len(cuts), engine.text_rec.rec_batch_num):
            if start and time.monotonic() > end:
                return
            upright, *_ = engine.text_cls(cuts[start : start + engine.text_rec.rec_batch_num])
            found, _ = engine.text_rec(upright)
            yield from (text.strip() for text, confidence, *_ in found if confidence >= CONFIDENCE and text.strip())


def _pieces(image: Image) -> Iterator[Image]:
    """The picture, or of a long one its pieces from one end to the other, none with a side over LARGEST_SIDE."""
    width, height = image.size
    count = min(int(-(-max(image.size) // (LONGEST * min(image.size)))), MOST_PIECES)
    for number in range(count):
        start, end = (number - OVERLAP) / count, (number + 1) / count
        box = (0, max(0, int(start * height)), width, int(end * height))
        if width > height:
            box = (max(0, int(start * width)), 0, int(end * width), height)
        piece = image.crop(box) if count > 1 else image
        if max(piece.size) > LARGEST_SIDE:
            piece = piece.copy()
            piece.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
        yield piece

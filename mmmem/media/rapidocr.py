"""Text in pictures by PP-OCRv4 (PaddleOCR, 2023) through rapidocr-onnxruntime: Chinese and English, on the CPU."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image as Pillow

# ONNX Runtime 1.29 and later report to their maker and keep an id of the machine, unless this is set before they are loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

from rapidocr_onnxruntime import RapidOCR

from mmmem.media.ctc import CTCDecoder

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from PIL.Image import Image

log = logging.getLogger(__name__)

DETECTION = "ch_PP-OCRv4_det_infer.onnx"
RECOGNITION = "ch_PP-OCRv4_rec_infer.onnx"
DIRECTION = "ch_ppocr_mobile_v2.0_cls_infer.onnx"  # not used, but the library loads one

CONFIDENCE = 0.6  # of a line; below it textures are read as text
SURE = 0.85  # of a line; below it the line is read upside down too. The direction model turns long lines that stand upright
LONGEST = 3.0  # times its width; a taller picture is read in pieces, since scaled down as a whole it is illegible
MOST_PIECES = 8
OVERLAP = 0.1  # of a piece, so that a line on its edge is whole in one of them
LEAST_SIDE = 8  # pixels; what is smaller holds no letters
NARROWEST = 4  # times its shorter side, the longer side of a piece at most
LARGEST_SIDE = 2_000  # pixels; a larger piece is scaled down


class RapidTextReader:
    """A TextReader. One picture at a time: the models take all cores that they are given.

    `max_lines` and `max_seconds` bound a picture: the lines beyond are left out, and after the time no further piece or line
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
        recogniser = self._engine.text_rec
        recogniser.postprocess_op = CTCDecoder(recogniser.postprocess_op.character)
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
            try:
                for piece in _pieces(image):
                    for line in self._lines(piece, self._max_lines - len(lines), end):
                        lines.setdefault(line)
                    if len(lines) >= self._max_lines or time.monotonic() > end:
                        break
            except Exception as fault:  # whatever it is, the picture itself is good and must be kept
                log.error("reading the text in an image failed: %s", type(fault).__name__)  # noqa: TRY400 - may hold stored text
        return "\n".join(lines)

    def _lines(self, image: Image, most: int, end: float) -> Iterator[str]:
        """The lines of one piece in reading order."""
        engine = self._engine
        pixels, *_ = engine.preprocess(np.ascontiguousarray(np.asarray(image)[:, :, ::-1]))
        pixels, _ = engine.maybe_add_letterbox(pixels, {})
        boxes, _ = engine.auto_text_det(pixels)
        if boxes is None:
            return
        rows = _rows(boxes)[:most]
        read = self._read(engine.get_crop_img_list(pixels, [box for row in rows for box in row]), end)
        for row in rows:
            said = " ".join(text for _, text in zip(row, read, strict=False) if text)
            if said:
                yield said

    def _read(self, cuts: list[NDArray[Any]], end: float) -> Iterator[str]:
        """The text of each cut, "" where there is none; no more after the time. One by one: in a batch all are as wide as the widest."""
        for number, cut in enumerate(cuts):
            if number and time.monotonic() > end:
                return
            text, confidence = self._read_line(cut)
            if confidence < SURE:
                turned, surely = self._read_line(cut[::-1, ::-1])
                if surely >= SURE:
                    text, confidence = turned, surely
            yield text if confidence >= CONFIDENCE else ""

    def _read_line(self, cut: NDArray[Any]) -> tuple[str, float]:
        """What is written in a cut, uint8 [height, width, 3], and how sure that is."""
        (read,), _ = self._engine.text_rec([cut])
        text, confidence = read
        return text, confidence


def _rows(boxes: Iterable[NDArray[Any]]) -> list[list[NDArray[Any]]]:
    """Boxes, float32 [4, 2] corners each, by rows from top to bottom, each from left to right: a price stands beside what it is for."""
    rows: list[list[NDArray[Any]]] = []
    for box in sorted(boxes, key=lambda box: float(box[:, 1].mean())):
        if rows and abs(box[:, 1].mean() - rows[-1][0][:, 1].mean()) < np.ptp(rows[-1][0][:, 1]) / 2:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [sorted(row, key=lambda box: float(box[:, 0].min())) for row in rows]


def _pieces(image: Image) -> Iterator[Image]:
    """The picture, or of a tall one its pieces from top to bottom, none with a side over LARGEST_SIDE. No line is cut through."""
    width, height = image.size
    count = min(int(-(-height // (LONGEST * width))), MOST_PIECES)
    for number in range(count):
        top, bottom = (number - OVERLAP) / count, (number + 1) / count
        piece = image.crop((0, max(0, int(top * height)), width, int(bottom * height))) if count > 1 else image
        if max(piece.size) > LARGEST_SIDE:
            piece = piece.copy()
            piece.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
        if min(piece.size) >= LEAST_SIDE:
            yield _padded(piece)


def _padded(piece: Image) -> Image:
    """The piece, or a narrow one with room beside it: the detector scales the shorter side up to 736 pixels, whatever the other becomes."""
    least = max(piece.size) // NARROWEST
    if min(piece.size) >= least:
        return piece
    wider = Pillow.new("RGB", (max(piece.width, least), max(piece.height, least)), piece.getpixel((0, 0)))
    wider.paste(piece)
    return wider

#!/usr/bin/env python3
"""A photo diary: tell it the photos of a folder, then ask by words or with another photo.

    python examples/photo_diary.py add FOLDER [--user ann] [--data-dir ./diary]
    python examples/photo_diary.py ask "the photo with the red bicycle" [--save OUT]
    python examples/photo_diary.py ask --image other.jpg

A photo's caption is its file name. --save writes what is found into a folder.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mmmem import Memory
from mmmem.errors import InvalidImage, TooLarge

if TYPE_CHECKING:
    from mmmem.library.contents import Part

SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".heic", ".avif", ".bmp", ".tif", ".tiff"}


def add(memory: Memory, folder: Path, user: str) -> None:
    """Tell the diary every photo of a folder. The same folder again changes nothing: each has a request_id of its own."""
    for photo in sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES):
        taken = datetime.fromtimestamp(photo.stat().st_mtime).astimezone()
        caption = photo.stem.replace("_", " ").replace("-", " ")
        name = photo.relative_to(folder).as_posix()
        try:
            memory.add([caption, photo], user_id=user, session_id="diary", timestamp=taken, request_id=f"photo {name}")
        except (InvalidImage, TooLarge) as error:
            print(f"left out {name}: {error.problem}")
        else:
            print(f"kept {name}")


def ask(memory: Memory, question: list[Part], user: str, save: Path | None) -> None:
    """Print the memories that match best, and write their photos."""
    for place, found in enumerate(memory.search(question, user_id=user, top_k=5), start=1):
        sizes = ", ".join(f"{image.width} x {image.height}" for image in found.images)
        print(f"{place}. {found.text.splitlines()[0]}  ({sizes or 'no photo'}; score {found.score:.2f})")
        for number, file in enumerate(found.image_files if save else ()):
            assert save is not None
            save.mkdir(parents=True, exist_ok=True)
            suffix = file.media_type.rpartition("/")[2]
            (save / f"{place}-{number}.{suffix}").write_bytes(file.data)


def main() -> None:
    """One command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default="./diary")
    parser.add_argument("--user", default="ann")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("add").add_argument("folder", type=Path)
    asking = commands.add_parser("ask")
    asking.add_argument("words", nargs="?")
    asking.add_argument("--image", type=Path)
    asking.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    with Memory(arguments.data_dir) as memory:
        if arguments.command == "add":
            add(memory, arguments.folder, arguments.user)
            return
        question: list[Part] = [part for part in (arguments.words, arguments.image) if part]
        if not question:
            parser.error("ask something: words, --image, or both")
        ask(memory, question, arguments.user, arguments.save)


if __name__ == "__main__":
    main()

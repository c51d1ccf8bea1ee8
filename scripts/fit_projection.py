#!/usr/bin/env python3
"""Fit the projection of a text model's token vectors on general text.

    python scripts/fit_projection.py data.noun data.verb data.adj data.adv
    python scripts/fit_projection.py --model FOLDER --out projection.safetensors data.noun data.verb ...
    python scripts/fit_projection.py --model FOLDER --out projection.safetensors --lines sentences.txt

The first fits MiniLM's, which comes with mmmem; the others that of a model for MMMEM_TEXT_DIR (pin what they write, and set
MMMEM_TEXT_PROJECTION). The files are WordNet 3.0's (Princeton University; Debian's package wordnet-base puts them in its
share/wordnet folder). 5,000 of their glosses, drawn with a fixed seed, are the text: definitions and example sentences about
everything, and no conversation, so no benchmark is fitted to. With --lines every line of the files is a text: for a
multilingual model bring general text in the languages that it is to read, and never what you evaluate on. Prints size and sha256.
"""

import argparse
import random
import sys
from pathlib import Path

import numpy as np

from mmmem.encoders.contextual import MINILM, SETTING, ContextualEncoder
from mmmem.encoders.conventions import Conventions
from mmmem.encoders.tokens import Projection
from mmmem.encoders.weights import models_folder, sha256, verified_folder
from mmmem.errors import WeightsError

TEXTS = 5_000
TOKENS = 80_000
FILE = "minilm-tokens-pca128.safetensors"


def lines(files: list[Path]) -> list[str]:
    """The lines of all files, in order of the files' names."""
    return [line for file in sorted(files) for line in file.read_text(encoding="utf-8", errors="replace").splitlines()]


def glosses(files: list[Path]) -> list[str]:
    """What stands behind the bar on each line of WordNet's data files."""
    return [line.split("|", 1)[1].strip() for line in lines(files) if "|" in line]


def encoder(folder: Path | None) -> ContextualEncoder:
    """The model in the folder, or MiniLM."""
    conventions = Conventions.read(SETTING, folder) if folder else MINILM
    folder = folder or verified_folder("all-MiniLM-L6-v2")
    return ContextualEncoder(folder, conventions, projection=None, name="fit", device="cpu", batch_size=32)


def main() -> None:
    """Encode, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", type=Path, help="folder of a sentence encoder; MiniLM without it")
    parser.add_argument("--out", type=Path, default=models_folder() / FILE, help="the file to write")
    parser.add_argument("--lines", action="store_true", help="every line is a text, whatever is in it")
    parser.add_argument("--dimensions", type=int, default=128, help="width of a projected vector")
    options = parser.parse_args()
    if options.model and options.out == models_folder() / FILE:
        parser.error("--model needs --out: the default is MiniLM's")
    found = [text for text in (lines if options.lines else glosses)(options.files) if text.strip()]
    texts = random.Random(0).sample(found, min(TEXTS, len(found)))
    if not texts:
        parser.error("the files hold no text of that form")
    vectors = np.concatenate(encoder(options.model).hidden_states(texts))
    chosen = np.random.default_rng(0).permutation(len(vectors))[:TOKENS]
    Projection.fit(vectors[np.sort(chosen)], options.dimensions).save(options.out)
    size, digest = options.out.stat().st_size, sha256(options.out)
    sys.stdout.write(f"{len(vectors)} token vectors, {options.out.name}: size {size} sha256 {digest}\n")


if __name__ == "__main__":
    try:
        main()
    except WeightsError as error:
        sys.exit(f"fit_projection: {error}")

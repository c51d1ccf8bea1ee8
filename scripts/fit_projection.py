#!/usr/bin/env python3
"""Fit the projection of MiniLM's token vectors on general text, and write it where the service reads it.

    python scripts/fit_projection.py data.noun data.verb data.adj data.adv

The files are WordNet 3.0's (Princeton University; Debian's package wordnet-base puts them in its share/wordnet folder). 5,000 of
their glosses, drawn with a fixed seed, are the text: definitions and example sentences about everything, and no
conversation, so no benchmark is fitted to. Prints the sha256 that models/manifest.toml must then name.
"""

import argparse
import random
import sys
from pathlib import Path

import numpy as np

from mmmem.encoders.device import Device
from mmmem.encoders.minilm import MiniLMEncoder
from mmmem.encoders.tokens import Projection
from mmmem.encoders.weights import models_folder, sha256, verified_folder

GLOSSES = 5_000
TOKENS = 80_000
DIMENSIONS = 128
FILE = "minilm-tokens-pca128.safetensors"


def glosses(files: list[Path]) -> list[str]:
    """What stands behind the bar on each line of WordNet's data files, in a fixed random order."""
    lines = (line for file in sorted(files) for line in file.read_text(encoding="utf-8", errors="replace").splitlines())
    found = [line.split("|", 1)[1].strip() for line in lines if "|" in line]
    return random.Random(0).sample(found, GLOSSES)


def main() -> None:
    """Encode, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    texts = glosses(parser.parse_args().files)
    encoder = MiniLMEncoder(
        verified_folder("all-MiniLM-L6-v2"),
        projection=None,
        revision="fit",
        device=Device("cpu", 1).name,
        batch_size=32,
    )
    vectors = np.concatenate(encoder.hidden_states(texts))
    chosen = np.random.default_rng(0).permutation(len(vectors))[:TOKENS]
    file = models_folder() / FILE
    Projection.fit(vectors[np.sort(chosen)], DIMENSIONS).save(file)
    sys.stdout.write(f"{len(vectors)} token vectors, {file.name}: size {file.stat().st_size} sha256 {sha256(file)}\n")


if __name__ == "__main__":
    main()

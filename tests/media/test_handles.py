"""Where file handles run short, a picture is read all the same; it is never called damaged for that."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mmmem.errors import Unavailable
from mmmem.media.images import decode_image
from mmmem.settings import Settings
from mmmem.types import ImagePart
from tests.media.zoo import good

# Pillow warns of what is odd in a file; the service keeps that out of its log.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")

ROOT = Path(__file__).parents[2]
WITHOUT_HANDLES = """
import hashlib, json, resource, sys
from pathlib import Path
from mmmem.media.images import decode_image
from mmmem.settings import Settings
from mmmem.types import ImagePart

files = [Path(name).read_bytes() for name in sys.argv[1:]]
settings = Settings()
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
shown = [decode_image(ImagePart("data:image/png;base64", data), "field", settings) for data in files]
print(json.dumps([hashlib.sha256(image.tobytes()).hexdigest() for image in shown]))
"""


def test_the_first_pictures_of_a_process_without_file_handles_show_what_they_do(tmp_path: Path) -> None:
    files, expected = [], []
    for number, specimen in enumerate(good()):
        files.append(tmp_path / str(number))
        files[-1].write_bytes(specimen.data)
        image = decode_image(ImagePart("data:image/png;base64", specimen.data), "field", Settings())
        expected.append(hashlib.sha256(image.tobytes()).hexdigest())
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_HANDLES, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


@pytest.mark.parametrize("shortage", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_a_shortage_of_the_machine_is_no_fault_of_the_picture(shortage: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(shortage, "secret path")

    monkeypatch.setattr(io, "BytesIO", fail)
    with pytest.raises(Unavailable) as caught:
        decode_image(ImagePart("data:image/png;base64", b"\x89PNG"), "field", Settings())
    assert "secret" not in str(caught.value)

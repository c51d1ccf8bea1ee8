"""The Python of the documents runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.test_observability import WORDS_ONLY
from tests.running import RunningService

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("document", ["python.md", "mem0.md"])
def test_the_python_of_a_document_runs(document: str, service: RunningService, tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```", (DOCS / document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert blocks
    code = "\n".join(blocks).replace("http://127.0.0.1:8000", service.url)
    settings = {f"MMMEM_{name.upper()}": value for name, value in WORDS_ONLY.items()}
    environment = {**os.environ, **settings, "PYTHONPATH": str(DOCS.parent)}
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout

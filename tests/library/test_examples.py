"""The examples do what they say, as a user starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mmmem import Client
from tests.contract.pictures import draw
from tests.contract.test_observability import WORDS_ONLY
from tests.running import RunningService

ROOT = Path(__file__).parents[2]


def run(script: str, *arguments: str, said: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")}
    environment = others | {f"MMMEM_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, str(ROOT / script), *arguments]
    return subprocess.run(
        command, env=environment | {"PYTHONPATH": str(ROOT)}, input=said, capture_output=True, text=True, check=False
    )


def test_a_chat_remembers_what_was_said_before_it_was_started_anew(tmp_path: Path) -> None:
    chat = ("examples/chat_that_remembers.py", "--data-dir", str(tmp_path))
    first = run(*chat, said="My cat is called Miso.\n\n", **WORDS_ONLY)
    assert "I know nothing about that yet." in first.stdout, first.stderr
    second = run(*chat, said="cat?\n", **WORDS_ONLY)
    assert "user: My cat is called Miso." in second.stdout, second.stderr


def test_a_diary_finds_photos_by_words_and_by_photos(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    draw("red").save(photos / "the_red_balloon.png")
    draw("navy", "rectangle").save(photos / "a-blue-box.jpg")
    (photos / "broken.png").write_bytes(b"no picture")
    draw("red").resize((60, 60)).save(tmp_path / "query.png")
    diary = ("--data-dir", str(tmp_path / "diary"))
    added = run("examples/photo_diary.py", *diary, "add", str(photos), ocr="off")
    blue, broken, red = added.stdout.splitlines()
    assert (blue, red) == ("kept a-blue-box.jpg", "kept the_red_balloon.png")
    assert broken.startswith("left out broken.png: ")
    asked = ("balloon", "--image", str(tmp_path / "query.png"), "--save", str(tmp_path / "found"))
    found = run("examples/photo_diary.py", *diary, "ask", *asked, ocr="off")
    assert "the red balloon  (96 x 96;" in found.stdout.splitlines()[0], found.stderr
    assert (tmp_path / "found" / "1-0.png").read_bytes() == (photos / "the_red_balloon.png").read_bytes()


def test_an_evaluation_counts_what_is_found(service: RunningService, tmp_path: Path) -> None:
    case = {
        "memories": ["My cat is called Miso.", "The train leaves at nine.", "Ann plays the piano."],
        "questions": [
            {"question": "What is the cat's name?", "answers": [0]},
            {"question": "When does the train leave?", "answers": [1]},
            {"question": "What is the capital of France?", "answers": []},
        ],
    }
    (tmp_path / "cases.json").write_text(json.dumps([case]))
    done = run("examples/evaluate.py", str(tmp_path / "cases.json"), "--url", service.url)
    assert done.stdout.split() == ["recall@1", "0.667", "recall@3", "0.667", "recall@10", "0.667", "mrr", "0.667"]


def test_what_mem0_remembers_is_brought_once(service: RunningService, tmp_path: Path) -> None:
    export: dict[str, Any] = {
        "results": [
            {"id": "a", "memory": "Likes tea", "user_id": "mem0 ann", "created_at": "2024-01-01T00:00:00.000000-08:00", "metadata": None},
            {"id": "b", "memory": "Moved to Lisbon", "user_id": "mem0 ann", "run_id": "trip", "created_at": None},
            {"id": "c", "memory": "Is an agent's", "agent_id": "mem0 bot"},
            {"id": "d", "memory": "", "user_id": "mem0 ann"},
            {"id": "e", "memory": "Nobody's"},
        ]
    }  # fmt: skip
    (tmp_path / "export.json").write_text(json.dumps(export))
    for _ in range(2):
        done = run("scripts/import_mem0.py", str(tmp_path / "export.json"), "--url", service.url)
        assert done.returncode == 1
        assert done.stdout == "3 memories brought, 2 left out\n"
        assert "left out memory 4: user_id: is not there; say with --user whose it is" in done.stderr
    with Client(service.url) as client:
        tea, lisbon = client.get_all(user_id="mem0 ann")
        assert (tea.text, tea.session_id, tea.timestamp) == ("Likes tea", "mem0", 1_704_096_000_000)
        assert (lisbon.text, lisbon.session_id, lisbon.timestamp) == ("Moved to Lisbon", "trip", None)
        assert len(client.get_all(user_id="mem0 bot")) == 1
    (tmp_path / "export.json").write_text('{"other": 1}')
    refused = run("scripts/import_mem0.py", str(tmp_path / "export.json"), "--url", service.url)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("EXPORT: must be a list of memories")

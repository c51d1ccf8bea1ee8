"""What README.md, the quickstart and the recipes give to type works as it stands there, from an empty folder with a few pictures."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from PIL import Image, ImageDraw, ImageFont

from tests.contract.pictures import draw
from tests.contract.test_observability import WORDS_ONLY
from tests.mcp.agents import Agent, connected
from tests.running import RunningService, text_of, urls_of

ROOT = Path(__file__).parents[1]
ADDRESS = re.compile(r"(http://127\.0\.0\.1|localhost):8000")


def sections(document: str, languages: str) -> dict[str, list[tuple[str, str]]]:
    """By heading, the blocks of these languages (a regular expression): language and code."""
    parts = re.split(r"^#+ (.*)\n", (ROOT / document).read_text(encoding="utf-8"), flags=re.MULTILINE)
    block = re.compile(rf"^```({languages})\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return {title: block.findall(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def typed(console: str) -> Iterator[tuple[str, str]]:
    """The commands of a console with what it shows after each. A command has lines until it is whole."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        size = next(n for n in range(1, len(lines) + 1) if is_whole("\n".join(lines[:n])))
        yield "\n".join(lines[:size]), "\n".join(lines[size:]).strip()


def is_whole(command: str) -> bool:
    return subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False).returncode == 0


class Typist:
    """Types what documents say in one folder; `service` answers at the address that they give."""

    def __init__(self, folder: Path, service: RunningService, **settings: str) -> None:
        self.folder, self.service = folder, service
        others = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")}
        given = {f"MMMEM_{name.upper()}": value for name, value in settings.items()}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**others, **given, "PYTHONPATH": str(ROOT), "PATH": path}

    def types(self, language: str, code: str) -> str:
        """What a block prints, on standard error too; each of its commands must end well."""
        code = ADDRESS.sub(self.service.url, code).replace("python scripts/", f"python {ROOT}/scripts/")
        start = [sys.executable, "-c"] if language == "python" else ["bash", "-euo", "pipefail", "-c"]
        done = subprocess.run(
            [*start, code], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture
def photo(tmp_path: Path) -> bytes:
    """The file that documents call miso.jpg."""
    draw("orange").resize((600, 400)).save(tmp_path / "miso.jpg")
    return (tmp_path / "miso.jpg").read_bytes()


def test_the_quickstart_finds_a_picture_with_curl_python_and_commands(
    service: RunningService, tmp_path: Path, photo: bytes
) -> None:
    ways, typist = sections("docs/quickstart.md", "sh|python"), Typist(tmp_path, service, **WORDS_ONLY)
    found = tmp_path / "found.jpg"

    [block] = ways["curl"]
    assert '"success":true' in typist.types(*block)
    assert found.read_bytes() == photo
    found.unlink()

    [block] = ways["Library"]
    assert typist.types(*block).startswith("user: This is Miso, my cat")
    with Image.open(tmp_path / "found.png") as image:
        assert image.size == (600, 400)

    [block] = ways["Client"]
    typist.types(*block)
    assert found.read_bytes() == photo

    [block] = ways["Command line"]
    assert "user: Here she is" in typist.types(*block)
    [saved] = (tmp_path / "pictures").iterdir()
    assert saved.read_bytes() == photo


def test_the_configuration_of_the_quickstart_gives_an_agent_its_tools(
    service: RunningService, tmp_path: Path, photo: bytes
) -> None:
    [(_, code)] = sections("docs/quickstart.md", "json")["MCP"]
    server = json.loads(ADDRESS.sub(service.url, code))["mcpServers"]["memory"]
    environment = Typist(tmp_path, service).environment
    started = StdioServerParameters(command=server["command"], args=server["args"], env=environment)
    with (tmp_path / "log").open("w") as log, connected(stdio_client(started, errlog=log)) as agent:
        remember_and_recall(agent, photo)


def remember_and_recall(agent: Agent, photo: bytes) -> None:
    """As the quickstart has an agent do it."""
    import base64

    sent = base64.b64encode(photo).decode()
    agent.ask("remember", text="This is Miso, my cat", images=[{"data": sent, "media_type": "image/jpeg"}])
    assert "This is Miso, my cat" in agent.ask("recall", text="What does my cat look like?")
    [image] = agent.images("recall", text="What does my cat look like?")
    assert image.data == sent


def test_the_readme_finds_a_picture_with_curl(service: RunningService, tmp_path: Path, photo: bytes) -> None:
    typist, use = Typist(tmp_path, service), sections("README.md", "console|sh")["Use it"]
    service.client.delete("/users/ann")
    (add, answer), (search, found) = next(list(typed(code)) for _, code in use if "localhost:8000/add" in code)
    assert typist.types("sh", add) == answer
    first = json.loads(typist.types("sh", search))["data"][0]
    assert f'"content":{json.dumps(text_of(first))},"score":{first["score"]:.3f}' in found

    [block] = [block for block in use if block[0] == "sh"]
    assert '"success":true' in typist.types(*block)
    [memory] = service.search("ann", "Where is Miso on the sofa?", top_k=1)
    assert len(urls_of(memory)) == 1


def test_the_first_programs_that_one_sees_find_the_picture(
    service: RunningService, tmp_path: Path, photo: bytes
) -> None:
    [(_, readme)] = sections("README.md", "python")["Use it"]
    [(_, site)] = sections("docs/index.md", "python")["mmmem"]
    printed = Typist(tmp_path, service, **WORDS_ONLY).types("python", readme + site)
    assert len(re.findall(r"^\[<PIL\.\S+ image mode=RGB size=600x400", printed, re.MULTILINE)) == 2


def test_the_recipes_work_one_after_the_other(service: RunningService, tmp_path: Path) -> None:
    recipes, typist = sections("docs/recipes.md", "sh|python"), Typist(tmp_path, service)
    (tmp_path / "data").symlink_to(service.data)

    def follow(title: str) -> list[str]:
        return [typist.types(*block) for block in recipes[title]]

    assert follow("A chat agent that remembers")[0].startswith("user: My cat is called Miso.")

    screenshot(tmp_path / "screenshots" / "booking.png")
    follow("Screenshots found by what they say")
    [saved] = (tmp_path / "found").iterdir()
    assert saved.read_bytes() == (tmp_path / "screenshots" / "booking.png").read_bytes()

    assert "We took the night train" in follow("Multiple-choice questions")[0]

    [explained] = follow("Tuning with `mmmem explain`")
    assert len(set(re.findall(r"neighbours +\d+ +\S+ +(\S+)", explained))) == 2, "one weight, then the other"

    [erased] = follow("One user's data, out and away")
    assert "exported 1 user, 2 requests, 4 memories" in erased
    assert '"deleted":true' in erased
    assert service.search("eva", "cat") == []

    shutil.copy(tmp_path / "eva.jsonl.gz", tmp_path / "1.jsonl.gz")
    assert "the file is whole" in follow("Backups by cron")[0]

    export = [{"id": "a", "memory": "Likes tea", "user_id": "alice", "created_at": "2024-01-01T00:00:00Z"}]
    (tmp_path / "alice.json").write_text(json.dumps({"results": export}))
    assert "1 memories brought, 0 left out" in follow("Moving from mem0")[0]
    assert {title for title, code in recipes.items() if code} == {
        "A chat agent that remembers",
        "Screenshots found by what they say",
        "Multiple-choice questions",
        "Tuning with `mmmem explain`",
        "One user's data, out and away",
        "Backups by cron",
        "Moving from mem0",
    }


def screenshot(path: Path) -> None:
    """A booking, as one would see it on a screen."""
    path.parent.mkdir()
    image = Image.new("RGB", (640, 200), "white")
    for row, line in enumerate(("Booking confirmed", "Lisbon, Hotel Aurora", "Your reservation code is QX7")):
        ImageDraw.Draw(image).text((20, 20 + 50 * row), line, fill="black", font=ImageFont.load_default(24))
    image.save(path)

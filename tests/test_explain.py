"""`mmmem explain` shows what POST /explain answers, from a folder or a running service, and ends plainly when it cannot."""

import base64
import json
import logging
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from typer.testing import CliRunner, Result

from mmmem.api.contract import ExplainedMemory
from mmmem.cli import app
from mmmem.cli.explain import LEFT_OUT
from mmmem.cli.explanation_view import console, view, word
from tests.conftest import KEY
from tests.contract.pictures import data_url, draw, image_part, text_part
from tests.running import RunningService, run, urls_of

USER = "someone who asks why"
HOSTILE = "A green \x1b[31m boat\x07, \x9b2J \u202ereversed\u202c [bold red]no markup[/] :smile: \ud800!"


@pytest.fixture(scope="module")
def told(service: RunningService) -> RunningService:
    """A service that was told five things."""
    messages = [
        {"role": "user", "content": "We painted the bedroom green. " * 30, "timestamp": 1_704_067_200_000},
        {"role": "user", "content": "Which colour is the kitchen?", "timestamp": 1_704_067_260_000},
        {"role": "some\x1b]0;one\x07 else", "content": HOSTILE, "timestamp": 1_704_067_320_000},
        {"role": "user", "content": [text_part("my balloon"), image_part(data_url(draw("red")))]},
        {"role": "user", "content": [image_part(data_url(draw("green", "rectangle")))]},
    ]
    service.add_messages(USER, messages)
    return service


@pytest.fixture
def balloon(tmp_path: Path) -> Path:
    """A picture file."""
    path = tmp_path / "balloon.png"
    draw("red").save(path)
    return path


def folder_of(service: RunningService) -> Path:
    return service.log.parent / "data"


def explain(*arguments: str, **settings: str) -> Result:
    """The command in this process, for what loads no models; with these variables and no other of ours."""
    others: dict[str, str | None] = {name: None for name in os.environ if name.startswith("MMMEM_")}
    return CliRunner().invoke(app, ["explain", *arguments], env=others | {"COLUMNS": "100"} | settings)


def answered(service: RunningService, query: Any, **fields: Any) -> list[dict[str, Any]]:
    answer = service.post("/explain", {"query": query, "user_id": USER, "top_k": 5, **fields})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


def without_pictures(memories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    text = json.dumps(memories)
    for url in {url for memory in memories for url in urls_of(memory)}:
        text = text.replace(json.dumps(url), json.dumps(LEFT_OUT))
    found: list[dict[str, Any]] = json.loads(text)
    return found


def test_a_folder_that_a_service_uses_is_explained_as_the_service_does(told: RunningService, balloon: Path) -> None:
    picture = f"data:image/png;base64,{base64.b64encode(balloon.read_bytes()).decode()}"
    expected = answered(told, [text_part("which colour?"), image_part(picture)], options=["green", "yellow"], top_k=4)
    asked = ("which colour?", "--user", USER, "--image", str(balloon), "--option", "green", "--option", "yellow")
    done = run("explain", *asked, "--top-k", "4", "--json", "--data-dir", str(folder_of(told)))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["data"] == without_pictures(expected)
    assert "image_to_image" in expected[0]["channels"]
    assert urls_of(expected[0])


def test_a_process_that_explains_logs_afterwards_as_before(
    told: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    assert explain("balloon", "--user", "ann", MMMEM_DATA_DIR=str(folder_of(told))).exit_code == 0
    logging.getLogger("mmmem.store").warning("a warning of the next that works here")
    assert caplog.messages == ["a warning of the next that works here"]


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_running_service_is_asked_over_http(told: RunningService, balloon: Path, slash: str) -> None:
    picture = f"data:image/png;base64,{base64.b64encode(balloon.read_bytes()).decode()}"
    expected = answered(told, [image_part(picture)])
    done = explain("", "--user", USER, "--image", str(balloon), "--json", "--url", told.url + slash)
    assert json.loads(done.stdout)["data"] == without_pictures(expected)


@pytest.mark.parametrize("settings", [[], "", 1, True, "weight_lexical"])
def test_settings_that_are_no_object_are_refused_as_such(told: RunningService, settings: object) -> None:
    answer = told.client.post("/explain", json={"user_id": USER, "query": "bed", "top_k": 1, "settings": settings})
    assert answer.status_code == 422
    assert answer.json()["detail"]["reason"] == "settings: must be an object"


def test_a_picture_alone_is_a_question(told: RunningService, balloon: Path) -> None:
    asked = ("--user", USER, "--image", str(balloon), "--top-k", "1", "--json", "--url", told.url)
    expected = answered(told, [image_part(data_url(draw("red")))], top_k=1)
    explained = explain(*asked)
    assert json.loads(explained.stdout)["data"] == without_pictures(expected)
    found = CliRunner().invoke(app, ["search", *asked])
    [memory] = json.loads(found.stdout)["memories"]
    assert memory["id"] == expected[0]["id"]


def test_a_question_is_ranked_with_other_settings(told: RunningService) -> None:
    expected = answered(told, "which colour?", settings={"weight_lexical": 0.9, "fusion": "rrf", "token_idf": False})
    changed = ("--set", "weight_lexical=0.9", "--set", "fusion=rrf", "--set", "token_idf=false")
    done = explain("which colour?", "--user", USER, "--json", "--url", told.url, *changed)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["data"] == without_pictures(expected)
    assert expected != answered(told, "which colour?")


def test_a_picture_is_shown_with_what_it_was_taken_for(service: RunningService) -> None:
    page = Image.new("RGB", (600, 120), "white")
    ImageDraw.Draw(page).text((20, 40), "Invoice 4711 [bold]paid[/bold]", "black", ImageFont.load_default(28))
    user = "shown a page"
    service.add_messages(user, [{"role": "user", "content": [image_part(data_url(page))]}])
    [memory] = service.post("/explain", {"query": "which invoice?", "user_id": user, "top_k": 5}).json()["data"]
    [picture] = memory["pictures"]
    assert "Invoice 4711" in picture["text"]
    done = explain("which invoice?", "--user", user, "--url", service.url)
    assert "(picture)" in done.stdout
    assert "Invoice 4711" in done.stdout
    assert "[bold]" in done.stdout, "what is written in a picture is no markup"


def test_what_a_picture_of_the_question_was_taken_for_comes_first(told: RunningService, tmp_path: Path) -> None:
    page = Image.new("RGB", (600, 120), "white")
    ImageDraw.Draw(page).text((20, 40), "Invoice 4711 [bold]", "black", ImageFont.load_default(28))
    path = tmp_path / "page.png"
    page.save(path)
    first = explain("", "--user", USER, "--image", str(path), "--url", told.url).stdout.splitlines()[0]
    assert first.startswith("asked with (picture)")
    assert "Invoice 4711 [bold]" in first


def blocks(printed: str) -> list[list[str]]:
    return [block.splitlines() for block in printed.strip("\n").split("\n\n")]


def test_the_tables_say_what_the_service_answers(told: RunningService) -> None:
    expected = answered(told, "Which colour is the green boat?")
    done = explain("Which colour is the green boat?", "--user", USER, "--url", told.url)
    assert done.exit_code == 0
    assert len(blocks(done.stdout)) == len(expected) == 5
    for place, (memory, lines) in enumerate(zip(expected, blocks(done.stdout), strict=True), start=1):
        assert lines[0].split()[:2] == [str(place), f"{memory['score']:.3f}"]
        rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("    ") and line.split()}
        for name, said in memory["channels"].items():
            numbers = [f"{said['rank']}", f"{said['score']:.3f}", f"{said['weight']:.2f}", f"{said['added']:+.3f}"]
            assert rows[name] == numbers
        for name in ("fused", "reranked"):
            if memory[name] is None:  # a picture in which no words are has none to compare
                assert (name, rows[name]) == ("reranked", ["–", "–"])
                continue
            assert rows[name] == [f"{memory[name]['rank']}", f"{memory[name]['score']:.3f}"]


def test_the_tokens_that_met_are_shown_as_many_as_wanted(told: RunningService) -> None:
    for wanted in (0, 2):
        asked = ("the green boat", "--user", USER, "--url", told.url, "--top-k", "1", "--tokens", str(wanted))
        printed = explain(*asked).stdout
        assert printed.count(" → ") == wanted
    (memory,) = answered(told, "the green boat", top_k=1)
    first = memory["tokens"][0]
    cosine = f"{first['similarity']:.2f}".removeprefix("0")
    assert f"{first['query']} → {first['memory']} {cosine} ({first['weight']:.0%})" in printed


def test_when_who_and_two_lines_of_what(told: RunningService) -> None:
    printed = explain("bedroom", "--user", USER, "--url", told.url, "--top-k", "1").stdout
    text = printed.partition("    channel")[0]
    assert text.count("\n") == 2
    assert "[2024-01-01 00:00] user: We painted the bedroom green." in text
    assert text.rstrip().endswith("…")
    assert "(after this)" not in printed


def test_a_picture_is_shown_as_a_word(told: RunningService) -> None:
    printed = explain("balloon", "--user", USER, "--url", told.url).stdout
    (received,) = {memory["created_at"][:16] for memory in answered(told, "balloon") if urls_of(memory)}
    assert f"(picture) [received {received.replace('T', ' ')}] user: my balloon" in printed
    assert "base64" not in printed


def test_stored_text_neither_rules_the_terminal_nor_is_taken_for_markup(told: RunningService) -> None:
    printed = explain("reversed boat", "--user", USER, "--url", told.url, COLUMNS="200").stdout
    assert "[bold red]no markup[/] :smile:" in printed
    assert all(line.isprintable() for line in printed.split("\n"))
    assert "2J reversed" in printed
    coloured = run("explain", "reversed boat", "--user", USER, "--url", told.url, FORCE_COLOR="1").stdout
    assert "\x1b[" in coloured  # ours
    assert not any(theirs in coloured for theirs in ("\x1b[31m", "\x1b]0;", "\x07", "\x9b", "\u202e"))


def test_a_terminal_without_unicode_gets_what_it_can_show(told: RunningService) -> None:
    done = run("explain", "bedroom", "--user", USER, "--url", told.url, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "bedroom green" in done.stdout


def test_a_user_whom_nobody_knows_has_no_memories(told: RunningService) -> None:
    done = run("explain", "bedroom", "--user", "nobody", "--data-dir", str(folder_of(told)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "no memories\n", "")
    assert explain("bedroom", "--user", "nobody", "--url", told.url).stdout == "no memories\n"
    assert json.loads(explain("bedroom", "--user", "nobody", "--url", told.url, "--json").stdout) == {
        "data": [],
        "query_pictures": [],
    }


def test_the_key_comes_from_the_option_or_the_environment(keyed_service: RunningService) -> None:
    asked = ("bedroom", "--user", USER, "--url", keyed_service.url)
    assert explain(*asked, "--key", KEY).stdout == "no memories\n"
    assert explain(*asked, MMMEM_API_KEY=KEY).stdout == "no memories\n"


@pytest.mark.parametrize("key", ["", "wrong", "wr\u00f6ng"])
def test_a_wrong_key_is_said_and_not_shown(keyed_service: RunningService, key: str) -> None:
    done = explain("bedroom", "--user", USER, "--url", keyed_service.url, "--key", key)
    ended_plainly(done.exit_code, done.stdout, done.stderr, "key; send it as")
    assert "wr\u00f6ng" not in done.stderr


def ended_plainly(code: int, stdout: str, stderr: str, said: str) -> None:
    """With exit code 1 and one line that says why."""
    assert (code, stdout) == (1, "")
    assert stderr.startswith("mmmem: ")
    assert stderr.count("\n") == 1
    assert said in stderr


@pytest.mark.parametrize("content", ["no picture", ""])
def test_a_bad_picture_is_named(told: RunningService, tmp_path: Path, content: str) -> None:
    bad = tmp_path / "bad.png"
    bad.write_text(content)
    asked = ("bedroom", "--user", USER, "--image", str(bad))
    local = run("explain", *asked, "--data-dir", str(folder_of(told)))
    ended_plainly(local.returncode, local.stdout, local.stderr, f"--image {bad}: ")
    remote = explain(*asked, "--url", told.url)
    assert (remote.exit_code, remote.stderr) == (1, local.stderr)


def test_a_picture_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path, problem in ((tmp_path / "none.png", "No such file"), (tmp_path, "Is a directory")):
        done = explain("bedroom", "--user", USER, "--image", str(path))
        ended_plainly(done.exit_code, done.stdout, done.stderr, f"--image {path}: {problem}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("", "--user", "u"), "QUESTION: must not be blank"),
        (("bedroom", "--user", ""), "--user: must not be empty"),
        (("bedroom", "--user", "u", "--top-k", "1001"), "--top-k: must be at most 1,000"),
        (
            ("bedroom", "--user", "u", "--set", "weight_date=-1"),
            "--set weight_date: must be greater than or equal to 0",
        ),
        (("bedroom", "--user", "u", "--set", "fusion=sum"), "--set fusion: must be 'zscore' or 'rrf'"),
        (("bedroom", "--user", "u", "--set", "port=80"), "--set: holds a name that is no setting of the ranking"),
    ],
)
def test_what_the_service_would_refuse_is_named_as_the_option(
    told: RunningService, arguments: tuple[str, ...], said: str
) -> None:
    for source in (("--url", told.url), ("--data-dir", str(folder_of(told)))):
        done = explain(*arguments, *source)
        ended_plainly(done.exit_code, done.stdout, done.stderr, said)


def test_a_folder_without_a_store_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    (tmp_path / "_store.lance").mkdir()  # a folder of the name, and no store in it
    for folder in (tmp_path, tmp_path / "missing", tmp_path / "note.txt"):
        done = run("explain", "bedroom", "--user", USER, "--data-dir", str(folder))
        ended_plainly(done.returncode, done.stdout, done.stderr, "data_dir: there is no store")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_store.lance", "note.txt"]


@pytest.mark.parametrize(
    "url", ["http://xn--a.com:99999", "http://a..b/", f"http://{'a' * 300}/", "http://[", "ftp://a"]
)
def test_what_is_no_address_is_said_in_one_line(url: str) -> None:
    done = explain("bedroom", "--user", USER, "--url", url)
    ended_plainly(done.exit_code, done.stdout, done.stderr, "--url: ")


def test_a_store_that_cannot_be_read_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "_store.lance" / "_versions").mkdir(parents=True)
    (tmp_path / "locks").write_text("no folder")
    done = run("explain", "bedroom", "--user", USER, "--data-dir", str(tmp_path))
    ended_plainly(done.returncode, done.stdout, done.stderr, "data_dir: the folder cannot be used")


@pytest.fixture
def stranger() -> Iterator[str]:
    """The address of a server that is no mmmem."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"data": [{"memory": "of something else"}]}')

        def log_message(self, *_: Any) -> None:
            """Not in the tests' output."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_service_that_is_none_is_said_plainly(told: RunningService, stranger: str) -> None:
    for url, said in (
        ("http://127.0.0.1:9", "Connection refused"),
        ("localhost", "--url: Request URL is missing"),
        ("http://[::1", "--url: Invalid port"),
        (stranger, "--url: answered 200, and not as mmmem's /explain does"),
        (told.url + "/elsewhere", "--url: answered 404: Not Found"),
    ):
        done = explain("bedroom", "--user", USER, "--url", url)
        ended_plainly(done.exit_code, done.stdout, done.stderr, said)


def test_a_key_that_no_header_can_carry_is_not_shown(stranger: str) -> None:
    done = explain("bedroom", "--user", USER, "--url", stranger, "--key", "47\n11")
    ended_plainly(done.exit_code, done.stdout, done.stderr, "--key: ")
    assert "11" not in done.stderr


def test_a_wrong_setting_ends_it_as_it_ends_the_service() -> None:
    done = explain("bedroom", "--user", USER, MMMEM_MAX_TOP_K="many")
    assert (done.exit_code, done.stderr.startswith("mmmem: MMMEM_MAX_TOP_K: ")) == (2, True)


def test_a_folder_and_a_service_at_once_are_refused() -> None:
    done = explain("bedroom", "--user", USER, "--url", "http://127.0.0.1:9", "--data-dir", "data")
    assert done.exit_code == 2
    assert "not both" in done.stderr


def test_what_the_reranker_did_not_see_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    place = {"rank": 3, "score": 0.5}
    memory = {"id": "m", "content": "user: hello", "score": 0.5, "created_at": "2024-01-01T00:00:00Z", "channels": {}}
    memory |= {"role": "user", "session_id": "s"}
    screen = console()
    screen.print(
        view(
            3,
            ExplainedMemory.model_validate({**memory, "fused": place, "reranked": None, "tokens": [], "pictures": []}),
            screen,
            8,
        )
    )
    printed = capsys.readouterr().out
    assert [line.split() for line in printed.splitlines()[-2:]] == [["fused", "3", "0.500"], ["reranked", "–", "–"]]


@pytest.mark.parametrize(
    ("piece", "by_word", "read"),
    [
        ("paint", False, "paint"),
        ("##ing", False, "…ing"),
        ("##", False, "##"),
        ("▁paint", True, "paint"),
        ("ing", True, "…ing"),
        ("▁", True, "▁"),
        ("\x1b", False, ""),
    ],
)
def test_a_piece_of_a_word_reads_as_one(piece: str, by_word: bool, read: str) -> None:
    assert word(piece, by_word) == read

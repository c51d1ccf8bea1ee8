"""scripts/debug_image_query.py shows why a picture came or did not: on the terminal, on a page that loads nothing, and as a picture."""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
import unicodedata
from hashlib import sha256
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont
from typer.testing import CliRunner, Result

from mmmem.api.contract import ExplainAnswer
from mmmem.settings import Settings
from tests.conftest import KEY
from tests.contract.pictures import data_url, draw, image_part, text_part
from tests.running import DEADLINE, RunningService, text_of, urls_of

SCRIPTS = Path(__file__).parents[1] / "scripts"
USER = "someone who <b>tunes</b> retrieval"
ROLE = '"><svg onload=alert(1)>'
HOSTILE = (
    "<script>alert('x')</script> \"quoted\" </style><img src=http://evil.example/x.png onerror=alert(1)> &amp; &lt;b&gt; "
    "\u202eesrever\u202c \u2066isolated\u2069 \x1b[31mred\x07 \x00 \x9b2J \ud800 \ufdd0 \u2028 \U000e0041 ]]> <!-- 小猫 שלום 🐈"
)
LAST = "My aunt keeps bees in a small garden by the lake."


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts can be imported."""
    monkeypatch.syspath_prepend(SCRIPTS)


def page_of_text() -> Image.Image:
    page = Image.new("RGB", (600, 120), "white")
    ImageDraw.Draw(page).text((20, 40), "Invoice 4711 <b>paid</b>", "black", ImageFont.load_default(28))
    return page


PICTURES = {
    "balloon": draw("red"),
    "square": draw("green", "rectangle"),
    "first of two": draw("blue"),
    "second of two": draw("orange", "rectangle"),
    "hostile": draw("purple"),
}


@pytest.fixture(scope="module")
def told(service: RunningService) -> RunningService:
    """A service that was told eleven things, five with pictures."""

    def picture(name: str) -> dict[str, object]:
        return image_part(data_url(PICTURES[name]))

    contents: list[Any] = [
        "We painted the bedroom green.",
        "The kitchen will be blue one day.",
        "The harbour is closed on Mondays.",
        [text_part("my red balloon"), picture("balloon")],
        [picture("square")],
        [text_part("two from the fair"), picture("first of two"), picture("second of two")],
        [image_part(data_url(page_of_text()))],
        "She sings in a choir on Thursdays.",
        "The train to Leeds was late again.",
        LAST,
    ]
    messages = [
        {"role": "user", "content": content, "timestamp": 1_704_067_200_000 + n * 3_600_000}
        for n, content in enumerate(contents)
    ]
    messages.append({"role": ROLE, "content": [text_part(HOSTILE), picture("hostile")], "timestamp": 1_704_200_000_000})
    service.add_messages(USER, messages)
    return service


@pytest.fixture
def balloon(tmp_path: Path) -> Path:
    """The balloon's picture, as a file."""
    path = tmp_path / "balloon.png"
    PICTURES["balloon"].save(path)
    return path


def ask(out: Path, *arguments: str, user: str = USER, **settings: str) -> Result:
    """The script in this process, with these variables and no other of ours."""
    others: dict[str, str | None] = {name: None for name in os.environ if name.startswith("MMMEM_")}
    app = import_module("debug_image_query").app
    return CliRunner().invoke(app, ["--user", user, "--out", str(out), *arguments], env=others | settings)


def asked(out: Path, *arguments: str, **settings: str) -> tuple[str, Page, Image.Image]:
    """What is printed, the page and the picture."""
    done = ask(out, *arguments, **settings)
    assert done.exit_code == 0, done.output
    with Image.open(out / "image-query.png") as picture:
        return done.stdout, Page((out / "image-query.html").read_text(encoding="utf-8")), picture.convert("RGB")


def answered(service: RunningService, query: Any, top_k: int = 1_000) -> list[dict[str, Any]]:
    answer = service.post("/explain", {"query": query, "user_id": USER, "top_k": top_k})
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


class Page(HTMLParser):
    """A page as a browser would take it: its tags, and the text and pictures of each card."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = self.style = ""
        self.cards: list[str] = []
        self.pictures: list[list[str]] = []
        self._inside: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "article":
            self.cards.append("")
            self.pictures.append([])
        if tag not in {"meta", "img"}:
            self._inside.append(tag)
        elif tag == "img" and "article" in self._inside:
            self.pictures[-1].append(dict(attrs)["src"] or "")

    def handle_endtag(self, tag: str) -> None:
        assert self._inside.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self._inside:
            self.style += data
        else:
            self.text += data + "\n"
        if "article" in self._inside:
            self.cards[-1] += data + "\n"


def pixels(url: str) -> np.ndarray[Any, Any]:
    """The picture in a data: URL, int [h, w, 3]."""
    header, _, data = url.partition(",")
    assert header == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as image:
        return np.asarray(image.convert("RGB"), dtype=int)


def times_shown(picture: Image.Image, sheet: Image.Image) -> int:
    """In how many places the sheet has just these pixels."""
    sought, there = np.asarray(picture), np.asarray(sheet)
    height, width = there.shape[0] - sought.shape[0] + 1, there.shape[1] - sought.shape[1] + 1
    places = np.ones((height, width), dtype=bool)
    pick = np.random.default_rng(0)
    for y, x in zip(pick.integers(0, sought.shape[0], 50), pick.integers(0, sought.shape[1], 50), strict=True):
        places &= (there[y : y + height, x : x + width] == sought[y, x]).all(axis=2)
    return sum(
        np.array_equal(there[y : y + sought.shape[0], x : x + sought.shape[1]], sought)
        for y, x in zip(*np.nonzero(places), strict=True)
    )


def rows(printed: str, title: str) -> list[list[str]]:
    """The lines of a table, in words, without its header."""
    _, _, rest = printed.partition(f"\n{title}")
    return [line.split() for line in rest.partition("\n\n")[0].splitlines()[2:] if line.strip()]


def test_the_best_of_each_channel_are_printed_as_explain_answers(told: RunningService, tmp_path: Path) -> None:
    printed, _, _ = asked(tmp_path, "--text", "a red balloon", "--url", told.url, "--top", "3")
    memories = answered(told, "a red balloon")
    names = {name for memory in memories for name in memory["channels"]}
    assert {"maxsim", "lexical", "text_to_image"} <= names
    for name in names:
        lines = rows(printed, f"{name}: weight")
        assert 0 < len(lines) <= 3
        for line in lines:
            (memory,) = [memory for memory in memories if memory["id"].startswith(line[5])]
            said = memory["channels"][name]
            assert line[:2] == [str(said["rank"]), f"{said['score']:.3f}"]
            assert float(line[2]) == pytest.approx(said["added"] / said["weight"], abs=0.006)
            assert float(line[3]) == pytest.approx(said["added"], abs=0.006)
            assert memories[int(line[4]) - 1] is memory
        ranks = [int(line[0]) for line in lines]
        assert ranks == sorted(ranks)
        assert ranks[0] == 1
    came = rows(printed, "what came")
    assert [line[5] for line in came] == [memory["id"][:16] for memory in memories[:3]]


def test_a_card_holds_all_that_is_known_of_a_memory(told: RunningService, tmp_path: Path) -> None:
    _, page, _ = asked(tmp_path, "--text", "my red balloon", "--url", told.url, "--top", "4")
    memories = answered(told, "my red balloon")
    assert len(page.cards) == 4
    for place, (memory, card) in enumerate(zip(memories, page.cards, strict=False), start=1):
        assert f"#{place}  score {memory['score']:.3f}" in card
        assert memory["id"] in card
        assert memory["created_at"][:16].replace("T", " ") in card
        for name, said in memory["channels"].items():
            assert f"{name}\n{said['added']:+.2f}" in card
            assert f"{said['score']:.3f}\n{said['rank']}\n" in card
        assert f"fused\n{memory['fused']['score']:+.2f}\n{memory['fused']['rank']}\n" in card
        assert [label for picture in memory["pictures"] for label in picture["labels"] if label not in card] == []
    assert "my red balloon" in page.cards[0]


def test_the_thumbnails_on_the_page_are_the_stored_pictures(told: RunningService, tmp_path: Path) -> None:
    _, page, _ = asked(tmp_path, "--text", "my red balloon", "--url", told.url, "--top", "1")
    ((thumbnail,),) = page.pictures
    stored = np.asarray(PICTURES["balloon"], dtype=int)
    assert pixels(thumbnail).shape == stored.shape
    assert np.abs(pixels(thumbnail) - stored).mean() < 4  # saved again as JPEG


def test_a_memory_with_several_pictures_shows_them_all(told: RunningService, tmp_path: Path) -> None:
    _, page, sheet = asked(tmp_path, "--text", "two from the fair", "--url", told.url, "--top", "1")
    ((first, second),) = page.pictures
    for thumbnail, name in ((first, "first of two"), (second, "second of two")):
        assert np.abs(pixels(thumbnail) - np.asarray(PICTURES[name], dtype=int)).mean() < 4
        assert times_shown(PICTURES[name], sheet)


def test_the_picture_of_the_sheet_has_the_question_and_the_hits(
    told: RunningService, balloon: Path, tmp_path: Path
) -> None:
    _, page, sheet = asked(tmp_path, str(balloon), "--text", "which fair?", "--url", told.url)
    shown = {name: times_shown(picture, sheet) for name, picture in PICTURES.items()}
    assert shown["balloon"] >= 3, "the question, the hit, and the best of a channel"
    assert all(shown.values())
    assert not times_shown(draw("pink"), sheet)
    assert "which fair?" in page.text


def test_what_is_written_in_pictures_is_shown_for_the_question_too(told: RunningService, tmp_path: Path) -> None:
    path = tmp_path / "page.png"
    page_of_text().save(path)
    printed, page, _ = asked(tmp_path, str(path), "--url", told.url, "--top", "1")
    first = printed.splitlines()[0]
    assert first.startswith("asked with (picture)")
    assert "Invoice 4711" in first
    before, _, after = page.text.partition("What came")
    assert "Invoice 4711" in before
    assert "Invoice 4711" in after
    assert "<b>paid</b>" in page.cards[0].replace(" ", "")


def test_the_page_loads_nothing_and_runs_nothing(told: RunningService, balloon: Path, tmp_path: Path) -> None:
    _, page, _ = asked(tmp_path, str(balloon), "--text", "red", "--url", told.url, "--expect", "mem_")
    links = [value for _, attributes in page.tags for name, value in attributes.items() if name in {"src", "href"}]
    assert links
    assert all(link and link.startswith("data:image/jpeg;base64,") for link in links)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "iframe", "object", "embed", "form", "base", "video", "audio", "a"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "style"]
    assert "@import" not in page.style
    assert "url(" not in page.style
    (policy,) = [a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    allowed = base64.b64encode(sha256(page.style.encode()).digest()).decode()
    assert policy is not None
    assert set(policy.split("; ")) == {
        "default-src 'none'",
        "img-src data:",
        f"style-src 'sha256-{allowed}'",
        "base-uri 'none'",
        "form-action 'none'",
    }


def test_hostile_text_is_text(told: RunningService, tmp_path: Path) -> None:
    question = f"quoted isolated {HOSTILE}".replace("\x00", "")
    printed, page, sheet = asked(
        tmp_path, f"--text={question}", "--url", told.url, "--top", "11", "--expect", "<script>alert(2)</script>\u202e"
    )
    _, plain, _ = asked(tmp_path / "plain", "--text", "red", "--url", told.url, "--top", "11")
    assert {tag for tag, _ in page.tags} - {"p", "bdi"} == {tag for tag, _ in plain.tags} - {"p", "bdi"}
    assert {name for _, attributes in page.tags for name in attributes} == {
        name for _, attributes in plain.tags for name in attributes
    }
    (card,) = [card for card in page.cards if "alert('x')" in card]
    for written in ("<script>alert('x')</script> \"quoted\" </style>", "&amp; &lt;b&gt;", "小猫 שלום 🐈", ROLE):
        assert written in card
    assert USER in page.text
    for text in (page.source, printed):
        assert not {unicodedata.category(character) for character in text if character != "\n"} & {
            "Cc",
            "Cf",
            "Cs",
            "Co",
            "Cn",
            "Zl",
            "Zp",
        }
    assert times_shown(PICTURES["hostile"], sheet)


def test_why_an_expected_memory_did_not_come(told: RunningService, balloon: Path, tmp_path: Path) -> None:
    memories = answered(told, [text_part("my red balloon"), image_part(data_url(PICTURES["balloon"]))])
    (bees,) = [memory for memory in memories if LAST in text_of(memory).splitlines()[0]]
    place = memories.index(bees) + 1
    assert place > 2
    options = (str(balloon), "--text", "my red balloon", "--url", told.url, "--top", "2")
    printed, page, _ = asked(
        tmp_path, *options, "--expect", bees["id"], "--expect", memories[0]["id"], "--expect", "mem_of_another"
    )
    short = min(memory["fused"]["score"] for memory in memories[:2]) - bees["fused"]["score"]
    for text in (printed, page.text):
        flat = " ".join(text.split())
        assert f"at place {place}, by fusion at {bees['fused']['rank']} with" in flat
        assert f"{short:.2f} less than place 2. Most is lost in" in flat
        assert "came at place 1" in flat
        assert "not among the 11 memories that came back" in flat
    assert LAST in page.cards[0], "its card stands before what came, with its rank in every channel"
    for name, said in bees["channels"].items():
        assert f"{name}\n{said['added']:+.2f}\n" in page.cards[0]
    kinds = [attributes["class"] for tag, attributes in page.tags if tag == "article"]
    assert kinds == ["card expected", "card expected", "card"]


def test_the_beginning_of_an_id_is_enough_to_expect_a_memory(told: RunningService, tmp_path: Path) -> None:
    first = answered(told, "my red balloon")[0]
    printed, _, _ = asked(tmp_path, "--text", "my red balloon", "--url", told.url, "--expect", first["id"][:16])
    assert f"expected {first['id'][:16]}: came at place 1" in printed


def test_a_memory_that_fusion_had_and_what_follows_moved_is_said_so(service: RunningService, tmp_path: Path) -> None:
    user = "who repeats"
    service.add(user, "The spare key is under the fern.", "The spare key is under the fern.", "The garden has ferns.")
    memories = service.post("/explain", {"query": "the spare key", "user_id": user, "top_k": 3}).json()["data"]
    repeat = memories[-1]
    assert repeat["fused"]["rank"] <= 2
    printed, _, _ = asked(
        tmp_path, "--text", "the spare key", "--url", service.url, "--top", "2", "--expect", repeat["id"], user=user
    )
    assert "at place 3" in printed
    assert "what follows fusion moved it" in printed


def test_a_data_folder_is_shown_as_the_service_shows_it(told: RunningService, balloon: Path, tmp_path: Path) -> None:
    printed, page, sheet = asked(tmp_path / "service", str(balloon), "--url", told.url)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")}
    script, folder = SCRIPTS / "debug_image_query.py", told.log.parent / "data"
    command = [sys.executable, str(script), "--user", USER, str(balloon), "--data-dir", str(folder)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "folder")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rpartition("wrote")[0] == printed.rpartition("wrote")[0]
    assert (tmp_path / "folder" / "image-query.html").read_text(encoding="utf-8") == page.source
    with Image.open(tmp_path / "folder" / "image-query.png") as other:
        assert np.array_equal(np.asarray(other), np.asarray(sheet))


def test_a_service_that_needs_a_key_is_asked_with_it(keyed_service: RunningService, tmp_path: Path) -> None:
    options = ("--text", "anything", "--url", keyed_service.url)
    refused = ask(tmp_path, *options)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "answered 401" in refused.stderr
    assert not list(tmp_path.iterdir())
    assert ask(tmp_path, *options, "--key", KEY).exit_code == 0
    assert ask(tmp_path, *options, MMMEM_API_KEY=KEY).exit_code == 0


def test_a_user_whom_nobody_knows_has_no_memories(told: RunningService, balloon: Path, tmp_path: Path) -> None:
    printed, page, sheet = asked(tmp_path, str(balloon), "--url", told.url, "--expect", "mem_1", user="nobody of these")
    assert printed.startswith("no memories\n")
    assert "no memories" in page.text
    assert page.cards == []
    assert times_shown(PICTURES["balloon"], sheet) == 1


@pytest.mark.parametrize(
    ("content", "said"), [(b"no picture", "is not an image"), (b"", "is not an image"), (None, "No such file")]
)
def test_a_picture_that_cannot_be_read_is_named(
    told: RunningService, tmp_path: Path, content: bytes | None, said: str
) -> None:
    bad = tmp_path / "bad.png"
    if content is not None:
        bad.write_bytes(content)
    done = ask(tmp_path / "out", str(bad), "--text", "red", "--url", told.url)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"mmmem: {bad}: {said}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--text", "red"), 2, "--url or --data-dir"),
        (("--url", "URL"), 2, "--text"),
        (("--url", "URL", "--text", "red", "--depth", "1001"), 1, "--depth: must be at most 1,000"),
        (("--url", "URL", "--text", "red", "--font", "FILE"), 1, "is no font"),
        (("--url", "URL", "--text", "red", "--out", "FILE"), 1, "--out"),
        (("--url", "http://127.0.0.1:9", "--text", "red"), 1, "--url: "),
        (("--data-dir", "FOLDER", "--text", "red"), 1, "data_dir: there is no store"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(
    told: RunningService, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    file = tmp_path / "file"
    file.write_text("some text")
    known = {"URL": told.url, "FILE": str(file), "FOLDER": str(tmp_path)}
    done = ask(tmp_path, *(known.get(argument, argument) for argument in arguments))
    assert done.exit_code == code
    assert said in done.stderr
    assert file.read_text() == "some text"


def test_a_picture_that_the_answer_had_no_room_for_is_said_to_be_missing(told: RunningService) -> None:
    memories = answered(told, "my red balloon")
    for memory in memories:  # as the service answers beyond MMMEM_MAX_IMAGES
        memory["content"] = text_of(memory) if urls_of(memory) else memory["content"]
    sheet = import_module("contact_sheet").Sheet.of(
        ExplainAnswer.model_validate({"data": memories}),
        Settings(_env_file=None),
        user=USER,
        question="my red balloon",
        images=[],
        top=1,
    )
    (card,) = Page(import_module("contact_sheet_html").html(sheet).decode()).cards
    assert "picture not in the answer" in card
    pen = import_module("contact_sheet_blocks").Pen()
    assert not times_shown(PICTURES["balloon"], import_module("contact_sheet_png").png_sheet(sheet, pen))


def test_a_sheet_takes_the_place_of_the_last_one(told: RunningService, tmp_path: Path) -> None:
    _, before, _ = asked(tmp_path, "--text", "my red balloon", "--url", told.url)
    _, after, _ = asked(tmp_path, "--text", "the harbour", "--url", told.url)
    assert "my red balloon" in before.text.partition("What came")[0]
    assert "the harbour" in after.text.partition("What came")[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["image-query.html", "image-query.png"]


@pytest.mark.parametrize("fonts", [("NoSuchFont.ttf",), ("DejaVuSans.ttf",)])
def test_any_text_can_be_drawn_whatever_fonts_there_are(
    monkeypatch: pytest.MonkeyPatch, fonts: tuple[str, ...]
) -> None:
    blocks = import_module("contact_sheet_blocks")
    monkeypatch.setattr(blocks, "FONTS", fonts)
    shown = import_module("contact_sheet_cards").shown
    for text in (
        HOSTILE,
        "小猫在窗台上睡觉" * 400,
        "x" * 9_000,
        "\u0301" * 500,
        "שלום " * 50,
        "👩‍👩‍👧🏽",
        "",
        " \n\n ",
        "a\tb",
    ):
        block = blocks.Pen().paragraph(shown(text), 200, 6)
        assert block.width == 200
        assert 0 < block.height <= 6 * 18


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.integers(1, 5))
@example("0" * 16, 1)  # … is wider than the 0 before it
def test_lines_fit_and_leave_nothing_out_unless_they_say_so(text: str, most: int) -> None:
    broken, font = import_module("contact_sheet_blocks").broken, ImageFont.load_default(13)
    shown = import_module("contact_sheet_cards").shown(text)
    lines = broken(shown, font, 120, most)
    assert len(lines) <= most
    assert all(font.getlength(line) <= 120 or len(line) <= 2 for line in lines)
    told = "".join("".join(lines).split())
    assert told == "".join(shown.split()) or (
        told.endswith("…") and len(lines) == most and "".join(shown.split()).startswith(told[:-1])
    )

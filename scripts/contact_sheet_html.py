"""A contact sheet as one HTML file that loads nothing: pictures are in it, no script runs, every text is text.

The tree is built and written by xml.etree, which escapes; the page's policy allows pictures in data: URLs and its own style, nothing else.
"""

from __future__ import annotations

import base64
import io
from hashlib import sha256
from xml.etree import ElementTree as ET

from contact_sheet import FIGURES, LEGEND, MINUS, PLUS, Best, Sheet
from contact_sheet_cards import Card, Picture
from PIL import Image

BAR = 180  # px between the longest bars to either side
STYLE = """
body { margin: 0 auto; max-width: 1500px; padding: 16px 24px; background: #f4f5f7; color: #1a202c; font: 13px/1.4 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0 0 8px; } h2 { font-size: 16px; margin: 24px 0 8px; } h3 { font-size: 14px; margin: 12px 0 4px; }
small, .dim { color: #667085; font-weight: normal; } .why { margin: 0 0 8px; font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(660px, 1fr)); gap: 12px; align-items: start; }
.card, .question { display: flex; gap: 14px; background: #fff; border: 1px solid #d8dce3; border-radius: 6px; padding: 12px; }
.expected { border: 2px solid #b7791f; background: #fffdf5; }
.said { flex: 1; min-width: 0; } .said header { font-weight: 600; } .id { font: 11px ui-monospace, monospace; overflow-wrap: anywhere; }
.text, .read { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 8.4em; overflow: auto; margin: 4px 0; }
.read { background: #f0f4f8; padding: 2px 5px; border-radius: 3px; font-size: 12px; }
.pictures { display: flex; flex-wrap: wrap; gap: 8px; width: 224px; flex: none; align-content: start; }
.question .pictures { width: auto; max-width: 60%; flex: initial; } figure { margin: 0; max-width: 224px; } img { display: block; max-width: 100%; border-radius: 3px; }
figcaption { font-size: 12px; } .none { background: #e8ebf0; color: #667085; padding: 24px 12px; text-align: center; border-radius: 3px; }
table { border-collapse: collapse; } td, th { padding: 0 8px 0 0; text-align: right; font-variant-numeric: tabular-nums; font-weight: normal; white-space: nowrap; }
td:first-child, th:first-child { text-align: left; } th { color: #667085; font-size: 11px; } .sum td { font-weight: 600; }
.caption { white-space: pre-line; }
.strip { display: flex; flex-wrap: wrap; gap: 8px; list-style: none; margin: 0; padding: 0; }
.strip li { width: 128px; background: #fff; border: 1px solid #d8dce3; border-radius: 4px; padding: 6px; font-size: 11px; box-sizing: border-box; }
.strip li.far { background: #eceef2; } .strip img { max-height: 100px; margin: 0 auto; } .strip .text { max-height: 7em; margin: 0; overflow: hidden; }
"""


def html(sheet: Sheet) -> bytes:
    """The file, in UTF-8."""
    policy = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element(
            "meta",
            **{"http-equiv": "Content-Security-Policy"},
            content=f"default-src 'none'; img-src data:; style-src 'sha256-{policy}'; base-uri 'none'; form-action 'none'",
        ),
        element("title", "Image query"),
        element("style", STYLE),
    )
    page = element("html", head, element("body", *_sections(sheet)), lang="en")
    return f"<!doctype html>\n{ET.tostring(page, encoding='unicode', method='html')}\n".encode()


def element(name: str, *children: ET.Element | str, **attributes: str) -> ET.Element:
    """An element with text and other elements in it. `kind` is its class."""
    made = ET.Element(name, {"class" if key == "kind" else key: value for key, value in attributes.items() if value})
    for child in children:
        if isinstance(child, ET.Element):
            made.append(child)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + child
        else:
            made.text = (made.text or "") + child
    return made


def _sections(sheet: Sheet) -> list[ET.Element]:
    asked = element(
        "div",
        *([_pictures(sheet.pictures)] if sheet.pictures else []),
        element(
            "div",
            element("div", sheet.question or "(no words)", kind="text", dir="auto"),
            element("div", "asked as ", element("bdi", sheet.user), kind="dim"),
            kind="said",
        ),
        kind="question",
    )
    made = [element("h1", "Image query"), asked]
    if sheet.expected:
        made.append(element("h2", "What ought to come"))
        for identifier, card in sheet.awaited:
            made.append(element("p", element("bdi", identifier, kind="id"), f" {sheet.why(card)}", kind="why"))
            made += [_card(card, sheet)] if card and card.place > sheet.top else []
    about = f"the first {len(sheet.hits)} of {len(sheet.cards)}" if sheet.cards else "no memories"
    made += [element("h2", "What came ", element("small", about)), element("p", LEGEND, kind="dim")]
    made.append(element("div", *(_card(card, sheet) for card in sheet.hits), kind="cards"))
    if sheet.channels:
        made.append(element("h2", "The best of each channel ", element("small", "grey: not among what came above")))
    for channel in sheet.channels:
        made += _best(sheet.best(channel), sheet)
    return made


def _card(card: Card, sheet: Sheet) -> ET.Element:
    score = f"#{card.place}  score {card.memory.score:.3f}  "
    said = element(
        "div",
        element("header", score, element("small", card.time)),
        element("bdi", card.id, kind="id dim"),
        element("div", card.text, kind="text", dir="auto"),
        _channels(card, sheet),
        kind="said",
    )
    pictures = [_pictures(card.pictures)] if card.pictures else []
    return element("article", *pictures, said, kind="card expected" if sheet.awaits(card) else "card")


def _pictures(pictures: tuple[Picture, ...]) -> ET.Element:
    figures = []
    for picture in pictures:
        read = [element("div", picture.text, kind="read", dir="auto")] if picture.text else []
        figures.append(element("figure", _thumbnail(picture), element("figcaption", picture.taken_for, *read)))
    return element("div", *figures, kind="pictures")


def _thumbnail(picture: Picture, size: int = 0) -> ET.Element:
    if isinstance(picture.thumbnail, str):
        return element("div", picture.instead, kind="none")
    image = picture.thumbnail.copy()
    if size:
        image.thumbnail((size, size))
    return element("img", src=data_url(image), alt=picture.labels or "picture")


def data_url(image: Image.Image) -> str:
    """The image as JPEG."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def _channels(card: Card, sheet: Sheet) -> ET.Element:
    rows = [element("tr", *(element("th", name) for name in ("channel", "", *FIGURES)))]
    for line in sheet.lines(card):
        bar = [] if line.share is None else [_bar(line.share)]
        cells = [element("td", figure) for figure in line.figures or ("–",)]
        rows.append(
            element(
                "tr",
                element("td", line.name),
                element("td", *bar),
                *cells,
                kind="" if bar else "sum" if line.figures else "dim",
            )
        )
    return element("table", *rows)


def _bar(share: float) -> ET.Element:
    middle = BAR / 2
    length = min(abs(share), 1) * middle
    start = middle if share >= 0 else middle - length
    colour = PLUS if share >= 0 else MINUS
    bar = element("rect", x=f"{start:.1f}", y="2", width=f"{length:.1f}", height="9", fill=colour)
    axis = element("rect", x=f"{middle - 0.5}", y="0", width="1", height="13", fill="#98a2b3")
    return element("svg", bar, axis, width=f"{BAR}", height="13")


def _best(best: Best, sheet: Sheet) -> list[ET.Element]:
    items = []
    for card in best.cards:
        told = [_thumbnail(picture, 112) for picture in card.pictures[:1]]
        items.append(
            element(
                "li",
                *(told or [element("div", card.text, kind="text", dir="auto")]),
                element("div", best.caption(card), kind="caption"),
                kind="far" if card.place > sheet.top else "",
            )
        )
    return [element("h3", best.title), element("ol", *items, kind="strip")]

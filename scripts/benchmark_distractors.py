"""Pictures that nobody asks about: more screenshots of the same kinds, charts, gradients, patterns, patches of textures."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from benchmark_alterations import cut, scaled
from benchmark_screens import ACCENTS, DARK, Content, font, page, render
from PIL import Image, ImageChops, ImageOps

SCREENS_OF_A_KIND, CHARTS, PATTERNS, PATCHES = 7, 26, 26, 4

NAMES = [
    "Abena",
    "Bjorn",
    "Chiara",
    "Deniz",
    "Emeka",
    "Freya",
    "Goran",
    "Hana",
    "Igor",
    "Jolene",
    "Kamal",
    "Lotte",
    "Mirela",
    "Noor",
    "Otis",
]
SHOPS = ["Kiosk Nord", "Super Fresh", "Tea & Co", "Blumen Weiss", "Paper Moon", "Sole Shoes", "Toy Island", "Fish Hall"]
GOODS = [
    "Bananas",
    "Soap",
    "Notebook",
    "Candles",
    "Batteries",
    "Olives",
    "Socks",
    "Tulips",
    "Honey",
    "Puzzle",
    "Stamps",
    "Yoghurt",
]
TOPICS = [
    "Hiring",
    "Roadmap",
    "Recycling",
    "Safety",
    "Pricing",
    "Training",
    "Solar power",
    "Volunteers",
    "Fundraising",
    "Oceans",
]
TASKS = [
    "send the minutes",
    "water the ferns",
    "call the bank",
    "renew the passes",
    "sweep the yard",
    "pick the songs",
    "buy twine",
]
NOUNS = [
    "account",
    "basket",
    "cursor",
    "folder",
    "gallery",
    "header",
    "magnet",
    "parcel",
    "ribbon",
    "signal",
    "ticket",
    "voucher",
]


def distractors(textures: Mapping[str, Image.Image]) -> dict[str, Image.Image]:
    """All of them by name. A patch of a texture is named "<texture> patch <n>"."""
    made = {
        f"other {kind} {n}": render(kind, content(random.Random(f"other {kind} {n}")), 100 + n)
        for kind, content in CONTENTS.items()
        for n in range(SCREENS_OF_A_KIND)
    }
    made |= {f"chart {n}": chart(random.Random(f"chart {n}")) for n in range(CHARTS)}
    made |= {f"pattern {n}": pattern(random.Random(f"pattern {n}")) for n in range(PATTERNS)}
    for name, texture in textures.items():
        for n in range(PATCHES):  # its corners, enlarged, half of them brighter
            patch = scaled(cut(texture, 0.35, n % 2, n // 2), 1.5)
            made[f"{name} patch {n}"] = patch.point(lambda level: min(255, level * 1.3)) if n % 2 else patch
    return made


def chart(pick: random.Random) -> Image.Image:
    """Bars, lines, dots or a pie, with a title and axes."""
    image, pen = page(
        pick.choice((480, 600, 720)), pick.choice((320, 400)), pick.choice(("white", "#fafafa", DARK[1][0]))
    )
    dark, count = image.getpixel((0, 0)) == (13, 17, 23), pick.randint(4, 9)
    ink, colour = ("#dddddd" if dark else "#222222"), pick.choice(ACCENTS)
    left, top, right, low = 60, 50, image.width - 30, image.height - 45
    title = f"{pick.choice(TOPICS)} by {pick.choice(('month', 'team', 'region', 'year'))}"
    pen.text((image.width / 2, 24), title, ink, font(18), "mm")
    values = [pick.uniform(0.1, 1) for _ in range(count)]
    kind = pick.choice(("bars", "lines", "dots", "pie"))
    if kind == "pie":
        box, start, total = (left + 60, top, left + 60 + low - top, low), 0.0, sum(values)
        for place, value in enumerate(values):
            pen.pieslice(box, start, start + 360 * value / total, ACCENTS[place % len(ACCENTS)], "white")
            start += 360 * value / total
        return image
    pen.line((left, top, left, low, right, low), ink, 2)
    step = (right - left) / count
    points = [(left + step * (n + 0.5), low - (low - top) * value) for n, value in enumerate(values)]
    if kind == "lines":
        pen.line(points, colour, 3)
    for n, (x, y) in enumerate(points):
        if kind == "bars":
            pen.rectangle((x - step / 3, y, x + step / 3, low), colour)
        else:
            pen.ellipse((x - 5, y - 5, x + 5, y + 5), colour)
        pen.text((x, low + 14), f"{n + 1}", ink, font(13), "mm")
    return image


def pattern(pick: random.Random) -> Image.Image:
    """Gradients, stripes, tiles, discs and clouds in two colours."""
    width, height, size = pick.choice((320, 480, 600)), pick.choice((320, 400)), pick.randint(16, 60)
    kind = pick.choice(("linear", "radial", "stripes", "tiles", "discs", "clouds"))
    dark, light = (f"hsl({pick.randrange(360)}, {pick.randint(20, 90)}%, {share}%)" for share in (30, 75))
    if kind == "linear":
        mask = Image.linear_gradient("L").rotate(90 * pick.randrange(4))
    elif kind == "radial":
        mask = Image.radial_gradient("L")
    elif kind == "clouds":
        coarse = Image.frombytes("L", (12, 10), pick.randbytes(120)).resize((256, 256), Image.Resampling.BICUBIC)
        fine = Image.frombytes("L", (60, 50), pick.randbytes(3_000)).resize((256, 256), Image.Resampling.BICUBIC)
        mask = ImageChops.add(coarse, fine, 2)
    else:
        drawn, pen = page(width, height, "black")
        for row, y in enumerate(range(0, height, size)):
            if kind == "stripes" and row % 2:
                pen.rectangle((0, y, width, y + size), "white")
            for x in range(-size * (row % 2), width, 2 * size) if kind != "stripes" else ():
                shape = pen.ellipse if kind == "discs" else pen.rectangle
                shape((x + 2, y + 2, x + (2 * size if kind == "tiles" else size) - 3, y + size - 3), "white")
        mask = drawn.convert("L")
    return ImageOps.colorize(mask.resize((width, height)), dark, light)


def _chat(pick: random.Random) -> Content:
    said = (
        "Can you {task} before lunch?", "Sure, right after the call", "{name} asked whether to {task}", "Not today, sorry",
        "I will {task} on my way", "{name} is late again", "No worries at all", "Thanks, you are a star",
    )  # fmt: skip
    lines = [pick.choice(said).format(task=pick.choice(TASKS), name=pick.choice(NAMES)) for _ in range(4)]
    return {"title": pick.choice(NAMES), "lines": [(("me", "them")[n % 2], line) for n, line in enumerate(lines)]}


def _receipt(pick: random.Random) -> Content:
    prices = [pick.randint(80, 1_900) for _ in range(pick.randint(2, 5))]
    items = [(name, f"{price / 100:.2f}") for name, price in zip(pick.sample(GOODS, len(prices)), prices, strict=True)]
    footer = f"Thank you  Till {pick.randint(1, 9)}"
    return {"shop": pick.choice(SHOPS), "items": items, "total": f"{sum(prices) / 100:.2f}", "footer": footer}


def _slide(pick: random.Random) -> Content:
    topic = pick.choice(TOPICS)
    bullets = [f"{pick.choice(NAMES)} will {task}" for task in pick.sample(TASKS, 3)]
    return {"title": f"{topic}: where we stand", "bullets": bullets}


def _code(pick: random.Random) -> Content:
    one, two, three = pick.sample(NOUNS, 3)
    lines = [
        f"def open_{one}({two}, {three}=None):",
        f"    for entry in {two}.entries:",
        f"        if entry.{three} is None:",
        "            continue",
        f"        yield {one.title()}(entry, size={pick.randint(2, 99)})",
    ]
    return {"file": f"{one}s.py", "lines": lines}


def _terminal(pick: random.Random) -> Content:
    noun, number = pick.choice(NOUNS), pick.randint(2, 400)
    logs = (
        f"$ make {noun}", f"[ok] {number} {noun}s copied", f"WARN  {noun} cache is cold", f"$ ls -l {noun}s",
        f"total {number}", f"ERROR no such {noun}: {number}", f"INFO  {noun} ready after {number} ms",
    )  # fmt: skip
    return {"lines": pick.sample(logs, 5)}


def _table(pick: random.Random) -> Content:
    rows = [
        (name, pick.choice(TOPICS), str(pick.randint(1, 90)), f"{pick.randint(8, 18)}:00")
        for name in pick.sample(NAMES, 4)
    ]
    return {"title": f"Rota, team {pick.choice('ABCDEFG')}", "rows": [("Name", "Topic", "Hours", "From"), *rows]}


def _dialog(pick: random.Random) -> Content:
    noun = pick.choice(NOUNS)
    message = (
        f"The {noun} could not be {pick.choice(('moved', 'renamed', 'shared'))}. Ask {pick.choice(NAMES)} for access."
    )
    return {"title": f"{noun.title()} locked", "message": message, "buttons": ["Close", "Try again"]}


def _form(pick: random.Random) -> Content:
    fields = [
        ("Name", pick.choice(NAMES)), ("Topic", pick.choice(TOPICS)), ("Quantity", str(pick.randint(1, 60))),
        ("Please", pick.choice(TASKS)),
    ]  # fmt: skip
    return {"title": f"Request a {pick.choice(NOUNS)}", "fields": fields, "button": "Send request"}


CONTENTS: dict[str, Callable[[random.Random], Content]] = {
    "chat": _chat,
    "receipt": _receipt,
    "slide": _slide,
    "code": _code,
    "terminal": _terminal,
    "table": _table,
    "dialog": _dialog,
    "form": _form,
}

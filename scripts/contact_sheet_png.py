"""A contact sheet as one picture."""

from __future__ import annotations

from contact_sheet import FIGURES, LEGEND, MINUS, PLUS, Best, Line, Sheet
from contact_sheet_blocks import DIM, INK, PAPER, Block, Pen, around, below, beside, broken, in_rows
from contact_sheet_cards import THUMBNAIL, Card, Picture
from PIL import Image, ImageDraw

WIDTH = 1440  # px of the sheet
EDGE, GAP = 20, 12
FULL = WIDTH - 2 * EDGE
CARD = (FULL - GAP) // 2
BESIDE = 10  # tiles in a row
TILE = (FULL - (BESIDE - 1) * 8) // BESIDE
GROUND, FAR, READ, LINE, EXPECTED = "#f4f5f7", "#e3e6eb", "#f0f4f8", "#d8dce3", "#b7791f"
NAME, BAR = 118, 120  # px of a channel's name, and between the longest bars to either side
COLUMNS = (54, 54, 54, 34)  # px of its figures


def png_sheet(sheet: Sheet, pen: Pen) -> Image.Image:
    """The whole sheet, RGB."""
    made = [_heading("Image query", pen), _question(sheet, pen)]
    if sheet.expected:
        made.append(_heading("What ought to come", pen))
        for identifier, card in sheet.awaited:
            made.append(pen.paragraph(f"{identifier} {sheet.why(card)}", FULL, 3, ground=GROUND))
            made += [_card(card, sheet, pen)] if card and card.place > sheet.top else []
    about = f"the first {len(sheet.hits)} of {len(sheet.cards)}" if sheet.cards else "no memories"
    made += [_heading(f"What came: {about}", pen), pen.paragraph(LEGEND, FULL, 2, ink=DIM, ground=GROUND)]
    if sheet.hits:
        made.append(in_rows([_card(card, sheet, pen) for card in sheet.hits], 2, GAP, GROUND))
    if sheet.channels:
        made.append(_heading("The best of each channel (grey: not among what came above)", pen))
    for channel in sheet.channels:
        best = sheet.best(channel)
        made.append(pen.paragraph(best.title, FULL, 1, size=14, ground=GROUND))
        made.append(in_rows([_tile(card, best, sheet, pen) for card in best.cards], BESIDE, 8, GROUND))
    return around(below(made, GAP, GROUND), EDGE, ground=GROUND, width=WIDTH)


def _heading(text: str, pen: Pen) -> Block:
    return pen.paragraph(text, FULL, 1, size=19, ground=GROUND)


def _question(sheet: Sheet, pen: Pen) -> Block:
    width = FULL - 2 * GAP - (3 * (THUMBNAIL + GAP) if sheet.pictures else 0)
    words = pen.paragraph(sheet.question or "(no words)", width, 8, size=15)
    asked = below([words, pen.paragraph(f"asked as {sheet.user}", width, 1, ink=DIM)])
    pictures = [in_rows([_picture(picture, pen) for picture in sheet.pictures], 3, GAP)] if sheet.pictures else []
    return around(beside([*pictures, asked]), GAP, line=LINE, width=FULL)


def _card(card: Card, sheet: Sheet, pen: Pen) -> Block:
    width = CARD - 2 * GAP - (THUMBNAIL + GAP if card.pictures else 0)
    said = [
        pen.paragraph(f"#{card.place}   score {card.memory.score:.3f}   {card.time}", width, 1, size=15),
        pen.paragraph(card.id, width, 1, size=11, ink=DIM),
        pen.paragraph(card.text, width, 6),
        below([_line(Line("channel", None, FIGURES), pen), *(_line(line, pen) for line in sheet.lines(card))], 1),
    ]
    block = below(said)
    if card.pictures:
        across = 1 if len(card.pictures) == 1 else 2
        size = THUMBNAIL // across - 4 * (across - 1)
        block = beside([in_rows([_picture(picture, pen, size) for picture in card.pictures], across, 8), block])
    if sheet.awaits(card):
        return around(block, GAP, line=EXPECTED, thick=3, width=CARD)
    return around(block, GAP, line=LINE, width=CARD)


def _picture(picture: Picture, pen: Pen, size: int = THUMBNAIL) -> Block:
    blocks = [_thumbnail(picture, pen, size), pen.paragraph(picture.taken_for, size, 3, size=12)]
    if picture.text:
        blocks.append(around(pen.paragraph(picture.text, size - 8, 5, size=11, ground=READ), 4, ground=READ))
    return around(below(blocks), 0, width=size)


def _thumbnail(picture: Picture, pen: Pen, size: int) -> Block:
    if isinstance(picture.thumbnail, str):
        note = pen.paragraph(picture.instead, size - 16, 4, size=12, ink=DIM, ground=FAR)
        return around(note, 8, ground=FAR)
    image = picture.thumbnail.copy()
    image.thumbnail((size, size))
    return image


def _line(line: Line, pen: Pen) -> Block:
    """A line of a card's table."""
    font = pen.font(12)
    block = Image.new("RGB", (NAME + BAR + sum(COLUMNS), 16), PAPER)
    draw = ImageDraw.Draw(block)
    ink = INK if line.figures and line.figures != FIGURES else DIM
    draw.text((0, 0), "".join(broken(line.name, font, NAME - 4, 1)), ink, font)
    right = NAME + BAR
    for figure, width in zip(line.figures or ("–",), COLUMNS, strict=False):
        right += width
        draw.text((right - font.getlength(figure), 0), figure, ink, font)
    if line.share is not None:
        middle = NAME + BAR // 2
        length = round(min(abs(line.share), 1) * BAR / 2)
        start, end = (middle, middle + length) if line.share >= 0 else (middle - length, middle)
        draw.rectangle((start, 3, end, 12), PLUS if line.share >= 0 else MINUS)
        draw.line((middle, 1, middle, 14), DIM)
    return block


def _tile(card: Card, best: Best, sheet: Sheet, pen: Pen) -> Block:
    ground = FAR if card.place > sheet.top else PAPER
    inside = TILE - 12
    if card.pictures:
        told = _thumbnail(card.pictures[0], pen, inside)
    else:
        told = pen.paragraph(card.text, inside, 5, size=11, ground=ground)
    caption = pen.paragraph(best.caption(card), inside, 3, size=11, ground=ground)
    return around(below([told, caption], 4, ground), 6, ground=ground, line=LINE, width=TILE)

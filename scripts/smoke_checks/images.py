"""Images: found both ways, and returned as they came."""

from __future__ import annotations

from demo_sample import data_url, image_part

from smoke_checks.pictures import altered_copy, drawn, encoded, picture, size_of
from smoke_checks.reading import parts_of, place_of, text_of, urls_of
from smoke_checks.target import Target, require

CAPTIONS = ("our holiday hut", "a broken gearbox", "the birthday cake")
KINDS = ("jpeg", "png", "webp", "gif", "bmp", "tiff")
WITHIN = 3


def album(target: Target) -> str:
    """A user with captioned pictures and some talk; the second time it is a retry."""
    user = target.user("album")
    pictures = [[{"type": "text", "text": said}, image_part(picture(n))] for n, said in enumerate(CAPTIONS)]
    talk = [f"We talked about the weather on day {day}." for day in range(len(CAPTIONS))]
    target.add(user, *(each for pair in zip(pictures, talk, strict=True) for each in pair))
    return user


def text_finds_a_picture(target: Target) -> str:
    """By the words beside it; and one without any words is there too."""
    user = album(target)
    target.add(user, [image_part(picture(9))], request="alone", session="alone")
    for caption in CAPTIONS:
        found = target.search(user, caption)
        place = place_of(caption, found)
        require(1 <= place <= WITHIN, f"the picture of {caption} came at place {place} for its own words")
        require(urls_of(found[place - 1]), f"the memory of {caption} came without its picture")
    alone = [
        item
        for item in found
        if urls_of(item) and not any(caption in text_of(item).split("\n")[0] for caption in CAPTIONS)
    ]
    require(len(alone) == 1, f"a picture without words was returned {len(alone)} times")
    return f"{len(CAPTIONS)} pictures"


def picture_finds_itself(target: Target) -> str:
    """A picture finds itself first, and so does a smaller copy; with words beside it too."""
    user = album(target)
    for number, caption in enumerate(CAPTIONS):
        for how, url in (("itself", picture(number)), ("a smaller copy of itself", altered_copy(number))):
            place = place_of(caption, target.search(user, [image_part(url)]))
            require(place == 1, f"a picture came at place {place} for {how}")
    asked = [{"type": "text", "text": "Which memory matches this image?"}, image_part(picture(2))]
    place = place_of(CAPTIONS[2], target.search(user, asked))
    require(1 <= place <= WITHIN, f"a picture came at place {place} for itself with words")
    return f"{len(CAPTIONS)} pictures, as they are and smaller"


def bytes_come_back(target: Target) -> str:
    """Every kind of file comes back as the same data URL."""
    user = target.user("image-bytes")
    urls = {kind: picture(number, kind) for number, kind in enumerate(KINDS)}
    urls["PNG with bytes after its end"] = data_url(encoded(drawn(20)) + b"and more\0", "png")
    for kind, url in urls.items():
        target.add(
            user, [{"type": "text", "text": f"a file of kind {kind}"}, image_part(url)], request=kind, session=kind
        )
    returned = {url for item in target.search(user, "a file") for url in urls_of(item)}
    changed = [kind for kind, url in urls.items() if url not in returned]
    require(not changed, f"did not come back with the same bytes: {', '.join(changed)}")
    return ", ".join(urls)


def order_of_parts(target: Target) -> str:
    """Text and images of one message come back in their order."""
    user = target.user("parts")
    widths = (100, 110, 120)
    shown = [image_part(data_url(encoded(drawn(width, (width, 60))), "png")) for width in widths]
    said = [{"type": "text", "text": text} for text in ("first this,", "then that,", "and at the end these:")]
    target.add(user, [said[0], shown[0], said[1], said[2], shown[1], shown[2]], request="mixed", session="mixed")
    target.add(user, [shown[2], shown[0], said[1]], request="images first", session="images first")
    wanted = {
        6: ["first this,", 100, "then that,", "and at the end these:", 110, 120],
        3: [120, 100, "then that,"],
    }
    found = {len(parts_of(item)): parts_of(item) for item in target.search(user, "first this, then that")}
    require(found.keys() == wanted.keys(), f"messages of 6 and 3 parts came back with {sorted(found)}")
    for count, order in wanted.items():
        for place, (part, expected) in enumerate(zip(found[count], order, strict=True)):
            if isinstance(expected, str):
                kept = expected in str(part.get("text"))
            else:
                kept = part.get("type") == "image_url" and size_of(part["image_url"]["url"])[0] == expected
            require(kept, f"of {count} parts, number {place + 1} is not the one that was sent there")
    return "6 parts and 3"

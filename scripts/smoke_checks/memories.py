"""What was added is echoed, and found at once."""

from __future__ import annotations

from demo_checks import milliseconds

from smoke_checks.reading import copies_of, first_line, place_of
from smoke_checks.target import Target, add_body, require

BEGIN_MS = 1_704_067_200_000
FACTS = (
    "The spare key hangs behind the blue boiler in the cellar.",
    "Our cat Miso came from the shelter in Lisbon.",
    "The train to Ghent leaves at a quarter to eight.",
    "Grandmother's recipe for plum cake needs cardamom.",
    "The motorbike has a flat battery and a worn clutch cable.",
    "Piano lessons were moved to Thursday afternoon.",
    "The bakery on Elm Street closes on Mondays.",
    "The passport is in the red folder on the second shelf.",
)
WITHIN = 3  # places: how well it ranks is not what is checked here


def echo(target: Target) -> str:
    """An Add answers true and its three ids, byte for byte, whatever they hold."""
    odd = {
        "plain": "7",
        "quotes": 'it\'s "so" `odd`',
        "slashes": "../a/b\\c?x=%2F#y",
        "line breaks": "one\ntwo\r\nthree\ttab",
        "emoji": "🦊👩‍👩‍👧🔑",
        "other scripts": "猫 שלום مرحبا e\u0301",
        "a null byte": "a\0b",
        "a lone surrogate": "a\ud800b",
        "blanks": "  two  ",
        "10,000 characters": "x" * 10_000,
    }
    for name, value in odd.items():
        body = add_body(target.user("echo " + value), "an echo", request="r " + value, session="s " + value)
        answer = target.post_add(body)
        ids = {field: body[field] for field in ("request_id", "user_id", "session_id")}
        require(answer.status == 200, f"{name}: answered {answer}")
        echoed = answer.value if isinstance(answer.value, dict) else {}
        changed = [field for field, sent in ids.items() if echoed.get(field) != sent]
        require(not changed, f"{name}: {', '.join(changed)} came back changed")
        require(echoed.get("success") is True, f"{name}: success is not true")
    return f"{len(odd)} kinds of ids"


def found_at_once(target: Target) -> str:
    """An Add's messages are found by a Search right after it; then those of more Adds, in sessions of their own."""
    user = target.user("search")
    target.add(user, *FACTS)
    for fact in FACTS[:3]:
        place = place_of(fact, target.search(user, fact))
        require(place, f'right after the Add, "{fact}" was not found')
        require(place <= WITHIN, f'asked in its own words, "{fact}" came at place {place}')
    for number in range(6):
        fact = f"Parcel {number} went to shelf {number * 7 + 11}."
        target.add(user, fact, request=f"r{number}", session=f"s{number}")
        found = target.search(user, f"Where did parcel {number} go?")
        require(place_of(fact, found), f"Add number {number + 2} of a user was not found right after it")
    missing = [fact for fact in FACTS if not place_of(fact, found)]
    require(not missing, f"of {len(FACTS)} messages in one Add, {len(missing)} were not found")
    return f"{len(FACTS) + 6} messages in 7 sessions"


def forms_of_content(target: Target) -> str:
    """Content and query as a string and as parts are the same; fields that nobody knows change nothing."""
    user = target.user("forms")
    text = [{"type": "text", "text": FACTS[0]}]
    target.add(user, text, request="parts", session="parts")
    target.add(user, FACTS[1], request="string", session="string", role="a narrator", name="unknown")
    answer = target.post_add({**add_body(user, FACTS[2], request="more", session="more"), "unknown": [1, {"a": None}]})
    require(answer.status == 200, f"an Add with an unknown field was answered {answer}")
    for query in (FACTS[0], text, [{"type": "text", "text": FACTS[0][:20]}, {"type": "text", "text": FACTS[0][20:]}]):
        found = target.search(user, query, unknown="field")
        place = place_of(FACTS[0], found)
        require(place == 1, f"a query as {'a string' if isinstance(query, str) else 'parts'} found it at place {place}")
        require(copies_of(FACTS[1], found) == 1, "content as a string, of another role, was not found")
        require(copies_of(FACTS[2], found) == 1, "what came beside an unknown field was not found")
    return "a string, one part, several parts"


def times(target: Target) -> str:
    """created_at is the message's own time; times may be missing, repeated and out of order."""
    user = target.user("times")
    told = [BEGIN_MS, None, BEGIN_MS - 86_400_000, BEGIN_MS, BEGIN_MS + 123, -86_400_000]
    body = add_body(user, *FACTS[: len(told)])
    for message, time in zip(body["messages"], told, strict=True):
        if time is not None:
            message["timestamp"] = time
    answer = target.post_add(body)
    require(answer.status == 200, f"an Add was answered {answer}")
    found = target.search(user, FACTS[0])
    for fact, time in zip(FACTS, told, strict=False):
        (item,) = [item for item in found if fact in first_line(item)] or [{}]
        shown = str(item.get("created_at"))
        if time is None:
            require(milliseconds(shown) > BEGIN_MS, f"a message without a time has created_at {shown}")
        else:
            require(milliseconds(shown) == time, f"the time {time} came back as {shown}")
    return f"{len(told)} times"


def options(target: Target) -> str:
    """A question with options finds what the options speak of; none, null and an empty list are taken too."""
    user = target.user("options")
    target.add(user, *FACTS)
    late = 0
    for fact in FACTS:
        choices = ["Nothing of the kind was said.", fact, "以上都不是", ""]
        place = place_of(fact, target.search(user, "Which of these is true?", options=choices))
        late += not 1 <= place <= WITHIN
    # Without a look at the options no more than WITHIN of them could come that early.
    problem = f"what an option speaks of did not come within place {WITHIN} for {late} of {len(FACTS)} facts"
    require(late <= len(FACTS) // 2, problem)
    nothing: tuple[list[str] | None, ...] = (None, [])
    for none in nothing:
        plain = target.search(user, FACTS[0], options=none)
        require(place_of(FACTS[0], plain), f"with options {none} nothing was found")
    return f"{len(FACTS)} times 4 options, null, []"

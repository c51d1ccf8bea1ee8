"""The same request again, and many callers at once."""

from __future__ import annotations

from functools import partial

from demo_sample import image_part

from smoke_checks.crowd import at_once
from smoke_checks.pictures import picture
from smoke_checks.reading import copies_of
from smoke_checks.target import Target, add_body, require

AT_ONCE = 8
CALLERS = 16
USERS = 4
ROUNDS = 3


def retry(target: Target) -> str:
    """The same request again, and many times at once, is a 200 and kept once; its request_id belongs to its user."""
    user = target.user("retry")
    again = add_body(user, "the train leaves at 7:45", request="again", session="again")
    storm = add_body(
        user, [{"type": "text", "text": "the tea is cold"}, image_part(picture(1))], request="storm", session="storm"
    )
    statuses = [target.post_add(again).status for _ in range(3)]
    require(statuses == [200] * 3, f"the same Add three times was answered {statuses}")
    statuses = at_once([lambda: target.post_add(storm).status] * AT_ONCE, AT_ONCE)
    require(statuses == [200] * AT_ONCE, f"the same Add {AT_ONCE} times at once was answered {statuses}")
    found = target.search(user, "train and tea")
    for how, text in (("three times in turn", "the train leaves"), (f"{AT_ONCE} times at once", "the tea is cold")):
        copies = copies_of(text, found)
        require(copies == 1, f"the same Add {how} is there {copies} times")
    other = target.user("retry of another")
    target.add(other, "the bus leaves at 8:00", request="again")
    require(
        copies_of("the bus", target.search(other, "bus")) == 1, "a request_id of another user was taken for a retry"
    )
    return f"3 times, and {AT_ONCE} at once"


def conflict(target: Target) -> str:
    """Another body under the same request_id is a 422, and changes nothing."""
    user = target.user("conflict")
    first = add_body(user, "the meeting is at noon")
    target.post_add(first)
    others = {
        "other words": add_body(user, "the meeting is at one"),
        "another session": first | {"session_id": "other"},
        "one message more": add_body(user, "the meeting is at noon", "or is it?"),
    }
    for how, body in others.items():
        answer = target.post_add(body)
        require(answer.status == 422, f"the same request_id with {how} was answered {answer.status}, not 422")
    found = target.search(user, "When is the meeting?")
    kept = len(found) == 1 and copies_of("the meeting is at noon", found) == 1
    require(kept, f"after refused conflicts {len(found)} memories are there, not the 1 that was")
    return f"{len(others)} other bodies"


def concurrency(target: Target) -> str:
    """Adds and Searches by 16 callers at once: what was acknowledged is found at once, and in the end all of it, once."""
    users = [target.user(f"concurrent {number}") for number in range(USERS)]
    told: dict[str, list[str]] = {user: [] for user in users}

    def tell(caller: int, round_: int) -> int:
        """How many times what was just told is found."""
        user, mark = users[caller % USERS], f"caller {caller} said {round_} of {ROUNDS}."
        body = add_body(user, mark, request=mark, session=mark)
        statuses = [target.post_add(body).status for _ in range(1 + caller % 2)]  # every other caller retries
        require(set(statuses) == {200}, f"an Add among {CALLERS} at once was answered {statuses}")
        told[user].append(mark)
        return copies_of(mark, target.search(user, f"What did caller {caller} say?"))

    calls = [partial(tell, caller, round_) for round_ in range(ROUNDS) for caller in range(CALLERS)]
    unread = [copies for copies in at_once(calls, CALLERS) if not copies]
    require(not unread, f"{len(unread)} of {len(calls)} Adds were not found right after their 200")
    lost = doubled = strange = 0
    for user, marks in told.items():
        found = target.search(user, "What did callers say?")
        copies = [copies_of(mark, found) for mark in marks]
        lost += copies.count(0)
        doubled += sum(count > 1 for count in copies)
        strange += len(found) - sum(copies)
    seen = f"of {len(calls)} memories {lost} were lost, {doubled} doubled, {strange} are of others"
    require(not (lost or doubled or strange), seen)
    return f"{CALLERS} callers, {len(calls)} Adds and Searches of {USERS} users"

"""Faults that the proxy of faulty.py brings in, each for one check of scripts/smoke.py."""

from __future__ import annotations

import base64
import unicodedata
from dataclasses import replace
from typing import Any, NamedTuple

from tests.faulty import Call, Fault, Forward, Reply, error, success


class Planted(NamedTuple):
    """A fault, and what the check says of it."""

    fault: Fault
    reason: str


def contents(call: Call) -> list[Any]:
    messages = call.value.get("messages")
    return [each.get("content") for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []


def kinds(content: Any) -> list[str]:
    return [part.get("type") for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def items(reply: Reply) -> list[dict[str, Any]]:
    return reply[1].get("data", []) if reply[0] == 200 and isinstance(reply[1], dict) else []


def knows_no_x_api_key(call: Call, forward: Forward) -> Reply:
    return error(401) if "x-api-key" in call.headers else forward(call)


def compares_only_the_beginning_of_a_key(call: Call, forward: Forward) -> Reply:
    headers = {name: value.removesuffix("x") for name, value in call.headers.items()}
    return forward(replace(call, headers=headers))


def trims_session_ids_in_its_echo(call: Call, forward: Forward) -> Reply:
    status, value = forward(call)
    if status == 200 and "session_id" in value:
        value["session_id"] = value["session_id"].strip()
    return status, value


def loses_the_last_of_eight_messages(call: Call, forward: Forward) -> Reply:
    many = len(contents(call)) >= 8
    return forward(call.with_value(messages=call.value["messages"][:-1]) if many else call)


def refuses_unknown_fields(call: Call, forward: Forward) -> Reply:
    return error(422, "unknown") if "unknown" in call.value else forward(call)


def cuts_times_to_seconds(call: Call, forward: Forward) -> Reply:
    reply = forward(call)
    for item in items(reply):
        item["created_at"] = item["created_at"].partition(".")[0].removesuffix("Z") + "Z"
    return reply


def ignores_options(call: Call, forward: Forward) -> Reply:
    given = call.value.get("options")
    is_good = isinstance(given, list) and all(isinstance(each, str) for each in given)
    return forward(call.with_value(options=None) if is_good else call)


def loses_a_message_that_is_only_a_picture(call: Call, forward: Forward) -> Reply:
    return success(call) if list(map(kinds, contents(call))) == [["image_url"]] else forward(call)


def overlooks_the_picture_of_a_question(call: Call, forward: Forward) -> Reply:
    blind = kinds(call.value.get("query")) == ["image_url"]
    return forward(call.with_value(query="the weather") if blind else call)


def alters_the_last_byte_of_images(call: Call, forward: Forward) -> Reply:
    reply = forward(call)
    for part in (part for item in items(reply) if isinstance(item["content"], list) for part in item["content"]):
        if part["type"] == "image_url":
            head, _, data = part["image_url"]["url"].partition(",")
            altered = bytearray(base64.b64decode(data))
            altered[-1] ^= 1
            part["image_url"]["url"] = f"{head},{base64.b64encode(altered).decode()}"
    return reply


def puts_images_last(call: Call, forward: Forward) -> Reply:
    reply = forward(call)
    for item in items(reply):
        if isinstance(item["content"], list):
            item["content"].sort(key=lambda part: part["type"] == "image_url")
    return reply


def shows_bob_what_ann_has(call: Call, forward: Forward) -> Reply:
    reply = forward(call)
    user = str(call.value.get("user_id"))
    if user.endswith(":bob") and (found := items(reply)):
        leaked = items(forward(call.with_value(user_id=user.replace(":bob", ":ann"))))
        found += [item | {"score": found[-1]["score"]} for item in leaked]
    return reply


def drops_a_slash_at_the_end_of_user_ids(call: Call, forward: Forward) -> Reply:
    user = call.value.get("user_id")
    if not isinstance(user, str) or not user.endswith("/"):
        return forward(call)
    status, value = forward(call.with_value(user_id=user[:-1]))
    return status, value | {"user_id": user} if "user_id" in value else value


def knows_no_user_without_memories(call: Call, forward: Forward) -> Reply:
    reply = forward(call)
    return error(404) if reply == (200, {"data": []}) and call.value.get("top_k") != 1 else reply


def ignores_top_k(call: Call, forward: Forward) -> Reply:
    asked = call.value.get("top_k")
    return forward(call.with_value(top_k=1_000) if type(asked) is int and 0 < asked < 1_000 else call)


def takes_a_top_k_of_zero_for_ten(call: Call, forward: Forward) -> Reply:
    zero = call.value.get("top_k") == 0 and call.value["top_k"] is not False
    return forward(call.with_value(top_k=10) if zero else call)


class DoublesWhatIsStillRunning:
    """A retry is a request of its own while the first attempt runs."""

    def __init__(self) -> None:
        self.running: list[bytes] = []

    def __call__(self, call: Call, forward: Forward) -> Reply:
        if call.path != "/add":
            return forward(call)
        attempt = self.running.count(call.body)
        self.running.append(call.body)
        status, value = forward(call.with_value(request_id=f"{call.value['request_id']}{attempt}") if attempt else call)
        self.running.remove(call.body)
        return success(call) if status == 200 else (status, value)


def answers_a_conflict_with_409(call: Call, forward: Forward) -> Reply:
    status, value = forward(call)
    return (409 if value.get("code") == "request_conflict" else status), value


def fails_for_what_is_no_json(call: Call, forward: Forward) -> Reply:
    return forward(call) if call.value or call.method != "POST" else error(500)


def takes_a_message_without_a_role(call: Call, forward: Forward) -> Reply:
    messages = call.value.get("messages")
    if isinstance(messages, list):
        messages = [{"role": "user"} | each if isinstance(each, dict) else each for each in messages]
        call = call.with_value(messages=messages)
    return forward(call)


def takes_images_that_are_cut_off(call: Call, forward: Forward) -> Reply:
    status, value = forward(call)
    return success(call) if call.path == "/add" and value.get("code") == "invalid_image" else (status, value)


def composes_text(call: Call, forward: Forward) -> Reply:
    messages = call.value.get("messages")
    texts = contents(call)
    if texts and len(texts) == len(messages or ()) and all(isinstance(text, str) for text in texts):
        messages = [each | {"content": unicodedata.normalize("NFC", each["content"])} for each in messages]
        call = call.with_value(messages=messages)
    return forward(call)


def takes_no_body_of_30_mb(call: Call, forward: Forward) -> Reply:
    return error(413, "body") if 30_000_000 < len(call.body) < 45_000_000 else forward(call)


def fails_for_a_body_of_64_mib(call: Call, forward: Forward) -> Reply:
    return error(500) if len(call.body) > 2**26 else forward(call)


class LosesAddsWhenMoreThanEightRun:
    """Answers 200 and keeps nothing."""

    def __init__(self) -> None:
        self.running: list[int] = []

    def __call__(self, call: Call, forward: Forward) -> Reply:
        if call.path != "/add":
            return forward(call)
        self.running.append(1)
        reply = success(call) if len(self.running) > 8 else forward(call)
        self.running.pop()
        return reply


def says_more_than_is_asked(call: Call, forward: Forward) -> Reply:
    reply = forward(call)
    for item in items(reply):
        item["explanation"] = "because"
    return reply


def refuses_without_a_reason(call: Call, forward: Forward) -> Reply:
    status, value = forward(call)
    return status, {"detail": "Unauthorized"} if status == 401 else value


def says_that_it_deleted(call: Call, forward: Forward) -> Reply:
    is_album = call.method == "DELETE" and call.path.endswith("album")
    return (200, {"success": True, "deleted": True}) if is_album else forward(call)


FAULTS = {
    "key": Planted(knows_no_x_api_key, r"the right key by x-api-key was answered 401"),
    "wrong-key": Planted(compares_only_the_beginning_of_a_key, r"a key that is longer, bearer: /add was answered 200"),
    "echo": Planted(trims_session_ids_in_its_echo, r"blanks: session_id came back changed"),
    "search": Planted(loses_the_last_of_eight_messages, r"of 8 messages in one Add, 1 were not found"),
    "forms": Planted(refuses_unknown_fields, r"an Add with an unknown field was answered 422"),
    "times": Planted(cuts_times_to_seconds, r"the time 1704067200123 came back as 2024-01-01T00:00:00Z"),
    "options": Planted(ignores_options, r"what an option speaks of did not come within place 3"),
    "text-to-image": Planted(loses_a_message_that_is_only_a_picture, r"a picture without words was returned 0 times"),
    "image-to-image": Planted(overlooks_the_picture_of_a_question, r"a picture came at place \d for itself"),
    "image-bytes": Planted(alters_the_last_byte_of_images, r"did not come back with the same bytes: jpeg, png"),
    "parts": Planted(puts_images_last, r"of 6 parts, number 2 is not the one that was sent there"),
    "isolation": Planted(shows_bob_what_ann_has, r"bob finds 1 memories of ann, not 0"),
    "look-alikes": Planted(drops_a_slash_at_the_end_of_user_ids, r"finds \d memories of others"),
    "unknown-user": Planted(knows_no_user_without_memories, r"a Search was answered 404"),
    "top-k": Planted(ignores_top_k, r"top_k 1 was answered with 105 memories"),
    "bad-top-k": Planted(takes_a_top_k_of_zero_for_ten, r"top_k 0 was answered 200, not 400 or 422"),
    "retry": Planted(DoublesWhatIsStillRunning(), r"the same Add 8 times at once is there \d times"),
    "conflict": Planted(answers_a_conflict_with_409, r"with other words was answered 409, not 422"),
    "bad-json": Planted(fails_for_what_is_no_json, r"an empty body to /add was answered 500"),
    "bad-fields": Planted(takes_a_message_without_a_role, r"bad messages.1.role \(case \d+\) was answered 200"),
    "bad-images": Planted(takes_images_that_are_cut_off, r"Add with broken Base64 was answered 200"),
    "unicode": Planted(composes_text, r"did not come back as sent: .*composed and not \(escaped\)"),
    "large-body": Planted(takes_no_body_of_30_mb, r"an Add was answered 413"),
    "too-large": Planted(fails_for_a_body_of_64_mib, r"a body of more than 64 MiB was answered 500"),
    "concurrency": Planted(LosesAddsWhenMoreThanEightRun(), r"\d+ of 48 Adds were not found right after their 200"),
    "answers": Planted(says_more_than_is_asked, r"/search: has items without just the fields"),
    "clean-up": Planted(says_that_it_deleted, r"1 users have data after they were deleted"),
    "errors": Planted(refuses_without_a_reason, r"401 without detail.reason and code \(\d+ times\)"),
}
"""By the check that must find it."""

"""The data of a run deleted again, where the service can do that."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from smoke_checks.crowd import at_once
from smoke_checks.target import Skipped, Target, require

ROUTE = "/users/{user_id}"
CALLERS = 4


def clean_up(target: Target) -> str:
    """DELETE /users/{user_id} for each user of the run, who then has nothing; Skipped where there is no such route."""
    users = sorted(target.users, key=ascii)
    whose = f"{len(users)} users, whose ids begin with {target.prefix}"
    answer = target.call("GET", "/openapi.json")
    paths = answer.value.get("paths", {}) if isinstance(answer.value, dict) else {}
    if "delete" not in paths.get(ROUTE, {}):
        raise Skipped(f"it documents no DELETE {ROUTE}: data is left of {whose}")
    nameable = [user for user in users if is_nameable(user)]
    statuses = at_once([partial(delete, target, user) for user in nameable], CALLERS)
    bad = [status for status in statuses if status not in (200, 204, 404)]
    require(
        not bad,
        f"{len(bad)} of {len(users)} deletions were answered {bad[0] if bad else ''}; data may be left of {whose}",
    )
    left = [user for user in nameable if target.search(user, "what is left?", top_k=1)]
    require(not left, f"{len(left)} users have data after they were deleted")
    kept = len(users) - len(nameable)
    rest = f"; data is left of {kept} whose id no URL can hold, beginning with {target.prefix}" if kept else ""
    return f"{len(nameable)} users deleted, nothing left of them{rest}"


def delete(target: Target, user: str) -> int:
    """The status."""
    return target.call("DELETE", f"/users/{quote(user, safe='')}").status


def is_nameable(user: str) -> bool:
    """Whether a path can hold the id: UTF-8, and no longer than servers read."""
    try:
        return len(quote(user, safe="")) < 32_000
    except UnicodeEncodeError:
        return False

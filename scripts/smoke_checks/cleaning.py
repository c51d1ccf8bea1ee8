"""The data of a run deleted again, where the service can do that."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from smoke_checks.crowd import at_once
from smoke_checks.target import Skipped, Target, require

ROUTE = "/users/{user_id}"
CALLERS = 4
GONE = (200, 204, 404)
UNNAMEABLE = (414, 431)  # what servers before the service say of a long address


def clean_up(target: Target) -> str:
    """DELETE /users/{user_id} for each user of the run, who then has nothing; Skipped where there is no such route."""
    users = sorted(target.users, key=ascii)
    whose = f"{len(users)} users, whose ids begin with {target.prefix}"
    answer = target.call("GET", "/openapi.json")
    paths = answer.value.get("paths", {}) if isinstance(answer.value, dict) else {}
    if "delete" not in paths.get(ROUTE, {}):
        raise Skipped(f"it documents no DELETE {ROUTE}: data is left of {whose}")
    statuses = dict(zip(users, at_once([partial(delete, target, user) for user in users], CALLERS), strict=True))
    bad = [status for status in statuses.values() if status not in (*GONE, *UNNAMEABLE)]
    require(not bad, f"{len(bad)} deletions were answered {min(bad, default=0)}; data may be left of {whose}")
    deleted = [user for user, status in statuses.items() if status in GONE]
    left = [user for user in deleted if target.search(user, "what is left?", top_k=1)]
    require(not left, f"{len(left)} users have data after they were deleted")
    kept = len(users) - len(deleted)
    rest = f"; data is left of {kept} whose id is too long for an address here, and begins with {target.prefix}"
    return f"{len(deleted)} users deleted, nothing left of them{rest if kept else ''}"


def delete(target: Target, user: str) -> int:
    """The status."""
    address = quote(user.encode("utf-8", "surrogatepass"), safe="")
    return target.call("DELETE", f"/users/{address}").status

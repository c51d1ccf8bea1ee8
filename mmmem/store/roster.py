"""Whose memories a store holds: the tables are named by hashes, and their rows say whose they are."""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from mmmem.errors import InvalidInput, MmmemError
from mmmem.store.faults import store_faults
from mmmem.store.log import Log
from mmmem.store.mending import mending
from mmmem.store.protocol import Holding, Roster
from mmmem.store.rows import to_text

if TYPE_CHECKING:
    from mmmem.store.location import Location

logger = logging.getLogger(__name__)

_UNREADABLE = "the store could not be read"
_PLACE = re.compile("u_[0-9a-f]{64}")
_COLUMNS = ("seq", "id", "request_id", "body_hash")


def read_roster(location: Location, after: str, limit: int) -> Roster:
    """See Store. One whose table cannot be read is passed over, and said in the log: it must not hide the others.

    Where that is so of all of a page it is the store that cannot be read. Raises InvalidInput, StoreUnavailable.
    """
    if after and not _PLACE.fullmatch(after):
        raise InvalidInput("after", "is no place that a page gave as `next`")
    with store_faults(_UNREADABLE):
        names = sorted(location.names())
    first = bisect_right(names, after)
    page = names[first : first + limit]
    users, failure = list[Holding](), None
    for name in page:
        try:
            found = _holding(location, name)
        except MmmemError as error:  # of a newer format, or damaged
            logger.warning("a user is left out of the list: %s", _UNREADABLE)
            failure = error
        else:
            users += [found] if found else []
    if failure and not users:
        raise failure
    return Roster(tuple(users), len(names), page[-1] if first + limit < len(names) else None)


def _holding(location: Location, name: str) -> Holding | None:
    """None for a table that is being removed. Raises StoreUnavailable."""
    place = location.place(name)

    def look() -> Holding | None:
        _, version = place.newest()
        owner = None if version is None else version.first("user_id")
        if version is None or owner is None:
            return None
        counting, _ = Log().admit(version.read(_COLUMNS))
        return Holding(to_text(owner), counting.num_rows)

    with store_faults(_UNREADABLE):
        return mending(place, look, place.exclusive())

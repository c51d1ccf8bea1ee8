"""A read that fails is made once more, after what can be done about the table's newest commit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from mmmem.errors import MmmemError
from mmmem.store.rows import INDEXED

if TYPE_CHECKING:
    from mmmem.store.location import Place

T = TypeVar("T")


def mending(place: Place, action: Callable[[], T], lock: AbstractContextManager[object]) -> T:
    """Do something that reads a table; if it fails, once more after a look at the newest commit.

    Under the lock: what failed may have been a read of a version that another process, having merged it, removed.
    """
    try:
        return action()
    except MmmemError:
        raise
    except Exception:
        with lock:
            place.recover(lambda: _readable(place))
            return action()


def _readable(place: Place) -> bool:
    try:
        _, version = place.newest()
        if version:
            version.read(INDEXED)
    except Exception:
        return False
    return True

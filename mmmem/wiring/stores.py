"""Stores without the models that made their vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.errors import StoreUnavailable

if TYPE_CHECKING:
    from mmmem.memory import StoreService
    from mmmem.settings import Settings
    from mmmem.store import Store
    from mmmem.store.inspection import Inspection


def open_to_remove(settings: Settings) -> Store:
    """The store in `data_dir` without any model: for listing, for removing and for a backup, not for searching.

    Raises StoreMismatch, StoreUnavailable.
    """
    from mmmem.store.unencoded import WIDTHS
    from mmmem.store.users import LanceStore

    by_hand = settings.model_copy(update={"retention_days": 0})
    store = LanceStore(by_hand, models=None, dimensions=WIDTHS)
    store.open()
    return store


def open_without_models(settings: Settings) -> StoreService:
    """What is kept in `data_dir`, without any model. There must be a store. Raises StoreMismatch, StoreUnavailable."""
    from mmmem.listing import Listing
    from mmmem.memory import StoreService

    if not holds_store(settings):  # opening would make its folder, also where a name was mistyped
        raise StoreUnavailable("data_dir: there is no store in this folder")
    store = open_to_remove(settings)
    return StoreService(store, Listing(settings, store))


def holds_store(settings: Settings) -> bool:
    """Whether there is a store in `data_dir`; `build_service` makes one where there is none. Raises StoreUnavailable."""
    from mmmem.store.faults import store_faults
    from mmmem.store.users import locate

    location = locate(settings)
    with store_faults(location.unusable):
        return location.exists()


def inspect(settings: Settings) -> Inspection:
    """The store in `data_dir`, to be looked at; there must be one. Raises StoreUnavailable."""
    from mmmem.store.inspection import Inspection
    from mmmem.store.users import locate

    return Inspection(locate(settings))


def count_tables(settings: Settings) -> int:
    """How many users' tables are in `data_dir`, whether or not a store is. Raises StoreUnavailable."""
    from mmmem.store.faults import store_faults
    from mmmem.store.users import locate

    location = locate(settings)
    with store_faults(location.unusable):
        return len(location.names())

"""What the rest of the service sees of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from mmmem.errors import MmmemError
    from mmmem.store.index import UserArrays
    from mmmem.store.volume import Part
    from mmmem.types import EncodedMemory, Memory


class Dimensions(NamedTuple):
    """Widths of the vectors that a store holds."""

    dense: int
    token: int
    image: int
    appearance: int
    fingerprint: int  # in bytes
    colours: int


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """All memories of one Add, kept together or not at all.

    `body_hash` tells a retry from another body under the same request_id. A retry of a request that the store
    holds already may leave `memories` empty.
    """

    user_id: str
    request_id: str
    body_hash: bytes
    memories: tuple[EncodedMemory, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a store holds of one user. `nbytes`: on disk, old versions too (in a bucket without them). first, last: times of the
    earliest and the latest memory, Unix ms, None without memories."""

    memories: int
    images: int
    sessions: int
    nbytes: int
    first: int | None
    last: int | None


class Holding(NamedTuple):
    """A user, and how many memories there are of them."""

    user_id: str
    memories: int


class Roster(NamedTuple):
    """Some of a store's users; `total` counts all of them, in a bucket also those who were removed; `next` is the place after which the others follow, None at the end."""

    users: tuple[Holding, ...]
    total: int
    next: str | None


class Store(Protocol):
    """Keeps memories, each user's apart. Blocking, and safe to call from many threads at once.

    Every method but `close` raises StoreUnavailable when the data cannot be read or written.
    """

    def open(self) -> None:
        """Get ready. Raises StoreMismatch when the data was written with other models or by a newer version."""

    def arrays(self, user_id: str) -> UserArrays:
        """A user's memories, every one acknowledged before the call, by any process; empty for an unknown user.

        In a bucket those of other processes may be so old as the setting `stale_seconds` allows.
        """

    def add(self, request: StoredRequest) -> None:
        """Keep a request. Returns once it is on disk and `arrays` shows it; one that is there already changes nothing.

        Raises RequestConflict when its request_id came before with another body.
        """

    def add_all(self, requests: Sequence[StoredRequest]) -> list[MmmemError | None]:
        """Keep requests of one user, in this order, together or not at all; what became of each, None for kept.

        One that is there already changes nothing; of one that came before with another body nothing is kept.
        """

    def name(self, user_id: str) -> str:
        """The name of a user's table, whether there is one or not."""

    def names(self) -> list[str]:
        """The names of all users' tables."""

    def requests(self, name: str) -> Iterator[StoredRequest]:
        """All that is kept in a table, request by request in their order, images too; each request whole."""

    def models(self) -> dict[str, str]:
        """What its vectors are of, by role."""

    def load_images(self, user_id: str, memories: Sequence[Memory]) -> list[Memory]:
        """The same memories with their images' bytes, in the same order; one whose images are gone is left out."""

    def delete_user(self, user_id: str) -> bool:
        """Remove everything of a user from disk and memory. False when there was nothing."""

    def delete_memory(self, user_id: str, memory_id: str) -> bool:
        """Remove one memory from disk and memory. False when it is not there.

        In a bucket its bytes stay there until a compaction writes its file anew.
        """

    def delete_expired(self, days: float) -> int:
        """Remove every user for whom nothing was written for so many days; how many that were."""

    def usage(self, user_id: str) -> Usage:
        """What is held of a user; zeros for an unknown one."""

    def roster(self, after: str, limit: int) -> Roster:
        """The users whose place is behind `after`, empty for the first; in an order that stays whoever comes or goes.

        Raises InvalidInput for a place that is none.
        """

    def on_disk(self) -> Iterator[Part]:
        """What lies on disk, a part at a time, as far as it is seen while others write; nothing of a bucket."""

    def close(self) -> None:
        """Finish what was accepted, then take no more."""

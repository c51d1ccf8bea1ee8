"""What came before a line of a backup, as far as the next one has to fit to it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mmmem.backup.counts import Counts
from mmmem.store.rows import to_bytes

if TYPE_CHECKING:
    from mmmem.backup.lines import RequestLine


class Before:
    """Each user's requests follow each other, and no request and no memory of a user is there twice.

    Users come in the order of the SHA-256 of their ids, so that it takes memory for the ids of one user only.
    """

    def __init__(self) -> None:
        self.counts = Counts()
        self._user = b""
        self._requests: set[str] = set()
        self._memories: set[str] = set()

    def follow(self, line: RequestLine) -> str | None:
        """Count a line; what is wrong with it here, if anything."""
        user = hashlib.sha256(to_bytes(line.user_id)).digest()
        if user < self._user:
            return "user_id: is not in the order of the SHA-256 of all of them"
        if user > self._user:
            self._user, self._requests, self._memories = user, set(), set()
            self.counts.users += 1
        if line.request_id in self._requests:
            return "request_id: is that of an earlier request of the user"
        for place, memory in enumerate(line.memories):
            if memory.id in self._memories:
                return f"memories.{place}.id: is that of an earlier memory of the user"
            self._memories.add(memory.id)
        self._requests.add(line.request_id)
        self.counts.requests += 1
        self.counts.memories += len(line.memories)
        self.counts.images += sum(memory.images for memory in line.memories)
        return None

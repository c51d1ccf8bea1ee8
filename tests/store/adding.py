"""A process that adds: `python -m tests.store.adding FOLDER NAME COUNT`. Prints each request_id once it is acknowledged.

Every process adds the same shared requests, and others of its own.
"""

import sys

from mmmem.settings import Settings
from mmmem.store.users import LanceStore
from tests.store.content import DIMENSIONS, MODELS, request


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    folder, name, count = sys.argv[1:]
    store = LanceStore(Settings(data_dir=folder, compact_fragments=8), models=MODELS, dimensions=DIMENSIONS)
    store.open()
    say("open")
    for number in range(int(count)):
        for request_id in (f"shared {number}", f"{name} {number}"):
            store.add(request("ada", request_id, f"{request_id} first", f"{request_id} second"))
            say(request_id)
    store.close()

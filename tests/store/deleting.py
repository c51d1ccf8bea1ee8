"""A process that deletes a user again and again: `python -m tests.store.deleting FOLDER USER`. Ends when its input does.

Prints how often there was something to delete.
"""

import sys
import threading

from mmmem.settings import Settings
from mmmem.store.lance import LanceStore
from tests.store.content import DIMENSIONS, MODELS

if __name__ == "__main__":
    folder, user = sys.argv[1:]
    store = LanceStore(Settings(data_dir=folder), models=MODELS, dimensions=DIMENSIONS)
    store.open()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    deleted = 0
    while not ended.wait(0.01):
        deleted += store.delete_user(user)
    store.close()
    sys.stdout.write(f"{deleted}\n")

#!/usr/bin/env python3
"""A chat loop that remembers: what is said is kept, and what matters for the next turn is put before the model.

    python examples/chat_that_remembers.py [--data-dir ./data] [--user ann]

No model answers here: `answer` shows what one would be given. Put your own in its place.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from mmmem import Memory

if TYPE_CHECKING:
    from mmmem.library import FoundMemory


def answer(question: str, remembered: list[FoundMemory]) -> str:
    """What your model would say. It gets the memories, best first, each with its time and who said it."""
    if not remembered:
        return "I know nothing about that yet."
    return "I remember:\n" + "\n".join(f"  - {memory.text.splitlines()[0]}" for memory in remembered)


def main() -> None:
    """Read lines until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default="./data")
    parser.add_argument("--user", default="ann")
    arguments = parser.parse_args()
    session = time.strftime("chat of %Y-%m-%d %H:%M")
    with Memory(arguments.data_dir) as memory:
        while True:
            try:
                said = input("you: ").strip()
            except EOFError:
                break
            if not said:
                continue
            now = round(time.time() * 1000)
            reply = answer(said, memory.search(said, user_id=arguments.user, top_k=3))
            turns = [
                {"role": "user", "content": said, "timestamp": now},
                {"role": "assistant", "content": reply, "timestamp": now + 1},
            ]
            memory.add(turns, user_id=arguments.user, session_id=session)
            print(f"bot: {reply}")


if __name__ == "__main__":
    main()

"""The same writes give the same ranking, to the bit: however they were grouped, whoever served them, and after a restart."""

from __future__ import annotations

import pytest

from mmmem import wiring
from mmmem.settings import Settings
from mmmem.types import AddRequest, Message, Query, TextPart
from tests.running import text_of

TIME = 1_704_067_200_000
TURNS = [
    ("user", "I adopted a cat called Miso last week."),
    ("assistant", "Lovely! What does Miso eat?"),
    ("user", "Tuna, and whatever falls off the table."),
    ("user", "ok"),
    ("assistant", "ok"),
    ("user", "The build failed with ERR_42 in src/app.py again."),
    ("assistant", "When did it start to fail?"),
    ("user", "On 3 January, after the update to v2.1.0."),
    ("user", "我上周在北京买了一辆自行车。"),
    ("assistant", "ok"),
    ("user", "My flight to Lisbon is on Friday at nine. " * 40),
    ("user", "Good night 🎉"),
]
QUESTIONS = ["What does the cat eat?", "when did the build fail?", "自行车", "ok", "ERR_42", "Lisbon", "zzz", "🎉"]


def grouped(size: int) -> list[list[int]]:
    return [list(range(start, min(start + size, len(TURNS)))) for start in range(0, len(TURNS), size)]


def add(service, user, size):
    for group in grouped(size):
        messages = tuple(Message(TURNS[i][0], (TextPart(TURNS[i][1]),), TIME + 60_000 * i) for i in group)
        service.add(AddRequest(f"{size}:{group[0]}", user, "s", messages))


def answers(service, user):
    hits = [service.search(Query(user, (TextPart(question),), 100)) for question in QUESTIONS]
    return [[(hit.memory.text, hit.score) for hit in found] for found in hits]


@pytest.mark.parametrize(
    "settings", [{}, {"exact_memories": 2, "candidates": 4}, {"weight_dense": 0.3}, {"fusion": "rrf"}]
)
def test_any_grouping_of_adds_and_a_restart_give_the_same_ranking(tmp_path, settings):
    chosen = Settings(data_dir=str(tmp_path), threads=2, **settings)
    service = wiring.build_service(chosen)
    for size in (1, 3, 5, len(TURNS)):
        add(service, f"user {size}", size)
    first, *others = (answers(service, f"user {size}") for size in (1, 3, 5, len(TURNS)))
    service.close()
    assert all(other == first for other in others)
    again = wiring.build_service(chosen.model_copy(update={"threads": 1}))
    assert answers(again, "user 3") == first
    again.close()


def test_any_worker_gives_the_same_ranking(start_service, service):
    several = start_service(workers="2").ready()
    for place, running in enumerate((service, several)):
        user = f"determinism {place}"
        for group in grouped(3 - place):
            messages = [{"role": TURNS[i][0], "content": TURNS[i][1], "timestamp": TIME + 60_000 * i} for i in group]
            running.add_messages(user, messages, request=f"r{group[0]}")

    def ask(running, user):
        found = [running.search(user, question, top_k=100) for question in QUESTIONS]
        return [[(text_of(memory), memory["score"]) for memory in memories] for memories in found]

    expected = ask(service, "determinism 0")
    for _ in range(4):  # connections go to either of the two
        several.client.close()
        several.client = type(several.client)(base_url=several.url, timeout=180, trust_env=False)
        assert ask(several, "determinism 1") == expected

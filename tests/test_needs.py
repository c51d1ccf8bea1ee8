"""A question that needs several pieces of evidence is taken apart; one that needs one is left whole."""

from __future__ import annotations

import pytest

from mmmem.needs import MOST, needs


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Where does Ann live, and what does Bob cook?", ["Where does Ann live", "what does Bob cook"]),
        ("What did she buy? When was the party?", ["What did she buy", "When was the party"]),
        ("What do Ann and Bob cook?", ["What do Ann cook", "What do Bob cook"]),
        ("Do both Ann Lee and Bob have pets?", ["Do Ann Lee have pets", "Do Bob have pets"]),
        ("When did Ann, Bob and Cleo meet?", ["When did Ann meet", "When did Bob meet", "When did Cleo meet"]),
        ("What happened to the kayak and to the tent?", ["What happened to the kayak", "What happened to the tent"]),
        ("她住在哪里？他什么时候搬家？", ["她住在哪里", "他什么时候搬家"]),
        ("护照什么时候到期，钥匙在谁那里？", ["护照什么时候到期", "钥匙在谁那里"]),
    ],
)
def test_each_need_is_a_question(question, several):
    assert needs(question) == several


@pytest.mark.parametrize(
    "question",
    [
        "What is my pet called?",
        "How do salt and pepper get on the table?",
        "What did Ann say about R&D?",
        "Who won, and why?",
        "Is it 3,5 or 4?",
        "",
        "?!?",
        "tea and biscuits",
        "钥匙和伞在桌子上",
    ],
)
def test_one_need_is_left_whole(question):
    assert needs(question) == []


def test_there_are_never_more_than_a_few():
    assert len(needs("What is this thing? " * 1000)) == MOST
    assert len(needs("Did " + ", ".join(f"Name{chr(97 + n)}" for n in range(26)) + " and Zoe come?")) == MOST

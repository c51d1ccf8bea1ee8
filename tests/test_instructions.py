"""What a question says of the task does not stand in the way of what it asks."""

from __future__ import annotations

import pytest

from mmmem.instructions import without_instructions


@pytest.mark.parametrize(
    "question",
    [
        "Which answer best matches the memory?",
        "Which of these is true?",
        "Select the best option.",
        "Based on the conversation above, which statement is correct?\nA.\nB.",
        "According to the user's memories, choose the most likely answer:",
        "以下哪个选项是正确的？",
        "根据我们的对话，选择符合记忆的答案。",
        "次のうち正しいものはどれですか？",
        "?",
        "",
    ],
)
def test_a_question_about_its_choices_alone_says_nothing(question):
    assert without_instructions(question, options=True) == ""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which of these is true about Ann?", "Ann?"),
        ("Which of the following did Ann buy in Rome?", "Ann buy Rome?"),
        ("Based on our conversation, where does Ann live?", "where does Ann live?"),
        ("What did Ann's dog eat? Choose the correct answer.", "What did Ann's dog eat?"),
        ("Where does Ann live?", "Where does Ann live?"),
        ("Which is right?\nA. Ann has a dog\nB. Bob has a cat", "Ann has a dog\nBob has a cat"),
        ("哪个选项是对的？安娜住在哪里？", "安娜住在哪里？"),
    ],
)
def test_beside_choices_what_says_something_stays(question, said):
    assert without_instructions(question, options=True) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Please answer the question: where do I live?", "where do I live?"),
        ("Hi! Based on our conversation history, what is my dog called?", "what is my dog called?"),
        ("What is my dog called? Answer briefly.", "What is my dog called?"),
        ("根据我们的对话，安娜住在哪里？", "安娜住在哪里？"),
        ("I met Ann at the harbour. What did she say?", "I met Ann at the harbour. What did she say?"),
        ("Which option did Ann choose?", "Which option did Ann choose?"),
        ("What did I tell you?", "What did I tell you?"),
        ("Dr. Lee, 3.5 mg, or 4.2: which?", "Dr. Lee, 3.5 mg, or 4.2: which?"),
    ],
)
def test_without_choices_every_clause_that_asks_or_says_something_stays(question, said):
    assert without_instructions(question, options=False) == said


def test_a_long_question_takes_no_longer_than_its_length():
    assert without_instructions("a, " * 100_000, options=False) == ""
    assert len(without_instructions("x" * 300_000, options=True)) == 300_000

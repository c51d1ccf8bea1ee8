"""An answer is worth finding for what was asked before it, and the question that was answered for less."""

from __future__ import annotations

import numpy as np

from mmmem.retrieval.conversation import inherited, passed_on

# rows: 0 statement, 1 question, 2 its answer, 3 a question at the end of a session, 4 first of the next session
PREVIOUS = np.array([-1, 0, 1, 2, -1])
ASKS = np.array([False, True, False, True, False])
NAN = np.nan


def test_an_answer_inherits_its_questions_score_and_nobody_else_does():
    scores = np.array([1.0, 3.0, 0.5, 2.0, 0.1])
    np.testing.assert_array_equal(inherited(scores, PREVIOUS, ASKS), [NAN, NAN, 3.0, NAN, NAN])


def test_a_question_that_has_nothing_to_do_with_it_costs_its_answer_nothing():
    scores = np.array([1.0, -2.0, 0.5, 2.0, 0.1])
    np.testing.assert_array_equal(inherited(scores, PREVIOUS, ASKS), [NAN, NAN, 0.0, NAN, NAN])


def test_only_a_question_with_a_turn_after_it_passes_its_score_on():
    scores = np.array([1.0, 3.0, 0.5, 2.0, 0.1])
    np.testing.assert_array_equal(passed_on(scores, PREVIOUS, ASKS), [NAN, 3.0, NAN, NAN, NAN])


def test_the_first_memory_of_all_inherits_nothing_though_the_last_one_asks():
    # Row -1 is numpy's last row: it must not be taken for the row before the first.
    np.testing.assert_array_equal(
        inherited(np.array([1.0, 5.0]), np.array([-1, 0]), np.array([False, True])), [NAN, NAN]
    )

"""Who is named is found among thousands, by the first name and by all of it that has terms."""

from __future__ import annotations

import numpy as np
import pytest

from mmmem.store.speakers import Speakers
from mmmem.terms import hashed, terms


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does Ann like?", ["Ann Lee"]),
        ("ANN and worker-17", ["Ann Lee", "Worker-17"]),
        ("worker seventeen", []),
        ("李雷明天去哪里", ["李雷"]),
        ("李雨明天去哪里", []),
        ("*** ?", []),
        ("", []),
    ],
)
def test_a_question_names_speakers(question, named):
    names = ["Ann Lee", "Worker-17", "李雷", "***", *(f"Nobody{n}" for n in range(500))]
    grown = Speakers().plus(names[:2]).plus([]).plus(names[2:])
    found = grown.named_in(hashed(terms(question)))
    assert [names[place] for place in np.flatnonzero(found)] == named
    assert grown.nbytes > Speakers().nbytes

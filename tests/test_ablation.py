"""The ablation and the recall audit read a benchmark as it is meant, run the real service, and count what they say they count."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from mmmem.settings import Settings
from mmmem.settings.ranking import Ranking
from mmmem.types import TextPart

SCRIPTS = Path(__file__).parents[1] / "scripts"
CONVERSATIONS = Path(__file__).parent / "conversations.json"
FIELDS = set(Settings.model_fields)


def module(name):
    @pytest.fixture
    def imported(monkeypatch):
        monkeypatch.syspath_prepend(SCRIPTS)
        return import_module(name)

    return imported


data, ablate, audit = module("benchmark_data"), module("ablate"), module("audit_recall")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A folder in which the conversations are kept from one run to the next."""
    return tmp_path_factory.mktemp("stores")


def run(script, store, *arguments):
    command = [sys.executable, str(SCRIPTS / script), "--data", str(CONVERSATIONS), "--store", str(store), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_turns_become_messages_with_times_roles_and_sessions(data):
    first, second = data.read(CONVERSATIONS)
    assert (first.user_id, second.user_id) == ("allotment", "ferry")
    assert [(add.session_id, len(add.messages)) for add in first.adds] == [("session_1", 7), ("session_2", 5)]
    message = first.adds[1].messages[2]
    assert message.parts == (TextPart("Anselm: A retired conductor called Ludmila, every Thursday."),)
    assert (message.role, message.timestamp) == ("assistant", 1_716_060_602_000)  # 2024-05-18 19:30:02 UTC
    assert {message.role for message in first.adds[1].messages if "Petra: " in message.parts[0].text} == {"user"}
    assert data.message_count([first, second]) == 16


def test_a_long_session_is_told_in_several_adds(data, tmp_path):
    sample = json.loads(CONVERSATIONS.read_text())[1]
    sample["conversation"]["session_1"] = [
        {"speaker": "Tim", "dia_id": f"D1:{n}", "text": f"Wave {n}"} for n in range(1, 46)
    ]
    file = tmp_path / "long.json"
    file.write_text(json.dumps([sample]))
    [conversation] = data.read(file)
    assert [len(add.messages) for add in conversation.adds] == [20, 20, 5]
    assert len({add.request_id for add in conversation.adds}) == 3
    assert len({message.timestamp for add in conversation.adds for message in add.messages}) == 45


def test_questions_keep_the_evidence_there_is_and_those_without_are_left_out(data):
    first, second = data.read(CONVERSATIONS)
    assert [question.evidence for question in first.questions] == [("D1:3",), ("D2:3",), ("D2:1",), ("D1:6", "D1:5")]
    assert [question.category for question in first.questions] == [4, 4, 2, 3]
    assert second.questions[0].query.user_id == "ferry"


@pytest.mark.parametrize(
    ("returned", "counts_for"),
    [
        ("[2024-03-03 09:05] user: Ann: The kettle is broken", {"1"}),
        ("ann: the  KETTLE\nis broken", {"1"}),
        ("Ann: The kettle", set()),
        ("Ann: Yes", {"2", "4"}),  # said twice: either is the evidence
        ("Ann: Yes, it is", {"3"}),  # what it begins with was said elsewhere
        ("Ann: The kettle is broken\nAnn: Yes", set()),  # longer memories buy nothing
        ("nothing of it", set()),
    ],
)
def test_a_memory_counts_for_the_one_turn_that_it_holds(data, returned, counts_for):
    turns = {"1": "Ann: The kettle is broken", "2": "Ann: Yes", "3": "Ann: Yes, it is", "4": "Ann: yes"}
    assert data.Evidence(turns).of(returned) == counts_for


def test_each_piece_of_evidence_has_the_rank_of_the_first_memory_that_counts_for_it(data):
    evidence = data.Evidence({"1": "one", "2": "two", "3": "three"})
    assert evidence.ranks(["two", "one two", "one", "two"], ["1", "2", "3"]) == [3, 1, math.inf]


def test_every_channel_and_switch_of_the_ranking_has_a_row_without_it(ablate):
    assert {name for overrides in ablate.VARIANTS.values() for name in overrides} <= FIELDS
    of_images_or_options = {
        "weight_image",
        "weight_picture",
        "weight_colours",
        "weight_labels",
        "weight_written",
        "weight_options",
        "picture_share",
    }  # the benchmark has none
    switches = {name for name in FIELDS if name.startswith("weight_") or name.endswith("_share")} | {"recency"}
    switches |= {name for name, field in Ranking.model_fields.items() if field.annotation is bool}
    defaults = Settings().model_dump()
    on = {name for name in switches - of_images_or_options - {"weight_rerank"} if defaults[name]}
    assert on
    for name in sorted(on):
        assert any(
            not overrides.get(name, True) and set(overrides) <= {name, "reranker"}
            for overrides in ablate.VARIANTS.values()
        ), f"no variant with {name} off alone"


def test_every_row_differs_from_the_default_and_from_the_others(ablate):
    made = [Settings(**overrides).model_dump_json() for overrides in ablate.VARIANTS.values()]
    same = [name for name, settings in zip(ablate.VARIANTS, made, strict=True) if made.count(settings) > 1]
    assert not same


def test_each_variant_is_measured_over_the_whole_search_path(data, store, tmp_path):
    figures_file, table_file = tmp_path / "figures.json", tmp_path / "table.md"
    only = ("--only", "lexical alone", "previous turn off", "maxsim off")
    shown = run("ablate.py", store, *only, "--json", str(figures_file), "--markdown", str(table_file))
    figures = json.loads(figures_file.read_text())
    assert list(figures) == ["default", "maxsim off", "previous turn off", "lexical alone"]
    # Every memory is returned with its time and role: 12 for four of the questions, 4 for the fifth.
    whole = [
        sum(
            len(f"[2024-01-01 00:00] {message.role}: {message.parts[0].text}")
            for add in conversation.adds
            for message in add.messages
        )
        for conversation in data.read(CONVERSATIONS)
    ]
    for row in figures.values():
        assert row["chars"] == pytest.approx((4 * whole[0] + whole[1]) / 5)
        assert row["hit@1"] <= row["hit@3"] <= row["hit@10"] == row["hit@50"] == 1
        assert row["hit@1"] <= row["mrr"] <= 1
        assert row["p50_ms"] > 0
    assert figures["default"]["hit@1"] >= 0.6
    assert (store / "default").is_dir()
    assert (store / "previous_chars=0").is_dir()
    lines = table_file.read_text().splitlines()
    assert len(lines) == 2 + len(figures)
    assert all(line.startswith("|") and line.endswith("|") for line in lines)
    for name, line in zip(figures, lines[2:], strict=True):
        assert name in line
        assert name in shown


def test_differences_are_from_the_default_with_their_standard_error(ablate):
    figures = dict.fromkeys((*ablate.QUALITY, "chars", "p50_ms"), 0.5)
    better = figures | {"mrr": 0.75, "hit@1": 0.25}
    rows = [
        ablate.Row("default", figures, np.array([0.5, 0.5, 0.5, 0.5])),
        ablate.Row("changed", better, np.array([0.5, 0.5, 1.0, 1.0])),
    ]
    cells = [list(column.cells) for column in ablate.report(rows).columns]
    assert [column[0] for column in cells[:3]] == ["default", ".500", ".500"]
    assert [cells[place][1] for place in (1, 2, 5)] == [".250 -.250", ".500 0", ".750 +.250 ±.125"]


@pytest.mark.parametrize(
    ("channels", "fused", "final", "kind"),
    [
        ({"maxsim": 1.0}, 2.0, 3.0, None),
        ({"maxsim": 1.0}, 20.0, 10.0, None),  # what counts is what is returned
        ({"maxsim": 1.0}, 10.0, 11.0, "after"),
        ({"maxsim": 40.0, "lexical": 10.0}, 11.0, 11.0, "fusion"),
        ({"maxsim": 50.0, "lexical": 80.0}, 30.0, math.inf, "near"),
        ({"maxsim": 51.0, "lexical": math.inf}, 52.0, math.inf, "none"),
        ({}, 52.0, math.inf, "none"),
        ({"maxsim": math.inf}, math.inf, math.inf, "cut"),
    ],
)
def test_a_miss_is_told_by_the_last_step_that_still_had_the_evidence(audit, channels, fused, final, kind):
    trace = audit.Trace("user", 1, ("D1:1",), channels, fused, final, "question")
    assert trace.kind(10, 50) == kind


def test_a_channel_that_says_the_same_of_many_memories_has_found_none(audit):
    scores = np.array([1.0, 1.0, 1.0, 0.2, np.nan])
    assert audit.place(scores, [0]) == 3
    assert audit.place(scores, [3, 4]) == 4
    assert audit.place(scores, [4]) == math.inf
    assert audit.place(scores, []) == math.inf


def test_the_audit_accounts_for_every_miss_and_keeps_texts_to_itself(store, tmp_path):
    file, table = tmp_path / "misses.json", tmp_path / "tables.md"
    shown = run(
        "audit_recall.py", store, "--k", "1", "--depth", "3", "--each", "--json", str(file), "--markdown", str(table)
    )
    found = json.loads(file.read_text())
    assert found["asked"] == 6  # five questions, one of them with two pieces of evidence that count
    assert found["misses"], "of two pieces of evidence only one can be first"
    for miss in found["misses"]:
        assert miss["places"]["final"] > 1
        assert miss["kind"] in {"none", "near", "fusion", "after"}
        assert {"maxsim", "lexical"} <= set(miss["places"])
    total = next(line for line in table.read_text().splitlines() if line.startswith("| all"))
    cells = [int(cell.split()[0]) for cell in total.strip("| ").split("|")[1:]]
    assert cells[:2] == [6, len(found["misses"])]
    assert sum(cells[2:7]) == len(found["misses"])
    for text in (shown, file.read_text(), table.read_text()):
        assert "bee" not in text


def test_the_audit_shows_the_worst_misses_when_asked(store):
    shown = run("audit_recall.py", store, "--k", "1", "--each", "--show", "1")
    questions = [one["question"] for sample in json.loads(CONVERSATIONS.read_text()) for one in sample["qa"]]
    assert sum(question in shown for question in questions) == 1
    assert shown.count("fused ") == 1

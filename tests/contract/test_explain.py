"""POST /explain: what /search answers, and how each memory came to its place."""

from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from mmmem.api.contract import ExplainAnswer
from tests.contract.pictures import data_url, draw, image_part, text_part
from tests.running import RunningService, text_of

USER = "explained"
JUNE = 1_686_096_000_000  # 7 June 2023
QUESTIONS: dict[str, dict[str, Any]] = {
    "text": {"query": "What colour is the boat?"},
    "a date and a name": {"query": "What did Ben say about the boat on 7 June 2023?"},
    "an identifier": {"query": "When did ERR_42 come up?"},
    "options": {"query": "Which is right?", "options": ["A. The boat is blue", "B. The dog is a poodle"]},
    "Chinese": {"query": "小狗叫什么名字？"},
    "a picture": {"query": [image_part(data_url(draw("red")))]},
    "both": {"query": [text_part("where was this?"), image_part(data_url(draw("green", "rectangle")))]},
}


@pytest.fixture(scope="module")
def told(service: RunningService) -> RunningService:
    """A service that was told eight things."""
    contents = [
        "Ann: Which colour is your boat?",
        "Ben: Blue, since last May.",
        "Ann: The house is white, and the dog is called Rex.",
        "Ben: The build failed again with ERR_42.",
        "小狗叫雷克斯。",
        [text_part("my new balloon"), image_part(data_url(draw("red")))],
        [image_part(data_url(draw("green", "rectangle")))],
        "The boat, the boat! She left the harbour.",
    ]
    messages = [
        {"role": "user", "content": said, "timestamp": JUNE + n * 90_000_000} for n, said in enumerate(contents)
    ]
    service.add_messages(USER, messages)
    return service


def explain(service: RunningService, body: dict[str, Any], top_k: int = 20) -> list[dict[str, Any]]:
    answer = service.post("/explain", {"user_id": USER, "top_k": top_k, **body})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]
    ExplainAnswer.model_validate({"data": found})
    return found


@pytest.mark.parametrize("body", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("top_k", [1, 3, 20])
def test_the_memories_are_those_of_search_in_the_same_order(
    told: RunningService, body: dict[str, Any], top_k: int
) -> None:
    found = told.search(USER, top_k=top_k, **body)
    assert [{name: memory[name] for name in found[0]} for memory in explain(told, body, top_k)] == found


@pytest.mark.parametrize("body", QUESTIONS.values(), ids=QUESTIONS)
def test_what_the_channels_added_is_the_fused_score(told: RunningService, body: dict[str, Any]) -> None:
    explained = explain(told, body)
    assert len(explained) == 8
    for memory in explained:
        added = sum(channel["added"] for channel in memory["channels"].values())
        assert added == pytest.approx(memory["fused"]["score"], abs=1e-6)
    assert any(channel["added"] for memory in explained for channel in memory["channels"].values())


@pytest.mark.parametrize("body", QUESTIONS.values(), ids=QUESTIONS)
def test_a_rank_is_one_more_than_there_are_better_memories(told: RunningService, body: dict[str, Any]) -> None:
    explained = explain(told, body)  # all there are
    places: dict[str, list[dict[str, Any]]] = {"fused": [memory["fused"] for memory in explained]}
    places["reranked"] = [memory["reranked"] for memory in explained if memory["reranked"]]
    for memory in explained:
        for name, said in memory["channels"].items():
            places.setdefault(name, []).append(said)
    for name, said in places.items():
        scores = [place["score"] for place in said]
        assert [place["rank"] for place in said] == [1 + sum(other > score for other in scores) for score in scores], (
            name
        )


def first_by(channel: str, explained: list[dict[str, Any]]) -> str:
    """The text of the one memory that a channel puts first."""
    (best,) = [memory for memory in explained if memory["channels"].get(channel, {}).get("rank") == 1]
    return text_of(best)


def test_each_channel_puts_first_what_it_looks_for(told: RunningService) -> None:
    assert "She left the harbour" in first_by("lexical", explain(told, {"query": "the boat in the harbour"}))
    assert "ERR_42" in first_by("identifiers", explain(told, QUESTIONS["an identifier"]))
    assert "Which colour" in first_by("date", explain(told, {"query": "What was said on 7 June 2023?"}))
    assert "my new balloon" in first_by("image_to_image", explain(told, QUESTIONS["a picture"]))
    assert "boat" in first_by(
        "options", explain(told, {"query": "Which is right?", "options": ["She left the harbour"]})
    )


def test_the_tokens_that_met_are_named_the_one_that_says_most_first(told: RunningService) -> None:
    (harbour,) = [m for m in explain(told, {"query": "the harbour"}) if "harbour" in text_of(m).splitlines()[0]]
    tokens = harbour["tokens"]
    assert (tokens[0]["query"], tokens[0]["memory"]) == ("harbour", "harbour")
    assert tokens[0]["similarity"] > 0.5
    said = [match["weight"] * match["similarity"] for match in tokens]
    assert said == sorted(said, reverse=True)
    assert 0 < sum(match["weight"] for match in tokens) <= 1 + 1e-6


def test_a_question_without_words_has_no_tokens_and_no_rerank(told: RunningService) -> None:
    for memory in explain(told, QUESTIONS["a picture"]):
        assert memory["tokens"] == []
        assert memory["reranked"] is None


def test_what_the_pictures_of_the_question_were_taken_for_is_said_once(told: RunningService) -> None:
    page = Image.new("RGB", (600, 120), "white")
    ImageDraw.Draw(page).text((20, 40), "Invoice 4711", "black", ImageFont.load_default(28))
    balloon = image_part(data_url(draw("red")))
    asked = {"query": [image_part(data_url(page)), balloon], "user_id": USER, "top_k": 20}
    answer = told.post("/explain", asked).json()
    ExplainAnswer.model_validate(answer)
    written, drawn = answer["query_pictures"]
    assert "Invoice 4711" in written["text"]
    (stored,) = [memory for memory in answer["data"] if "my new balloon" in text_of(memory).splitlines()[0]]
    assert [drawn] == stored["pictures"], "the same picture is taken for the same"
    assert told.post("/explain", {**asked, "query": "the boat"}).json()["query_pictures"] == []
    assert told.post("/explain", {**asked, "user_id": "nobody of these tests"}).json()["query_pictures"] == []


def test_what_the_reranker_did_not_see_is_null(start_service: Any) -> None:
    running = start_service(rerank_top_n="2").ready()
    running.add(USER, "the boat is blue", "the house is white", "the dog is called Rex")
    explained = explain(running, {"query": "what colour is the boat?"})
    assert [memory["reranked"] is not None for memory in explained] == [True, True, False]


def test_a_user_whom_nobody_knows_has_nothing_to_explain(told: RunningService) -> None:
    assert explain(told, {"query": "anything", "user_id": "nobody of these tests"}) == []


def test_who_said_it_and_in_which_session_is_said(told: RunningService) -> None:
    message = {"role": "narrator: an old one", "content": "the barn door is red"}
    told.add_messages("told by a narrator", [message], session="a tale")
    answer = told.post("/explain", {"user_id": "told by a narrator", "top_k": 1, "query": "barn"}).json()
    [memory] = answer["data"]
    assert (memory["role"], memory["session_id"]) == ("narrator: an old one", "a tale")


def test_a_question_is_ranked_with_settings_of_its_own_and_no_other_is(told: RunningService) -> None:
    question = {"query": "What did Ben say about the boat on 7 June 2023?"}
    usual = explain(told, question)
    assert any({"date", "maxsim"} <= memory["channels"].keys() for memory in usual)
    changed = explain(told, {**question, "settings": {"weight_date": 0, "weight_maxsim": 2, "fusion": "rrf"}})
    assert not any("date" in memory["channels"] for memory in changed)
    assert [memory["id"] for memory in changed] != [memory["id"] for memory in usual]
    assert explain(told, question) == usual
    assert explain(told, {**question, "settings": {}}) == explain(told, {**question, "settings": None}) == usual


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"weight_date": -1}, "settings.weight_date"),
        ({"weight_date": 1e300}, "settings.weight_date"),
        ({"weight_date": True}, "settings.weight_date"),
        ({"weight_date": "1"}, "settings.weight_date"),
        ({"rerank_top_n": 0}, "settings.rerank_top_n"),
        ({"rerank_top_n": 1.5}, "settings.rerank_top_n"),
        ({"candidates": 10**30}, "settings.candidates"),
        ({"fusion": "sum"}, "settings.fusion"),
        ({"deduplicate": 1}, "settings.deduplicate"),
        ({"reranker": "none"}, "settings"),
        ({"data_dir": "/secret"}, "settings"),
        ({"secret": 1}, "settings"),
        (["secret"], "settings"),
    ],
)
def test_a_setting_that_cannot_be_is_named_and_not_repeated(told: RunningService, settings: object, field: str) -> None:
    answer = told.post("/explain", {"user_id": USER, "top_k": 3, "query": "boat", "settings": settings})
    assert answer.status_code == 422
    detail = answer.json()["detail"]
    assert detail["field"] == field
    assert not any(word in answer.text for word in ("secret", "1e+300", "sum"))


@pytest.mark.parametrize("at", ["least", "most"])
def test_every_setting_may_be_at_its_bounds(told: RunningService, at: str) -> None:
    listed = told.client.get("/ui/settings").json()["data"]
    bound = {"least": "minimum", "most": "maximum"}[at]
    extreme = {each["name"]: each[bound] for each in listed if each["type"] in {"number", "integer"}}
    extreme["rrf_k"] = max(extreme["rrf_k"], 1e-300)  # more than 0
    for fusion in ("zscore", "rrf"):
        for body in QUESTIONS.values():
            explain(told, {**body, "settings": {**extreme, "fusion": fusion}})

"""A service whose pooled vectors come from a provider keeps its promises also while the provider does not."""

from collections.abc import Callable
from typing import Any

from tests.embeddings import DIMENSIONS, KEY, Provider, altered, reset, status
from tests.running import RunningService, text_of

SECRET = "the safe opens with 4711"


def body(text: str, request_id: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"request_id": request_id, "user_id": "u", "session_id": "s", "messages": messages}


def unavailable(running: RunningService, path: str, sent: dict[str, Any], problem: str) -> None:
    answer = running.post(path, sent)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.json()["code"] == "model_unavailable"
    assert problem in answer.json()["detail"]["reason"]
    for hidden in (SECRET, KEY, "PROVIDER BODY", "127.0.0.1"):
        assert hidden not in answer.text


def test_a_provider_that_is_down_loses_nothing_and_doubles_nothing(
    provider: Provider, start_service: Callable[..., RunningService]
) -> None:
    provider.broken = status(503)
    settings = {name: str(value) for name, value in provider.settings(remote_retries=1).items()}
    running = start_service(ocr="off", log_level="debug", **settings).ready()  # it starts while the provider is down
    assert running.search("u", "safe") == []
    first = body(SECRET, "r1")
    unavailable(running, "/add", first, "has an error of its own (503), in 2 tries")
    provider.broken = reset
    unavailable(running, "/add", first, "cannot be reached")
    provider.broken = status(401)
    unavailable(running, "/add", first, "check MMMEM_REMOTE_KEY")
    provider.broken = altered(lambda data: data[0].update(embedding=[0.0] * DIMENSIONS))
    unavailable(running, "/add", first, "all zeros")
    provider.broken = None
    assert running.search("u", "safe") == [], "nothing of a failed Add is stored"
    for _ in range(2):
        assert running.post("/add", first).status_code == 200
    running.add("u", "My bicycle has a flat tyre.", "We moved house in May.", request="r2")
    question = {"user_id": "u", "query": "Is the bike all right?", "top_k": 10}
    [best, *others] = running.post("/explain", question).json()["data"]
    assert "bicycle" in text_of(best)
    assert best["channels"]["dense"]["rank"] == 1
    assert len(others) == 2, "the retried Add is stored once"
    provider.broken = status(429)
    unavailable(running, "/search", {**question, "query": "Which tyre?"}, "takes no more requests now (429)")
    unavailable(running, "/add", body("another one", "r3"), "takes no more requests now (429)")
    assert len(running.search("u", question["query"])) == 3, "a question that was asked before needs no provider"
    assert running.client.get("/health").status_code == 200
    running.stop()
    log = running.log.read_text()
    assert "the embeddings provider has an error of its own (503), in 2 tries" in log
    for hidden in (SECRET, KEY, "PROVIDER BODY", "tyre"):
        assert hidden not in log

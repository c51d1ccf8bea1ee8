"""Vectors from an embeddings provider are the right ones, or there is an error that says what to do and gives nothing away."""

from __future__ import annotations

import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest
from pydantic import ValidationError

from mmmem.encoders.remote import sendable
from mmmem.errors import ModelUnavailable, StartupError
from mmmem.settings import Settings
from mmmem.wiring import remote
from tests import embeddings
from tests.embeddings import DIMENSIONS, KEY, MODEL, altered, cut, hang, raw, reset, status, trickle, vector

SECRET = "the safe opens with 4711"


@pytest.fixture(autouse=True)
def offline():
    """Unlike the other encoders, this one is there to ask a network."""


@pytest.fixture
def encoder(provider, tmp_path):
    """Makes encoders on one cache, as processes that follow each other would."""
    made = []

    def make(**settings):
        given = {"remote_cache_dir": str(tmp_path), "remote_timeout_seconds": 5, **settings}
        made.append(remote.load(Settings(**provider.settings(**given))))
        return made[-1]

    yield make
    for each in made:
        each.close()


def numbered(count):
    return [f"memory number {i}" for i in range(count)]


def unit(text):
    numbers = np.array(vector(text))
    return numbers / np.linalg.norm(numbers)


def assert_right(vectors, texts):
    assert all(each.dtype == np.float32 for each in vectors)
    np.testing.assert_allclose(np.stack(vectors), np.stack([unit(text) for text in texts]), atol=1e-6)


def test_every_text_gets_its_own_vector_of_unit_length(encoder, provider):
    texts = [*numbered(25), "张伟把雨伞借走了", "memory number 3"]
    remote_encoder = encoder()
    assert_right(remote_encoder.encode_documents(texts), texts)
    assert_right(remote_encoder.encode_queries(texts), texts)
    assert remote_encoder.dimensions == DIMENSIONS
    assert remote_encoder.encode_documents([]) == []
    assert max(len(asked) for asked in provider.asked) == 10
    assert sorted(provider.texts) == sorted(set(texts)), "each text is sent once"
    for body in provider.bodies:
        assert {name: value for name, value in body.items() if name != "input"} == {
            "model": MODEL,
            "dimensions": DIMENSIONS,
            "encoding_format": "float",
        }


def test_a_blank_text_is_not_sent_and_has_no_direction(encoder, provider):
    vectors = encoder().encode_documents(["", " \n\t", "\u200b", "something"])
    assert [each.any() for each in vectors] == [False, False, False, True]
    assert provider.texts == ["something"]


def test_a_long_text_is_cut_between_characters_to_what_the_model_surely_reads(encoder, provider):
    encoder(remote_max_tokens=100).encode_queries(["雨" * 1000, "a" * 1000, "e\u0301" * 50, "😀" * 21])
    assert all(len(text.encode()) <= 84 for text in provider.texts)
    assert sorted(provider.texts) == sorted(["雨" * 28, "a" * 84, "é" * 42, "😀" * 21])
    assert sendable("\ud800 lone", 84) == "? lone"


def test_as_many_requests_at_a_time_as_are_allowed_and_no_more(encoder, provider):
    provider.hold = 0.05
    remote_encoder = encoder(remote_concurrency=3, remote_batch_size=2)
    with ThreadPoolExecutor(8) as callers:
        texts = [[f"{text} of {caller}" for text in numbered(8)] for caller in range(8)]
        for vectors, sent in zip(callers.map(remote_encoder.encode_documents, texts), texts, strict=True):
            assert_right(vectors, sent)
    assert provider.most == 3
    assert {len(asked) for asked in provider.asked} == {2}


def test_a_small_add_and_a_search_do_not_wait_for_a_large_add(encoder, provider):
    provider.hold = 0.02
    remote_encoder = encoder(remote_concurrency=2, remote_batch_size=1)
    with ThreadPoolExecutor(1) as other:
        large = other.submit(remote_encoder.encode_documents, numbered(60))
        while len(provider.asked) < 4 and not large.done():  # else it has failed, and says so below
            time.sleep(0.005)
        remote_encoder.encode_documents(["a small one"])
        remote_encoder.encode_queries(["a question?"])
        large.result()
    assert provider.texts.index("a small one") < 30
    assert provider.texts.index("a question?") < 40


PASSING = {
    "429": status(429, Retry_After="0"),
    "500": status(500),
    "502": status(502),
    "503": status(503, Retry_After="nonsense"),
    "connection reset": reset,
    "connection broken in the answer": cut,
    "hang": hang(2),
    "trickle": trickle,
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_not_noticed(encoder, provider, fault):
    provider.faults = [PASSING[fault]] * 2
    texts = numbered(3)
    assert_right(encoder(remote_timeout_seconds=0.3, remote_retries=2).encode_documents(texts), texts)
    assert provider.asked == [texts] * 3


@pytest.mark.parametrize("fault", PASSING)
def test_what_does_not_pass_is_an_error_after_the_last_try(encoder, provider, fault, caplog):
    provider.broken = PASSING[fault]
    told = refused(encoder(remote_timeout_seconds=0.3, remote_retries=1), caplog)
    assert "in 2 tries" in told
    assert len(provider.asked) == 2


def test_a_provider_that_is_not_there_is_an_error_that_says_so(encoder, provider, caplog):
    away = encoder(remote_url="http://127.0.0.1:9/v1", remote_retries=1)
    assert "cannot be reached (ConnectError), in 2 tries" in refused(away, caplog)


def test_while_it_is_down_one_request_finds_out_and_the_others_do_not_wait(encoder, provider):
    waiting = encoder(remote_timeout_seconds=1, remote_retries=1, remote_batch_size=1, remote_concurrency=2)
    provider.broken = hang(3)
    with pytest.raises(ModelUnavailable, match="in 2 tries"):
        waiting.encode_documents(["first"])
    assert len(provider.asked) == 2
    with ThreadPoolExecutor(12) as callers:
        asked = [callers.submit(waiting.encode_queries, [text]) for text in numbered(12)]
        assert all("does not answer in time" in str(each.exception()) for each in asked)
    assert len(provider.asked) < 8
    provider.broken = None
    texts = numbered(20)
    assert_right(waiting.encode_documents(texts), texts)


def test_a_provider_that_is_busy_is_not_taken_to_be_down(encoder, provider):
    pressed = encoder(remote_retries=1)
    provider.broken = status(429)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r"no more requests now \(429\), in 2 tries"):
            pressed.encode_documents(["one"])


WRONG = {
    "no JSON": (raw(b"<html>PROVIDER BODY</html>"), "no list of embeddings"),
    "JSON that ends early": (raw(b'{"data": [{"index": 0, "embedding": [0.1'), "no list of embeddings"),
    "nesting without end": (raw(b'{"data": ' + b"[" * 100_000), "no list of embeddings"),
    "text for numbers": (altered(lambda data: data[0].update(embedding=["0.1"] * DIMENSIONS)), "no list of embeddings"),
    "no index": (altered(lambda data: data[0].pop("index")), "no list of embeddings"),
    "one too few": (altered(lambda data: data.pop()), "not those of 3 texts"),
    "one too many": (altered(lambda data: data.append({**data[0], "index": 3})), "not those of 3 texts"),
    "none": (altered(lambda data: data.clear()), "not those of 3 texts"),
    "an index twice": (altered(lambda data: data[1].update(index=0)), "not those of 3 texts"),
    "too narrow": (altered(lambda data: data[1]["embedding"].pop()), "63 numbers, not 64: check MMMEM_REMOTE_DIMEN"),
    "too wide": (altered(lambda data: data[2]["embedding"].append(1.0)), "65 numbers, not 64"),
    "NaN": (altered(lambda data: data[1]["embedding"].__setitem__(5, float("nan"))), "not finite"),
    "infinite": (altered(lambda data: data[1]["embedding"].__setitem__(5, float("inf"))), "not finite"),
    "beyond floats": (raw(b'{"data":[{"index":0,"embedding":[' + b"9" * 400 + b"]}]}"), "cannot be used"),
    "zeros": (altered(lambda data: data[1].update(embedding=[0.0] * DIMENSIONS)), "all zeros"),
    "huge": (raw(b" " * (4 << 20)), "too large"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_an_answer_that_is_not_what_was_asked_for_is_not_used(encoder, provider, fault, caplog):
    provider.broken, problem = WRONG[fault]
    assert problem in refused(encoder(), caplog)
    assert len(provider.asked) == 1, "the same would come again"


def test_an_answer_in_another_order_is_put_in_order(encoder, provider):
    provider.broken = altered(lambda data: data.reverse())
    texts = numbered(10)
    assert_right(encoder().encode_documents(texts), texts)


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e30, 1e300])
def test_vectors_of_any_length_are_brought_to_unit_length(encoder, provider, size):
    provider.broken = altered(
        lambda data: [each.update(embedding=[x * size for x in each["embedding"]]) for each in data]
    )
    assert_right(encoder().encode_documents(["one"]), ["one"])


REFUSALS = {
    401: "check MMMEM_REMOTE_KEY",
    403: "check MMMEM_REMOTE_KEY and MMMEM_REMOTE_MODEL",
    400: "check MMMEM_REMOTE_MODEL",
    418: "refuses the request (418)",
    301: "redirects to elsewhere (301): check MMMEM_REMOTE_URL",
}


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_is_not_asked_again_and_says_where_to_look(encoder, provider, code, caplog):
    elsewhere = f"{provider.url}/elsewhere"
    provider.broken = status(code, Location=elsewhere)
    assert REFUSALS[code] in refused(encoder(), caplog)
    assert len(provider.asked) == 1


def test_a_wrong_key_model_or_address_is_said_plainly(encoder, provider, caplog):
    assert "does not accept the key (401)" in refused(encoder(remote_key="sk-another"), caplog)
    assert "sk-another" not in caplog.text
    assert "knows no such model or address (404)" in refused(encoder(remote_model="other"), caplog)
    assert "knows no such model or address (404)" in refused(encoder(remote_url=provider.url + "/v2"), caplog)


def refused(remote_encoder, caplog):
    """What the error says, after it was seen that neither it nor the log gives anything away."""
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelUnavailable) as raised:
        remote_encoder.encode_documents([SECRET, *numbered(2)])
    own = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("mmmem"))
    told = str(raised.value)
    assert told in own
    for hidden in (SECRET, "4711", KEY, "PROVIDER BODY", "127.0.0.1"):
        assert hidden not in told + own
    assert KEY not in caplog.text
    assert SECRET not in caplog.text
    return told


@pytest.mark.parametrize("date", [False, True])
def test_retry_after_is_honoured_up_to_the_time_out(encoder, provider, monkeypatch, date):
    waits = []
    monkeypatch.setattr("mmmem.encoders.provider.time.sleep", waits.append)

    def later(seconds):
        return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True) if date else str(seconds)

    provider.faults = [status(429, Retry_After=later(4)), status(429, Retry_After=later(3600)), status(429)]
    provider.faults += [
        status(503, Retry_After=value) for value in ("-5", "", "nan", f"Mon, 01 Jan {9 * '9'} 00:00:00 GMT")
    ]
    encoder(remote_timeout_seconds=7, remote_retries=7).encode_queries(["when?"])
    assert 2 <= waits[0] <= 4
    assert waits[1] == 7
    assert waits[2:] == [0] * 5


def test_waits_double_vary_and_end(encoder, provider, monkeypatch):
    waits = []
    monkeypatch.setattr("mmmem.encoders.provider.time.sleep", waits.append)
    provider.faults = [status(500)] * 6
    encoder(remote_backoff_seconds=1, remote_timeout_seconds=10, remote_retries=6).encode_queries(["when?"])
    for number, wait in enumerate(waits):
        assert min(2**number / 2, 10) <= wait <= min(2**number, 10)
    assert len(set(waits)) > 3


def test_the_same_text_is_not_sent_twice_also_after_a_restart(encoder, provider):
    texts = numbered(25)
    first = encoder()
    vectors = first.encode_documents(texts)
    first.close()
    second = encoder()
    np.testing.assert_array_equal(np.stack(second.encode_documents([*texts, "", "new"]))[:25], np.stack(vectors))
    assert provider.texts[25:] == ["new"]


def test_what_was_answered_before_a_failure_is_not_sent_again(encoder, provider):
    provider.faults = [lambda handler, texts: handler.answer(200, embeddings.answered(texts)), status(400)]
    patient = encoder(remote_batch_size=1, remote_concurrency=1)
    with pytest.raises(ModelUnavailable):
        patient.encode_documents(["one", "two", "three"])
    patient.encode_documents(["one", "two", "three"])
    assert provider.texts == ["one", "two", "two", "three"]


@pytest.mark.parametrize("other", [{"remote_model": MODEL + "-b"}, {"remote_dimensions": 32}, {"remote_url": "/"}])
def test_another_model_dimension_or_address_shares_nothing_in_the_cache(encoder, provider, other):
    encoder().encode_documents(["one"])
    if "remote_url" in other:
        other = {"remote_url": provider.url.replace("127.0.0.1", "localhost")}
    changed = encoder(**other, remote_retries=0)
    try:
        changed.encode_documents(["one"])
    except ModelUnavailable:
        assert "remote_url" not in other
    assert provider.texts == ["one", "one"]


def test_without_a_cache_nothing_is_written(encoder, provider, tmp_path):
    off = encoder(remote_cache_bytes=0)
    for _ in range(2):
        off.encode_documents(["one"])
    assert provider.texts == ["one", "one"]
    assert list(tmp_path.iterdir()) == []


def test_the_cache_holds_no_text_and_no_key(encoder, tmp_path):
    encoder().encode_documents([SECRET])
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    for file in files:
        content = file.read_bytes()
        assert not any(hidden.encode() in content for hidden in (SECRET, KEY, MODEL, "127.0.0.1", *SECRET.split()[-1:]))


def test_no_key_means_no_header(encoder, provider, caplog):
    assert "(401)" in refused(encoder(remote_key=None), caplog)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REMOTE_URL", "ftp://example.com"),
        ("REMOTE_URL", "example.com/v1"),
        ("REMOTE_URL", "https://ann:hidden-word@example.com/v1"),
        ("REMOTE_URL", "https://example.com/v1?key=hidden-word"),
        ("REMOTE_URL", "https:///v1"),
        ("REMOTE_URL", "https://example.com:hidden-word/v1"),
        ("REMOTE_URL", "https://example.com:99999/v1"),
        ("REMOTE_URL", "https://exa mple.com/v1"),
        ("REMOTE_URL", "https://a..b/v1"),
        ("REMOTE_URL", "https://a../v1"),
        ("REMOTE_URL", f"https://{'a' * 64}.com/v1"),
        ("REMOTE_URL", "http://[hidden-word/v1"),
        ("REMOTE_KEY", "hidden-word two"),
        ("REMOTE_KEY", "hidden-word\u00e9"),
        ("REMOTE_KEY", " "),
        ("REMOTE_DIMENSIONS", "0"),
        ("REMOTE_BATCH_SIZE", "0"),
        ("REMOTE_CONCURRENCY", "0"),
        ("REMOTE_TIMEOUT_SECONDS", "0"),
        ("REMOTE_RETRIES", "1000"),
        ("REMOTE_CACHE_BYTES", "-1"),
        ("TEXT_ENCODER", "other"),
    ],
)
def test_a_setting_that_cannot_be_right_is_refused_without_being_repeated(monkeypatch, name, value):
    monkeypatch.setenv(f"MMMEM_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()) as raised:
        Settings()
    assert "hidden-word" not in str(raised.value)


def test_a_key_from_a_file_may_end_with_a_line_and_is_not_shown(monkeypatch):
    monkeypatch.setenv("MMMEM_REMOTE_KEY", f"{KEY}\n")
    settings = Settings()
    assert settings.remote_key.get_secret_value() == KEY
    assert KEY not in repr(settings) + str(settings) + json.dumps(settings.model_dump(mode="json"))


@pytest.mark.parametrize("missing", ["remote_url", "remote_model", "weight_dense"])
def test_without_what_it_needs_it_does_not_start_and_says_so(provider, missing):
    empty = 0 if missing == "weight_dense" else ""
    with pytest.raises(StartupError, match=f"MMMEM_{missing.upper()}"):
        remote.check(Settings(**provider.settings(**{missing: empty})))


@pytest.mark.parametrize("host", ["xn--", "xn--a-.com", "[::1]:1]"])
def test_an_address_that_no_request_can_go_to_stops_the_start(provider, host):
    with pytest.raises((StartupError, ValidationError), match=r"(?i)remote_url"):
        remote.load(Settings(**provider.settings(remote_url=f"http://{host}/v1")))


def test_the_cache_is_beside_the_store_or_where_it_is_told_to_be(provider, tmp_path):
    def place(**settings):
        return remote.cache_folder(Settings(**provider.settings(**settings)))

    assert place(data_dir=str(tmp_path)) == tmp_path / "embeddings"
    assert place(data_dir="s3://bucket/prefix") is None
    assert place(data_dir="s3://bucket/prefix", remote_cache_dir=str(tmp_path)) == tmp_path
    assert place(data_dir=str(tmp_path), remote_cache_bytes=0) is None

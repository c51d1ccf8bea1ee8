"""Whatever goes wrong, the caller gets one shape, a stable code, and nothing that was sent or stored."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mmmem import errors
from mmmem.api.errors import STATUS, domain_error_response
from tests.api.controlled import ControlledService, add_body

SECRET = "the cellar door code is 4711"


def all_subclasses(cls: type) -> Iterator[type]:
    yield cls
    for subclass in cls.__subclasses__():
        yield from all_subclasses(subclass)


def test_every_error_has_a_status() -> None:
    assert set(all_subclasses(errors.MmmemError)) == set(STATUS)


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [cls.code for cls in STATUS]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.InvalidInput("top_k", "must be an integer"), 422, "invalid_input"),
        (errors.InvalidImage("query.0.image_url.url", "is not valid Base64"), 422, "invalid_image"),
        (errors.RequestConflict(), 422, "request_conflict"),
        (errors.TooLarge("body", "is larger than the limit"), 413, "too_large"),
        (errors.OverCapacity("adds", retry_after=7), 429, "over_capacity"),
        (errors.NotReady("still starting"), 503, "not_ready"),
        (errors.StoreUnavailable("the store cannot be written"), 503, "store_unavailable"),
        (errors.ModelUnavailable("the text encoder failed"), 503, "model_unavailable"),
    ],
)
def test_what_the_service_raises_is_answered_in_one_shape(
    client: TestClient, controlled: ControlledService, error: errors.MmmemError, status: int, code: str
) -> None:
    def fail(_: object) -> None:
        raise error

    controlled.on_add = fail
    answer = client.post("/add", json=add_body())
    assert answer.status_code == status
    body = answer.json()
    assert set(body) == {"detail", "code"}
    assert body["code"] == code
    assert body["detail"]["reason"] == str(error)
    if isinstance(error, errors.InvalidInput | errors.TooLarge):
        assert body["detail"]["field"] == error.field
        assert body["detail"]["problem"] == error.problem
    assert controlled.added == []


def test_errors_that_pass_say_when_to_try_again() -> None:
    assert domain_error_response(errors.OverCapacity("adds", retry_after=7)).headers["retry-after"] == "7"
    for error in (errors.NotReady("x"), errors.StoreUnavailable("x"), errors.ModelUnavailable("x")):
        assert int(domain_error_response(error).headers["retry-after"]) >= 1
    assert "retry-after" not in domain_error_response(errors.TooLarge("body", "x")).headers


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("POST", "/add/", 404, "not_found"),
        ("GET", "/add", 405, "method_not_allowed"),
        ("DELETE", "/search", 405, "method_not_allowed"),
        ("POST", "/health", 405, "method_not_allowed"),
    ],
)
def test_wrong_paths_and_methods_have_the_same_shape(
    client: TestClient, method: str, path: str, status: int, code: str
) -> None:
    answer = client.request(method, path, follow_redirects=False)
    assert answer.status_code == status
    assert answer.json()["code"] == code
    assert answer.json()["detail"]["reason"]
    assert ("allow" in answer.headers) == (status == 405)


def test_an_unexpected_error_is_a_500_that_gives_nothing_away(
    client: TestClient, controlled: ControlledService, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        try:
            {}[SECRET]
        except KeyError as error:
            raise RuntimeError(SECRET) from error

    controlled.on_add = fail
    with caplog.at_level(logging.DEBUG):
        answer = client.post("/add", json=add_body(request_id=SECRET))
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    assert "4711" not in answer.text
    logged = caplog.text
    assert "4711" not in logged
    assert "RuntimeError" in logged
    assert "KeyError" in logged
    assert "in fail" in logged, "the log must say where it happened"
    assert "/" not in logged.partition("unexpected error")[2].partition("request")[0], "and not with paths"


def test_a_failing_store_is_logged_with_its_cause_and_without_content(
    client: TestClient, controlled: ControlledService, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        try:
            Path(SECRET).read_bytes()
        except OSError as error:
            raise errors.StoreUnavailable("the store cannot be written") from error

    controlled.on_add = fail
    assert client.post("/add", json=add_body()).status_code == 503
    assert "FileNotFoundError" in caplog.text
    assert "4711" not in caplog.text


def test_bad_input_is_not_logged(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = client.post("/add", json=add_body(user_id=[SECRET], request_id={SECRET: SECRET}))
    assert answer.status_code == 422
    assert "4711" not in answer.text
    assert "4711" not in caplog.text

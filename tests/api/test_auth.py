"""With a key set, only who sends it gets in; /health answers everyone."""

import pytest
from starlette.testclient import TestClient

from tests.api.controlled import ControlledService, add_body, search_body, serving

KEY = "correct horse battery staple"
HEADERS = {
    "bearer": {"Authorization": f"Bearer {KEY}"},
    "token": {"Authorization": f"Token {KEY}"},
    "x-api-key": {"X-Api-Key": KEY},
}


def status(client: TestClient, headers: dict[str, str] | list[tuple[bytes, bytes]]) -> int:
    return client.post("/search", json=search_body(), headers=headers).status_code


@pytest.mark.parametrize("required", ["auto", "bearer", "token", "x-api-key"])
@pytest.mark.parametrize("sent", HEADERS)
def test_auto_takes_any_scheme_and_a_named_one_only_itself(
    controlled: ControlledService, required: str, sent: str
) -> None:
    with serving(controlled, api_key=KEY, auth=required) as client:
        assert status(client, HEADERS[sent]) == (200 if required in ("auto", sent) else 401)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": f"Bearer {KEY}x"},
        {"Authorization": f"Bearer {KEY[:-1]}"},
        {"Authorization": f"Bearer {KEY.upper()}"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer"},
        {"Authorization": KEY},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": ""},
        {"X-Api-Key": ""},
        {"X-Api-Key": f"Bearer {KEY}"},
        [(b"authorization", b"Bearer \xff\xfe\x80")],
        [(b"x-api-key", "schlüssel".encode())],
        {"Cookie": f"key={KEY}"},
    ],
)
def test_a_missing_or_wrong_key_is_a_401(
    controlled: ControlledService, headers: dict[str, str] | list[tuple[bytes, bytes]]
) -> None:
    with serving(controlled, api_key=KEY) as client:
        for path, body in (("/add", add_body()), ("/search", search_body()), ("/explain", search_body())):
            answer = client.post(path, json=body, headers=headers)
            assert answer.status_code == 401
            assert answer.json()["code"] == "unauthorized"
            assert "key" in answer.json()["detail"]["reason"]
            assert KEY not in answer.text
            assert answer.headers["www-authenticate"] == "Bearer"
    assert controlled.added == []


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "bEaReR", "token", "TOKEN"])
def test_the_word_of_a_scheme_may_be_written_in_any_case(controlled: ControlledService, scheme: str) -> None:
    with serving(controlled, api_key=KEY) as client:
        assert status(client, {"Authorization": f"{scheme}   {KEY} "}) == 200


def test_a_key_may_hold_any_characters(controlled: ControlledService) -> None:
    with serving(controlled, api_key="ключ-密钥-🔑") as client:
        assert status(client, [(b"x-api-key", "ключ-密钥-🔑".encode())]) == 200
        assert status(client, [(b"x-api-key", "ключ-密钥-🔒".encode())]) == 401


def test_one_right_key_among_several_headers_is_enough(controlled: ControlledService) -> None:
    with serving(controlled, api_key=KEY) as client:
        assert status(client, {"Authorization": "Basic abc", "X-Api-Key": KEY}) == 200


@pytest.mark.parametrize("settings", [{}, {"api_key": KEY, "auth": "none"}, {"auth": "bearer"}])
def test_without_a_key_or_with_none_required_everyone_is_let_in(
    controlled: ControlledService, settings: dict[str, str]
) -> None:
    with serving(controlled, **settings) as client:
        assert status(client, {}) == 200
        assert status(client, {"Authorization": "Bearer whatever"}) == 200


def test_health_never_asks(controlled: ControlledService) -> None:
    with serving(controlled, api_key=KEY) as client:
        assert client.get("/health").status_code == 200


def test_a_stranger_is_refused_before_the_body_is_read(controlled: ControlledService) -> None:
    with serving(controlled, api_key=KEY, max_request_bytes=1024) as client:
        assert client.post("/add", content=b"x" * 5000).status_code == 401
        assert client.post("/add", content=b"x" * 5000, headers=HEADERS["bearer"]).status_code == 413

"""The inspector's routes: the page for anyone, what it asks for only for those who have the key."""

from importlib.resources import files

import pytest
from starlette.testclient import TestClient

from mmmem.settings import Settings
from mmmem.settings.ranking import AT_START, Ranking
from tests.api.controlled import ControlledService, serving
from tests.conftest import KEY
from tests.running import RunningService

FILES = sorted(file.name for file in files("mmmem").joinpath("inspector").iterdir())
DATA = ("/ui/users", "/ui/settings")


@pytest.mark.parametrize("path", ["/ui", "/ui/", *DATA, *(f"/ui/{name}" for name in FILES)])
def test_without_the_setting_there_is_no_inspector(client: TestClient, path: str) -> None:
    assert client.get(path, follow_redirects=False).status_code == 404
    assert not any(name.startswith("/ui") for name in client.get("/openapi.json").json()["paths"])


@pytest.mark.parametrize("path", ["/ui", *(f"/ui/{name}" for name in FILES)])
def test_the_page_is_given_without_a_key_and_may_run_nothing_but_itself(
    keyed_service: RunningService, path: str
) -> None:
    answer = keyed_service.client.get(path)
    assert answer.status_code == 200
    assert answer.content
    policy = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_an_address_with_a_slash_leads_to_the_page(service: RunningService) -> None:
    answer = service.client.get("/ui/", follow_redirects=True)
    assert answer.url.path == "/ui"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("name", ["nothing.js", "..%2fapi%2fapp.py", "%2e%2e", "__init__.py", "index.html/"])
def test_no_other_file_is_given(service: RunningService, name: str) -> None:
    answer = service.client.get(f"/ui/{name}")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


@pytest.mark.parametrize("path", DATA)
def test_data_needs_the_key(keyed_service: RunningService, path: str) -> None:
    assert keyed_service.client.get(path).status_code == 401
    assert keyed_service.client.get(path, headers={"X-Api-Key": "wrong"}).status_code == 401
    assert keyed_service.client.get(path, headers={"X-Api-Key": KEY}).status_code == 200


def test_users_are_listed_in_pages_each_once(service: RunningService) -> None:
    odd = ["listed \U0001f6b2", "listed ../'\"\n\0", "listed \ud800", "listed " + "x" * 900]
    for number, user in enumerate(odd):
        service.add(user, *("something to remember" for _ in range(number + 1)))
    found: dict[str, int] = {}
    after, pages = "", 0
    while True:
        page = service.client.get("/ui/users", params={"limit": 2, **({"after": after} if after else {})}).json()
        assert len(page["data"]) <= 2
        assert not found.keys() & {user["user_id"] for user in page["data"]}
        found |= {user["user_id"]: user["memories"] for user in page["data"]}
        pages += 1
        if page["next"] is None:
            break
        after = page["next"]
    assert pages >= 2
    assert [found[user] for user in odd] == [1, 2, 3, 4]
    assert len(found) == page["total"]
    service.client.delete("/users/listed%20%F0%9F%9A%B2")
    total = service.client.get("/ui/users", params={"limit": 1}).json()["total"]
    assert total == len(found) - 1


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("limit=0", "limit"),
        ("limit=x", "limit"),
        ("after=", "after"),
        ("after=u_", "after"),
        ("after=../ann", "after"),
        (f"after=u_{'g' * 64}", "after"),
    ],
)
def test_a_wrong_page_is_named(service: RunningService, asked: str, field: str) -> None:
    answer = service.client.get(f"/ui/users?{asked}")
    assert answer.status_code == 422
    assert answer.json()["detail"]["field"] == field


def test_the_settings_of_the_ranking_are_those_of_this_service(controlled: ControlledService) -> None:
    with serving(controlled, ui=True, weight_lexical=0.7, fusion="rrf") as client:
        listed = {each["name"]: each for each in client.get("/ui/settings").json()["data"]}
    assert listed.keys() == Ranking.model_fields.keys() - AT_START
    assert listed["weight_lexical"]["value"] == 0.7
    assert (listed["weight_lexical"]["type"], listed["weight_lexical"]["minimum"]) == ("number", 0)
    assert (listed["fusion"]["value"], listed["fusion"]["choices"]) == ("rrf", ["zscore", "rrf"])
    assert (listed["deduplicate"]["type"], listed["need_places"]["type"]) == ("boolean", "integer")
    others = {name: each["value"] for name, each in listed.items() if name not in {"weight_lexical", "fusion"}}
    defaults = Settings()
    assert others == {name: getattr(defaults, name) for name in others}

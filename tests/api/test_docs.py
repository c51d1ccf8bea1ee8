"""docs/api.md says what the service does: its routes, fields, errors and limits."""

import re
from pathlib import Path

import pytest

from mmmem.api import contract
from mmmem.api.errors import HTTP_CODES, INTERNAL_ERROR, STATUS
from mmmem.api.times import SECONDS
from mmmem.errors import InvalidBackup, MmmemError, StartupError, Unavailable, Unreachable
from mmmem.settings import Settings
from tests.api.controlled import ControlledService, serving

DOCS = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_route_has_its_section_and_no_other_has(controlled: ControlledService) -> None:
    with serving(controlled, ui=True) as client:
        paths = client.get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert set(re.findall(r"^## ((?:GET|POST|DELETE) \S+)$", DOCS, re.MULTILINE)) == routes


@pytest.mark.parametrize("model", [contract.AddBody, contract.SearchBody, contract.FoundMemory])
def test_every_field_is_described(model: type) -> None:
    for field in model.model_fields:
        assert f"\n| `{field}` | " in DOCS


def test_every_field_of_a_message_is_described() -> None:
    for field in contract.MessageBody.model_fields:
        assert f"\n| `messages[].{field}` | " in DOCS


def test_every_error_that_callers_meet_is_in_the_table_with_its_status() -> None:
    listed = {(int(status), code) for status, code in re.findall(r"^\| (\d{3}) \| `(\w+)` \|", DOCS, re.MULTILINE)}
    never_raised = {MmmemError, Unavailable}  # only what is derived from them is
    elsewhere = {InvalidBackup, Unreachable}  # backups have no route; clients meet the other
    met = {
        cls: status
        for cls, status in STATUS.items()
        if cls not in never_raised | elsewhere and not issubclass(cls, StartupError)
    }
    expected = {(status, cls.code) for cls, status in met.items()} | set(HTTP_CODES.items()) | {(500, INTERNAL_ERROR)}
    assert listed == expected


def test_every_limit_is_listed_with_its_default() -> None:
    listed = {
        name.lower(): int(default) for name, default in re.findall(r"^\| `MMMEM_(\w+)` \| (\d+) \|", DOCS, re.MULTILINE)
    }
    # These bound the work of a long question, and what is returned.
    refusing_nothing = {
        "max_image_frames",
        "max_query_tokens",
        "max_query_encoded_chars",
        "max_return",
        "max_return_chars",
    }
    limits = {name for name in Settings.model_fields if name.startswith(("max_", "response_max_"))} - refusing_nothing
    assert listed == {name: Settings.model_fields[name].default for name in limits}


def test_every_setting_that_is_named_exists() -> None:
    named = {name.lower() for name in re.findall(r"MMMEM_([A-Z_]+)", DOCS)}
    assert named <= set(Settings.model_fields)


def test_the_bounds_between_seconds_and_milliseconds_are_the_documented_ones() -> None:
    assert f"from {SECONDS.start:,} up to, not\nincluding, {SECONDS.stop:,}" in DOCS

"""docs/observability.md says what the service counts and logs, no more and no less, and its examples can be read."""

import json
import logging
import re
from pathlib import Path

import yaml
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from mmmem.api.logs import JsonLines
from mmmem.api.metrics import Metrics
from mmmem.settings import Settings
from tests.api.controlled import search_body

DOCS = (Path(__file__).parents[2] / "docs" / "observability.md").read_text(encoding="utf-8")
SUFFIXES = ("_bucket", "_count", "_sum")


def counted() -> dict[str, tuple[str, set[str]]]:
    """Every metric once something of its kind happened: its type and its labels."""
    metrics = Metrics(Settings())
    metrics.answered("GET", "/health", 503, "not_ready", 0.1)
    metrics.spent("add", "read", 0.1)
    metrics.queued("adds", waiting=1, running=1)
    metrics.encoded("text", "memory", 3, 0.1)
    metrics.looked_up("arrays", hits=1, misses=1)
    metrics.holds("arrays", 1)
    metrics.committed(1, 0.1)
    metrics.measured(1, {"users": 1}, {"users": 1})
    metrics.ready("cpu")
    families = text_string_to_metric_families(metrics.exposition().decode())
    return {
        family.name + ("_total" if family.type == "counter" else ""): (
            family.type,
            {label for sample in family.samples for label in sample.labels} - {"le"},
        )
        for family in families
    }


def test_every_metric_is_listed_with_its_type_and_labels() -> None:
    listed = {
        name: (kind, set(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in re.findall(r"^\| `(mmmem_\w+)` \| (\w+) \|([^|]*)\|", DOCS, re.MULTILINE)
    }
    assert listed == counted()


def test_every_metric_that_is_named_exists() -> None:
    known = {name + suffix for name in counted() for suffix in ("", *SUFFIXES)}
    assert set(re.findall(r"\bmmmem_[a-z_]+", DOCS)) <= known


def examples() -> list[dict[str, object]]:
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)]


def test_prometheus_can_be_told_where_to_look_and_what_to_wake_for() -> None:
    scrape, alerts = examples()
    [job] = scrape["scrape_configs"]  # type: ignore[misc]
    assert job["job_name"] == "mmmem"
    assert job["static_configs"][0]["targets"]
    [group] = alerts["groups"]  # type: ignore[misc]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(set(names)) == len(names) >= 5
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "annotations"}
        assert re.fullmatch(r"\d+[mh]", rule.get("for", "1m"))
        assert re.search(r"\b(mmmem_\w+|up)\b", rule["expr"])
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_every_field_of_a_line_is_listed(client: TestClient) -> None:
    lines: list[dict[str, object]] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(json.loads(JsonLines().format(record)))  # type: ignore[method-assign]
    log = logging.getLogger("mmmem")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    client.post("/search", json=search_body())
    client.get("/nowhere")
    try:
        raise ValueError  # noqa: TRY301 - what a library may log
    except ValueError:
        log.exception("a library's")
    log.removeHandler(handler)
    log.setLevel(level)
    table = DOCS[DOCS.index("| field | |") :].partition("\n\n")[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert listed == set().union(*(set(line) for line in lines))

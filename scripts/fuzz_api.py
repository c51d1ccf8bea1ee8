#!/usr/bin/env python3
"""Sends a service what its OpenAPI document allows, and what it does not, and compares every answer with the document.

    python scripts/fuzz_api.py [--cases 5000] [--seed 5] [--url URL]

Schemathesis makes the cases: of each operation first those at the edges of its schemas, then random ones that keep to the schemas,
random ones that break them, and bodies that the service can take: short messages of a few users, with real images. One case in
eight comes without the key. Each answer must have a status that is documented and no server error other than a 503, the content type
and the schema of that status, refuse what breaks the document, and be a 401 where the key is missing.

Without --url, a service of the script's own is asked, with an empty folder and without OCR, whose worth is not in its statuses. The
service at --url is written to; its key comes from MMMEM_API_KEY. Exit code: 1 when there are findings. Needs the `test` extra.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import hypothesis
import requests
import schemathesis
from demo_service import Service, ServiceError
from fuzz_bodies import BODIES
from hypothesis import strategies as st
from requests.structures import CaseInsensitiveDict
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

Case = schemathesis.Case[Any]

SECONDS = 60  # that an answer may take
CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
]
CONFIG = {
    "checks": {
        "not_a_server_error": {"expected-statuses": ["2XX", "4XX", 503]},
        "negative_data_rejection": {"expected-statuses": ["4XX", 503]},
    }
}


@dataclass
class Report:
    """What was answered, and what was wrong with it."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    allowed: Counter[tuple[str, int]] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def share(self, operation: str) -> str:
        """Of the requests with a key and a body that the schema allows: how many were a 200."""
        total = sum(count for (label, _), count in self.allowed.items() if label == operation)
        return f"{self.allowed[operation, 200] / total:.0%}" if total else ""

    def table(self) -> Table:
        """Operations by statuses."""
        statuses = sorted({status for _, status in self.answers})
        table = Table("operation", *(str(status) for status in statuses), "all", "200 of allowed")
        for operation in sorted({operation for operation, _ in self.answers}):
            counts = [self.answers[operation, status] for status in statuses]
            table.add_row(operation, *(f"{count:,}" for count in [*counts, sum(counts)]), self.share(operation))
        return table


class Fuzzer:
    """Sends cases to the service at `url`, and reports on the answers."""

    def __init__(self, document: dict[str, Any], url: str, key: str, seed: int) -> None:
        self.report = Report()
        self._url = url
        self._seed = seed
        self._schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config.from_dict(CONFIG))
        self._operations = [self._schema[path][method] for path, item in document["paths"].items() for method in item]
        self._keys = [{"Authorization": f"Bearer {key}"}, {"Authorization": f"Token {key}"}, {"X-Api-Key": key}]
        self._session = requests.Session()
        self._session.trust_env = False  # neither a proxy nor a key from elsewhere
        self._random = random.Random(seed)

    def run(self, cases: int) -> Iterator[None]:
        """Send so many, and yield after each."""
        edges = self._edges()
        edges = self._random.sample(edges, min(len(edges), cases // 2))
        for case in chain(edges, self._random_cases(cases - len(edges))):
            self._send(case)
            yield

    def _edges(self) -> list[Case]:
        modes = list(schemathesis.GenerationMode)
        return [
            case
            for operation in self._operations
            for case in self._schema.iter_coverage_cases(
                operation,
                generation_modes=modes,
                generation_config=self._schema.config.generation_for(operation=operation, phase="coverage"),
            )
        ]

    def _random_cases(self, count: int) -> Iterator[Case]:
        """Hypothesis calls a test and stops at its first failure; here it only draws, some hundred cases at a time."""
        cases: list[Case] = []
        strategy = st.one_of([kind for operation in self._operations for kind in kinds(operation)])
        for start in range(0, count, 500):

            @hypothesis.seed(self._seed + start)
            @hypothesis.settings(
                max_examples=min(500, count - start),
                database=None,
                deadline=None,
                phases=[hypothesis.Phase.generate],
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            @hypothesis.given(strategy)
            def draw(case: Case) -> None:
                cases.append(case)

            draw()
            yield from cases
            cases.clear()

    def _send(self, case: Case) -> None:
        label, has_key = case.operation.label, self._random.random() < 7 / 8
        if has_key:  # else what Schemathesis made up stays: none, or a wrong one
            others = {name: value for name, value in case.headers.items() if name not in ("Authorization", "X-Api-Key")}
            case.headers = CaseInsensitiveDict(others | self._random.choice(self._keys))
        is_known = case.method.upper() == case.operation.method.upper()
        try:
            answer = case.call(self._url, self._session, timeout=SECONDS)
        except requests.RequestException as error:
            self._found(case, 0, type(error).__name__)
            return
        status = answer.status_code
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                self._found(case, status, failure.title)
        if not has_key and is_known and "security" in case.operation.definition.raw and status != 401:
            self._found(case, status, "Answered without the key")
        self.report.answers[label if is_known else f"other methods, {case.path}", status] += 1
        if has_key and is_known and case.meta and case.meta.generation.mode.is_positive:
            self.report.allowed[label, status] += 1

    def _found(self, case: Case, status: int, title: str) -> None:
        # Neither the answer nor the key: the curl line holds what was made up here, and gets the answer again.
        self.report.findings.append(
            f"{title}: {case.operation.label}, {status}\n  {case.as_curl_command(base_url=self._url)}"
        )


def kinds(operation: schemathesis.APIOperation[Any, Any, Any, Any]) -> Iterator[st.SearchStrategy[Case]]:
    """The kinds of random cases of an operation."""
    positive = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
    yield positive
    if operation.path in BODIES:
        yield operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
        # Twice as many: most of the random bodies are refused, for an image that is none or for blank text.
        yield from [st.builds(with_body, positive, BODIES[operation.path]) for _ in range(2)]


def with_body(case: Case, body: dict[str, Any]) -> Case:
    """The case with this body in place of its own."""
    case.body = body
    return case


@contextmanager
def service(url: str | None) -> Iterator[tuple[str, str]]:
    """Address and key of the service that is asked."""
    if url:
        yield url.rstrip("/"), os.environ.get("MMMEM_API_KEY", "")
        return
    os.environ["MMMEM_OCR"] = "off"
    with Service() as own:
        own.wait_until_healthy()
        yield own.url, own.key


def main() -> int:
    """Try cases; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5_000, help="how many")
    parser.add_argument("--seed", type=int, default=5, help="the same cases again")
    parser.add_argument("--url", help="of a running service; it is written to")
    arguments = parser.parse_args()
    console = Console()
    with service(arguments.url) as (url, key):
        session = requests.Session()
        session.trust_env = False
        document = session.get(f"{url}/openapi.json", timeout=SECONDS).json()
        fuzzer = Fuzzer(document, url, key, arguments.seed)
        with Progress(
            BarColumn(), TextColumn("{task.completed:,} cases"), TimeElapsedColumn(), console=console
        ) as shown:
            task = shown.add_task("", total=arguments.cases)
            for _ in fuzzer.run(arguments.cases):
                shown.advance(task)
    report = fuzzer.report
    console.print(report.table())
    for finding in report.findings:
        console.print(finding, markup=False, highlight=False, soft_wrap=True)
    console.print(f"seed {arguments.seed}: {report.answers.total():,} cases, {len(report.findings):,} findings")
    return min(len(report.findings), 1)


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(str(error)) from None

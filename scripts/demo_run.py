"""The demo itself: a service is started, told a sample conversation with photos, and asked about it."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

from demo_checks import Checks, check_add, check_calls, check_explain, check_memory, check_search, milliseconds, parts
from demo_sample import Question, Sample
from demo_service import Service, ServiceError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

TOP_K = 10
SHOWN = 3
ENOUGH = 10  # of the dozen
WIDTH_OF_A_LOG = 120


def main() -> int:
    """Run the demo; 0 when every contract check passed and enough of the expected memories were found."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_LOG
    try:
        with Service() as service:
            passed = Demo(console, service).run()
            if "--keep" in sys.argv:
                service.kept = True
                console.print(how_to_go_on(service), soft_wrap=True, markup=False)
    except ServiceError as error:
        console.print(f"mmmem demo: {error}", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("mmmem demo: stopped")
        return 130
    return 0 if passed else 1


class Demo:
    """Adds the sample, asks its questions, and checks the contract on the way."""

    def __init__(self, console: Console, service: Service) -> None:
        self.console = console
        self.service = service
        self.sample = Sample()
        self.checks = Checks()

    def run(self) -> bool:
        """Do and say everything; whether it is good."""
        with self.console.status("Starting the service (it loads its models)"):
            seconds = self.service.wait_until_healthy()
        self.console.print(f"The service is up at {self.service.url} after {seconds:.1f} s")
        self.write()
        questions = self.sample.questions()
        places = [self.ask(number, question) for number, question in enumerate(questions, start=1)]
        check_calls(self.checks, self.service)
        self.console.print(checks_table(self.checks))
        within, first = sum(place <= SHOWN for place in places), places.count(1)
        passed, checked = self.checks.passed, len(self.checks.problems)
        self.console.print(
            f"\nmmmem demo: {within}/{len(places)} expected memories within the first three ({first} first), "
            f"{passed}/{checked} contract checks passed",
            style="bold",
            soft_wrap=True,
        )
        return within >= ENOUGH and passed == checked

    def write(self) -> None:
        """Add the sample, a session at a time."""
        total, began = len(self.sample.by_time), time.monotonic()
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=self.console) as progress:
            task = progress.add_task("Adding messages", total=total)
            for request in self.sample.add_requests():
                check_add(self.checks, request, *self.service.call("POST", "/add", request))
                progress.advance(task, len(request["messages"]))
        seconds = time.monotonic() - began
        photos = sum(len(message.photos) for message in self.sample.by_time.values())
        what = f"{total} messages with {photos} photos in {len(self.sample.sessions)} sessions"
        self.console.print(f"Added {what} in {seconds:.1f} s\n")

    def ask(self, number: int, question: Question) -> int:
        """Ask one question, check the answer and show it; the place of the expected memory, from 1 (TOP_K + 1: none)."""
        body = {"query": question.query, "user_id": self.sample.user_id, "top_k": TOP_K}
        items = check_search(self.checks, TOP_K, *self.service.call("POST", "/search", body))
        for item in items:
            check_memory(self.checks, item, self.sample.by_time)
        explained = check_explain(self.checks, items, *self.service.call("POST", "/explain", body))

        found = [self.sample.by_time.get(milliseconds(item["created_at"])) for item in items]
        keys = [message.key if message else "" for message in found]
        place = keys.index(question.expect) + 1 if question.expect in keys else TOP_K + 1
        self.console.print(heading(number, question, place))
        table = results_table()
        for rank, (item, message, explanation) in enumerate(zip(items, found, explained, strict=False), start=1):
            if rank > SHOWN:
                break
            photos = "".join(f" [{photo}]" for photo in message.photos) if message else ""
            memory = Text(own_words(item["content"]) + photos)
            mark = "→" if rank == place else ""
            table.add_row(mark, str(rank), f"{item['score']:.3f}", memory, ", ".join(found_by(explanation["channels"])))
        self.console.print(table)
        self.console.print()
        return place


def heading(number: int, question: Question, place: int) -> Text:
    """The question, and how it went."""
    if place == 1:
        outcome = ("expected memory first", "green")
    elif place <= SHOWN:
        outcome = (f"expected memory at {place}", "yellow")
    else:
        outcome = (f"expected memory {f'at {place}' if place <= TOP_K else f'not within {TOP_K}'}", "red")
    return Text.assemble((f"{number:2}  {question.shown}", "bold"), f"  ({question.kind})  ", outcome)


def results_table() -> Table:
    """One question's memories: a mark, place, score, the memory, and the channels that found it."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(min_width=3, justify="right", style="green")
    table.add_column()
    table.add_column()
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(max_width=38, style="cyan")
    return table


def own_words(content: str | list[dict[str, Any]]) -> str:
    """A memory's text without the neighbouring turns that Search shows as its context."""
    lines = "\n".join(part["text"] for part in parts(content) if part["type"] == "text").splitlines()
    return " ".join(line for line in lines if not line.startswith(("(before this)", "(after this)")))


def found_by(channels: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The channels that had this memory among their own first three, or else the one that saw it highest."""
    ranked = sorted((channel["rank"], name) for name, channel in channels.items())
    for rank, name in [pair for pair in ranked if pair[0] <= SHOWN] or ranked[:1]:
        yield f"{name} {rank}"


def checks_table(checks: Checks) -> Table:
    """Every promise and whether it was kept."""
    table = Table(title="The contract", title_justify="left", show_header=False, box=None, padding=(0, 1))
    for promise, problems in checks.problems.items():
        seen = f" ({len(problems)} times; first: {problems[0][:200]})" if problems else ""
        table.add_row(Text("failed", "red") if problems else Text("ok", "green"), Text(promise + seen))
    return table


def how_to_go_on(service: Service) -> str:
    """How to call a service that was left up, and how to stop it."""
    headers = f"-H 'Authorization: Bearer {service.key}' -H 'Content-Type: application/json'"
    message = {"role": "user", "content": "The spare key hangs behind the blue door."}
    add = {"request_id": "try-1", "user_id": "me", "session_id": "today", "messages": [message]}
    search = {"query": "Where is the spare key?", "user_id": "me", "top_k": 3}
    return f"""
The service stays up at {service.url} (process {service.process.pid}). Add and search:

curl -s {service.url}/add {headers} \\
  -d '{json.dumps(add)}'

curl -s {service.url}/search {headers} \\
  -d '{json.dumps(search)}'

The sample's user_id is demo:nora. Its log: {service.log}
Stop it and remove its data:

kill {service.process.pid}; sleep 2; rm -r {service.folder}
"""


if __name__ == "__main__":
    sys.exit(main())

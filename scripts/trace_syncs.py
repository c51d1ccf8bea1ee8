#!/usr/bin/env python3
"""Shows, with strace, that what an Add made was synced before the first byte of its answer was sent.

    python scripts/trace_syncs.py [--adds 12] [--no-models]

Starts `mmmem serve` under strace on an empty folder and sends Adds one after the other: of a new user, of the same user until his table is
compacted, with a photo, of another new user. Then, for each Add: the first version of the user's table that holds the request is looked
for; its manifest, its transaction and every data file that the manifest names must have been fsynced after they were last written; the
folder of each, and every folder above that the service made, after the name in it was given; all of that before the system call
that sends the Add's 200. Prints a line for each Add. Exit code: 1 when anything was not, 2 without strace (Debian: apt-get install strace).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import lancedb
from crash_requests import NO_MODELS, Teller, Told
from demo_service import Service, ServiceError
from rich.console import Console
from rich.table import Table

from mmmem.store.users import table_name

SETTINGS = {"MMMEM_OCR": "off", "MMMEM_COMPACT_FRAGMENTS": "4", "MMMEM_VERSION_MINUTES": "60"}
NAMING = ("rename", "renameat", "renameat2", "link", "linkat", "mkdir", "mkdirat")
WRITING = ("write", "writev", "pwrite64", "pwritev", "ftruncate")
SYNCING = ("fsync", "fdatasync")
SENDING = ("sendto", "sendmsg")
CALLS = (*NAMING, *WRITING, *SYNCING, *SENDING)
FIRST_MANIFEST = 2**64 - 1  # minus the version: the newest sorts first

_LINE = re.compile(r"(?P<process>\d+) +(?P<time>\d+\.\d+) (?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)", re.DOTALL)
_DESCRIPTOR = re.compile(r"\d+<(?P<path>[^>]*)>")
_PATH = re.compile(r'"(?P<path>(?:[^"\\]|\\.)*)"')


class Call(NamedTuple):
    """A system call that succeeded: when it began and ended, as lines of the trace, and when it began, in seconds."""

    name: str
    arguments: str
    begin: int
    end: int
    time: float


def calls(lines: Sequence[str]) -> Iterator[Call]:
    """Those of a trace, in the order in which they ended."""
    waiting: dict[str, tuple[str, int, float]] = {}
    for number, line in enumerate(lines):
        if not (match := _LINE.match(line)):
            continue
        process, rest, begin, time = match["process"], match["rest"], number, float(match["time"])
        if rest.endswith("<unfinished ...>"):
            waiting[process] = (rest.removesuffix("<unfinished ...>"), begin, time)
            continue
        if resumed := _RESUMED.match(rest):
            start, begin, time = waiting.pop(process, ("", number, time))
            rest = start + rest[resumed.end() :]
        if (call := _CALL.match(rest)) and int(call["result"]) >= 0:
            yield Call(call["name"], call["arguments"], begin, number, time)


@dataclass
class Trace:
    """When files were written, named and synced: lines of the trace, by path."""

    written: dict[str, int] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    synced: dict[str, list[Call]] = field(default_factory=lambda: defaultdict(list))
    sent: list[Call] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> Trace:
        """From what strace wrote."""
        trace = cls()
        for call in calls(file.read_text(errors="replace").splitlines()):
            trace._note(call)
        return trace

    def _note(self, call: Call) -> None:
        descriptor = _DESCRIPTOR.match(call.arguments)
        path = descriptor["path"] if descriptor else ""
        if call.name in SENDING:
            self.sent.append(call)
        elif call.name in SYNCING:
            self.synced[path].append(call)
        elif call.name in WRITING:
            self.written[path] = call.end
        elif call.name.startswith("mkdir"):
            self.named[_PATH.findall(call.arguments)[0]] = call.end
        else:
            old, new = _PATH.findall(call.arguments)
            self.named[new] = call.end
            if old in self.written:
                self.written[new] = self.written[old]

    def answer(self, request_id: str) -> Call:
        """The call that began to send the 200 of an Add. Raises ValueError when there is none."""
        for place, call in enumerate(self.sent):
            if f'\\"request_id\\":\\"{request_id}\\"' in call.arguments:
                peer = call.arguments.partition(",")[0]  # the head may have been sent by a call before
                sent = [each for each in self.sent[: place + 1] if each.arguments.partition(",")[0] == peer]
                return next(each for each in reversed(sent) if "HTTP/1.1 200" in each.arguments)
        raise ValueError(f"no answer to request {request_id} in the trace")

    def last_sync(self, path: Path, since: int, before: Call) -> Call | None:
        """A sync of a path that began after line `since` and had ended when the call began."""
        syncs = [sync for sync in self.synced[str(path)] if sync.begin > since and sync.end < before.begin]
        return syncs[0] if syncs else None


class Row(NamedTuple):
    """An Add: what had to be synced, and what was not."""

    request: str
    what: str
    version: int
    files: int
    folders: int
    seconds: float  # between the last of these syncs and the answer
    missing: list[str]


def adds(count: int) -> list[tuple[str, Told]]:
    """What is sent, and why."""
    tell = Teller(seed=1)
    told = [tell.told("crash:one") for _ in range(count - 3)]
    names = ["a new user", *["the same user"] * (count - 4)]
    photos = [tell.told("crash:one", picture=True), tell.told("crash:two", picture=True), tell.told("crash:two")]
    return [
        *zip(names, told, strict=True),
        *zip(["a photo", "a new user, a photo", "the same user"], photos, strict=True),
    ]


def first_version(database: Any, name: str, request_id: str) -> int:
    """Of a table, that holds the request."""
    table = database.open_table(name)
    newest = table.version
    for version in range(1, newest + 1):
        table.checkout(version)
        if request_id.encode() in table.search().select(["request_id"]).to_arrow()["request_id"].to_pylist():
            return version
    raise ValueError(f"request {request_id} is not in its table")


def check(trace: Trace, data: Path, what: str, told: Told) -> Row:
    """Look at one Add."""
    request_id, name = told.body["request_id"], table_name(told.user_id)
    answer = trace.answer(request_id)
    version = first_version(lancedb.connect(data), name, request_id)
    table = data / f"{name}.lance"
    manifest = table / "_versions" / f"{FIRST_MANIFEST - version:020}.manifest"
    content = manifest.read_bytes()
    named = [
        path for kind in ("data", "_transactions") for path in (table / kind).iterdir() if path.name.encode() in content
    ]
    files = [manifest, *named]
    made = {path for file in files for path in file.parents if str(path) in trace.named}
    missing, last = [], 0.0
    for path in files:
        sync = trace.last_sync(path, trace.written.get(str(path), 0), answer)
        last = max(last, sync.time if sync else 0)
        missing += [] if sync else [f"the content of {path.relative_to(data)}"]
    for path in [*files, *made]:
        sync = trace.last_sync(path.parent, trace.named[str(path)], answer)
        last = max(last, sync.time if sync else 0)
        missing += [] if sync else [f"the name of {path.name}"]
    if not any(path.parent.name == "data" for path in named):
        missing.append("no data file is named in the manifest")
    return Row(
        request_id,
        what,
        version,
        len(files),
        len({path.parent for path in [*files, *made]}),
        answer.time - last,
        missing,
    )


def report(rows: Sequence[Row]) -> Table:
    """The rows as a table."""
    table = Table(
        "request", "of", "version", "files synced", "folders synced", "last sync before the answer", "missing"
    )
    for row in rows:
        numbers = (str(row.version), str(row.files), str(row.folders), f"{row.seconds * 1000:.1f} ms")
        table.add_row(row.request, row.what, *numbers, "\n".join(row.missing) or "nothing")
    return table


def main() -> int:
    """Trace; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adds", type=int, default=12, help="at least 5; default: 12")
    parser.add_argument("--no-models", action="store_true", help="search by words only")
    options = parser.parse_args()
    if not (strace := shutil.which("strace")):
        print("trace_syncs: strace is not installed (Debian: apt-get install strace)", file=sys.stderr)
        return 2
    os.environ.update(SETTINGS | (NO_MODELS if options.no_models else {}))
    with tempfile.TemporaryDirectory(prefix="mmmem-trace-") as folder:
        data, log = Path(folder) / "data", Path(folder) / "trace"
        under = [
            strace,
            "-f",
            "-y",
            "-ttt",
            "-s",
            "400",
            "--seccomp-bpf",
            "-e",
            f"trace={','.join(CALLS)}",
            "-o",
            str(log),
        ]
        sent = adds(options.adds)
        with Service(data, under=under) as service:
            service.wait_until_healthy()
            statuses = [service.call("POST", "/add", told.body)[0] for _, told in sent]
        trace = Trace.read(log)
        rows = [check(trace, data, what, told) for what, told in sent]
        versions = lancedb.connect(data).open_table(table_name("crash:one")).version
    Console().print(report(rows))
    compactions = versions - sum(told.user_id == "crash:one" for _, told in sent)
    print(f"{len(rows)} Adds answered {sorted(set(statuses))}, {compactions} versions by compaction")
    return 0 if set(statuses) == {200} and not any(row.missing for row in rows) else 1


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(f"trace_syncs: {error}") from error

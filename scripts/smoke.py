#!/usr/bin/env python3
"""Checks a deployment of the service over HTTP: what the platform sends, and what it must get back.

    python scripts/smoke.py URL [--key KEY] [--json FILE] [--only NAME] [--skip NAME]

Health, keys, Add and the immediate Search, images both ways, isolation, retries, bad input, limits, Unicode, many callers at once:
each is a line of a table, PASS, FAIL or SKIP with the reason. It writes to users of its own, whose ids begin with `smoke-` and a
random number, so a service in use may be checked, again and again; at the end, also after --only, it deletes them where the service
has DELETE /users/{user_id}.

Without --key the key is MMMEM_API_KEY; it is never shown. Needs Python 3.11, httpx, rich and Pillow, and not mmmem itself.
Exit code: 0 when nothing failed, 1 when something did, 2 for a wrong option.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from smoke_checks.running import CHECKS, Result, run
from smoke_checks.target import SCHEMES, Target

STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}
WIDTH_OF_A_LOG = 160
SECONDS_TO_CLEAN = 60  # after an interruption


def main() -> int:
    """Check, say and write what came of it; gives the exit code."""
    arguments = parsed()
    key = arguments.key if arguments.key is not None else os.environ.get("MMMEM_API_KEY", "")
    if not all(32 < ord(character) != 127 for character in key):
        print("smoke.py: the key holds characters that a header cannot", file=sys.stderr)
        return 2
    chosen = {*arguments.only, "clean-up"} if arguments.only else CHECKS
    names = [name for name in CHECKS if name in chosen and name not in arguments.skip]
    console = Console(stderr=arguments.json == "-", highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_LOG
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    target = Target(arguments.url.rstrip("/"), key, arguments.scheme, arguments.timeout)
    results = []
    try:
        with console.status("") as status:
            for result in run(target, names, arguments.deadline, arguments.wait):
                results.append(told(result, key))
                status.update(f"{len(results)} of {len(names)} checks done")
    except KeyboardInterrupt:
        for result in run(target, ["clean-up"], SECONDS_TO_CLEAN, 0):
            console.print(f"stopped; clean-up: {result.outcome} {told(result, key).reason}", markup=False)
        return 130
    console.print(table(results))
    counts = {outcome: sum(result.outcome == outcome for result in results) for outcome in STYLES}
    busy = f"; {target.waited} requests were sent again because it was busy" if target.waited else ""
    summary = f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped"
    console.print(f"{arguments.url}: {summary}{busy}", markup=False, soft_wrap=True)
    if arguments.json:
        write(arguments.json, {"url": arguments.url, "counts": counts, "checks": [asdict(each) for each in results]})
    return min(counts["FAIL"], 1)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="checks: " + ", ".join(CHECKS),
    )
    known = {"action": "append", "metavar": "NAME", "choices": list(CHECKS)}
    parser.add_argument("url", metavar="URL", help="of the service, such as http://127.0.0.1:8000")
    parser.add_argument("--key", help="that it asks for; better in MMMEM_API_KEY, where no list of processes shows it")
    parser.add_argument("--scheme", choices=["auto", *SCHEMES], default="auto", help="the one it takes; auto: all")
    parser.add_argument("--json", metavar="FILE", help="write the results there; - for stdout, the table on stderr")
    parser.add_argument("--only", help="this check, and others that are named so", **known)  # type: ignore[arg-type]
    parser.add_argument("--skip", default=[], help="not this check", **known)  # type: ignore[arg-type]
    parser.add_argument("--timeout", type=float, default=300, help="seconds without a byte after which a call failed")
    parser.add_argument("--deadline", type=float, default=900, help="seconds after which a check failed")
    parser.add_argument("--wait", type=float, default=60, help="seconds until it must be healthy")
    return parser.parse_args()


def told(result: Result, key: str) -> Result:
    """The result as it may be shown: without the key, should an answer hold it, and without what a terminal obeys."""
    reason = result.reason.replace(key, "KEY") if key else result.reason
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in reason)
    return Result(result.name, result.outcome, round(result.seconds, 3), shown)


def table(results: list[Result]) -> Table:
    """A line for each check."""
    shown = Table("check", "", "seconds", "", box=None, pad_edge=False)
    for result in results:
        outcome = Text(result.outcome, STYLES[result.outcome])
        shown.add_row(result.name, outcome, Text(f"{result.seconds:.2f}", justify="right"), Text(result.reason))
    return shown


def write(file: str, report: dict[str, Any]) -> None:
    """The report as JSON, to a file or stdout."""
    text = json.dumps(report, indent=2) + "\n"
    if file == "-":
        sys.stdout.write(text)
    else:
        Path(file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())

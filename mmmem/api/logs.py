"""Logging, set up once a process: lines for people or JSON. Of what callers send, bodies, text, ids, paths and keys, nothing is
logged but the id of a request (served.py)."""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmmem.api.served import current
from mmmem.api.stacks import stack_of

if TYPE_CHECKING:
    from types import TracebackType

    from mmmem.settings import Settings

log = logging.getLogger(__name__)


def configure_logging(settings: Settings) -> None:
    """Lines on stderr: our own and the server's from `log_level` on, those of libraries from warnings on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if settings.log_format == "json" else TextLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    for name in ("mmmem", "uvicorn"):
        logging.getLogger(name).setLevel(settings.log_level.upper())
    # The server's own line about a request holds its path; tracking.py writes one without.
    logging.getLogger("uvicorn.access").setLevel(logging.CRITICAL)
    # Without a file handle left, asyncio says so for every connection that waits, thousands of times a second.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    # Pillow warns about odd files; each of them is decoded or answered with an error, and neither belongs in a log.
    warnings.filterwarnings("ignore", module=r"PIL\b")
    _catch_what_python_prints()


def _catch_what_python_prints() -> None:
    """What nobody caught, and warnings, as lines like any other: Python's own way shows messages and paths on several."""

    def thread(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_value is not None and ended.exc_type is not SystemExit:
            log.error("unexpected error in a thread\n%s", stack_of(ended.exc_value))

    def unraisable(found: sys.UnraisableHookArgs) -> None:
        if found.exc_value is not None:
            log.error("unexpected error where none can be raised\n%s", stack_of(found.exc_value))

    def uncaught(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            log.critical("unexpected error\n%s", stack_of(error))

    def warned(_: Warning | str, category: type[Warning], filename: str, lineno: int, *__: object) -> None:
        log.warning("%s by a library, %s line %d", category.__name__, Path(filename).name, lineno)

    threading.excepthook, sys.unraisablehook, sys.excepthook = thread, unraisable, uncaught
    warnings.showwarning = warned  # type: ignore[assignment]


def announce(settings: Settings, address: str) -> None:
    """The start-up line, and a warning when anyone on the network could come in."""
    kind = settings.data_dir.partition("://")[0] + " object store" if "://" in settings.data_dir else "local folder"
    asked = f"key asked ({settings.auth})" if settings.asks_key else "no key asked"
    log.info("listening on %s; profile %s; data in a %s; %s", address, settings.profile, kind, asked)
    if not settings.asks_key and not settings.on_loopback:
        log.warning(
            "OPEN TO THE NETWORK WITHOUT A KEY: everyone who can connect reads and writes every memory; set MMMEM_API_KEY"
        )


class TextLines(logging.Formatter):
    """A line for people: the id of the request in brackets, what it came to as ``name=value``."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(request)s%(message)s%(fields)s")

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """Called by `format`. Without the message."""
        return stack_of(ei[1]) if ei[1] else ""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Called by `format`."""
        served = current.get()
        fields = "".join(f" {name}={_short(value)}" for name, value in _fields(record).items())
        request = f"[{served.id}] " if served else ""
        return super().formatMessage(_with(record, request=request, fields=fields))


class JsonLines(logging.Formatter):
    """A line for programs: one JSON object in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        served = current.get()
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if served:
            line["request_id"] = served.id
        if record.exc_info:
            line["exception"] = stack_of(record.exc_info[1]) if record.exc_info[1] else ""
        return json.dumps(line | _fields(record))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """What a record was given beside its message."""
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields


def _short(value: Any) -> str:
    return ",".join(f"{name}:{part}" for name, part in value.items()) if isinstance(value, dict) else str(value)


def _with(record: logging.LogRecord, **fields: str) -> logging.LogRecord:
    """A copy: other handlers format the same record."""
    return logging.makeLogRecord({**record.__dict__, **fields})

"""Logging, set up once a process. Paths and states are logged; bodies, text, ids and keys never are."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmmem.settings import Settings

log = logging.getLogger(__name__)


def configure_logging(settings: Settings) -> None:
    """Lines on stderr: our own and the server's from `log_level` on, those of libraries from warnings on."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    for name in ("mmmem", "uvicorn"):
        logging.getLogger(name).setLevel(settings.log_level.upper())
    logging.getLogger("uvicorn.access").addFilter(_leave_out_query)
    # Without a file handle left, asyncio says so for every connection that waits, thousands of times a second.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    # Pillow warns about odd files; each of them is decoded or answered with an error, and neither belongs in a log.
    warnings.filterwarnings("ignore", module=r"PIL\b")


def announce(settings: Settings, address: str) -> None:
    """The start-up line, and a warning when anyone on the network could come in."""
    kind = settings.data_dir.partition("://")[0] + " object store" if "://" in settings.data_dir else "local folder"
    asked = f"key asked ({settings.auth})" if settings.asks_key else "no key asked"
    log.info("listening on %s; profile %s; data in a %s; %s", address, settings.profile, kind, asked)
    if not settings.asks_key and not settings.on_loopback:
        log.warning(
            "OPEN TO THE NETWORK WITHOUT A KEY: everyone who can connect reads and writes every memory; set MMMEM_API_KEY"
        )


def _leave_out_query(record: logging.LogRecord) -> bool:
    """Cut the query string off the path in a line of uvicorn's access log."""
    if isinstance(record.args, tuple):
        record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
    return True

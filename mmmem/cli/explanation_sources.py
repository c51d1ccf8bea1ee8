"""Where an explanation comes from: a data folder that is opened in this process, or a running service.

Both take the body of POST /explain and give what it answers.
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx
from rich.console import Console

from mmmem.api.answers import explain_answer
from mmmem.api.contract import ErrorAnswer, ExplainAnswer
from mmmem.api.translate import read_explain
from mmmem.cli.ending import said_once
from mmmem.errors import InvalidInput, MmmemError, StoreUnavailable

if TYPE_CHECKING:
    from mmmem.settings import Settings

PATIENCE = httpx.Timeout(300, connect=10)  # seconds; a service that is busy may let a question wait


def from_folder(body: bytes, settings: Settings) -> dict[str, Any]:
    """Open the store, ask, and close it again. Raises MmmemError."""
    from mmmem.wiring import build_service, check, holds_store

    query, ranking = read_explain(body, settings)
    if not holds_store(settings):  # opening would make one, also where a name was mistyped
        raise StoreUnavailable("data_dir: there is no store in this folder")
    check(settings)
    loading = Console(stderr=True).status("Loading the models")
    with said_once(), loading, closing(build_service(settings)) as service:
        answer: dict[str, Any] = json.loads(
            explain_answer(service.explain(query, ranking), settings.response_max_bytes)
        )
    return answer


def from_service(body: bytes, url: str, key: str | None) -> dict[str, Any]:
    """Ask the service at a base URL. Raises MmmemError: what the service says is wrong, or that none is there."""
    # As bytes, with those of the environment that are no UTF-8: the service compares them so.
    headers = {b"X-Api-Key": key.strip().encode("utf-8", "surrogateescape")} if key else {}
    headers[b"Content-Type"] = b"application/json"
    try:
        answer = httpx.post(f"{url.rstrip('/')}/explain", content=body, headers=headers, timeout=PATIENCE)
    except httpx.TimeoutException:
        raise MmmemError("--url: no answer in time") from None
    except httpx.LocalProtocolError:  # which quotes the header
        raise MmmemError("--key: holds what no header can carry") from None
    except UnicodeError:
        raise MmmemError("--url: is no address") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise MmmemError(f"--url: {error}") from None
    try:
        return _explained(answer)
    except (ValueError, RecursionError):  # no JSON, or none of mmmem's
        raise MmmemError(f"--url: answered {answer.status_code}, and not as mmmem's /explain does") from None


def _explained(answer: httpx.Response) -> dict[str, Any]:
    """Raises MmmemError with what the service says is wrong, ValueError where it does not speak as mmmem does."""
    said = answer.json()
    if answer.is_success:
        ExplainAnswer.model_validate(said)
        return dict(said)
    detail = ErrorAnswer.model_validate(said).detail
    if detail.field and detail.problem:
        raise InvalidInput(detail.field, detail.problem)
    raise MmmemError(f"--url: answered {answer.status_code}: {detail.reason}")

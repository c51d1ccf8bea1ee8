"""What a service refuses, as the error of the domain that it was there."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from mmmem import errors
from mmmem.api.contract import ErrorAnswer


def refusal(status: int, said: Any) -> errors.MmmemError:
    """The error that an answer of this status tells of; `said` is its JSON, whatever that holds."""
    try:
        answer = ErrorAnswer.model_validate(said)
    except ValidationError:
        return errors.Unreachable(f"what answered ({status}) is not mmmem")
    kind = _KINDS.get(answer.code, errors.MmmemError)
    error = kind.__new__(kind)  # their own __init__ would put words around the service's
    error.args = (answer.detail.reason,)
    if isinstance(error, errors.InvalidInput | errors.TooLarge):
        error.field, error.problem = answer.detail.field or "", answer.detail.problem or answer.detail.reason
    elif isinstance(error, errors.OverCapacity):
        error.retry_after = 1
    return error


def _all_kinds(root: type[errors.MmmemError]) -> dict[str, type[errors.MmmemError]]:
    """By code."""
    found = {root.code: root}
    for kind in root.__subclasses__():
        found |= _all_kinds(kind)
    return found


_KINDS = _all_kinds(errors.MmmemError)

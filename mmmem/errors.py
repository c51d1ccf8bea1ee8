"""Everything that can go wrong, in the domain's words. No HTTP here: `api/errors.py` maps these to statuses.

Messages are shown to callers: they name fields and limits, never stored content, ids, keys or paths.

    MmmemError
    ├── InvalidInput            the request is wrong: which field, and what is wrong with it
    │   ├── InvalidImage        an image part cannot be read
    │   ├── RequestConflict     this request_id was used with another body
    │   └── InvalidBackup       a backup is damaged, or not one: which line, and what is wrong with it
    ├── Unauthorized            the key is missing or wrong
    ├── NotFound                there is no such memory
    ├── TooLarge                the request is over a size limit
    │   └── TooSlow             its body did not come in time
    ├── OverCapacity            too many requests at once: try again after a while
    ├── Unavailable             cannot serve now
    │   ├── NotReady            still starting
    │   ├── StoreUnavailable    the store cannot be read or written
    │   │   └── TableMismatch   a user's data is of other models, or of a newer version
    │   ├── ModelUnavailable    an encoder failed
    │   └── Unreachable         a service that is asked over the network does not answer
    └── StartupError            will not start like this: what to do about it
        ├── WeightsError        a model's files are missing or are not what the manifest says
        └── StoreMismatch       the data was written with other models or by a newer version
"""

from __future__ import annotations


class MmmemError(Exception):
    """The root of the tree. `code` is stable and machine-readable."""

    code = "error"


class InvalidInput(MmmemError):
    """The request is wrong. `field` is its path, for example ``messages.0.content.1.image_url.url``."""

    code = "invalid_input"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class InvalidImage(InvalidInput):
    """An image part is not a data URL, not Base64, or not an image that can be decoded within the limits."""

    code = "invalid_image"


class RequestConflict(InvalidInput):
    """The same request_id came before with another body."""

    code = "request_conflict"

    def __init__(self) -> None:
        super().__init__("request_id", "was already used with another body; use a new request_id for new content")


class InvalidBackup(InvalidInput):
    """A backup is not whole, was altered, is of a newer version, or cannot be imported here. Only the command line meets it."""

    code = "invalid_backup"

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line:,}", problem)


class Unauthorized(MmmemError):
    """The key is missing or wrong."""

    code = "unauthorized"


class NotFound(MmmemError):
    """What was asked for by its id is not there."""

    code = "not_found"


class TooLarge(MmmemError):
    """The request, or one of its images, is over a size limit."""

    code = "too_large"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class TooSlow(TooLarge):
    """The request's body did not come in time."""

    code = "too_slow"


class OverCapacity(MmmemError):
    """More requests are waiting than the queue holds. `retry_after` is in seconds."""

    code = "over_capacity"

    def __init__(self, what: str, retry_after: int = 1) -> None:
        super().__init__(f"too many {what} at once; try again in {retry_after} s")
        self.retry_after = retry_after


class Unavailable(MmmemError):
    """The service cannot answer now; the same request may work later."""

    code = "unavailable"


class NotReady(Unavailable):
    """Still loading models or opening the store."""

    code = "not_ready"


class StoreUnavailable(Unavailable):
    """The store cannot be read or written now. Nothing of the request was kept, unless the store is a bucket."""

    code = "store_unavailable"


class TableMismatch(StoreUnavailable):
    """What is stored of a user was written with other models, or by a newer version of mmmem; the message says what to do."""

    code = "table_mismatch"


class ModelUnavailable(Unavailable):
    """An encoder failed. Nothing of the request was kept."""

    code = "model_unavailable"


class Unreachable(Unavailable):
    """A service that is asked over the network cannot be reached, or does not answer as one. Only clients meet it."""

    code = "unreachable"


class StartupError(MmmemError):
    """The service refuses to start; the message says what to do."""

    code = "startup_error"


class WeightsError(StartupError):
    """A model's weights are missing, or their sha256 is not the manifest's."""

    code = "weights_error"


class StoreMismatch(StartupError):
    """The data was written with other models, or by a newer version of mmmem."""

    code = "store_mismatch"

"""Every knob, in one object that is passed in and never global. Each is also an environment variable `MMMEM_<NAME>`."""

from __future__ import annotations

from pydantic_settings import BaseSettings, SettingsConfigDict

from mmmem.settings.mcp import Mcp
from mmmem.settings.memories import Memories
from mmmem.settings.models import Models
from mmmem.settings.ranking import Ranking
from mmmem.settings.remote import Remote
from mmmem.settings.requests import Requests
from mmmem.settings.serving import Process, Serving

__all__ = ["Settings"]


class Settings(Ranking, Memories, Process, Requests, Remote, Models, Serving, Mcp, BaseSettings):
    """The service's settings, read from `MMMEM_*` and checked; a wrong value stops the start and is named."""

    model_config = SettingsConfigDict(
        env_prefix="MMMEM_",
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,  # the input may be a key
    )

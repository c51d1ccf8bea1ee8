"""The kinds of exports that there are."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """Whose an export is; `auto`: to be found out."""

    auto = "auto"
    chatgpt = "chatgpt"
    claude = "claude"
    whatsapp = "whatsapp"
    telegram = "telegram"

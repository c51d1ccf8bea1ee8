#!/usr/bin/env python3
"""Write the table of settings in docs/configuration.md from the Settings object.

    python scripts/document_settings.py

tests/test_docs.py fails when the table is not what this would write.
"""

from pathlib import Path

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from mmmem.settings import Settings

DOCUMENT = Path(__file__).parents[1] / "docs" / "configuration.md"
BEGIN, END = "<!-- settings: begin -->", "<!-- settings: end -->"


def default(value: object) -> str:
    """A default as one would write it in a shell."""
    if value is None or value is PydanticUndefined or value == "" or isinstance(value, SecretStr):
        return "unset"
    return f"`{value}`"


def table() -> str:
    """A row a setting, in the order of the object."""
    rows = ["| variable | default | what it does |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        rows.append(f"| `MMMEM_{name.upper()}` | {default(field.default)} | {field.description} |")
    return "\n".join(rows)


def documented(text: str) -> str:
    """The document with its table as it should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(documented(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")

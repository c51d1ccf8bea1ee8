"""What the documents say of settings is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mmmem.settings import Settings
from scripts import document_commands
from scripts.document_settings import DOCUMENT, documented

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def test_the_table_of_settings_is_the_settings():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == documented(text), "run: python scripts/document_settings.py"


def test_every_command_and_option_is_in_the_list_of_commands():
    assert document_commands.DOCUMENT.read_text(encoding="utf-8") == document_commands.documented(), (
        "run: python scripts/document_commands.py"
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_setting_that_a_document_names_exists(document):
    elsewhere = {"MMMEM_PYTHON"}  # of the scripts, not of the service
    named = set(re.findall(r"MMMEM_[A-Z0-9_]+[A-Z0-9]", document.read_text(encoding="utf-8"))) - elsewhere
    known = {f"MMMEM_{name.upper()}" for name in Settings.model_fields}
    assert {name for name in named - known if not any(other.startswith(name + "_") for other in known)} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target

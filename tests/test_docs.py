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


def headings(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", document.read_text(encoding="utf-8")):
        file = document.parent / target if target else document
        assert file.exists(), target
        assert not anchor or anchor in headings(file), f"{target}#{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_script_and_test_that_a_document_names_is_there(document):
    named = re.findall(r"(?<![\w/.-])((?:scripts|tests)/[\w./-]*\w)", document.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_script_has_its_place_in_the_list_of_scripts():
    folder = ROOT / "scripts"
    listed = re.findall(r"`([\w./]+)`", (folder / "README.md").read_text(encoding="utf-8"))
    kept = {path.name + "/" * path.is_dir() for path in folder.iterdir() if path.name != "__pycache__"}
    outside = {".venv", "models/"}
    assert set(listed) - outside == kept - {"README.md"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_nothing_that_a_document_says_is_taken_for_a_tag(document):
    prose = re.sub(
        r"^```.*?^```|`[^`]*`|<!--.*?-->", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    assert re.findall(r"</?\w[^>]*>", prose) == []

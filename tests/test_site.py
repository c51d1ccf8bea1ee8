"""The docs site, built as CI builds it: whole, linked, and asking no other host for anything."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.test_docs import headings

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
LOADED = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("link", "href"), ("use", "href"),
          ("video", "src"), ("audio", "src"), ("object", "data"), ("embed", "src"), ("img", "srcset")}  # fmt: skip


def build(repository: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """`mkdocs build --strict`, in a process of its own: its warnings are not pytest's."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)


class Document(HTMLParser):
    """Of a page: its anchors, where it leads, what a browser loads for it, and what its navigation names."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.navigation: set[Path] = set()
        self.classes: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = defaultdict(str, {name: value or "" for name, value in attrs})
        self.anchors |= {given["id"], given["name"]} - {""}
        self.classes |= set(given["class"].split())
        self.loaded += [given[name] for where, name in LOADED if where == tag and name in given]
        self.loaded += re.findall(r"url\(([^)]*)\)", given["style"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            if "md-nav__link" in given["class"]:
                self.navigation.add(self.leads_to(given["href"])[0])

    def leads_to(self, link: str) -> tuple[Path, str]:
        """The file and the anchor of a link within the site."""
        parts = urlsplit(link)
        file = self.file.parent / unquote(parts.path) if parts.path else self.file
        return (file / "index.html" if file.is_dir() else file).resolve(), unquote(parts.fragment)


def is_elsewhere(link: str) -> bool:
    return bool(urlsplit(link).netloc) or urlsplit(link).scheme not in {"", "data"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site").resolve()
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[Path, Document]:
    """Every page but 404.html, which a server shows at any address, so that its links begin at the root."""
    return {file: Document(file) for file in site.rglob("*.html") if file.name != "404.html"}


def test_every_page_is_built_and_in_the_navigation(site: Path, documents: dict[Path, Document]) -> None:
    pages = {site / page.with_suffix(".html").name for page in PAGES}
    assert pages <= set(documents)
    assert pages <= documents[site / "index.html"].navigation


def test_nothing_is_loaded_from_another_host(site: Path, documents: dict[Path, Document]) -> None:
    loaded = {link for document in documents.values() for link in document.loaded}
    assert loaded
    assert {link for link in loaded if is_elsewhere(link)} == set()
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "@import" not in text
        assert [link for link in re.findall(r"url\(\"?([^)\"]*)", text) if is_elsewhere(link)] == []
    # The theme's script fetches these two from elsewhere, for pages that ask for them.
    assert not {"mermaid", "md-source"} & {name for document in documents.values() for name in document.classes}


def test_every_link_within_the_site_leads_somewhere(documents: dict[Path, Document]) -> None:
    for document in documents.values():
        within = [
            link for link in [*document.links, *document.loaded] if not is_elsewhere(link) and link[:5] != "data:"
        ]
        assert within
        for link in within:
            file, anchor = document.leads_to(link)
            assert file.is_file(), f"{document.file.name}: {link}"
            assert not anchor or anchor in documents[file].anchors, f"{document.file.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_heading_has_the_same_anchor_as_on_github(page: Path, site: Path, documents: dict[Path, Document]) -> None:
    assert headings(page) <= documents[site / page.with_suffix(".html").name].anchors


def test_a_search_can_find_every_page(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert {page.with_suffix(".html").name for page in PAGES} <= {entry["location"] for entry in index}
    assert any("late interaction" in entry["text"].lower() for entry in index)


def test_what_a_page_names_of_the_repository_is_shown_whole(documents: dict[Path, Document], site: Path) -> None:
    shown = site / "repository/examples/photo_diary.py.html"
    assert shown in {
        documents[site / "python.html"].leads_to(link)[0] for link in documents[site / "python.html"].links
    }
    assert "tell it the photos of a folder" in shown.read_text(encoding="utf-8")
    assert documents[site / "repository/index.html"].leads_to("../api.html")[0].is_file()


def test_a_page_that_is_left_out_and_links_that_lead_nowhere_fail_the_build(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for name in ("docs", "examples", "models"):
        shutil.copytree(ROOT / name, copy / name)
    for name in ("mkdocs.yml", "README.md", "CHANGELOG.md", "scripts/site_links.py"):
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    (copy / "docs" / "stray.md").write_text(
        "# Stray\n\n[a](nowhere.md) [b](api.md#nowhere) [c](../nowhere.py) [d](/api.md)\n"
    )
    done = build(copy, tmp_path / "site")
    assert done.returncode == 1
    for fault in ("- stray.md", "'nowhere.md'", "'#nowhere'", "'../nowhere.py'", "'/api.md'"):
        assert fault in done.stderr, done.stderr

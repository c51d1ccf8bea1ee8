"""A hook of mkdocs: what docs/ links to elsewhere in the repository comes along, as a page that shows it.

A link such as ../examples/photo_diary.py is right on GitHub. On the site it leads to repository/examples/photo_diary.py.md, which is made
here: Markdown as it is, anything else as a block of code. Links of such pages are followed too. What is not there stays as it is,
and `mkdocs build --strict` then says so.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, InclusionLevel

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
SHOWN = "repository"  # folder of the site for what is not from docs/
NAVIGATED = ["CHANGELOG.md"]  # no page links to it
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")
LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


def on_files(files: Files, /, *, config: MkDocsConfig) -> Files:
    """Add a page for each file outside docs/ that a page leads to."""
    waiting = [
        *NAVIGATED,
        *(target for file in files.documentation_pages() for target in _outside(f"docs/{file.src_uri}")),
    ]
    while waiting:
        path = waiting.pop()
        if files.get_file_from_path(shown_as(path)):
            continue
        inclusion = InclusionLevel.INCLUDED if path in NAVIGATED else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, shown_as(path), content=_page(path), inclusion=inclusion))
        if path.endswith(".md"):
            waiting += _outside(path)
    return files


def on_page_markdown(markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of a page to the pages that were made."""
    here = page.file.src_uri
    source = here.removeprefix(f"{SHOWN}/") if page.file.generated_by else f"docs/{here}"

    def led(match: re.Match[str]) -> str:
        target = _resolved(source, match[1])
        uri = target.removeprefix("docs/") if target.startswith("docs/") else shown_as(target)
        return os.path.relpath(uri, PurePosixPath(here).parent) if files.get_file_from_path(uri) else match[1]

    return LINK.sub(led, markdown)


def shown_as(path: str) -> str:
    """The page of the site that shows a file of the repository."""
    return f"{SHOWN}/{path}" if path.endswith(".md") else f"{SHOWN}/{path}.md"


def _outside(path: str) -> list[str]:
    """The files outside docs/ to which a Markdown file leads, from the root."""
    targets = {_resolved(path, link) for link in LINK.findall((ROOT / path).read_text(encoding="utf-8"))}
    return sorted(target for target in targets if not target.startswith(("docs/", "..")) and (ROOT / target).is_file())


def _resolved(path: str, link: str) -> str:
    return os.path.normpath(PurePosixPath(path).parent / link)


def _page(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    if not path.endswith(".md"):
        text = f"# {path}\n\n~~~~~~ {LANGUAGES.get(Path(path).suffix, 'text')}\n{text}~~~~~~\n"
    return f"---\nsearch: {{exclude: true}}\n---\n{text}"

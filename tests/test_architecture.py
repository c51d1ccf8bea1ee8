"""Imports point one way, so that a reader can understand a part without the whole (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "mmmem"
MODULES = sorted(PACKAGE.rglob("*.py"))

# What each part may import of mmmem, besides itself.
BASE = {"types", "errors", "settings", "meter"}
LOWER = BASE | {"texts", "terms"}
ALLOWED = {
    "types": set(),
    "errors": set(),
    "settings": set(),
    "meter": set(),
    "texts": {"types"},
    "dates": set(),
    "presentation": {"types"},
    "needs": set(),
    "captions": set(),
    "instructions": {"texts"},
    "media": BASE,
    "encoders": BASE,
    "retrieval": {"types"},
    "store": LOWER,
    "entities": set(),
    "terms": {"types"},
    "channels": LOWER | {"retrieval", "encoders", "store", "dates"},
    "rerankers": LOWER | {"retrieval", "encoders"},
    "pictures": BASE | {"media", "encoders"},
    "ingest": LOWER | {"media", "encoders", "store", "dates", "pictures"},
    "questions": LOWER | {"media", "encoders", "channels", "captions", "entities", "instructions", "needs", "pictures"},
    "ranking": LOWER | {"retrieval", "encoders", "store", "channels", "rerankers"},
    "explanation": LOWER | {"retrieval", "encoders", "store", "channels", "ranking"},
    "search": LOWER
    | {
        "encoders",
        "store",
        "retrieval",
        "channels",
        "rerankers",
        "questions",
        "ranking",
        "explanation",
        "image_budget",
        "presentation",
    },
    "image_budget": BASE | {"store", "presentation"},
    "listing": BASE | {"store", "image_budget"},
    "memory": LOWER | {"encoders", "store", "ingest", "search", "listing"},
    "backup": LOWER | {"media", "store", "ingest"},
    "wiring": LOWER
    | {
        "media",
        "encoders",
        "rerankers",
        "store",
        "ingest",
        "pictures",
        "questions",
        "search",
        "listing",
        "memory",
        "backup",
    },
    "api": BASE | {"media", "presentation", "store", "listing", "memory", "wiring", "__init__"},
    "doctor": BASE | {"encoders", "store", "ingest", "memory", "wiring", "__init__"},
    "chats": BASE,
    "library": BASE | {"listing", "memory", "wiring", "api"},
    "mcp_server": BASE | {"media", "api", "library", "__init__"},
    "__main__": {"cli"},
    "cli": BASE
    | {"presentation", "encoders", "backup", "wiring", "api", "doctor", "chats", "library", "mcp_server", "__init__"},
}


def part(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(module: Path) -> set[str]:
    """Full names of what a module imports, under `if TYPE_CHECKING` and in functions too."""
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def own_parts(module: Path) -> set[str]:
    names = {name.split(".")[1] if "." in name else "" for name in imported(module) if name.split(".")[0] == "mmmem"}
    return {name if name in ALLOWED else "__init__" for name in names}


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_imports_point_one_way(module):
    if part(module) == "__init__":
        return
    assert own_parts(module) - {part(module)} <= ALLOWED[part(module)]


def importers(library: str) -> set[str]:
    return {
        str(module.relative_to(PACKAGE))
        for module in MODULES
        if any(name.split(".")[0] == library for name in imported(module))
    }


def test_only_store_lance_knows_lancedb():
    assert importers("lancedb") == {"store/lance.py"}


def test_only_the_cache_of_embeddings_knows_sqlite():
    assert importers("sqlite3") == {"encoders/vector_cache.py"}


def test_only_the_api_knows_fastapi():
    assert {name.split("/")[0] for name in importers("fastapi")} == {"api"}


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_only_the_api_and_mcps_transport_know_http(library):
    assert {name for name in importers(library) if not name.startswith("api/")} == {"mcp_server/http.py"}


@pytest.mark.parametrize("library", ["mcp", "mcp_types"])
def test_only_the_mcp_server_knows_the_protocol_of_agents(library):
    assert {name.split("/")[0] for name in importers(library)} == {"mcp_server"}


def test_only_the_api_knows_prometheus():
    assert {name.split("/")[0] for name in importers("prometheus_client")} == {"api"}


def test_retrieval_knows_numbers_only():
    allowed = {"numpy", "torch", "mmmem", "__future__", "typing", "collections"}
    for module in MODULES:
        if part(module) == "retrieval":
            assert {name.split(".")[0] for name in imported(module)} <= allowed, module


def test_only_wiring_names_concrete_classes():
    concrete = {"LanceStore", "ContextualEncoder", "ConseImageEncoder", "ClipImageEncoder", "ColbertTokenEncoder",
                "SentenceEncoder", "PairedTextEncoder", "RemoteEncoder", "JoinedTextEncoder", "EmbeddingsProvider",
                "VectorCache"}  # fmt: skip
    for module in MODULES:
        if part(module) not in {"wiring", "encoders", "store"}:
            assert not {name.split(".")[-1] for name in imported(module)} & concrete, module


def test_modules_stay_small():
    long = {str(m.relative_to(PACKAGE)): n for m in MODULES if (n := len(m.read_text().splitlines())) > 250}
    assert not long

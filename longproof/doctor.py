"""What is here: versions, extras, the data folder, the judges.

Knows: how to ask without starting anything. Does not know: how to mend what is missing, beyond a hint.
"""

import os
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CORE = ("langgraph", "langchain-core", "openai", "numpy", "pydantic", "bm25s", "rank-bm25", "faiss-cpu")
EXTRAS = {
    "bge": ("FlagEmbedding", "sentence-transformers"),
    "read": ("pypdf", "python-docx", "html-to-markdown"),
    "llama-index": ("llama-index-core",),
    "studio": ("langgraph-cli",),
    "ray": ("ray",),
    "mcp": ("mcp",),
}


def findings() -> Iterator[str]:
    """A line for each thing that a run may rest on."""
    from longproof import __version__
    from longproof.indexes.place import home

    yield f"longproof {__version__} on Python {sys.version.split()[0]}"
    for name in CORE:
        yield f"  {name} {_version(name) or 'MISSING: reinstall longproof'}"
    for extra, names in EXTRAS.items():
        there = all(_version(name) for name in names)
        yield f"  extra {extra}: " + (
            "installed" if there else f"not installed (pip install longproof[{extra}])"
        )
    folder = home()
    yield f"data folder: {folder} ({'writable' if _writable(folder) else 'NOT writable: set LONGPROOF_HOME'})"
    yield "judge offline: answers (three deterministic judges and an arbiter; a triage, not a reader)"
    key = "set" if os.environ.get("OPENAI_API_KEY") else "not set"
    yield f"OPENAI_API_KEY: {key}"
    yield "embedder: lexical (BM25 over passages; nothing to download)"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _writable(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)

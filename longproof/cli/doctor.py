"""`longproof doctor` and `longproof runs`: what is installed and reachable, and the runs in the ledger.

Knows: how to ask without starting anything. Does not know: how to mend what is missing, beyond a hint.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longproof.cli.options import TOML

if TYPE_CHECKING:
    from longproof.agent.models.ledger import Run

CORE = ("langgraph", "langchain-core", "openai", "numpy", "pydantic", "rank-bm25", "html-to-markdown")
EXTRAS = {
    "bge": ("FlagEmbedding", "sentence-transformers"),
    "read": ("pypdf", "python-docx"),
    "llama-index": ("llama-index-core",),
    "studio": ("langgraph-cli",),
    "ray": ("ray",),
    "mcp": ("mcp",),
}


def doctor_command(
    schema: Annotated[bool, typer.Option("--schema", help="Print the report's JSON schema.")] = False,
) -> None:
    """What is installed, which judges answer, where data are kept."""
    from longproof.agent.types import Report

    if schema:
        typer.echo(json.dumps(Report.model_json_schema(), indent=2, ensure_ascii=False))
        return
    for line in _diagnosis():
        typer.echo(_one_line(line))


def runs_command() -> None:
    """List the runs in the ledger, their state and what they paid."""
    runs = asyncio.run(_runs())
    if not runs:
        typer.echo("no runs yet")
    for run in runs:
        tokens = sum(one.prompt + one.completion for one in run.by_model)
        paid = f"{run.calls:,} calls, {tokens:,} tokens paid{_money(run)}"
        judges = ", ".join(str(judge) for judge in run.asked.get("judges", []))
        protocol = run.asked.get("protocol", "")
        typer.echo(_one_line(f"{run.run_id}  {run.state:11}  {run.started}  {paid}  {protocol}  {judges}"))


def _money(run: "Run") -> str:
    """What a run paid, by the prices that it was given."""
    from longproof.agent.models.prices import ModelPrice, money, written

    prices = {name: ModelPrice.model_validate(row) for name, row in (run.asked.get("prices") or {}).items()}
    paid = money(run.by_model, prices)
    return "" if paid is None else f", cost {written(paid)}"


def _one_line(text: str) -> str:
    """Servers' errors, names of runs and paths may hold line breaks and terminal codes."""
    from longproof.report.control_characters import visible

    return visible(text).replace("\n", "␊")


async def _runs() -> list[Any]:
    """The latest first."""
    from longproof.agent.models.ledger import Ledger
    from longproof.retrieval.files import home

    path = home() / "ledger.sqlite"
    if not path.exists():
        return []
    ledger = await Ledger.open(path)
    try:
        return list(await ledger.runs())
    finally:
        await ledger.close()


def _diagnosis() -> Iterator[str]:
    """A line for each thing that a run may rest on."""
    from longproof import __version__
    from longproof.retrieval.files import home

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
    for name in ("OPENAI_API_KEY", "LONGPROOF_API_KEY"):
        yield f"{name}: {'set' if os.environ.get(name) else 'not set'}"
    yield from _judges()
    yield "embedder: lexical (BM25 over passages; nothing to download)"


def _judges() -> Iterator[str]:
    """Which judges answer: the offline ones, and those of `longproof.toml`. Asking a server costs nothing."""
    from longproof.agent.specs import reach, read_panel

    yield "judge offline: answers (says which sentences stand there and which conflict; the rest needs a model)"
    for judge in read_panel(TOML).judges if TOML.exists() else ():
        why = asyncio.run(reach(judge))
        about = (
            " (asked without a key: LONGPROOF_API_KEY_HOSTS does not list its host)" if judge.keyless else ""
        )
        yield f"judge {judge.text}: " + (f"does NOT answer: {why}" if why else "answers") + about


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _writable(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)

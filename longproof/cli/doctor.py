"""`longproof doctor` and `longproof protocols`: what is installed and reachable, and the methods to choose from.

Knows: how to ask without starting anything. Does not know: how to mend what is missing, beyond a hint.
"""

import asyncio
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Annotated

import typer

from longproof.cli.options import TOML

_NEED = re.compile(r"(?P<name>[\w.-]+)[^;]*(?:;.*extra == [\"'](?P<extra>[\w-]+)[\"'])?")
"""What a package needs, as its metadata say it."""
DEVELOPERS = ("test", "dev")
"""Extras that nobody needs who only uses it."""


def doctor_command(
    schema: Annotated[bool, typer.Option("--schema", help="Print the report's JSON schema.")] = False,
) -> None:
    """Say what is installed, which judges answer, where data are kept."""
    from longproof.agent.types import Report

    if schema:
        typer.echo(json.dumps(Report.model_json_schema(), indent=2, ensure_ascii=False))
        return
    for line in _diagnosis():
        typer.echo(_one_line(line))


def _one_line(text: str) -> str:
    """Servers' errors and paths may hold line breaks and terminal codes."""
    from longproof.report.pieces import visible

    return visible(text).replace("\n", "␊")


def _diagnosis() -> Iterator[str]:
    """A line for each thing that a run may rest on."""
    from longproof import __version__
    from longproof.retrieval.files import home

    yield f"longproof {__version__} on Python {sys.version.split()[0]}"
    needs = needed_packages()
    for name in needs[""]:
        yield f"  {name} {_version(name) or 'MISSING: reinstall longproof'}"
    for extra, names in needs.items():
        if extra and extra not in DEVELOPERS:
            missing = ", ".join(name for name in names if not _version(name))
            hint = f"{missing} not installed (pip install 'longproof[{extra}]')"
            yield f"  extra {extra}: {hint if missing else 'installed'}"
    folder = home()
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    can_write = "writable" if os.access(there, os.W_OK) else "NOT writable: set LONGPROOF_HOME"
    yield f"data folder: {folder} ({can_write})"
    for name in ("OPENAI_API_KEY", "LONGPROOF_API_KEY"):
        yield f"{name}: {'set' if os.environ.get(name) else 'not set'}"
    yield from _judges()
    yield "embedder: lexical (BM25 over passages; nothing to download)"


def needed_packages() -> Mapping[str, list[str]]:
    """The packages that each extra needs, as the package's metadata say; those needed always under no name."""
    needs: defaultdict[str, list[str]] = defaultdict(list)
    for line in requires("longproof") or []:
        need = _NEED.match(line)
        if need and need["name"] != "longproof":
            needs[need["extra"] or ""].append(need["name"])
    return needs


def _judges() -> Iterator[str]:
    """Which judges answer: the offline ones, and those of `longproof.toml`. Asking a server costs nothing."""
    from longproof.agent.specs import reach, read_panel

    yield "judge offline: answers (says what stands there and what plainly conflicts; the rest needs a model)"
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


def protocols_command() -> None:
    """List the protocols that can be chosen, and their papers."""
    from rich.console import Console
    from rich.table import Column, Table

    from longproof.graphs.protocols import protocols

    table = Table(Column("protocol", no_wrap=True), "after", "what it is", box=None, pad_edge=False)
    for one in protocols().values():
        table.add_row(one.name, one.cites, one.summary)
    Console().print(table)

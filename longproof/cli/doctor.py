"""`longproof doctor` and `longproof protocols`: what is installed, what a model can do, which methods there are.

Knows: a small question of each kind that a model is asked. Does not know: how to mend what is missing, beyond a hint.
"""

import asyncio
import json
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longproof.cli.options import TOML

if TYPE_CHECKING:
    from longproof.agent.models.limits import Prices
    from longproof.agent.specs import Panel, Spec
    from longproof.agent.types import Call

_NEED = re.compile(r"([\w.-]+)[^;]*(?:;.*extra == [\"']([\w-]+)[\"'])?")
"""A line of a package's metadata: what it needs, and for which extra."""
STORY = (
    "Mara kept the lamp on the island. Every evening she rowed there and lit it. In the winter of 1851 the old "
    "ferryman brought her nine letters. She put them into a drawer and opened none of them. On the last night of the "
    "year the lamp went out, and nobody lit it again. In the spring she gave all the letters back."
)
RETOLD = "In 1851 the ferryman brought Mara nineteen letters, and she read all of them."
"""A sentence that says several things of the story, not all of them right."""


def doctor_command(
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="SPEC", help="Ask this model a small question of each kind."),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="A TOML file with a [prices] table; else longproof.toml's.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the report's JSON schema.")] = False,
) -> None:
    """Say what is installed, and whether a model can judge."""
    from longproof.agent.types import Report
    from longproof.report.words import visible

    if schema:
        typer.echo(json.dumps(Report.model_json_schema(), indent=2, ensure_ascii=False))
        return
    for line in _trials(judge, prices) if judge else _diagnosis():
        # Servers' errors and paths may hold line breaks and terminal codes.
        typer.echo(visible(line).replace("\n", "␊"))


def _diagnosis() -> Iterator[str]:
    """A line for each thing that a run may rest on."""
    from longproof import __version__
    from longproof.agent.specs import read_panel
    from longproof.retrieval.files import home

    yield f"longproof {__version__} on Python {sys.version.split()[0]}"
    needs: defaultdict[str, list[str]] = defaultdict(list)  # by extra; what is always needed under no name
    for line in requires("longproof") or []:
        if (need := _NEED.match(line)) and need[1] != "longproof":
            needs[need[2] or ""].append(need[1])
    for name in needs[""]:
        yield f"  {name} {_version(name) or 'MISSING: reinstall longproof'}"
    for extra in [name for name in needs if name not in ("", "test", "dev")]:
        missing = ", ".join(name for name in needs[extra] if not _version(name))
        hint = f"{missing} not installed (pip install 'longproof[{extra}]')"
        yield f"  extra {extra}: {hint if missing else 'installed'}"
    yield f"data folder: {home()} (LONGPROOF_HOME names another)"
    for name in ("OPENAI_API_KEY", "LONGPROOF_API_KEY"):
        yield f"{name}: {'set' if os.environ.get(name) else 'not set'}"
    yield "judge offline: answers (says what stands there word for word, and gives hints; the rest needs a model)"
    for judge in read_panel(TOML).judges if TOML.exists() else ():
        about = "; gets no key: LONGPROOF_API_KEY_HOSTS does not list its host" if judge.keyless else ""
        yield f"judge {judge.text}: in longproof.toml{about} (longproof doctor --judge SPEC asks it)"


def _trials(judges: Sequence[str], prices: Path | None) -> Iterator[str]:
    """The lines about each of these models, and about what it would cost."""
    from longproof.agent.models.limits import read_prices
    from longproof.agent.specs import as_spec
    from longproof.retrieval.types import BadInput

    path = prices or (TOML if TOML.exists() else None)
    listed = read_prices(path) if path else {}
    for spec in map(as_spec, judges):
        if spec.kind == "offline":
            raise BadInput("the judge offline asks no model: there is nothing to try")
        yield spec.text
        for line in asyncio.run(_try(spec)):
            yield f"  {line}"
        if spec.is_model:
            yield f"  {_novel_cost(spec, listed)}"


async def _try(spec: "Spec") -> list[str]:
    """One line for each kind of question that the model can be asked. Raises BadInput where it answers nothing."""
    from longproof.graphs.run import Pool
    from longproof.graphs.settings import Settings
    from longproof.report.words import words

    pool, settings, says, lines = Pool(), Settings(judges=(spec,), cache=False), words("en"), []
    try:
        panel = (await pool.session(settings)).panel
        began = time.monotonic()
        async for kind, failure, calls in _ask(panel):
            seconds = time.monotonic() - began
            await pool.session(settings)  # raises what the server refused
            read = sum(call.prompt_tokens or 0 for call in calls)
            written = sum(call.completion_tokens or 0 for call in calls)
            answered = f"answered in {seconds:.1f} s, {read:,} tokens read, {written:,} written"
            fits = f"of no use: {says.get(failure, failure)}" if failure else "fits the form"
            lines.append(f"{kind}: {answered if calls else 'not answered'}; {fits}")
            began = time.monotonic()
    finally:
        await pool.close()
    return lines


async def _ask(panel: "Panel") -> "AsyncIterator[tuple[str, str | None, list[Call]]]":
    """Ask questions about a small story: the kind of each, why the answer is of no use, if it is, and the calls."""
    from longproof.agent.evidence.search import search
    from longproof.agent.types import Case, Claim, Question
    from longproof.graphs.evidence.sources import Sources
    from longproof.retrieval.text.chunking import evidence_lines
    from longproof.retrieval.types import Document

    source, response = Document.of(STORY), Document.of(RETOLD)
    whole = response.span(0, len(RETOLD))
    claim = Claim(id="c0", index=0, sentence=0, text=RETOLD, origin=whole)
    case = Case(id="trial", response=RETOLD, source_ids=(source.id,))
    shown = tuple(source.span(start, end) for start, end in evidence_lines(STORY))
    lines = (tuple(range(len(shown))),)
    question = Question(id="q", claim_ids=("c0",), look="place", prompt="judge", lines=lines, shown=shown)
    (judgement,), calls = await panel.judges[0].judge(question, [claim], case)
    yield "judge", judgement.reason if judgement.failure == "unavailable" else judgement.failure, calls
    if panel.searcher:
        taken_apart = await panel.decomposer.decompose(case, [whole])
        yield "split", taken_apart.failures.get(0), taken_apart.calls
        searched = await search(panel.searcher, [claim], {"c0": []}, Sources([source]), case, turns=1)
        yield "search", searched.failures.get("c0"), searched.calls


def _novel_cost(spec: "Spec", prices: "Prices") -> str:
    """Say what a long novel would cost, by a dry run over the bundled story, repeated to its length."""
    from longproof import Verifier
    from longproof.agent.models.limits import reading_cost
    from longproof.graphs.reporting import estimate
    from longproof.retrieval.text.sentences import sentences

    folder = files("longproof.examples") / "en"
    story, told = ((folder / f"{name}.txt").read_text("utf-8") for name in ("story", "faithful"))
    novel = story * ceil(400_000 / len(story))  # about 100,000 tokens
    summary = told[: sentences(told)[:10][-1][1]]
    dry = Verifier(judges=[spec], max_calls=0, cache=False).verify(novel, summary)
    first = estimate([dry])
    money = reading_cost([spec.model], first.tokens, prices)
    cost = f"reading them costs {money[0]} by the prices given" if money else "no price is known for it"
    asked = f"{sum(first.calls.values())} calls at first, {first.tokens:,} tokens"
    return f"a novel of 100,000 tokens, ten sentences of summary: {asked}; {cost}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def protocols_command() -> None:
    """List the protocols that can be chosen, and their papers."""
    from rich.console import Console
    from rich.table import Column, Table

    from longproof.graphs.papers.works import WORKS
    from longproof.graphs.verify import protocols

    table = Table(Column("protocol", no_wrap=True), "after", "what it is", box=None, pad_edge=False)
    for one in protocols().values():
        table.add_row(one.name, one.cited, one.summary)
    console = Console()
    console.print(table)
    for work in WORKS:
        console.print(f"\n{work.in_full()}", markup=False, highlight=False)

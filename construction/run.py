"""Making labelled data: from sources to a folder with cases, their provenance, and checks.

Knows: which construction a name stands for, how its models are opened, what lies in the folder afterwards, and what
code checks before anyone trusts a set. Times stand in the provenance alone: the same input, seed and ledger give the
same other files, byte for byte. Does not know: how data are made.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from longproof import __version__
from longproof.agent.report import usage
from longproof.agent.types import KINDS
from longproof.construction.halueval import make_halueval
from longproof.construction.longnovel import make_longnovel
from longproof.construction.maker import Made, Maker, Progress, Wanted, write_json_lines
from longproof.construction.probe import make_probe
from longproof.construction.units import POSITIONS
from longproof.construction.versions import plain_form
from longproof.graphs.cases import GivenCase
from longproof.graphs.run import Pool
from longproof.graphs.settings import settings_of
from longproof.graphs.verifier import run
from longproof.retrieval.files import write_whole
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput

CONSTRUCTIONS: dict[str, Callable[[Maker], Awaitable[Made]]] = {
    "longnovel": make_longnovel,
    "probe": make_probe,
    "halueval": make_halueval,
}
CASES, PROVENANCE, CHECKS = "cases.jsonl", "provenance.json", "checks.md"
REVEALING = 0.65
"""An AUC from here on says that the labels can be told without reading; 0.5 is chance."""
UNEVEN = 2.0
"""The most frequent kind may be so many times as frequent as the rarest."""


class Check(NamedTuple):
    """One finding: what was looked at, what was found, and whether it is as it should be."""

    name: str
    found: str
    good: bool


class Constructed(NamedTuple):
    """A folder that holds a made set. `calls` are all that the set rests on, `bought` those that this run paid."""

    folder: Path
    made: int
    rejected: dict[str, int]
    calls: int
    bought: int
    checks: list[Check]


def construct(
    kind: str,
    sources: Sequence[Path],
    out: Path,
    *,
    summaries: Sequence[Path] = (),
    models: Sequence[str] = (),
    progress: Progress | None = None,
    seed: int = 0,
    cases: int = 500,
    task: str = "",
    keep: int = 5000,
    **settings: Any,
) -> Constructed:
    """Make a set from these sources in `out`; a run that was stopped is made again over the ledger, for nothing.

    `models` are SPECs of language models, the writer first. Raises BadInput for a construction that isn't there,
    sources or models that it can't use, or a folder in use.
    """
    if kind not in CONSTRUCTIONS:
        raise BadInput(f"there is no construction {kind!r}: choose one of {', '.join(CONSTRUCTIONS)}")
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out} is a file: name a folder")
    if out.exists() and any(out.iterdir()) and not (out / PROVENANCE).exists():
        raise BadInput(f"{out} holds other files: name an empty folder")
    texts, by_people = list(map(read_source, sources)), list(map(read_source, summaries))
    wanted = Wanted(texts, out, by_people, seed, cases, task, keep)
    chosen = settings_of({"judges": list(models) or ["offline"], **settings})

    async def make() -> Constructed:
        started, pool = _now(), Pool()
        try:
            panel = (await pool.session(chosen)).panel
            if not panel.models:
                raise BadInput(f"{kind} needs a language model: --model openai:MODEL[@BASE_URL]")
            maker = Maker(wanted, panel.models, panel.decomposer, progress)
            return _write_set(kind, maker, await CONSTRUCTIONS[kind](maker), started)
        finally:
            await pool.close()

    return run(make())


def _write_set(kind: str, maker: Maker, made: Made, started: str) -> Constructed:
    """Write the cases, where they come from, and what code finds in them; no case, no checks.

    The provenance is enough to make the set again; `prompts` are hashes of the wordings by name.
    """
    wanted, calls, out = maker.wanted, maker.calls, maker.wanted.out
    write_json_lines(out / CASES, (case.model_dump(mode="json", exclude_unset=True) for case in made.cases))
    by_purpose = sorted(calls, key=lambda call: (call.purpose, call.prompt_hash))
    rejected, bought = dict(sorted(maker.rejected.items())), sum(call.bought for call in calls)
    provenance = {
        "construction": kind,
        "version": __version__,
        "seed": wanted.seed,
        "parameters": {"cases": str(wanted.cases), "task": wanted.task, "keep": str(wanted.keep)},
        "models": [model.name for model in maker.models],
        "prompts": {call.purpose: call.prompt_hash for call in by_purpose},
        "sources": [{"id": s.id, "title": s.title, "characters": len(s.text)} for s in wanted.sources],
        "made": made.n,
        "rejected": rejected,
        "usage": usage(calls).model_dump(mode="json"),
        "calls": len(calls),
        "bought": bought,
        "started": started,
        "ended": _now(),
    }
    text = json.dumps(provenance, ensure_ascii=False, indent=1)
    write_whole(out / PROVENANCE, (text + "\n").encode("utf-8"))
    found = checks(made.cases) if made.cases else []
    (out / CHECKS).unlink(missing_ok=True)
    if found:
        lines = ["# Checks of a made set", "", "| check | found | |", "| --- | --- | --- |"]
        for name, said, good in found:
            lines.append(f"| {name} | {said} | {'good' if good else 'LOOK'} |")
        write_whole(out / CHECKS, "\n".join([*lines, ""]).encode("utf-8"))
    return Constructed(out, made.n, rejected, len(calls), bought, found)


def _now() -> str:
    """The time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def checks(made: Sequence[GivenCase]) -> list[Check]:
    """All checks of a set: twins, length, and the balance of kinds, positions and labels.

    Length alone should not tell the labels: its AUC is given over any hallucinated response and any faithful one, and
    as the mean over the groups of those made of one text.
    """
    texts, labels = set[str](), Counter[str | None]()
    everything: tuple[list[float], list[float]] = ([], [])
    groups: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for case in made:
        texts.add(plain_form(case.response))
        labels[case.label] += 1
        for sides in (everything, groups[str(case.group)]):
            sides[case.label == "faithful"].append(len(case.response))
    n_twice, wrong, right = len(made) - len(texts), labels["hallucinated"], labels["faithful"]
    inside = [value for sides in groups.values() if (value := auc(*sides)) is not None]
    within, overall = mean(inside) if inside else None, auc(*everything)
    told, unrevealing = list[str](), True
    for value in (overall, within):
        told.append("none" if value is None else f"{value:.2f}")
        unrevealing &= value is None or 1 - REVEALING < value < REVEALING
    return [
        Check("duplicates", f"{n_twice} of {len(made)} responses stand twice", n_twice == 0),
        Check("AUC of length", f"{told[0]} overall, {told[1]} within pairs", unrevealing),
        balance("kind", made, KINDS),
        balance("position", made, POSITIONS),
        Check("balance of labels", f"hallucinated {wrong}, faithful {right}", wrong == right),
    ]


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """The chance that one of the first exceeds one of the second, ties half; None where either is empty."""
    if not higher or not lower:
        return None
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.sum()) / 2 / (len(higher) * len(lower))


def balance(slice_: str, made: Sequence[GivenCase], names: Sequence[str]) -> Check:
    """The number of hallucinated cases with each name of a slice."""
    counts = dict.fromkeys(names, 0)
    for case in made:
        if case.label == "hallucinated" and slice_ in case.slices:
            counts[str(case.slices[slice_])] += 1
    found = ", ".join(f"{name} {n}" for name, n in counts.items())
    return Check(f"balance of {slice_}", found, max(counts.values()) <= UNEVEN * min(counts.values()))

"""Making labelled data: from sources to a folder with cases, their provenance, and checks.

Knows: which construction a name stands for, how its models are opened, and what lies in the folder afterwards; what
code checks of a made set before anyone trusts it: duplicates, whether length alone tells the labels, balance of kinds
and positions. Every file is written whole. Times stand in the provenance alone, so the same input, seed and ledger
give the same other files, byte for byte. Does not know: how data are made.
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
    """A folder that holds a made set: how many cases, what was thrown away and why, calls, and what was found.

    `calls` are all that the set rests on, `bought` those that this run paid.
    """

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

    `models` are SPECs of language models, the writer first; `settings` are further settings of a run. Raises
    BadInput for a construction that isn't there, sources or models that it can't use, or a folder in use.
    """
    if kind not in CONSTRUCTIONS:
        raise BadInput(f"there is no construction {kind!r}: choose one of {', '.join(CONSTRUCTIONS)}")
    if not models:
        raise BadInput(f"{kind} needs a language model: --model openai:MODEL[@BASE_URL]")
    _refuse_other_files(out)
    texts, by_people = list(map(read_source, sources)), list(map(read_source, summaries))
    wanted = Wanted(texts, out, by_people, seed, cases, task, keep)
    chosen = settings_of({"judges": list(models), **settings})

    async def make() -> Constructed:
        started, pool = _now(), Pool()
        try:
            panel = (await pool.session(chosen)).panel
            if not panel.models:
                raise BadInput(
                    "this construction needs a language model: name one as openai:MODEL[@BASE_URL]"
                )
            maker = Maker(wanted, panel.models, panel.decomposer, progress)
            return _write_set(kind, maker, await CONSTRUCTIONS[kind](maker), started)
        finally:
            await pool.close()

    return run(make())


def _refuse_other_files(out: Path) -> None:
    """See that the folder holds no other set. Raises BadInput where it holds files that no construction made."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out} is a file: name a folder")
    if out.exists() and any(out.iterdir()) and not (out / PROVENANCE).exists():
        raise BadInput(f"{out} holds other files: name an empty folder")


def _write_set(kind: str, maker: Maker, made: Made, started: str) -> Constructed:
    """Write the cases, where they come from, and what code finds in them; no case, no checks."""
    out = maker.wanted.out
    write_json_lines(out / CASES, (case.model_dump(mode="json", exclude_unset=True) for case in made.cases))
    provenance = _provenance(kind, maker, made, started)
    text = json.dumps(provenance, ensure_ascii=False, indent=1)
    write_whole(out / PROVENANCE, (text + "\n").encode("utf-8"))
    found = checks(made.cases) if made.cases else []
    (out / CHECKS).unlink(missing_ok=True)
    if found:
        write_whole(out / CHECKS, data_card(found).encode("utf-8"))
    rejected, n_calls, bought = provenance["rejected"], provenance["calls"], provenance["bought"]
    return Constructed(out, made.n, rejected, n_calls, bought, found)


def _provenance(kind: str, maker: Maker, made: Made, started: str) -> dict[str, Any]:
    """The origin of a made set: enough to make it again. `prompts` are hashes of the wordings by name.

    `rejected` counts what was thrown away, by kind of version and reason; `calls` are all calls that the set rests
    on, `bought` those that this run paid.
    """
    wanted, calls = maker.wanted, maker.calls
    parameters = {"cases": wanted.cases, "task": wanted.task, "keep": wanted.keep, **made.parameters}
    by_purpose = sorted(calls, key=lambda call: (call.purpose, call.prompt_hash))
    sources = [{"id": s.id, "title": s.title, "characters": len(s.text)} for s in wanted.sources]
    return {
        "construction": kind,
        "version": __version__,
        "seed": wanted.seed,
        "parameters": {name: str(value) for name, value in parameters.items()},
        "models": [model.name for model in maker.models],
        "prompts": {call.purpose: call.prompt_hash for call in by_purpose},
        "sources": sources,
        "made": made.n,
        "rejected": dict(sorted(maker.rejected.items())),
        "usage": usage(calls).model_dump(mode="json"),
        "calls": len(calls),
        "bought": sum(call.bought for call in calls),
        "started": started,
        "ended": _now(),
    }


def _now() -> str:
    """The time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def checks(made: Sequence[GivenCase]) -> list[Check]:
    """All checks of a set: twins, length, and the balance of kinds, positions and labels."""
    twice = len(made) - len({plain_form(case.response) for case in made})
    counts = Counter(case.label for case in made)
    sides = f"hallucinated {counts['hallucinated']}, faithful {counts['faithful']}"
    return [
        Check("duplicates", f"{twice} of {len(made)} responses stand twice", twice == 0),
        length_tells(made),
        balance("kind", made, KINDS),
        balance("position", made, POSITIONS),
        Check("balance of labels", sides, counts["hallucinated"] == counts["faithful"]),
    ]


def length_tells(made: Sequence[GivenCase]) -> Check:
    """Check that length alone doesn't tell the labels: the AUC over all pairs, and within each group of a pair.

    The first compares any hallucinated response with any faithful one; the second only those made of one text.
    """
    everything: tuple[list[float], list[float]] = ([], [])
    groups: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for case in made:
        for sides in (everything, groups[str(case.group)]):
            sides[case.label == "faithful"].append(len(case.response))
    inside = [value for sides in groups.values() if (value := auc(*sides)) is not None]
    values = [auc(*everything), mean(inside) if inside else None]
    good = all(value is None or 1 - REVEALING < value < REVEALING for value in values)
    overall, within = ("none" if value is None else f"{value:.2f}" for value in values)
    return Check("AUC of length", f"{overall} overall, {within} within pairs", good)


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """The chance that one of the first exceeds one of the second, ties half; None where either is empty."""
    if not higher or not lower:
        return None
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.sum()) / 2 / (len(higher) * len(lower))


def balance(slice_: str, made: Sequence[GivenCase], names: Sequence[str]) -> Check:
    """The number of hallucinated cases with each name of a slice."""
    wrong = [case for case in made if case.label == "hallucinated" and slice_ in case.slices]
    counts = Counter(str(case.slices[slice_]) for case in wrong)
    rarest, most = min(counts[name] for name in names), max(counts[name] for name in names)
    found = ", ".join(f"{name} {counts[name]}" for name in names)
    return Check(f"balance of {slice_}", found, not counts or most <= UNEVEN * rarest)


def data_card(found: Sequence[Check]) -> str:
    """The checks as one Markdown page."""
    lines = ["# Checks of a made set", "", "| check | found | |", "| --- | --- | --- |"]
    lines += [f"| {check.name} | {check.found} | {'good' if check.good else 'LOOK'} |" for check in found]
    return "\n".join([*lines, ""])

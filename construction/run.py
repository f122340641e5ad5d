"""Making labelled data: from sources to a folder with cases, checks and a data card.

Knows: which construction a name stands for, how its models are opened, and what lies in the folder afterwards; what
code checks of a made set before anyone trusts it: duplicates, whether length alone tells the labels, balance of kinds
and positions. Does not know: how data are made.
"""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from longproof.agent.types import KINDS
from longproof.construction.case_files import CASES, Provenance, read_cases, refuse_other_files
from longproof.construction.halueval import make_halueval
from longproof.construction.longnovel import make_longnovel
from longproof.construction.maker import Maker, Progress, Wanted
from longproof.construction.probe import make_probe
from longproof.construction.units import POSITIONS
from longproof.construction.versions import plain_form
from longproof.graphs.cases import GivenCase
from longproof.graphs.run import Pool
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.verifier import run
from longproof.retrieval.files import write_whole
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput, Frozen

Construction = Callable[[Maker], Awaitable[Provenance]]
CONSTRUCTIONS: dict[str, Construction] = {
    "longnovel": make_longnovel,
    "probe": make_probe,
    "halueval": make_halueval,
}
CHECKS = "checks.md"
REVEALING = 0.65
"""An AUC from here on says that the labels can be told without reading; 0.5 is chance."""
UNEVEN = 2.0
"""The most frequent kind may be so many times as frequent as the rarest."""


class Check(Frozen):
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
    refuse_other_files(out)
    wanted = Wanted(
        sources=list(map(read_source, sources)),
        out=out,
        summaries=list(map(read_source, summaries)),
        seed=seed,
        cases=cases,
        task=task,
        keep=keep,
    )
    chosen = settings_of({"judges": list(models), **settings})
    made = run(_make(CONSTRUCTIONS[kind], wanted, chosen, progress))
    return Constructed(out, made.made, made.rejected, made.calls, made.bought, write_checks(out))


async def _make(
    construction: Construction, wanted: Wanted, settings: Settings, progress: Progress | None
) -> Provenance:
    """Open the models, make the set; the ledger is closed in any case."""
    pool = Pool()
    try:
        panel = (await pool.session(settings)).panel
        if not panel.models:
            raise BadInput("this construction needs a language model: name one as openai:MODEL[@BASE_URL]")
        return await construction(Maker(wanted, panel.models, panel.decomposer, progress))
    finally:
        await pool.close()


def write_checks(out: Path) -> list[Check]:
    """Check the set in the folder, and write what was found beside it; no case, no checks."""
    made = read_cases(out / CASES)
    if not made:
        (out / CHECKS).unlink(missing_ok=True)
        return []
    found = checks(made)
    write_whole(out / CHECKS, data_card(found).encode("utf-8"))
    return found


def checks(made: Sequence[GivenCase]) -> list[Check]:
    """All checks of a set.

    Places are checked as a case is read: one that is not where it says is refused there.
    """
    counts = Counter(case.label for case in made)
    sides = f"hallucinated {counts['hallucinated']}, faithful {counts['faithful']}"
    return [
        duplicates(made),
        length_tells(made),
        balance("kind", made, KINDS),
        balance("position", made, POSITIONS),
        Check(name="balance of labels", found=sides, good=counts["hallucinated"] == counts["faithful"]),
    ]


def duplicates(made: Sequence[GivenCase]) -> Check:
    """Responses that stand twice in the set, in the same words."""
    twice = len(made) - len({plain_form(case.response) for case in made})
    return Check(name="duplicates", found=f"{twice} of {len(made)} responses stand twice", good=twice == 0)


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
    return Check(name="AUC of length", found=f"{overall} overall, {within} within pairs", good=good)


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
    return Check(name=f"balance of {slice_}", found=found, good=not counts or most <= UNEVEN * rarest)


def data_card(found: Sequence[Check]) -> str:
    """The checks as one Markdown page."""
    lines = ["# Checks of a made set", "", "| check | found | |", "| --- | --- | --- |"]
    lines += [f"| {check.name} | {check.found} | {'good' if check.good else 'LOOK'} |" for check in found]
    return "\n".join([*lines, ""])

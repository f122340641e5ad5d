"""Checks of a made set, run by code before anyone trusts it, and its data card.

Knows: duplicates, texts shared by splits, whether length alone tells the labels, balance of kinds and positions.
Reads the cases as they stand in the files. Does not know: how a set was made.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from statistics import mean

import numpy as np

from longproof.agent.types import KINDS
from longproof.construction.units import POSITIONS
from longproof.construction.versions import plain_form
from longproof.graphs.cases import GivenCase
from longproof.retrieval.types import Frozen

REVEALING = 0.65
"""An AUC from here on says that the labels can be told without reading; 0.5 is chance."""
UNEVEN = 2.0
"""The most frequent kind may be so many times as frequent as the rarest."""


class Check(Frozen):
    """One finding: what was looked at, what was found, and whether it is as it should be."""

    name: str
    found: str
    good: bool


def checks(made: Sequence[GivenCase], trained: Sequence[GivenCase] = ()) -> list[Check]:
    """All checks of a set, with those between it and the training split where there is one.

    Places are checked as a case is read: one that is not where it says is refused there.
    """
    counts = Counter(case.label for case in made)
    sides = f"hallucinated {counts['hallucinated']}, faithful {counts['faithful']}"
    return [
        duplicates(made),
        leakage(made, trained),
        length_tells(made),
        balance("kind", made, KINDS),
        balance("position", made, POSITIONS),
        Check(name="balance of labels", found=sides, good=counts["hallucinated"] == counts["faithful"]),
    ]


def duplicates(made: Sequence[GivenCase]) -> Check:
    """Responses that stand twice in the set, in the same words."""
    twice = len(made) - len({plain_form(case.response) for case in made})
    return Check(name="duplicates", found=f"{twice} of {len(made)} responses stand twice", good=twice == 0)


def leakage(test: Sequence[GivenCase], train: Sequence[GivenCase]) -> Check:
    """Responses, sources and books that both splits hold."""
    features: dict[str, Callable[[GivenCase], str]] = {
        "responses": lambda case: plain_form(case.response),
        "sources": lambda case: "\n".join(case.texts),
        "books": lambda case: str(case.slices.get("book", "")),
    }
    counted, clean = [], True
    for name, feature in features.items():
        shared = (set(map(feature, test)) & set(map(feature, train))) - {""}
        counted.append(f"{len(shared)} {name}")
        clean = clean and not shared
    found = ", ".join(counted) + " in both splits" if train else "no training split"
    return Check(name="leakage", found=found, good=clean)


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

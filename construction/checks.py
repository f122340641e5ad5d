"""Checks of a made set, run by code before anyone trusts it, and its data card.

Knows: duplicates, texts shared by splits, whether length alone tells the labels, balance of kinds and positions; the
tables of LongNovel's section 3.5 (seed 004: tables 2 and 3, figures 2 and 3); a sample to mark by hand as HTML, all
text escaped. Reads the cases as they stand in the files. Does not know: how a set was made.
"""

import html
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from random import Random
from statistics import mean

import numpy as np

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import KINDS
from longproof.construction.units import POSITIONS
from longproof.construction.versions import folded
from longproof.graphs.cases import GivenCase
from longproof.retrieval.types import Frozen

REVEALING = 0.65
"""An AUC from here on says that the labels can be told without reading; 0.5 is chance."""
UNEVEN = 2.0
"""The most frequent kind may be so many times as frequent as the rarest."""
SAMPLED = 40
STYLE = (
    "body{font:15px/1.5 sans-serif;margin:2em}td{border:1px solid;padding:.4em;vertical-align:top}"
    "mark{background:#fd8}table{border-collapse:collapse}"
)


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
    """Responses that stand twice in the set, folded."""
    twice = len(made) - len({folded(case.response) for case in made})
    return Check(name="duplicates", found=f"{twice} of {len(made)} responses stand twice", good=twice == 0)


def leakage(test: Sequence[GivenCase], train: Sequence[GivenCase]) -> Check:
    """Responses, sources and books that both splits hold."""
    features: dict[str, Callable[[GivenCase], str]] = {
        "responses": lambda case: folded(case.response),
        "sources": _text,
        "books": lambda case: str(case.slices.get("book", "")),
    }
    shared = {
        name: len(({feature(case) for case in test} & {feature(case) for case in train}) - {""})
        for name, feature in features.items()
    }
    found = ", ".join(f"{n} {name}" for name, n in shared.items()) + " in both splits"
    return Check(name="leakage", found=found if train else "no training split", good=not any(shared.values()))


def length_tells(made: Sequence[GivenCase]) -> Check:
    """Whether length alone tells the labels: the AUC over all pairs, and within each group of a pair.

    The first compares any hallucinated response with any faithful one; the second only those made of one text.
    """
    everything: tuple[list[float], list[float]] = ([], [])
    groups: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for case in made:
        for sides in (everything, groups[str(case.group)]):
            sides[case.label == "faithful"].append(len(case.response))
    inside = [value for sides in groups.values() if (value := auc(*sides)) is not None]
    overall, within = auc(*everything), (mean(inside) if inside else None)
    good = all(value is None or 1 - REVEALING < value < REVEALING for value in (overall, within))
    told = ["none" if value is None else f"{value:.2f}" for value in (overall, within)]
    return Check(name="AUC of length", found=f"{told[0]} overall, {told[1]} within pairs", good=good)


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """The chance that one of the first exceeds one of the second, ties half; None where either is empty."""
    if not higher or not lower:
        return None
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.sum()) / 2 / (len(higher) * len(lower))


def balance(slice_: str, made: Sequence[GivenCase], names: Sequence[str]) -> Check:
    """How often each name of a slice stands among the hallucinated."""
    wrong = [e for e in made if e.label == "hallucinated" and slice_ in e.slices]
    counts = Counter(e.slices[slice_] for e in wrong)
    rarest, most = min(counts[n] for n in names), max(counts[n] for n in names)
    found = ", ".join(f"{name} {counts[name]}" for name in names)
    return Check(name=f"balance of {slice_}", found=found, good=not wrong or most <= UNEVEN * rarest)


def _text(case: GivenCase) -> str:
    """The source's text, which whoever reads a case puts there."""
    return "\n".join(case.texts)


def data_card(found: Sequence[Check], made: Sequence[GivenCase]) -> str:
    """Checks and statistics as one Markdown page."""
    rows = [[check.name, check.found, "good" if check.good else "LOOK"] for check in found]
    return f"# Checks of a made set\n\n{markdown_table(['check', 'found', ''], rows)}\n\n{set_statistics(made)}\n"


def set_statistics(made: Sequence[GivenCase]) -> str:
    """LongNovel's tables 2 and 3 and figures 2 and 3 of this set, as Markdown. Tokens are estimated."""
    scales = list(dict.fromkeys(str(e.slices["scale"]) for e in made if "scale" in e.slices)) or ["all"]
    of = {scale: [e for e in made if e.slices.get("scale", "all") == scale] for scale in scales}
    sizes = [
        [s, _count(of[s], "hallucinated"), _count(of[s], "faithful"), str(len(of[s])), f"{_ratio(of[s]):.1f}"]
        for s in scales
    ]
    lengths = [[s, *(f"{value / 1000:.2f}" for value in _tokens(of[s]))] for s in scales]
    kinds = [[k, *(_share(of[s], "kind", k) for s in scales)] for k in KINDS]
    thirds = [[p, *(_share(of[s], "position", p) for s in scales)] for p in POSITIONS]
    return "\n\n".join(
        [
            "Cases, and the source's length over the response's (as table 2)",
            markdown_table(["scale", "hallucinated", "faithful", "total", "ratio"], sizes),
            "Thousands of tokens of source, estimated (as table 3)",
            markdown_table(["scale", "min", "mean", "max"], lengths),
            "Kinds, share of the hallucinated (as figure 2)",
            markdown_table(["kind", *scales], kinds),
            "Positions, share of the hallucinated (as figure 3)",
            markdown_table(["position", *scales], thirds),
        ]
    )


def sample_page(made: Sequence[GivenCase]) -> str:
    """A sample as one HTML page to read and mark by hand: what is wrong, what it was, and the source's place to look.

    All text is escaped; the page loads nothing.
    """
    wrong = [e for e in made if e.label == "hallucinated"]
    drawn = Random(0).sample(wrong, min(SAMPLED, len(wrong)))
    rows = "".join(map(_row, sorted(drawn, key=lambda e: e.id)))
    head = "<th>case</th><th>response, wrong words marked</th><th>should be</th><th>wrong indeed?</th>"
    return (
        '<!doctype html><html><head><meta charset="utf-8"><title>Sample sheet</title>'
        f"<style>{STYLE}</style></head><body><h1>Sample of {len(drawn)}</h1>"
        f"<table><tr>{head}</tr>{rows}</table></body></html>\n"
    )


def _row(case: GivenCase) -> str:
    marked, last = "", 0
    errors = sorted(case.errors or (), key=lambda error: error.start)
    for error in errors:
        marked += f"{html.escape(case.response[last : error.start])}<mark>{html.escape(error.text)}</mark>"
        last = error.end
    marked += html.escape(case.response[last:])
    about = " · ".join([str(case.id), *(f"{k} {v}" for k, v in sorted(case.slices.items()))])
    right = "<br>".join(
        html.escape(f"{e.correction} ({e.reason})" if e.reason else e.correction) for e in errors
    )
    return f"<tr><td>{html.escape(about)}</td><td>{marked}</td><td>{right}</td><td>☐ yes ☐ no</td></tr>"


def _count(made: Sequence[GivenCase], outcome: str) -> str:
    return str(sum(e.label == outcome for e in made))


def _ratio(made: Sequence[GivenCase]) -> float:
    sources = sum(len(_text(e)) for e in made)
    return sources / max(1, sum(len(e.response) for e in made))


def _tokens(made: Sequence[GivenCase]) -> tuple[float, float, float]:
    sizes = [estimate_tokens(_text(e)) for e in made]
    return min(sizes), mean(sizes), max(sizes)


def _share(made: Sequence[GivenCase], slice_: str, name: str) -> str:
    wrong = [e for e in made if e.label == "hallucinated"]
    return f"{sum(e.slices.get(slice_) == name for e in wrong) / max(1, len(wrong)):.2f}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)

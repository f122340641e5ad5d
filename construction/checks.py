"""Checks of a made set, run by code before anyone trusts it, and its data card.

Knows: duplicates, texts shared by splits, whether length alone tells the labels, balance of kinds and positions; the
tables of LongNovel's section 3.5 (seed 004: tables 2 and 3, figures 2 and 3); a sample to mark by hand as HTML, all
text escaped. Reads the cases as they stand in the files. Does not know: how a set was made.
"""

import html
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random
from statistics import mean

import numpy as np

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import KINDS
from longproof.construction.units import POSITIONS
from longproof.construction.versions import plain_form
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
    """Responses that stand twice in the set, in the same words."""
    twice = len(made) - len({plain_form(case.response) for case in made})
    return Check(name="duplicates", found=f"{twice} of {len(made)} responses stand twice", good=twice == 0)


def leakage(test: Sequence[GivenCase], train: Sequence[GivenCase]) -> Check:
    """Responses, sources and books that both splits hold."""
    features: dict[str, Callable[[GivenCase], str]] = {
        "responses": lambda case: plain_form(case.response),
        "sources": _source_text,
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
    counts = Counter(str(case.slices[slice_]) for case in wrong_cases(made) if slice_ in case.slices)
    rarest, most = min(counts[name] for name in names), max(counts[name] for name in names)
    found = ", ".join(f"{name} {counts[name]}" for name in names)
    return Check(name=f"balance of {slice_}", found=found, good=not counts or most <= UNEVEN * rarest)


def wrong_cases(made: Iterable[GivenCase]) -> list[GivenCase]:
    """The cases that are labelled hallucinated."""
    return [case for case in made if case.label == "hallucinated"]


def _source_text(case: GivenCase) -> str:
    """The source's text, which whoever reads a case puts there."""
    return "\n".join(case.texts)


def data_card(found: Sequence[Check], made: Sequence[GivenCase]) -> str:
    """Checks and statistics as one Markdown page."""
    rows = [[check.name, check.found, "good" if check.good else "LOOK"] for check in found]
    return f"# Checks of a made set\n\n{markdown_table(['check', 'found', ''], rows)}\n\n{set_statistics(made)}\n"


def set_statistics(made: Sequence[GivenCase]) -> str:
    """LongNovel's tables 2 and 3 and figures 2 and 3 of this set, as Markdown. Tokens are estimated."""
    by_scale: dict[str, list[GivenCase]] = {}
    for case in made:
        if "scale" in case.slices:
            by_scale.setdefault(str(case.slices["scale"]), []).append(case)
    by_scale = by_scale or {"all": list(made)}
    sizes, lengths = [], []
    for scale, cases in by_scale.items():
        n_wrong, n_right = len(wrong_cases(cases)), sum(case.label == "faithful" for case in cases)
        sources = list(map(_source_text, cases))
        ratio = sum(map(len, sources)) / max(1, sum(len(case.response) for case in cases))
        sizes.append([scale, str(n_wrong), str(n_right), str(len(cases)), f"{ratio:.1f}"])
        tokens = list(map(estimate_tokens, sources))
        lengths.append([scale, *(f"{value(tokens) / 1000:.2f}" for value in (min, mean, max))])
    return "\n\n".join(
        [
            "Cases, and the source's length over the response's (as table 2)",
            markdown_table(["scale", "hallucinated", "faithful", "total", "ratio"], sizes),
            "Thousands of tokens of source, estimated (as table 3)",
            markdown_table(["scale", "min", "mean", "max"], lengths),
            "Kinds, share of the hallucinated (as figure 2)",
            _shares_table("kind", KINDS, by_scale),
            "Positions, share of the hallucinated (as figure 3)",
            _shares_table("position", POSITIONS, by_scale),
        ]
    )


def _shares_table(slice_: str, names: Sequence[str], by_scale: dict[str, list[GivenCase]]) -> str:
    """The share of each name of a slice among the hallucinated cases of each scale."""
    rows = [[name] for name in names]
    for cases in by_scale.values():
        wrong = wrong_cases(cases)
        counts = Counter(case.slices.get(slice_) for case in wrong)
        for row in rows:
            row.append(f"{counts[row[0]] / max(1, len(wrong)):.2f}")
    return markdown_table([slice_, *by_scale], rows)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def sample_page(made: Sequence[GivenCase]) -> str:
    """A sample as one HTML page to read and mark by hand: what is wrong, what it was, and the source's place to look.

    All text is escaped; the page loads nothing.
    """
    wrong = wrong_cases(made)
    drawn = Random(0).sample(wrong, min(SAMPLED, len(wrong)))
    rows = "".join(map(_row, sorted(drawn, key=lambda case: str(case.id))))
    head = "<th>case</th><th>response, wrong words marked</th><th>should be</th><th>wrong indeed?</th>"
    return (
        '<!doctype html><html><head><meta charset="utf-8"><title>Sample sheet</title>'
        f"<style>{STYLE}</style></head><body><h1>Sample of {len(drawn)}</h1>"
        f"<table><tr>{head}</tr>{rows}</table></body></html>\n"
    )


def _row(case: GivenCase) -> str:
    marked, corrections, last = "", [], 0
    for error in sorted(case.errors or (), key=lambda error: error.start):
        marked += f"{html.escape(case.response[last : error.start])}<mark>{html.escape(error.text)}</mark>"
        last = error.end
        right = f"{error.correction} ({error.reason})" if error.reason else error.correction
        corrections.append(html.escape(right))
    marked += html.escape(case.response[last:])
    about = " · ".join([str(case.id), *(f"{name} {value}" for name, value in sorted(case.slices.items()))])
    cells = [html.escape(about), marked, "<br>".join(corrections), "☐ yes ☐ no"]
    return f"<tr><td>{'</td><td>'.join(cells)}</td></tr>"

"""The data card of a made set: its checks and statistics as Markdown, and a sample to mark by hand as HTML.

Knows: the tables of LongNovel's section 3.5 (seed 004: tables 2 and 3, figures 2 and 3). All text is escaped; the
page loads nothing. Does not know: what makes a set good (checks).
"""

import html
from collections.abc import Sequence
from random import Random
from statistics import mean

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import KINDS
from longproof.construction.case_files import LabelledCase
from longproof.construction.checks import Check
from longproof.construction.units import POSITIONS

SAMPLED = 40


def data_card(found: Sequence[Check], made: Sequence[LabelledCase]) -> str:
    """Checks and statistics as one Markdown page."""
    rows = [[check.name, check.found, "good" if check.good else "LOOK"] for check in found]
    return f"# Checks of a made set\n\n{_table(['check', 'found', ''], rows)}\n\n{statistics(made)}\n"


def statistics(made: Sequence[LabelledCase]) -> str:
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
            _table(["scale", "hallucinated", "faithful", "total", "ratio"], sizes),
            "Thousands of tokens of source, estimated (as table 3)",
            _table(["scale", "min", "mean", "max"], lengths),
            "Kinds, share of the hallucinated (as figure 2)",
            _table(["kind", *scales], kinds),
            "Positions, share of the hallucinated (as figure 3)",
            _table(["position", *scales], thirds),
        ]
    )


def sample_page(made: Sequence[LabelledCase], count: int = SAMPLED, seed: int = 0) -> str:
    """A sample as one HTML page to read and mark by hand: what is wrong, what it was, and the source's place to look.

    All text is escaped; the page loads nothing.
    """
    wrong = [e for e in made if e.label == "hallucinated"]
    drawn = Random(seed).sample(wrong, min(count, len(wrong)))
    rows = "".join(map(_row, sorted(drawn, key=lambda e: e.id)))
    style = "body{font:15px/1.5 sans-serif;margin:2em}td{border:1px solid;padding:.4em;vertical-align:top}"
    style += "mark{background:#fd8}table{border-collapse:collapse}"
    head = "<th>case</th><th>response, wrong words marked</th><th>should be</th><th>wrong indeed?</th>"
    return (
        '<!doctype html><html><head><meta charset="utf-8"><title>Sample sheet</title>'
        f"<style>{style}</style></head><body><h1>Sample of {len(drawn)}</h1>"
        f"<table><tr>{head}</tr>{rows}</table></body></html>\n"
    )


def _row(case: LabelledCase) -> str:
    marked, last = "", 0
    errors = sorted(case.errors, key=lambda error: error.start)
    for error in errors:
        marked += f"{html.escape(case.response[last : error.start])}<mark>{html.escape(error.text)}</mark>"
        last = error.end
    marked += html.escape(case.response[last:])
    about = " · ".join([case.id, *(f"{k} {v}" for k, v in sorted(case.slices.items()))])
    right = "<br>".join(
        html.escape(f"{e.correction} ({e.reason})" if e.reason else e.correction) for e in errors
    )
    return f"<tr><td>{html.escape(about)}</td><td>{marked}</td><td>{right}</td><td>☐ yes ☐ no</td></tr>"


def _count(made: Sequence[LabelledCase], outcome: str) -> str:
    return str(sum(e.label == outcome for e in made))


def _ratio(made: Sequence[LabelledCase]) -> float:
    sources = sum(len(e.source_text) for e in made)
    return sources / max(1, sum(len(e.response) for e in made))


def _tokens(made: Sequence[LabelledCase]) -> tuple[float, float, float]:
    sizes = [estimate_tokens(e.source_text) for e in made]
    return min(sizes), mean(sizes), max(sizes)


def _share(made: Sequence[LabelledCase], slice_: str, name: str) -> str:
    wrong = [e for e in made if e.label == "hallucinated"]
    return f"{sum(e.slices.get(slice_) == name for e in wrong) / max(1, len(wrong)):.2f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)

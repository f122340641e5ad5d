"""Scores of a run: what each example counts, rates with intervals over whole groups, and the tables of them.

Does not know: which scores a set is given.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from longproof.evaluation.metrics import (
    NOTHING,
    Counts,
    Offsets,
    Rate,
    accuracy,
    bootstrap_interval,
    character_counts,
    count,
    coverage,
    f1,
    is_hallucinated,
    mcc,
    mean_accuracy,
    outcome_counts,
    precision,
    recall,
    specificity,
    sum_counts,
)
from longproof.evaluation.results import Result, flagged_places, gold_at, label_at
from longproof.retrieval.types import Frozen

UNDEFINED = "–"


class Score(Frozen):
    """One number: its denominator in words and in size, its coverage, and where it has one its interval."""

    name: str
    value: float | None
    over: str
    n: int
    coverage: float | None = None
    low: float | None = None
    high: float | None = None


class Section(Frozen):
    """Scores that belong together."""

    title: str
    scores: tuple[Score, ...]


class CountedRate(NamedTuple):
    """A rate of counts, its denominator in words, and how large that is."""

    rate: Callable[[Counts], float | None]
    over: str
    n: Callable[[Counts], int]

    def score(self, name: str, counts: Counts) -> Score:
        """The rate of these counts."""
        return rate_score(name, self.over, Rate(self.rate(counts), self.n(counts), coverage(counts)))


CLASS_RATES = {
    "mean accuracy": CountedRate(mean_accuracy, "two classes", lambda counts: counts.all),
    "recall": CountedRate(recall, "hallucinated", lambda counts: counts.positives),
    "accuracy of faithful": CountedRate(specificity, "faithful", lambda counts: counts.negatives),
    "precision": CountedRate(precision, "called hallucinated", lambda counts: counts.flags),
    "F1": CountedRate(f1, "hallucinated", lambda counts: counts.positives),
    "accuracy": CountedRate(accuracy, "responses", lambda counts: counts.all),
    "MCC": CountedRate(mcc, "responses", lambda counts: counts.all),
}


def rate_score(name: str, over: str, rate: Rate) -> Score:
    """A rate with its name and its denominator in words."""
    return Score(name=name, value=rate.value, over=over, n=rate.n, coverage=rate.coverage)


def class_scores(counts: Counts, names: Iterable[str], before: str = "", after: str = "") -> Iterator[Score]:
    """Some of CLASS_RATES; `before` and `after` are put around their names."""
    for name in names:
        yield CLASS_RATES[name].score(f"{before}{name}{after}", counts)


def headline(results: Sequence[Result], name: str) -> Score:
    """One of HEADLINES with its 95 % interval."""
    count_example, counted = HEADLINES[name]
    groups = list(filter(any, sum_by_group(results, count_example)))
    low, high = bootstrap_interval(lambda drawn: counted.rate(sum_counts(drawn)), groups)
    return counted.score(name, sum_counts(groups)).model_copy(update={"low": low, "high": high})


def sum_by_group(results: Sequence[Result], count_example: Callable[[Result], Counts]) -> list[Counts]:
    """The sum of the results' counts in each group."""
    groups: dict[str, list[Counts]] = defaultdict(list)
    for result in results:
        groups[result.group].append(count_example(result))
    return list(map(sum_counts, groups.values()))


def response_counts(result: Result) -> Counts:
    """The two-by-two counts of one response; nothing where its gold is gray."""
    if result.gold.outcome is None:
        return NOTHING
    return outcome_counts([result.gold.outcome], [result.prediction.outcome])


def part_counts(result: Result) -> Counts:
    """The same over the response's gold parts that are not gray."""
    sides = list[tuple[bool, bool | None]]()
    for part in result.gold.parts or ():
        if part.outcome is not None:
            predicted = is_hallucinated(label_at(result.prediction, part.place))
            sides.append((part.outcome == "hallucinated", predicted))
    return count(sides)


def flagged_counts(result: Result) -> Counts:
    """Common, wrongly flagged and missed characters of one response; nothing where none are annotated."""
    if result.gold.errors is None:
        return NOTHING
    return character_counts(gold_places(result), flagged_places(result.prediction))


def hint_counts(result: Result) -> Counts:
    """Of the hints of the check without a model: those about words that gold calls wrong, and about right ones. Gray
    gold counts nothing."""
    sides = [gold_at(result.gold, claim.hint) for claim in result.prediction.claims if claim.hint]
    return Counts(sides.count("hallucinated"), sides.count("faithful"), 0, 0)


def stands_there_counts(result: Result) -> Counts:
    """Of the claims that the offline check calls explicitly_supported: those that gold calls right, and those
    wrong.

    Only gold that says which part of a wrong response is wrong tells that.
    """
    gold, sides = result.gold, list[str | None]()
    if gold.outcome == "hallucinated" and not gold.errors and gold.parts is None:
        return NOTHING
    for claim in result.prediction.claims if result.prediction.triage else ():
        if claim.label == "explicitly_supported":
            sides.append(gold_at(gold, claim.origin))
    return Counts(sides.count("faithful"), sides.count("hallucinated"), 0, 0)


def gold_places(result: Result, name: str | None = None) -> list[Offsets]:
    """The gold errors' places, all or those of one name."""
    errors = result.gold.errors or ()
    return [(e.place.start, e.place.end) for e in errors if name is None or e.name == name]


CALLED = CLASS_RATES["precision"]
HEADLINES: dict[str, tuple[Callable[[Result], Counts], CountedRate]] = {
    "precision of hints": (hint_counts, CALLED._replace(over="hints")),
    "precision of what stands there": (stands_there_counts, CALLED._replace(over="claims that stand there")),
    "mean accuracy": (response_counts, CLASS_RATES["mean accuracy"]),
    "accuracy of hallucinated": (response_counts, CLASS_RATES["recall"]),
    "accuracy of faithful": (response_counts, CLASS_RATES["accuracy of faithful"]),
    "MCC": (response_counts, CLASS_RATES["MCC"]),
    "parts: mean accuracy": (part_counts, CLASS_RATES["mean accuracy"]),
    "characters: F1": (flagged_counts, CLASS_RATES["F1"]._replace(over="gold characters")),
}
"""Scores with an interval: what an example counts, and the rate of the counts' sum."""


def score_tables(title: str, sections: Sequence[Section], footer: str) -> str:
    """One Markdown table a section."""
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        lines.append(table_row(("score", "value", "95 % interval", "over", "n", "coverage")))
        lines.append(table_row(("---",) * 6))
        for score in section.scores:
            interval = f"{number(score.low)} to {number(score.high)}" if score.low is not None else ""
            decided = "" if score.coverage is None else number(score.coverage)
            cells = (score.name, number(score.value), interval, score.over, f"{score.n:,}", decided)
            lines.append(table_row(cells))
        lines.append("")
    return "\n".join([*lines, footer, ""])


def number(value: float | None) -> str:
    """Three decimals below ten, one above; an undefined score is a dash."""
    if value is None:
        return UNDEFINED
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def table_row(cells: Iterable[str]) -> str:
    """A line of a Markdown table; what the cells hold stays text."""
    row = "|"
    for cell in cells:
        text = cell.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
        row += f" {text} |"
    return row

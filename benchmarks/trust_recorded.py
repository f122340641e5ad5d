"""How far recorded panels can be trusted: estimated against gold, what --max-risk does, and when to trust a label.

    LONGPROOF_DATA=data PYTHONPATH=tests python benchmarks/trust_recorded.py [FOLDER] [--write]

Replays every recording of a run of ours in `evaluation/recorded/` (or FOLDER), asking nobody, and prints tables; some
minutes. `--write` puts them between their marks in benchmarks/README.md and docs/trust.md; it refuses where data are
missing. What confirming costs is measured beside, with a scripted panel (`benchmarks/trust.py --cost`).
`--max-risk` is shown as far as it asks nobody: what it would ask about counts as held back. What comes of asking
about every conviction (`--confirm`) is told of recordings made with it, beside the same panel without. Exit code 1: a
recording can't be replayed.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import NamedTuple

from accuracy import PLAIN, RECORDED, ROOT, Recorded, absent, recordings, refuse_absent
from trust import COST, cost

from longproof.agent.trust.reliability import (
    SMOOTHING,
    JudgeRates,
    Reliability,
    reliability_of,
    unidentifiable,
)
from longproof.agent.trust.risk import Stage, Thresholds, any_of, convictions, strength, thresholds
from longproof.cli import main as longproof
from longproof.evaluation.headlines import with_gold_outcome
from longproof.evaluation.metrics.classes import HALLUCINATED_LABELS
from longproof.evaluation.metrics.reliability import Estimate, trust
from longproof.evaluation.metrics.selective import risk_curve
from longproof.evaluation.metrics.statistics import recall, share, specificity
from longproof.evaluation.replay import replay_dataset
from longproof.evaluation.results import PredictedClaim, Result
from longproof.evaluation.tables import UNDEFINED, number, table_row
from longproof.evaluation.trust import (
    Deciding,
    checked_threshold,
    confidences,
    in_first_half,
    labels_right,
    run_deciding,
    voted_claims,
)
from longproof.retrieval.types import BadInput

MAX_RISK = 0.05
COVERAGES = (0.25, 0.5, 0.75)
FILES = (ROOT / "benchmarks" / "README.md", ROOT / "docs" / "trust.md")
EXAMPLE = "stories-panel"
RATES = (
    "recording",
    "claims",
    "judge",
    "finds wrong claims: votes alone",
    "by gold",
    "clears right ones: votes alone",
    "by gold",
    "all agree on",
)
RISK = (
    "recording",
    "rates",
    "claims of a text",
    "convictions right by gold: stand, asked, held",
    "wrong by gold: stand, asked, held",
    "faithful text convicted, estimated",
    "`--max-risk`",
    "faithful responses convicted",
    "`--max-risk`",
    "hallucinated ones convicted",
    "`--max-risk`",
)
CONFIRMED = (
    "recording",
    "convictions right by gold: before",
    "after",
    "wrong by gold: before",
    "after",
    "faithful responses convicted: before",
    "after",
    "hallucinated ones: before",
    "after",
)
SELECTIVE = (
    "recording",
    "sure by",
    "responses",
    *(f"risk at {one:.0%}" for one in COVERAGES),
    "of all decided",
    "area",
    "above the best",
    "trusted from",
    "risk, half chosen on",
    "risk, other half",
)
Sure = Mapping[tuple[str, int], float | None]


class Run(NamedTuple):
    """A recorded run: its recording's name, how it decides, and its results."""

    name: str
    deciding: Deciding
    results: list[Result]


def replayed(recorded: Recorded, out: Path) -> Run:
    """The run that a recording holds, made again in a folder. Raises BadInput where it can't be replayed."""
    done = replay_dataset(recorded.run.dataset, recorded.path, out=out)
    return Run(recorded.path.stem, run_deciding(recorded.run), done.results)


def is_panel(run: Run) -> bool:
    """Whether the votes of a run tell its judges' rates."""
    return unidentifiable(voted_claims(run.results).votes) is None


def rates(panels: Sequence[Run]) -> Iterator[tuple[str, ...]]:
    """A row a judge: its rates by votes alone, with intervals, and by gold."""
    for run in panels:
        voted = voted_claims(run.results)
        found = trust(voted.votes, voted.responses, voted.gold)
        agree = "" if found.flips.value is None else f"{1 - found.flips.value:.1%}"
        for at, one in enumerate(found.judges, 1):
            wrong, right = recall(one.gold), specificity(one.gold)
            told = (_estimate(one.sensitivity), number(wrong), _estimate(one.specificity), number(right))
            yield (run.name, f"{found.claims:,}", f"{at}", *told, agree)


def _estimate(found: Estimate) -> str:
    return f"{number(found.value)} ({number(found.interval.low)} to {number(found.interval.high)})"


def risk(panels: Sequence[Run]) -> Iterator[tuple[str, ...]]:
    """For each panel, rates by votes and by gold, responses as long as they are and as if all were one text. Where
    gold says nothing of one half, there are no rates by it for the other."""
    for run in panels:
        whole = sum(len(result.prediction.claims) for result in run.results)
        for name, of in (("votes alone", _by_votes(run)), ("gold, other half", _by_gold(run))):
            for claims in (None, whole) if of else ():
                yield (run.name, name, f"{claims:,}" if claims else "its own", *_guarded(run, of, claims))


def _by_votes(run: Run) -> Callable[[Result], Reliability]:
    found = reliability_of(voted_claims(run.results).votes)
    return lambda result: found


def _by_gold(run: Run) -> Callable[[Result], Reliability] | None:
    """The judges' rates by the gold of that half of the groups which a response isn't in."""
    first, other = (
        _gold_rates([one for one in run.results if in_first_half(one) is half]) for half in (True, False)
    )
    if first is None or other is None:
        return None
    return lambda result: other if in_first_half(result) else first


def _gold_rates(results: Sequence[Result]) -> Reliability | None:
    voted = voted_claims(results)
    known = [
        (votes, wrong) for votes, wrong in zip(voted.votes, voted.gold, strict=True) if wrong is not None
    ]
    said = Counter((judge, wrong, vote) for votes, wrong in known for judge, vote in votes.items())

    def rate(judge: str, wrong: bool) -> float:
        hits, misses = said[judge, wrong, wrong], said[judge, wrong, not wrong]
        return (hits + SMOOTHING) / (hits + misses + 2 * SMOOTHING)

    if not said:
        return None
    judges = [
        JudgeRates(judge=judge, sensitivity=rate(judge, True), specificity=rate(judge, False))
        for judge in sorted({judge for judge, _, _ in said})
    ]
    wrong = sum(wrong for _, wrong in known)
    prevalence = (wrong + SMOOTHING) / (len(known) + 2 * SMOOTHING)
    return Reliability(judges=tuple(judges), prevalence=prevalence, claims=len(known))


def _guarded(run: Run, of: Callable[[Result], Reliability], claims: int | None) -> tuple[str, ...]:
    stages: Counter[tuple[bool | None, Stage]] = Counter()
    before, after = list[tuple[bool, bool]](), list[tuple[bool, bool]]()
    chances = list[tuple[float, float]]()
    for result in run.results:
        known, size = of(result), claims or max(1, len(result.prediction.claims))
        made = _thresholds(run, known, size)
        staged = [(wrong, _stage(made, known, claim)) for claim, wrong in _convicted(result)]
        stages.update(staged)
        if result.gold.outcome is not None:
            wrong = result.gold.outcome == "hallucinated"
            before.append((wrong, bool(staged)))
            after.append((wrong, any(stage == "stands" for _, stage in staged)))
        chances.append((made.chance_before, _standing(run, known, made)))
    told = [
        ", ".join(f"{stages[wrong, stage]}" for stage in ("stands", "ask", "held")) for wrong in (True, False)
    ]
    chance = [f"{fmean(column):.1%}" for column in zip(*chances, strict=True)]
    shown = [_convicted_of(column, wrong) for wrong in (False, True) for column in (before, after)]
    return (*told, *chance, *shown)


def _thresholds(run: Run, known: Reliability, claims: int) -> Thresholds:
    consensus, arbiter = run.deciding.consensus, run.deciding.arbiter
    return thresholds(known, claims, consensus=consensus, arbiter=arbiter, max_risk=MAX_RISK)


def _stage(made: Thresholds, known: Reliability, claim: PredictedClaim) -> Stage:
    return made.stage(strength(known, claim.convicts, arbitrated=claim.decided_by == "arbiter"))


def _standing(run: Run, known: Reliability, made: Thresholds) -> float:
    """The chance that a faithful text is convicted where nothing but what stands unasked convicts."""
    ways = convictions(known.judges, run.deciding.consensus, arbiter=run.deciding.arbiter)
    return any_of(made.claims, sum(way.if_right for way in ways if made.stage(way.strength) == "stands"))


def _convicted(result: Result) -> list[tuple[PredictedClaim, bool | None]]:
    """The claims called wrong, and whether gold says so too."""
    gold = voted_claims([result]).gold
    pairs = zip(result.prediction.claims, gold, strict=True)
    return [(claim, wrong) for claim, wrong in pairs if claim.label in HALLUCINATED_LABELS]


def _convicted_of(column: Sequence[tuple[bool, bool]], wrong: bool) -> str:
    said = [convicted for is_wrong, convicted in column if is_wrong is wrong]
    return f"{sum(said)} of {len(said)}"


def confirmed(runs: Sequence[Run], before: Mapping[str, Run]) -> Iterator[tuple[str, ...]]:
    """For each run with confirming questions, its convictions and the same panel's without, by `Run.name`'s set."""
    for run in runs:
        panel = before.get(f"{run.name.removesuffix('-confirm')}-panel")
        if panel is None:
            raise BadInput(
                f"{run.name}: there is no recording of the same panel without confirming questions"
            )
        cells = [_convictions(one) for one in (panel, run)]
        yield (run.name, *(cell for pair in zip(*cells, strict=True) for cell in pair))


def _convictions(run: Run) -> tuple[str, ...]:
    """Convictions that gold bears out and that it doesn't, and the responses of either side that are convicted."""
    said = Counter(wrong for result in run.results for _, wrong in _convicted(result))
    known = [one for one in run.results if one.gold.outcome is not None]
    column = [(one.gold.outcome == "hallucinated", bool(_convicted(one))) for one in known]
    return (f"{said[True]}", f"{said[False]}", _convicted_of(column, False), _convicted_of(column, True))


def selective(runs: Sequence[Run]) -> Iterator[tuple[str, ...]]:
    """Risk over coverage of each run's verdicts: the surest by votes first, and those that are said most plainly."""
    for run in runs:
        by_votes = confidences(run.results)
        if by_votes is not None:
            yield (run.name, "votes", *_curve(run, by_votes))
        yield (run.name, "plainness", *_curve(run, {(r.id, r.repeat): plainness(r) for r in run.results}))


def plainness(result: Result) -> float | None:
    """How plainly a verdict is said, which is all that a single judge's labels tell of how sure it is.

    Whether lines speak against a claim that is called wrong; of a response called faithful, the share of its claims
    that lines say outright.
    """
    labels = [claim.label for claim in result.prediction.claims]
    if result.prediction.outcome == "undecided":
        return None
    if result.prediction.outcome == "hallucinated":
        return float("contradicting" in labels)
    return share(labels.count("explicitly_supported"), len(labels))


def _curve(run: Run, sure: Sure) -> tuple[str, ...]:
    taken = with_gold_outcome(run.results)
    column = [sure[result.id, result.repeat] for result in taken]
    curve = risk_curve(column, labels_right(taken))
    if curve.area is None or curve.best is None or len(curve.points) < 2:
        return (f"{len(taken)}", "all are equally sure", *[""] * (len(SELECTIVE) - 4))
    risks = [next((risk for _, kept, risk in curve.points if kept >= least), None) for least in COVERAGES]
    shown = [*risks, curve.points[-1][2], curve.area, curve.area - curve.best]
    return (f"{len(taken)}", *map(number, shown), *_checked(taken, column))


def _checked(taken: Sequence[Result], column: Sequence[float | None]) -> tuple[str, ...]:
    found = checked_threshold(taken, column)
    if found is None or found.least is None:
        return ("nothing keeps 5 %", UNDEFINED, UNDEFINED)
    return (number(found.least), *(f"{number(risk.value)} of {risk.n}" for risk in found.risks))


def example(folder: Path) -> str:
    """What `longproof trust` says of the bundled stories' panel."""
    said = StringIO()
    with redirect_stdout(said):
        try:
            longproof(["trust", str(folder)])
        except SystemExit as ended:
            if ended.code:
                raise
    return f"```\n{said.getvalue().strip()}\n```\n"


def table(names: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    return "\n".join([table_row(names), table_row(("---",) * len(names)), *map(table_row, rows), ""])


def made(found: Sequence[Recorded]) -> dict[str, str]:
    """Every text that is written, by the name of its marks."""
    with TemporaryDirectory() as folder:
        every = {one.path.stem: replayed(one, Path(folder, one.path.stem)) for one in found}
        asked = [every[one.path.stem] for one in found if one.run.settings.get("confirm")]
        runs = [run for run in every.values() if run not in asked]
        panels = [run for run in runs if is_panel(run)]
        shown = example(Path(folder, EXAMPLE)) if EXAMPLE in [run.name for run in runs] else ""
    return {
        "trust rates": table(RATES, rates(panels)),
        "trust risk": table(RISK, risk(panels)),
        "trust confirmed": table(CONFIRMED, confirmed(asked, every)),
        "trust selective": table(SELECTIVE, selective(runs)),
        "trust example": shown,
        "confirm cost": "\n".join(["| " + " | ".join(COST) + " |", "|" + " --- |" * len(COST), *cost(), ""]),
    }


def write(path: Path, texts: Mapping[str, str]) -> None:
    """Put the texts between those of their marks that a file has. Raises BadInput where it has none."""
    said = path.read_text("utf-8")
    found = {name for name in texts if f"<!-- {name} -->" in said}
    if not found:
        raise BadInput(f"{path} has no marks such as <!-- {min(texts)} --> and <!-- /{min(texts)} -->")
    for name in found:
        before, begin, rest = said.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        said = "".join([before, begin, texts[name], end, after])
    path.write_text(said, "utf-8")


def main() -> int:
    """Print the tables, and write them where that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=RECORDED)
    parser.add_argument("--write", action="store_true", help="Put the tables into their files.")
    given = parser.parse_args()
    try:
        found = [one for one in recordings(given.folder) if one.run.protocol != PLAIN]
        if given.write:
            refuse_absent(found)
        texts = made([one for one in found if not absent(one)])
        print("\n".join(texts.values()))
        for path in FILES if given.write else ():
            write(path, texts)
    except BadInput as error:
        sys.stderr.write(f"trust_recorded: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

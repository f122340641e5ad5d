"""How far a panel can be trusted without labels: estimated against true rates, and what --max-risk does, simulated.

    PYTHONPATH=tests python benchmarks/trust.py [--shared 0.3]
    LONGPROOF_DATA=... PYTHONPATH=tests python benchmarks/trust.py --cost
    LONGPROOF_DATA=... PYTHONPATH=tests python benchmarks/trust.py --gold ragtruth

A panel of three with known rates votes on simulated responses, every second of them faithful. The others have one
wrong claim; where rates are estimated from votes alone, one in fifty, at least one. With `--shared`, the judges err
together on so large a part of the claims, as far as they can: no estimate without labels can see that.
`--cost`: what confirming every conviction costs, with a scripted panel that reads correctly (`benchmarks/cost.py`).
`--gold`: 150 examples of a data set by three judges who are one rule of different strictness (`tests/reader.py`), the
worst case, against its gold.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from cost import DATA, lines, nearest, reader, summary_and_truth
from fakes import Asked, ChatServer, Reply
from reader import reader as read_by_rule

from longproof import Verifier
from longproof.agent.report import price
from longproof.agent.trust.reliability import JudgeRates, Reliability, Votes, reliability_of, unidentifiable
from longproof.agent.trust.risk import Stage, strength, thresholds, weakest
from longproof.agent.types import Report
from longproof.agent.vote import CONSENSUS
from longproof.evaluation.metrics.reliability import trust
from longproof.evaluation.metrics.statistics import count, recall, specificity
from longproof.evaluation.run import evaluate_dataset
from longproof.evaluation.trust import voted_claims

TRUE = tuple(
    JudgeRates(judge=name, sensitivity=sensitivity, specificity=specificity)
    for name, sensitivity, specificity in (("a", 0.9, 0.999), ("b", 0.8, 0.99), ("c", 0.7, 0.97))
)
LENGTHS = (20, 100, 300, 1000)
MAX_RISK = 0.05


RATES = ("responses × claims", *(f"{one} {does}" for does in ("finds", "clears") for one in "abc"))
RATES = (*RATES, "intervals that hold", "told")
RISK = ("claims", "rates", "faithful convicted", "--max-risk", "wrong convicted", "--max-risk")
RISK = (*RISK, "asked", "held back", "wrong ones held back", "rates untold")
GOLD = ("judge", "finds, by votes", "by gold", "clears, by votes", "by gold")
COST = ("run", "claims", "wrong", "calls", "of them confirming", "their characters", "price")


class Simulated:
    """Responses of so many claims each, and the panel's votes on them: `votes[claim][judge]`, `wrong[claim]`."""

    def __init__(self, responses: int, claims: int, shared: float, seed: int, errors: int = 1) -> None:
        draw = np.random.default_rng([seed, responses, claims])
        self.wrong = np.zeros((responses, claims), bool)
        for response in range(1, responses, 2):
            self.wrong[response, draw.choice(claims, errors, replace=False)] = True
        self.votes = _voted(self.wrong, shared, draw)
        self.draw = draw

    def claims(self) -> list[Votes]:
        flat = self.votes.reshape(-1, len(TRUE)).tolist()
        return [dict(zip("abc", row, strict=True)) for row in flat]


def _voted(wrong: np.ndarray, shared: float, draw: np.random.Generator) -> np.ndarray:
    """Votes with the true rates; a part of each judge's mistakes is drawn once for all of them."""
    together = draw.random(wrong.shape)
    alone = draw.random((*wrong.shape, len(TRUE)))
    common = draw.random(wrong.shape) < shared
    drawn = np.where(common[..., None], together[..., None], alone)
    hit = drawn < np.array([one.sensitivity for one in TRUE])
    alarm = drawn < np.array([1 - one.specificity for one in TRUE])
    return np.where(wrong[..., None], hit, alarm)


def rates(responses: int, shared: float, times: int) -> Iterator[str]:
    """A row a length: the mean estimate of each rate, its usual error, and how many intervals hold the truth."""
    for claims in LENGTHS:
        made, held, told = [], [], 0
        for seed in range(times):
            run = Simulated(responses, claims, shared, seed, max(1, claims // 50))
            found = trust(run.claims(), np.repeat(np.arange(responses), claims).tolist(), draws=200)
            told += found.why_not is None
            for one, true in zip(found.judges, TRUE, strict=bool(found.judges)):
                pairs = ((one.sensitivity, true.sensitivity), (one.specificity, true.specificity))
                made.append([estimate.value for estimate, _ in pairs])
                held += [estimate.interval.low <= rate <= estimate.interval.high for estimate, rate in pairs]
        means = np.array(made).reshape(-1, len(TRUE), 2)
        errors = np.sqrt(np.mean((means - [[one.sensitivity, one.specificity] for one in TRUE]) ** 2, axis=0))
        mean = means.mean(axis=0)
        cells = [f"{mean[j, 0]:.2f} ± {errors[j, 0]:.2f}" for j in range(3)]
        cells += [f"{mean[j, 1]:.4f} ± {errors[j, 1]:.4f}" for j in range(3)]
        yield row(f"{responses} × {claims}", *cells, f"{np.mean(held):.0%}", f"{told / times:.0%}")


def risk(known: int, shared: float, times: int) -> Iterator[str]:
    """A row a length and origin of the rates: how often faithful and wrong responses are convicted, without
    --max-risk and with it, and what is asked and held back."""
    for claims in LENGTHS:
        for name in ("true", f"estimated, {known} other responses", "its own votes"):
            yield row(f"{claims}", name, *_guarded(claims, name, known, shared, times))


def _guarded(claims: int, name: str, known: int, shared: float, times: int) -> list[str]:
    outcomes, untold = [], 0
    for seed in range(times):
        given = None if name == "its own votes" else TRUE_RATES
        if name.startswith("estimated"):
            others = Simulated(known, claims, shared, seed + 10**6, max(1, claims // 50))
            given = reliability_of(others.claims())
        run = Simulated(20 if given is None else 100, claims, shared, seed)
        for response in range(len(run.wrong)):
            votes = [dict(zip("abc", one, strict=True)) for one in run.votes[response].tolist()]
            convicted = [n for n, said in enumerate(votes) if sum(said.values()) * 3 >= 2 * len(said)]
            own = given
            if own is None and convicted:
                own = None if unidentifiable(votes) else reliability_of(votes)
                untold += own is None
            outcomes.append(_outcome(run, response, votes, convicted, own))
    wrong, before, after, asked, held, lost = np.array(outcomes, float).T
    right = wrong == 0
    return [
        f"{before[right].mean():.1%}",
        f"{after[right].mean():.1%}",
        f"{before[~right].mean():.1%}",
        f"{after[~right].mean():.1%}",
        f"{asked.mean():.2f}",
        f"{held.mean():.2f}",
        f"{lost[~right].sum() / max(1, wrong.sum()):.1%}",
        f"{untold / len(outcomes):.0%}",
    ]


def _outcome(
    run: Simulated, response: int, votes: Sequence[Votes], convicted: Sequence[int], rates: Reliability | None
) -> tuple[float, ...]:
    """Wrong claims; convicted without and with --max-risk; questions; claims held back, and wrong ones of them.

    Without rates every conviction is asked about."""
    stands, asked, held, lost = False, 0, 0, 0
    for claim in convicted:
        stage, wrong = _stage(rates, votes, claim), bool(run.wrong[response, claim])
        asked += stage == "ask"
        borne_out = stage == "stands" or (stage == "ask" and _confirms(run, wrong))
        stands, held, lost = stands or borne_out, held + (not borne_out), lost + (wrong and not borne_out)
    return float(run.wrong[response].sum()), float(bool(convicted)), float(stands), asked, held, lost


def _stage(rates: Reliability | None, votes: Sequence[Votes], claim: int) -> Stage:
    if rates is None:
        return "ask"
    made = thresholds(rates, len(votes), consensus=CONSENSUS, arbiter=True, max_risk=MAX_RISK)
    return made.stage(strength(rates, votes[claim]))


def _confirms(run: Simulated, wrong: bool) -> bool:
    """A voice with the rates of the weakest judge, who errs on its own."""
    unknown = weakest(TRUE)
    return bool(run.draw.random() < (unknown.sensitivity if wrong else 1 - unknown.specificity))


TRUE_RATES = Reliability(judges=TRUE, prevalence=0.02, claims=1)


def cost() -> Iterator[str]:
    """What confirming every conviction adds, over a novel of 148,704 characters with three planted errors."""
    if not DATA.is_dir():
        sys.exit("LONGPROOF_DATA is not set: the development data are not here")
    novel = (DATA / "novel.txt").read_text("utf-8")
    found, truth, errors = summary_and_truth(lines(DATA / "annotations.jsonl"), novel)
    script = partial(_answer, reader(truth, errors, any), errors)
    response = "\n".join("".join(unit) for unit in found)
    for confirm in (False, True):
        with ChatServer(script) as server, tempfile.TemporaryDirectory() as home:
            panel = [f"openai:reader@{server.address}"] * 3
            report = Verifier(judges=panel, home=home, confirm=confirm).verify(novel, response)
        yield row("--confirm" if confirm else "without", *_spent(report, novel))


def _answer(script: "partial[Reply]", errors: set[str], asked: Asked) -> Reply:
    """A confirming judge that knows the errors; all else as the script has it."""
    if asked.form != "StatementChoice":
        return script(asked)
    claim = min(asked.parts("statements"), key=len)
    first = (asked.parts("statements")[0] == claim) != (claim in errors)
    cited = [f"{n} {asked.lines()[n][:12]}" for n in nearest(claim, asked.lines())]
    said = {"lines": cited, "reason": "It says so.", "answer": "first" if first else "second"}
    return Reply(json.dumps(said, ensure_ascii=False))


def _spent(report: Report, source: str) -> list[str]:
    confirming = [call for call in report.calls if call.purpose == "confirm"]
    return [
        f"{len(report.claims)}",
        f"{sum(claim.label == 'contradicting' for claim in report.claims)}",
        f"{report.usage.calls}",
        f"{len(confirming)}",
        f"{sum(call.prompt_characters for call in confirming):,}",
        f"{price(report.usage, len(source)) or 0:.2f}",
    ]


def against_gold(name: str) -> Iterator[str]:
    """A row a judge: its rates by votes alone, asked of them or not, and by gold; then why not to ask."""
    with ChatServer(read_by_rule) as server, tempfile.TemporaryDirectory() as home:
        panel = [f"openai:reader-{share}@{server.address}" for share in (50, 65, 80)]
        out = Path(home) / "run"
        done = evaluate_dataset(name, judges=panel, out=out, sample=150, home=home)
    voted = voted_claims(done.results)
    for judge, rates in reliability_of(voted.votes).of.items():
        known = [
            (wrong, votes[judge])
            for votes, wrong in zip(voted.votes, voted.gold, strict=True)
            if wrong is not None and judge in votes
        ]
        by_gold = count([wrong for wrong, _ in known], [said for _, said in known])
        cells = [rates.sensitivity, recall(by_gold), rates.specificity, specificity(by_gold)]
        yield row(judge.split("@")[0], *("–" if cell is None else f"{cell:.3f}" for cell in cells))
    yield f"\n{unidentifiable(voted.votes)}"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--gold", metavar="DATASET")
    parser.add_argument("--shared", type=float, default=0.0)
    parser.add_argument("--responses", type=int, default=40)
    parser.add_argument("--times", type=int, default=50)
    told = parser.parse_args()
    if told.cost:
        tables = {COST: cost()}
    elif told.gold:
        tables = {GOLD: against_gold(told.gold)}
    else:
        given = (told.responses, told.shared, told.times)
        tables = {RATES: rates(*given), RISK: risk(*given)}
    for names, rows in tables.items():
        print("", row(*names), row(*["---"] * len(names)), sep="\n")
        for line in rows:
            print(line, flush=True)


if __name__ == "__main__":
    main()

"""HaluEval's scores (seed 003, tables 6 and 7): accuracy of yes/no recognition, failures by pattern.

Does not know: the tasks' prompts, or how a yes or no was read.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from longproof.evaluation.metrics.counts import share
from longproof.evaluation.metrics.sides import against, gold_sides, is_hallucinated, same_length


class Accuracy(TypedDict):
    """`accuracy` is right over all, undecided counted as wrong; `coverage` is decided over all."""

    accuracy: float | None
    n: int
    n_right: int
    n_undecided: int
    coverage: float | None


class Failures(TypedDict):
    """Hallucinated samples of one pattern that were not recognised (undecided ones among them)."""

    n_failed: int
    n_undecided: int
    n_hallucinated: int
    failure_rate: float | None


def halueval_scores(gold: Sequence[str], predicted: Sequence[str | None]) -> Accuracy:
    """Accuracy over all samples, both sides together, as in table 6.

    gold and predicted: outcomes or labels as for `longnovel_scores`. An undecided one is wrong.
    """
    same_length(gold, predicted)
    sides, said = gold_sides(gold), [is_hallucinated(name) for name in predicted]
    n_right = sum(g == p for g, p in zip(sides, against(sides, said), strict=True))
    return Accuracy(
        accuracy=share(n_right, len(sides)),
        n=len(sides),
        n_right=n_right,
        n_undecided=said.count(None),
        coverage=share(len(said) - said.count(None), len(said)),
    )


def halueval_scores_by_task(
    tasks: Sequence[str], gold: Sequence[str], predicted: Sequence[str | None]
) -> dict[str, Accuracy]:
    """`halueval_scores` of each task (qa, dialogue, summary, general), in alphabetical order."""
    same_length(tasks, gold, predicted)
    rows = list(zip(tasks, gold, predicted, strict=True))
    return {
        task: halueval_scores([g for t, g, _ in rows if t == task], [p for t, _, p in rows if t == task])
        for task in sorted(set(tasks))
    }


def failures_by_pattern(
    patterns: Sequence[str | None], gold: Sequence[str], predicted: Sequence[str | None]
) -> dict[str, Failures]:
    """Unrecognised hallucinated samples by pattern, as in table 7. A missing pattern is `unnamed`.

    The patterns' `n_failed` add up to all unrecognised hallucinated samples.
    """
    same_length(patterns, gold, predicted)
    rows = zip(patterns, gold_sides(gold), map(is_hallucinated, predicted), strict=True)
    seen = [(pattern or "unnamed", said) for pattern, hallucinated, said in rows if hallucinated]
    n, failed = Counter(name for name, _ in seen), Counter(name for name, said in seen if not said)
    undecided = Counter(name for name, said in seen if said is None)
    return {
        name: Failures(
            n_failed=failed[name],
            n_undecided=undecided[name],
            n_hallucinated=n[name],
            failure_rate=share(failed[name], n[name]),
        )
        for name in sorted(n)
    }

"""What votes say of the judges of several reports, in words.

Does not know: how rates are estimated, or where the words are shown.
"""

from collections.abc import Mapping, Sequence

from longproof.agent.trust.reliability import Votes
from longproof.evaluation.metrics.reliability import Estimate, trust
from longproof.report.judges import judge_names


def trust_lines(reports: Sequence[Sequence[Votes]], say: Mapping[str, str]) -> list[str]:
    """For the claims' votes of each report: how reliable each judge is; nothing where one judge alone voted."""
    votes = [claim for report in reports for claim in report]
    if len({judge for claim in votes for judge in claim}) < 2:
        return []
    found = trust(votes, [number for number, report in enumerate(reports) for _ in report])
    if found.why_not is not None:
        return [say["trust_unknown"]]
    told = say["trust"].format(claims=f"{found.claims:,}", reports=f"{len(reports):,}")
    names = judge_names(one.judge for one in found.judges)
    lines = [
        say["trust_judge"].format(
            judge=names[one.judge],
            sensitivity=_shown(one.sensitivity, say),
            specificity=_shown(one.specificity, say),
        )
        for one in found.judges
    ]
    return [told, *lines]


def _shown(estimate: Estimate, say: Mapping[str, str]) -> str:
    low, high, _ = estimate.interval
    return say["from_to"].format(value=f"{estimate.value:.1%}", low=f"{low:.1%}", high=f"{high:.1%}")

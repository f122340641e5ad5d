"""What a report comes to, in one line or one number.

Knows: exit codes under `--check`, what a dry run counted, what can be trusted. Does not know: how a report is shown.
"""

from longproof.agent.report import trusted
from longproof.agent.types import LABELS, Report
from longproof.retrieval.types import BadInput

HALLUCINATED, UNDECIDED = 1, 3


def estimate(report: Report) -> str:
    """What the first round would cost beyond what the ledger has; wider rounds and disputes come on top."""
    refused = report.stamp["refused"]
    return (
        f"about {refused['calls']} calls and {refused['tokens']} prompt tokens would be paid for the first round, "
        f"{report.usage.calls} answers are there already; claims that have to be looked at more widely cost more"
    )


def trust(report: Report, at_least: str) -> str:
    """How much can be trusted from this label on. Raises BadInput for another label."""
    label = next((label for label in LABELS if label == at_least), None)
    if label is None:
        raise BadInput(f"there is no label {at_least!r}: choose one of {', '.join(LABELS)}")
    kept = trusted(report, label)
    return f"{len(kept)} of {len(report.sentences)} sentences are at least {at_least}"


def status(report: Report) -> int:
    return {"hallucinated": HALLUCINATED, "undecided": UNDECIDED, "faithful": 0}[report.verdict]

"""What a report comes to, in one line or one number.

Knows: exit codes under `--check`, what a dry run counted, what can be trusted. Does not know: how a report is shown.
"""

from collections.abc import Iterator, Sequence

from longproof.agent.report import trusted
from longproof.agent.types import LABELS, Label, Report
from longproof.retrieval.types import BadInput

HALLUCINATED, UNDECIDED = 1, 3


def estimate(dry: Report, sources: Sequence[str]) -> Iterator[str]:
    """What the run of which this report is the dry one would pay: a line a step, then what that rests on."""
    from longproof.graphs.cost import MOST_CLAIMS_A_SENTENCE, between, cost, paid_judges, total
    from longproof.graphs.protocols import protocol
    from longproof.graphs.settings import settings_of

    row, judges = protocol(dry.stamp["protocol"]), paid_judges(settings_of(dry.stamp["settings"]).judges)
    steps = between(dry, sources)
    if not any(step.most.calls for step in steps.values()):
        yield "nothing would be paid"
        return
    yield f"{'':10}{'at least':>10}{'tokens':>14}{'at most':>12}{'tokens':>14}"
    for name, (least, most) in [*steps.items(), ("together", total(steps))]:
        yield f"{name:10}{least.calls:>10,}{least.tokens:>14,}{most.calls:>12,}{most.tokens:>14,}"
    usual = cost(row, sum(map(len, sources)), len(dry.case.response), judges)
    yield f"usually about {usual.calls:,} calls that read {usual.passes:.2f} times the source's length"
    yield (
        f"at least: every sentence is one claim and decided in the first round; {dry.usage.calls} answers that are "
        "there already are not counted"
    )
    yield (
        f"at most, from the beginning: {MOST_CLAIMS_A_SENTENCE} claims a sentence where none are known yet, each in "
        f"every round ({', '.join(row.rounds)}), disputed and wrong"
    )
    yield "calls, and tokens of their prompts; answers, and second askings where one can't be used, cost more"


def label_named(name: str) -> Label:
    """The label of this name. Raises BadInput for another."""
    label = next((label for label in LABELS if label == name), None)
    if label is None:
        raise BadInput(f"there is no label {name!r}: choose one of {', '.join(LABELS)}")
    return label


def trust(report: Report, at_least: Label) -> str:
    """How much can be trusted from this label on."""
    kept = trusted(report, at_least)
    return f"{len(kept)} of {len(report.sentences)} sentences are at least {at_least}"


def status(report: Report) -> int:
    return {"hallucinated": HALLUCINATED, "undecided": UNDECIDED, "faithful": 0}[report.verdict]

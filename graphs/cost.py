"""What a run would pay, before anybody is asked: its first round exactly, and at most so many calls.

Knows: a dry run builds every prompt of the first round and is refused each call; how often a claim can be asked about
afterwards. Does not know: prices, how long answers are, or second askings.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from longproof.agent.evidence.scan import MOST_CLAIMS
from longproof.agent.evidence.search import TURNS
from longproof.agent.types import Report
from longproof.graphs.evidence.places import WHOLE
from longproof.graphs.protocol import LONGPROOF
from longproof.graphs.run import looks_within
from longproof.graphs.settings import PERSON, settings_of

CLAIMS_A_SENTENCE = 8
PIECE_READ = 15_000
"""Characters of source that a reader of all of it is given at once, at least."""
BOUND = (
    f"Upper bound: {CLAIMS_A_SENTENCE} claims a sentence, every round needed, every claim disputed. "
    "Retries not included. Cap it with --max-calls."
)


class Paid(NamedTuple):
    """Calls, and the tokens of their prompts as we count them."""

    calls: int = 0
    tokens: int = 0


class Estimate(NamedTuple):
    """The estimate of a run that pays, from dry runs."""

    first: Mapping[str, Paid]
    """By purpose, what is asked first: of answers that are kept already, none."""
    most: int | None
    """Calls at most, the first round included; None for a paper's method, whose later rounds are its own."""

    @property
    def first_round(self) -> Paid:
        """The first round of all purposes together."""
        return Paid(
            sum(paid.calls for paid in self.first.values()), sum(p.tokens for p in self.first.values())
        )


def estimate(dry: Sequence[Report]) -> Estimate:
    """Estimate what the cases of these dry runs would pay together.

    One verifier made all of them: a budget keeps what it refused, so the last report tells the refusals of all.
    """
    first = {purpose: Paid(*paid) for purpose, paid in dry[-1].stamp["refused"].items()} if dry else {}
    if any(report.stamp["protocol"] != LONGPROOF.name for report in dry):
        return Estimate(first, None)
    return Estimate(first, sum(map(_most_calls, dry)) if first else 0)


def estimate_lines(told: Estimate, money: tuple[str, str] | None = None) -> Iterator[str]:
    """The estimate in words; `money` is what reading the first round costs, by the cheapest model and the dearest."""
    if not told.first:
        yield "nothing would be paid"
        return
    steps = ", ".join(f"{purpose} {paid.calls:,}" for purpose, paid in told.first.items())
    calls, tokens = told.first_round
    yield f"first round: {calls:,} calls ({steps}), {tokens:,} tokens to read"
    if money:
        least, most = money
        costs = least if least == most else f"{least} to {most}"
        yield f"what the first round reads costs {costs}, by the prices given"
    if told.most is None:
        yield "what comes after it is not told for papers' methods. Cap it with --max-calls."
        return
    yield f"at most: {told.most:,} calls"
    yield BOUND


def _most_calls(dry: Report) -> int:
    """The calls of one case, if each of its sentences and of their parts goes every way there is."""
    settings, judges = settings_of(dry.stamp["settings"]), len(dry.stamp["judges"])
    source = sum(document.characters for document in dry.documents if document.role == "source")
    looks = looks_within(settings.reach, source) if source > WHOLE else ("source",)
    sentences = len(dry.claims)
    claims = sentences * (1 + CLAIMS_A_SENTENCE)
    scans, pages = "scan" in looks, settings.pages is not None
    # A split is put to the arbiter before all is read, after it, and once more over pages.
    arbitrates = judges > 1 and dry.stamp["arbiter"] not in (None, PERSON)
    rulings = (1 + scans + pages) if arbitrates else 0
    localises = 1
    # A conviction is confirmed twice at most: by the lines that were cited, then by those that a search found.
    confirms = 0 if settings.confirm == "off" else 2
    asked = claims * (judges * (len(looks) + pages) + rulings + confirms + localises) + sentences
    pieces = ceil(source / PIECE_READ) + 1
    # The sentences are searched for, then their parts, then lines that prove what is wrong.
    readings = 3 * TURNS * ("search" in looks) + pieces * scans
    return asked + ceil(claims / MOST_CLAIMS) * readings

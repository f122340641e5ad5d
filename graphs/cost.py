"""What a protocol would cost, before anybody is asked: calls, and how often the source would be read.

Knows: the rows, the length of the prompts, and rough shares: how many claims a sentence has, how many go on to a
wider round. An estimate, within a factor of about two (its test says where); a report says what a run did cost.
Does not know: prices, arbiters, second askings.
"""

from math import ceil
from typing import NamedTuple

from longproof.agent.decompose import BATCH_SENTENCES
from longproof.agent.readers import ASKINGS
from longproof.graphs.finding import AROUND
from longproof.graphs.protocols import Protocol
from longproof.prompts import template
from longproof.retrieval.snippets import SIZE

SENTENCE = 80
"""Characters of a sentence, between Chinese (40) and English (110)."""
CLAIMS_A_SENTENCE = 2
FILLED = 0.75
"""How full a segment of whole sentences is."""
GOES_ON = (1.0, 0.3, 0.2, 0.2)
"""Shares of the claims that are looked at in the first round, the second, and so on."""
PIECES_A_CLAIM = 3
"""Pieces of evidence in the union of what several models find (PROBE)."""
PIECE = 150
WINDOW = {"greedy": 6, "viterbi": 3}
"""Blocks of a window: five or seven where LongNovel's Appendix D says so."""
SNIPPETS = 3


class Cost(NamedTuple):
    """Calls, and passes: prompt characters of all calls over the characters of the source."""

    calls: int
    passes: float


def cost(row: Protocol, source_characters: int, response_characters: int, judges: int) -> Cost:
    """What checking a response of this length against a source of this length takes with so many judges."""
    units = _units(row, response_characters)
    calls, characters = 0, 0
    if row.unit == "claim":
        batches = ceil(units / CLAIMS_A_SENTENCE / BATCH_SENTENCES) or 1
        calls += batches
        characters += batches * _template(("decompose",)) + response_characters
    if row.finds:
        calls += units * judges
        characters += units * judges * (_template((row.finds,)) + source_characters)
    for number in range(len(row.rounds)):
        asked, each = _round(row, number, units, source_characters, response_characters)
        calls += asked * judges
        characters += asked * judges * each
    return Cost(calls, characters / max(source_characters, 1))


def _units(row: Protocol, response_characters: int) -> int:
    packed = FILLED * row.segment_characters
    size = {"claim": SENTENCE / CLAIMS_A_SENTENCE, "sentence": SENTENCE, "segment": packed}
    return 1 if row.unit == "response" else max(1, round(response_characters / size[row.unit]))


def _round(
    row: Protocol, number: int, units: int, source_characters: int, response_characters: int
) -> tuple[int, int]:
    """Questions of one round, and the characters of each prompt."""
    if row.finds:
        return units * PIECES_A_CLAIM, _template(ASKINGS[row.prompt].parts) + PIECE + 2 * AROUND
    asked = ceil(units * GOES_ON[min(number, len(GOES_ON) - 1)] / row.claims_a_question)
    shown = (
        min(_shown(row, number), source_characters) if row.rounds[number] != "source" else source_characters
    )
    shown += SNIPPETS * SIZE if row.consult == "before_judging" else 0
    own = (
        response_characters if row.unit in ("sentence", "response") else 2 * SENTENCE * row.claims_a_question
    )
    return asked, _template(ASKINGS[row.prompt].parts) + shown + own


def _shown(row: Protocol, number: int) -> int:
    if row.rounds[number] == "nothing":
        return 0
    if row.rounds[number] == "window":
        return WINDOW[row.alignment] * row.block_characters
    return row.budget(number)


def _template(parts: tuple[str, ...]) -> int:
    return sum(len(template(part, "en")) for part in parts)

"""The papers' prompts filled, and what their answers share: menus, exact pieces of a text.

Knows: what each placeholder stands for; an answer that is not on a menu is `unparsed`, as the authors would have seen
it. Does not know: which paper asks.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from hashlib import sha256

from longproof.agent.guards import Weighed, word
from longproof.agent.prompting import brief, language_of, line
from longproof.agent.types import Case, Claim, Error, Failure, Label
from longproof.prompts import Prompt, placeholders, render
from longproof.retrieval.types import Span

Numbered = Mapping[int, Claim]
LISTED: dict[str, Label] = {"some": "fabricated", "none": "implicitly_supported"}
"""The labels of an answer that lists what is wrong: something, or nothing."""
Value = Callable[[Sequence[Span], Numbered, Case], str | list[str]]
VALUES: dict[str, Value] = {
    "evidence": lambda shown, _, case: [span.text for span in shown if span.source_id in case.source_ids],
    "pages": lambda shown, _, case: [span.text for span in shown if span.source_id not in case.source_ids],
    "piece": lambda shown, *_: shown[0].text,
    "surroundings": lambda shown, *_: [span.text for span in shown[1:]],
    "context": lambda *given: given[-1].context,
    "response": lambda *given: given[-1].response,
    "first": lambda *given: in_order(given[-1])[0],
    "second": lambda *given: in_order(given[-1])[1],
    "passage": lambda _, numbered, __: [claim.text for claim in numbered.values()],
    "sentences": lambda _, numbered, __: "\n".join(
        line(sentence=f"S{n}", text=claim.text) for n, claim in numbered.items()
    ),
}
"""The values of prompts. A `piece` is the first place shown, `surroundings` are what is shown beside it."""


def fill(parts: Sequence[str], shown: Sequence[Span], numbered: Numbered, case: Case) -> Prompt:
    """The prompt of these parts about these units. Raises KeyError for an unknown placeholder."""
    language = language_of(case)
    filled = []
    for part in parts:
        values = {name: VALUES[name](shown, numbered, case) for name in placeholders(part, language)}
        filled.append(render(part, language, **values))
    return reduce(Prompt.then, filled)


def in_order(case: Case) -> tuple[str, str]:
    """The response and the reference in an order that follows from their texts and tells nothing."""
    first, second = sorted([case.response, case.reference or ""])
    swap = sha256(f"{first}\0{second}".encode()).digest()[0] % 2
    return (second, first) if swap else (first, second)


def choose(menu: Mapping[str, Label], answer: str, reason: str = "") -> Weighed:
    """The label that a word of the menu stands for."""
    label = menu.get(word(answer))
    return Weighed(label, None if label else "unparsed", reason=brief(reason))


def mark_pieces(
    pieces: Sequence[str], origin: Span, reason: str, *, whole: bool, failure: Failure
) -> Weighed:
    """A list of exact pieces of a text that are made up: none means faithful; `failure` where none stands there."""
    named = [piece for piece in pieces if piece.strip()]
    places, dropped = exact_places(named, origin, whole=whole)
    if named and not places:
        return Weighed(None, failure, dropped=dropped, reason=brief(reason))
    errors = tuple(Error(span=place) for place in places)
    label = LISTED["some" if named else "none"]
    return Weighed(label, None, dropped=dropped, errors=errors, reason=brief(reason))


def exact_places(pieces: Sequence[str], origin: Span, *, whole: bool = False) -> tuple[tuple[Span, ...], int]:
    """Find pieces of a text, character by character, a repeated one at its next place; count those that aren't there.

    A piece that is the whole text marks nothing, and is not believed (seed 001), unless `whole`: all of a response
    of one sentence may be made up.
    """
    found: dict[Span, None] = {}
    after: dict[str, int] = {}
    for piece in pieces:
        start = origin.text.find(piece, after.get(piece, 0))
        if start < 0 or (not whole and piece.strip() == origin.text.strip()):
            continue
        after[piece] = start + len(piece)
        at = origin.start + start
        found[Span(source_id=origin.source_id, start=at, end=at + len(piece), text=piece)] = None
    return tuple(found), len(pieces) - len(found)

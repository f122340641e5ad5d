"""Books cut into units, and neighbouring units joined to labelled cases of five lengths (LongNovel, seed 004).

Knows: what opens a chapter in Chinese and English books, how many neighbouring units make a scale, where in the
source the changed one should stand, and how places move when the texts of units are joined. A pair is one case with a
unit made wrong and one with the same unit reworded: the paper's Y_pos and Y_neg, whose names section 3.3 swaps, put
right.
Does not know: who wrote the versions, or where cases are written.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Literal, get_args

from pydantic import JsonValue

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import KINDS, Kind
from longproof.construction.versions import TextWithError
from longproof.graphs.cases import GivenCase, GivenError
from longproof.prompts import Language
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, Frozen

LEAST, MOST = 2000, 4000
_CHAPTER = re.compile(
    r"\s*(?:第[一二三四五六七八九十百零〇\d]{1,5}[回章節节卷]|chapter\s+[ivxlc\d]+|prelude|prologue|epilogue|#{1,3}\s)",
    re.IGNORECASE,
)
Scale = Literal["S", "M", "L", "XL", "XXL"]
SCALES: tuple[Scale, ...] = get_args(Scale)
TARGETS: dict[Scale, int] = {"S": 2_000, "M": 16_000, "L": 32_000, "XL": 64_000, "XXL": 100_000}
"""Tokens of source, by the names that the paper gives its scales. S is always one unit."""
SHORTEST = 0.75
"""A book that has less than this share of a scale's tokens makes no case of that scale."""
Position = Literal["begin", "middle", "end"]
POSITIONS: tuple[Position, ...] = get_args(Position)
JOINT = "\n"


class Unit(Frozen):
    """A part of a book, in whole sentences. `tokens` is an estimate."""

    start: int
    end: int
    tokens: int


def units(text: str, least: int = LEAST, most: int = MOST) -> list[Unit]:
    """Consecutive units of `least` to `most` tokens, in text order.

    A unit ends before a chapter once it has `least` tokens, else at the first end of a paragraph once it is halfway
    to `most`, else at the end of the sentence that fills it. What is left over at the end of the text is joined to
    the last unit if that stays within `most`, and belongs to none otherwise.
    """
    found: list[Unit] = []
    start, tokens, last = -1, 0, 0
    for a, b in sentences(text):
        size = estimate_tokens(text[a:b])
        gap = text[last:a]
        if start >= 0 and _ends(gap, text[a:b], tokens, size, (least, most)):
            found.append(Unit(start=start, end=last, tokens=tokens))
            start, tokens = -1, 0
        start = a if start < 0 else start
        tokens, last = tokens + size, b
    if start >= 0 and tokens >= least:
        found.append(Unit(start=start, end=last, tokens=tokens))
    elif start >= 0 and found and found[-1].tokens + tokens <= most:
        found[-1] = Unit(start=found[-1].start, end=last, tokens=found[-1].tokens + tokens)
    return found


def _ends(gap: str, sentence: str, tokens: int, size: int, bounds: tuple[int, int]) -> bool:
    """True if a unit of so many tokens ends before this sentence, which comes behind this gap."""
    least, most = bounds
    if tokens < least:
        return False
    if tokens + size > most or ("\n" in gap and tokens >= (least + most) / 2):
        return True
    return "\n" in gap and _CHAPTER.match(sentence) is not None


class Book(Frozen):
    """A book cut into units. `summaries` has one a unit, empty where there is none."""

    title: str
    text: str
    language: Language
    units: tuple[Unit, ...]
    summaries: tuple[str, ...] = ()

    def article(self, first: int, last: int) -> Document:
        """The source of a case over these units."""
        return Document.of(self.text[self.units[first].start : self.units[last].end])


Changer = Callable[[int, int, Kind], tuple[TextWithError, str] | None]
"""Book number, unit number, kind: the change and the faithful rewording of that unit; None where there is none."""


def case_pairs(
    books: Sequence[Book], per_scale: int, change: Changer, seed: int = 0
) -> Iterator[tuple[Document, list[GivenCase]]]:
    """So many pairs of each scale, kinds and positions in turn, books in turn; fewer where the units don't suffice.

    Each is a source with its two cases, the wrong one first. `change` is asked only for units that are used. The same
    input and seed give the same pairs.
    """
    for scale in SCALES:
        draw = Random(f"{seed}:{scale}")
        long_enough = [n for n, book in enumerate(books) if _enough(book, scale)]
        queues = {n: _shuffle(len(books[n].units), draw) for n in long_enough}
        for number in range(per_scale if long_enough else 0):
            n = long_enough[(number + number // len(KINDS)) % len(long_enough)]
            kind, position = KINDS[number % len(KINDS)], POSITIONS[number % len(POSITIONS)]
            for unit in list(queues[n]):
                reach = neighbours(books[n].units, unit, scale, position)
                versions = change(n, unit, kind) if reach else None
                if reach and versions:
                    queues[n].remove(unit)
                    queues[n].append(unit)
                    name = f"{scale}-{number:04d}"
                    wrong, right = (joined_case(books[n], reach, unit, v, scale, name) for v in versions)
                    slices = {**right.slices, "position": wrong.slices["position"]}
                    yield books[n].article(*reach), [wrong, right.model_copy(update={"slices": slices})]
                    break


def neighbours(units: Sequence[Unit], unit: int, scale: Scale, position: Position) -> tuple[int, int] | None:
    """First and last of the neighbouring units that make up a scale and hold `unit` at `position`.

    None where the book has no such neighbours.
    """
    if scale == "S":
        return unit, unit
    mean = sum(u.tokens for u in units) / len(units)
    count = min(len(units), max(2, round(TARGETS[scale] / mean)))
    latest = len(units) - count
    room = range(max(0, unit - latest), min(unit, count - 1) + 1)
    fits = [before for before in room if _third(before, count) == position]
    if not fits:
        return None
    before = fits[len(fits) // 2]
    return unit - before, unit - before + count - 1


def joined_case(
    book: Book, reach: tuple[int, int], unit: int, version: TextWithError | str, scale: Scale, name: str
) -> GivenCase:
    """The case over these units with one of their summaries replaced; places are moved to the joined response."""
    first, last = reach
    texts = {n: book.summaries[n] for n in range(first, last + 1) if book.summaries[n]}
    error = version if isinstance(version, TextWithError) else None
    texts[unit] = error.text if error else str(version)
    before = sum(len(text) + len(JOINT) for n, text in texts.items() if n < unit)
    side = "hallucinated" if error else "faithful"
    slices: dict[str, JsonValue] = {"scale": scale, "position": _position(reach, unit, error)}
    slices |= {"language": book.language, "book": book.title}
    errors: tuple[GivenError, ...] = ()
    if error:
        slices["kind"] = error.kind
        wrong = error.wrong
        errors = (
            GivenError(
                start=wrong.start + before,
                end=wrong.end + before,
                text=wrong.text,
                kind=error.kind,
                correction=error.right,
                reason=error.reason,
            ),
        )
    return GivenCase(
        id=f"{name}-{side}",
        task="summary",
        source=source_path(book.article(first, last)),
        response=JOINT.join(texts.values()),
        label=side,
        errors=errors,
        group=name,
        slices=slices,
        made={"how": error.how if error else "reworded", "source_start": book.units[first].start},
    )


def source_path(source: Document) -> str:
    """The file of a source in the set's folder."""
    return f"sources/{source.id.removeprefix('sha256:')[:16]}.txt"


def _third(number: int, count: int) -> Position:
    """The third of a source of so many units that a unit stands in."""
    return POSITIONS[3 * (2 * number + 1) // (2 * count)]


def _position(reach: tuple[int, int], unit: int, error: TextWithError | None) -> Position:
    """The third of the source that the unit stands in; in a single unit, the third of the response with the error."""
    first, last = reach
    if first < last:
        return _third(unit - first, last - first + 1)
    return POSITIONS[min(2, 3 * error.wrong.start // max(1, len(error.text)))] if error else "begin"


def _enough(book: Book, scale: Scale) -> bool:
    least = 0 if scale == "S" else SHORTEST * TARGETS[scale]
    return bool(book.units) and sum(unit.tokens for unit in book.units) >= least


def _shuffle(count: int, draw: Random) -> list[int]:
    order = list(range(count))
    draw.shuffle(order)
    return order

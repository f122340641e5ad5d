"""Books cut into units, and neighbouring units joined to labelled cases of five lengths (LongNovel).

Knows: what opens a chapter, how many neighbouring units make a scale, and where in the source the changed one should
stand. A pair is one case with a unit made wrong and one with the same unit reworded: the paper's Y_pos and Y_neg,
whose names section 3.3 swaps, put right. Does not know: who wrote the versions, or where cases are written.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Literal, NamedTuple, get_args

from pydantic import JsonValue

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import KINDS, Kind
from longproof.construction.versions import TextWithError
from longproof.graphs.cases import GivenCase, GivenError
from longproof.prompts import Language
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

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


class Unit(NamedTuple):
    """A part of a book, in whole sentences. `tokens` is an estimate."""

    start: int
    end: int
    tokens: int


def units(text: str, least: int = LEAST, most: int = MOST) -> list[Unit]:
    """Consecutive units of `least` to `most` tokens, in text order.

    A unit ends before a chapter once it has `least` tokens, else at the first end of a paragraph once it is halfway
    to `most`, else at the end of the sentence that fills it. What is left over at the end is joined to the last
    unit if it fits.
    """
    found: list[Unit] = []
    start, tokens, last = 0, 0, 0
    for a, b in sentences(text):
        size, paragraph = estimate_tokens(text[a:b]), "\n" in text[last:a]
        opens = paragraph and (tokens >= (least + most) / 2 or _CHAPTER.match(text[a:b]))
        if tokens >= least and (opens or tokens + size > most):
            found.append(Unit(start, last, tokens))
            tokens = 0
        start = start if tokens else a
        tokens, last = tokens + size, b
    if tokens >= least:
        found.append(Unit(start, last, tokens))
    elif found and found[-1].tokens + tokens <= most:
        found[-1] = Unit(found[-1].start, last, found[-1].tokens + tokens)
    return found


class Book(NamedTuple):
    """A book cut into units. `summaries` has one a unit, empty where there is none."""

    title: str
    text: str
    language: Language
    units: list[Unit]
    summaries: list[str]

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
        queues = dict[int, list[int]]()
        for n, book in enumerate(books):
            n_tokens, least = sum(unit.tokens for unit in book.units), SHORTEST * TARGETS[scale]
            if book.units and (scale == "S" or n_tokens >= least):
                queues[n] = list(range(len(book.units)))
                draw.shuffle(queues[n])
        long_enough = list(queues)
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
    """First and last of the neighbouring units that make up a scale and hold `unit` at `position`; None where none
    do.
    """
    if scale == "S":
        return unit, unit
    mean = sum(u.tokens for u in units) / len(units)
    count = min(len(units), max(2, round(TARGETS[scale] / mean)))
    latest = len(units) - count
    room = range(max(0, unit - latest), min(unit, count - 1) + 1)
    fits = [unit - before for before in room if _third(before, count) == position]
    if not fits:
        return None
    first = fits[len(fits) // 2]
    return first, first + count - 1


def joined_case(
    book: Book, reach: tuple[int, int], unit: int, version: TextWithError | str, scale: Scale, name: str
) -> GivenCase:
    """The case over these units with one of their summaries replaced; places are moved to the joined response."""
    first, last = reach
    error = version if isinstance(version, TextWithError) else None
    own = error.text if error else str(version)
    before = list(filter(None, book.summaries[first:unit]))
    after = filter(None, book.summaries[unit + 1 : last + 1])
    # In a single unit, the position is the third of the response that holds the error.
    position: Position = "begin"
    if first < last:
        position = _third(unit - first, last - first + 1)
    elif error:
        position = POSITIONS[min(2, 3 * error.wrong.start // max(1, len(own)))]
    slices: dict[str, JsonValue] = {"scale": scale, "position": position}
    slices |= {"language": book.language, "book": book.title}
    errors, side = list[GivenError](), "hallucinated" if error else "faithful"
    if error:
        slices["kind"] = error.kind
        about = {"kind": error.kind, "correction": error.right, "reason": error.reason}
        offset = len(JOINT.join([*before, ""]))
        at = {"start": error.wrong.start + offset, "end": error.wrong.end + offset, "text": error.wrong.text}
        errors.append(GivenError.model_validate({**at, **about}))
    return GivenCase(
        id=f"{name}-{side}",
        task="summary",
        source=source_path(book.article(first, last)),
        response=JOINT.join([*before, own, *after]),
        label=side,
        errors=tuple(errors),
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

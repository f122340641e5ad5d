"""Labelled cases at five lengths from labelled units, by joining neighbours (LongNovel, seed 004, section 3.3).

Knows: how many neighbouring units make a scale, where in the source the changed one should stand, and how places move
when unit texts are joined. A pair is one case with the unit made wrong and one with it reworded (the paper's Y_pos
and Y_neg with the names put right). Does not know: who wrote the versions, or where cases are written.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Literal, get_args

from longproof.agent.made import Change, Version
from longproof.agent.types import KINDS, Kind, Place
from longproof.agent.units import Unit
from longproof.retrieval.types import Frozen

Scale = Literal["S", "M", "L", "XL", "XXL"]
SCALES: tuple[Scale, ...] = get_args(Scale)
TARGETS: dict[Scale, int] = {"S": 2_000, "M": 16_000, "L": 32_000, "XL": 64_000, "XXL": 100_000}
"""Tokens of source, by the names that the paper gives its scales. S is always one unit."""
SHORTEST = 0.75
"""A book that has less than this share of a scale's tokens makes no case of that scale."""
Position = Literal["begin", "middle", "end"]
POSITIONS: tuple[Position, ...] = get_args(Position)
Split = Literal["train", "test"]
JOINT = "\n"


class Book(Frozen):
    """A book cut into units, each with its summary. `cast` are the names that occur in it."""

    title: str
    text: str
    language: Literal["zh", "en"]
    units: tuple[Unit, ...]
    summaries: tuple[Version, ...]
    cast: tuple[str, ...] = ()
    split: Split = "test"


class MadeError(Frozen):
    """What is wrong in a made response: `place` the wrong words, `stretch` the sentences that hold them.

    `correction` is what should stand in the place, `original` what stood in that of the stretch."""

    place: Place
    stretch: Place
    kind: Kind
    correction: str
    original: str
    how: str
    reason: str = ""


class MadeCase(Frozen):
    """One made response, its source as a stretch of a book, and its label. Both of a pair have one `group`."""

    id: str
    group: str
    book: str
    language: Literal["zh", "en"]
    split: Split
    scale: Scale
    position: Position
    kind: Kind
    source: tuple[int, int]
    tokens: int
    response: str
    error: MadeError | None

    @property
    def label(self) -> Literal["hallucinated", "faithful"]:
        """The outcome."""
        return "hallucinated" if self.error else "faithful"


Changer = Callable[[int, int, Kind], tuple[Change, Version] | None]
"""Book number, unit number, kind: the change and the faithful rewording of that unit; None where there is none."""


def pairs(
    books: Sequence[Book], per_scale: int, change: Changer, seed: int = 0
) -> Iterator[tuple[MadeCase, ...]]:
    """So many pairs of each scale, kinds and positions in turn, books in turn; fewer where the units don't suffice.

    `change` is asked only for units that are used. The same input and seed give the same pairs.
    """
    for scale in SCALES:
        draw = Random(f"{seed}:{scale}")
        long_enough = [n for n, book in enumerate(books) if _enough(book, scale)]
        queues = {n: _shuffled(len(books[n].units), draw) for n in long_enough}
        for number in range(per_scale if long_enough else 0):
            n = long_enough[(number + number // len(KINDS)) % len(long_enough)]
            kind, position = KINDS[number % len(KINDS)], POSITIONS[number % len(POSITIONS)]
            made = _pair(books, n, queues[n], kind, scale, position, change, f"{scale}-{number:04d}")
            if made:
                yield made


def _pair(
    books: Sequence[Book],
    n: int,
    queue: list[int],
    kind: Kind,
    scale: Scale,
    position: Position,
    change: Changer,
    name: str,
) -> tuple[MadeCase, ...]:
    """The pair over the first unit of the queue that can be changed so; the unit goes to the queue's end."""
    for unit in list(queue):
        reach = stretch(books[n].units, unit, TARGETS[scale], position) if scale != "S" else (unit, unit)
        versions = change(n, unit, kind) if reach else None
        if reach is None or versions is None:
            continue
        queue.remove(unit)
        queue.append(unit)
        wrong, faithful = versions
        made = (
            joined(books[n], reach, unit, wrong, scale, name),
            joined(books[n], reach, unit, faithful, scale, name),
        )
        return tuple(m.model_copy(update={"kind": kind, "position": made[0].position}) for m in made)
    return ()


def stretch(units: Sequence[Unit], unit: int, target: int, position: Position) -> tuple[int, int] | None:
    """First and last of the neighbouring units of about `target` tokens in which `unit` stands at `position`.

    None where the book has no such neighbours.
    """
    mean = sum(u.tokens for u in units) / len(units)
    count = min(len(units), max(2, round(target / mean)))
    thirds = [k for k in range(count) if POSITIONS[3 * (2 * k + 1) // (2 * count)] == position]
    fits = [k for k in thirds if k <= unit <= len(units) - count + k]
    if not fits:
        return None
    before = fits[len(fits) // 2]
    return unit - before, unit - before + count - 1


def joined(
    book: Book, reach: tuple[int, int], unit: int, version: Change | Version, scale: Scale, name: str
) -> MadeCase:
    """The case over these units with one of their summaries replaced; places are moved to the joined response."""
    first, last = reach
    texts = {n: book.summaries[n].text for n in range(first, last + 1) if book.summaries[n].text}
    texts[unit] = version.text
    before = sum(len(text) + len(JOINT) for n, text in texts.items() if n < unit)
    response = JOINT.join(texts.values())
    error = _moved(version, before, response) if isinstance(version, Change) else None
    label = "hallucinated" if error else "faithful"
    return MadeCase(
        id=f"{name}-{label}",
        group=name,
        book=book.title,
        language=book.language,
        split=book.split,
        scale=scale,
        position=_position(reach, unit, error, response),
        kind=error.kind if error else KINDS[0],
        source=(book.units[first].start, book.units[last].end),
        tokens=sum(u.tokens for u in book.units[first : last + 1]),
        response=response,
        error=error,
    )


def _moved(change: Change, by: int, response: str) -> MadeError:
    return MadeError(
        place=_place(response, change.wrong.start + by, change.wrong.end + by),
        stretch=_place(response, change.stretch.start + by, change.stretch.end + by),
        kind=change.kind,
        correction=change.right,
        original=change.original,
        how=change.how,
        reason=change.reason,
    )


def _place(text: str, start: int, end: int) -> Place:
    return Place(start=start, end=end, text=text[start:end])


def _position(reach: tuple[int, int], unit: int, error: MadeError | None, response: str) -> Position:
    """The third of the source that the unit stands in; in a single unit, the third of the response with the error."""
    first, last = reach
    if first < last:
        return POSITIONS[3 * (2 * (unit - first) + 1) // (2 * (last - first + 1))]
    return POSITIONS[min(2, 3 * error.place.start // max(1, len(response)))] if error else "begin"


def _enough(book: Book, scale: Scale) -> bool:
    least = 0 if scale == "S" else SHORTEST * TARGETS[scale]
    return bool(book.units) and sum(unit.tokens for unit in book.units) >= least


def _shuffled(count: int, draw: Random) -> list[int]:
    order = list(range(count))
    draw.shuffle(order)
    return order

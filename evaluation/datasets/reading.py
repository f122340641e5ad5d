"""Rows of a data set's files, and places in texts; every complaint names file and row.

Takes JSON Lines (plain or .gz) or a JSON array. Rows are hostile data: parsed as JSON and nothing else.
Does not know: what a row means.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from longproof.agent.types import Place
from longproof.evaluation.types import Example
from longproof.retrieval.files import read_whole
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, first_fault

Row = dict[str, Any]
Location = str | Path
"""A folder, or a file."""


def rows(location: Location, file: str) -> Iterator[tuple[str, Row]]:
    """Each row with a name to complain by. `file` is the file's name where the location is a folder."""
    path = Path(location) / file if Path(location).is_dir() else Path(location)
    text, parsed = whole_text(path), list[Any]()
    if text.lstrip().startswith("["):
        with _name_row(path.name):
            parsed = parse_json(text)
    else:
        for number, line in enumerate(text.split("\n"), start=1):
            with _name_row(f"{path.name} line {number}"):
                parsed += [parse_json(line)] if line.strip() else []
    for number, row in enumerate(parsed, start=1):
        name = f"{path.name} row {number}"
        if not isinstance(row, dict):
            raise BadInput(f"{name} is not a JSON object")
        yield name, row


def each_row(
    file: str, convert: Callable[[Row], Iterable[Example]]
) -> Callable[[Location], Iterator[Example]]:
    """A loader of a set that lies in one file, and whose rows say all by themselves."""
    return lambda location: convert_rows(rows(location, file), convert)


def convert_rows(
    named: Iterable[tuple[str, Row]], convert: Callable[[Row], Iterable[Example]]
) -> Iterator[Example]:
    """The examples of all rows. Raises BadInput, naming the row, where one does not fit its format."""
    for name, row in named:
        with _name_row(name):
            converted = list(convert(row))
        yield from converted


def rows_by_key(named: Iterable[tuple[str, Row]], *fields: str, value: str) -> dict[tuple[Any, ...], Any]:
    """The values that other rows refer to, by these fields. Raises BadInput, naming the row, where one is missing."""
    by_key: dict[tuple[Any, ...], Any] = {}
    for name, row in named:
        with _name_row(name):
            by_key[tuple(row[field] for field in fields)] = row[value]
    return by_key


@contextmanager
def _name_row(name: str) -> Iterator[None]:
    """Turn what goes wrong with a row into BadInput that names it."""
    try:
        yield
    except KeyError as error:
        raise BadInput(f"{name}: there is no {error.args[0]!r}, which every row has") from error
    except ValidationError as error:
        place, why = first_fault(error)
        raise BadInput(f"{name}: {place}: {why}" if place else f"{name}: {why}") from error
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from error
    except (TypeError, AttributeError, IndexError) as error:
        raise BadInput(f"{name}: a value isn't of its field's kind: {error}") from error


def find_quote(text: str, quote: str, after: int = 0) -> Place:
    """The first place of a quote at or after an offset, else its first anywhere. Raises BadInput without one."""
    at = text.find(quote, after)
    at = at if at >= 0 else text.find(quote)
    if at < 0 or not quote:
        raise BadInput(f"the text does not hold the gold quote {quote[:60]!r}")
    return Place.of(text, at, at + len(quote))


def quotes_in_order(text: str, quotes: Iterable[str]) -> Iterator[Place]:
    """The places of quotes that stand in a text in this order. Raises BadInput for one that doesn't stand there."""
    after = 0
    for quote in quotes:
        place = find_quote(text, quote, after)
        after = place.end
        yield place


def text_key(text: str) -> str:
    """A short name for a text, to group the examples that share it."""
    return sha256(text.encode()).hexdigest()[:12]


def parse_json(text: str) -> Any:
    """The value of a JSON text, half characters (lone surrogates) replaced. Raises BadInput where it is none."""
    try:
        return without_surrogates(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON that can be read: {error}") from error


def whole_text(path: Path) -> str:
    """A file's text, unpacked, with plain line ends. Raises BadInput where it is missing, cut off or not UTF-8."""
    try:
        data = read_whole(path)
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise BadInput(f"cannot read {path}: {said}; give the data set's folder") from error
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path.name} line {line} is not UTF-8: save the file as UTF-8") from error

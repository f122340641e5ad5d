"""Rows of a data set's files, and places in texts; every complaint names file and row.

Takes JSON Lines (plain or .gz), a JSON array, or `hub:OWNER/NAME[@SPLIT]`: a data set on the Hugging Face hub, by the
`datasets` library (extra `hub`), which from version 4 on refuses loading scripts. Rows are hostile data: parsed as
JSON and nothing else. Does not know: what a row means.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from longproof.agent.types import Place
from longproof.evaluation.types import Example
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput

HUB = "hub:"
K = TypeVar("K")
V = TypeVar("V")
Row = dict[str, Any]
Location = str | Path
"""A folder, a file, or `hub:OWNER/NAME[@SPLIT]`."""


def rows(location: Location, file: str) -> Iterator[tuple[str, Row]]:
    """Each row with a name to complain by. `file` is the file's name where the location is a folder.

    Raises BadInput where there is no such file or a row is not a JSON object.
    """
    if str(location).startswith(HUB):
        for number, row in enumerate(_hub_rows(str(location)), start=1):
            yield f"{location} row {number}", without_surrogates(row)
        return
    path = Path(location) / file if Path(location).is_dir() else Path(location)
    for number, row in enumerate(_parsed(path), start=1):
        if not isinstance(row, dict):
            raise BadInput(f"{path.name} row {number} is not a JSON object")
        yield f"{path.name} row {number}", row


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
        with _naming(name):
            found = list(convert(row))
        yield from found


def rows_by_key(named: Iterable[tuple[str, Row]], pick: Callable[[Row], tuple[K, V]]) -> dict[K, V]:
    """What other rows refer to, by key. Raises BadInput, naming the row, where one does not fit its format."""
    found: dict[K, V] = {}
    for name, row in named:
        with _naming(name):
            key, value = pick(row)
            found[key] = value
    return found


@contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise BadInput(f"{name}: there is no {error.args[0]!r}, which every row has") from error
    except ValidationError as error:
        raise BadInput(f"{name}: {_first(error)}") from error
    except RecursionError as error:
        raise BadInput(f"{name}: its JSON is nested too deeply; give a flatter row") from error
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


def lines(text: str) -> list[Place]:
    """The lines of a text without their breaks, in order; empty lines are left out."""
    places, start = [], 0
    for line in text.split("\n"):
        if line:
            places.append(Place.of(text, start, start + len(line)))
        start += len(line) + 1
    return places


def parse_json(text: str) -> Any:
    """What a JSON text says, half characters (lone surrogates) replaced. Raises ValueError or RecursionError."""
    return without_surrogates(json.loads(text))


def whole_text(path: Path) -> str:
    """A file's text, unpacked, with plain line ends. Raises BadInput where it is missing, cut off or not UTF-8."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            data = file.read()
    except EOFError as error:
        raise BadInput(f"{path.name} is cut off: its end is missing; fetch or pack it again") from error
    except (OSError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise BadInput(f"cannot read {path}: {said}; give the data set's folder") from error
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path.name} line {line} is not UTF-8: save the file as UTF-8") from error


def _hub_rows(location: str) -> Iterator[Row]:
    """The rows of `hub:OWNER/NAME[@SPLIT]`; the split is `test` unless named.

    Raises BadInput where the library is not installed or the data set cannot be had.
    """
    name, _, split = location.removeprefix(HUB).partition("@")
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise BadInput("hub data sets need the `datasets` library: pip install 'longproof[hub]'") from error
    try:
        for row in load_dataset(name, split=split or "test"):
            yield dict(row)
    except (OSError, ValueError) as error:
        line = (str(error).splitlines() or [""])[0]
        raise BadInput(f"cannot load {name} from the hub: {line}") from error


def _parsed(path: Path) -> Iterator[Any]:
    text = whole_text(path)
    if text.lstrip().startswith("["):
        yield from _json(text, path.name)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _json(line, f"{path.name} line {number}")


def _json(text: str, name: str) -> Any:
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name} is not JSON: {error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise BadInput(f"{name}: its JSON is nested too deeply; give a flatter row") from error
    except ValueError as error:
        raise BadInput(f"{name}: it holds a number of too many digits; write it as a text") from error


def _first(error: ValidationError) -> str:
    detail = error.errors()[0]
    place_of = ".".join(map(str, detail["loc"]))
    return f"{place_of}: {detail['msg']}" if place_of else str(detail["msg"])

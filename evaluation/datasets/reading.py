"""Rows of a data set's files, and places in texts; every complaint names file and row.

Takes JSON Lines (plain or .gz), a JSON array, or `hub:OWNER/NAME[@SPLIT]`. Rows are hostile data:
parsed as JSON and nothing else. Does not know: what a row means.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from longproof.agent.types import Place
from longproof.evaluation.datasets.hub import HUB, hub_rows
from longproof.evaluation.types import Example
from longproof.retrieval.types import BadInput

Row = dict[str, Any]
Location = str | Path
"""A folder, a file, or `hub:OWNER/NAME[@SPLIT]`."""


def rows(location: Location, file: str) -> Iterator[tuple[str, Row]]:
    """Each row with a name to complain by. `file` is the file's name where the location is a folder.

    Raises BadInput where there is no such file or a row is not a JSON object.
    """
    if str(location).startswith(HUB):
        for number, row in enumerate(hub_rows(str(location)), start=1):
            yield f"{location} row {number}", row
        return
    path = Path(location) / file if Path(location).is_dir() else Path(location)
    for number, row in enumerate(_parsed(path), start=1):
        if not isinstance(row, dict):
            raise BadInput(f"{path.name} row {number} is not a JSON object")
        yield f"{path.name} row {number}", row


def converted(
    named: Iterable[tuple[str, Row]], convert: Callable[[Row], Iterable[Example]]
) -> Iterator[Example]:
    """The examples of all rows. Raises BadInput, naming the row, where one does not fit its format."""
    for name, row in named:
        try:
            yield from list(convert(row))
        except KeyError as error:
            raise BadInput(f"{name}: there is no {error.args[0]!r}; see the reader's docstring") from error
        except ValidationError as error:
            raise BadInput(f"{name}: {_first(error)}") from error
        except (BadInput, TypeError, AttributeError) as error:
            raise BadInput(f"{name}: {error}") from error


def place(text: str, start: int, end: int) -> Place:
    """The place `[start, end)` with its text."""
    return Place(start=start, end=end, text=text[start:end])


def whole(text: str) -> Place:
    """The place of the whole text."""
    return place(text, 0, len(text))


def find(text: str, quote: str, after: int = 0) -> Place:
    """The first place of a quote at or after an offset, else its first anywhere. Raises BadInput without one."""
    at = text.find(quote, after)
    at = at if at >= 0 else text.find(quote)
    if at < 0 or not quote:
        raise BadInput(f"the text does not hold the gold quote {quote[:60]!r}")
    return place(text, at, at + len(quote))


def lines(text: str) -> list[Place]:
    """The lines of a text without their breaks, in order; empty lines are left out."""
    places, start = [], 0
    for line in text.split("\n"):
        if line:
            places.append(place(text, start, start + len(line)))
        start += len(line) + 1
    return places


def _parsed(path: Path) -> Iterator[Any]:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
            text = file.read()
    except OSError as error:
        raise BadInput(
            f"cannot read {path}: {error.strerror or error}; give the data set's folder"
        ) from error
    if text.lstrip().startswith("["):
        yield from _json(text, path.name)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _json(line, f"{path.name} line {number}")


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name} is not JSON: {error.msg} at character {error.pos}") from error


def _first(error: ValidationError) -> str:
    detail = error.errors()[0]
    place_of = ".".join(map(str, detail["loc"]))
    return f"{place_of}: {detail['msg']}" if place_of else str(detail["msg"])

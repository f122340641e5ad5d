"""JSON as text, one value a line, each after its path.

Knows: how a JSON value is written line by line, and which JSON is refused.
Does not know: files, encodings, what the record is about.
The text is what is searched and quoted; the JSON as it was given stays in `raw`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Never

from longproof.retrieval.contents import CHARACTERS
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document

DEEPEST = 200
"""Containers may be nested this deep; deeper ones are a mistake or an attack on the parser's stack."""
VALUES = 500_000
"""How many values a record may have: each is a line that is indexed, and millions take minutes and gigabytes."""

_LONGEST_KEY = 100
_PLAIN_KEY = re.compile(r"[^\s.\[\]:\"](?:[^.\[\]:\"\x00-\x1f]*[^\s.\[\]:\"])?")
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def record(raw: str, *, title: str = "", uri: str = "") -> Document:
    """The JSON text as a document of kind `record`: `team.home.name: Suns`, `players[0].points: 12`.

    Numbers, `true`, `false` and `null` stand as they were written, strings without quotes and on one line; an empty
    object, list or string is said to be one (`{}`, `[]`, `""`). Keys that hold a dot, bracket, colon or quote are
    quoted in the path. Raises BadInput for what is not JSON (with line and column), for NaN and infinities, for a key
    given twice in an object, for more than `DEEPEST` levels or VALUES values.
    """
    raw = _make_writable(raw.removeprefix("\ufeff"))
    name = uri or title or "record"
    if not raw.strip():
        raise BadInput(f"{name}: no JSON in it; give an object or a list")
    try:
        # Numbers stay as they are written.
        value = json.loads(
            raw, object_pairs_hook=_object, parse_constant=_refuse, parse_int=str, parse_float=str
        )
        lines = _bounded_lines(value)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{name}: not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    except RecursionError as error:
        raise BadInput(f"{name}: JSON nested more than {DEEPEST} levels deep; flatten it") from error
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from error
    return Document.of("\n".join(lines), kind="record", title=title, uri=uri, raw=raw)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise BadInput(
                f"not usable JSON: the key {json.dumps(key[:60])} stands twice in one object; keep one"
            )
        values[key] = value
    return values


def _refuse(constant: str) -> Never:
    raise BadInput(f"not usable JSON: {constant} is no JSON value; write null or a number")


def _bounded_lines(value: Any) -> list[str]:
    """The lines of a value, at most VALUES of them and CHARACTERS in all."""
    lines, length = [], 0
    for line in _lines(value, "", 0):
        lines.append(line)
        length += len(line) + 1
        if len(lines) > VALUES:
            raise BadInput(f"more than {VALUES:,} values; split it")
        if length > CHARACTERS:
            raise BadInput("too long when each value is written with its path; shorten keys or nest less")
    return lines


def _lines(value: Any, path: str, depth: int) -> Iterator[str]:
    """The lines of a value, depth first, in the order of the JSON."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _lines(inner, f"{path}.{_key(key)}" if path else _key(key), depth + 1)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _lines(inner, f"{path}[{index}]", depth + 1)
    else:
        yield f"{path}: {_scalar(value)}" if path else _scalar(value)


def _scalar(value: Any) -> str:
    """A scalar or an empty container. Numbers are strings already."""
    if isinstance(value, str) and value:
        return _make_writable(_BREAKS.sub(" ", value))
    return json.dumps(value)


def _key(key: str) -> str:
    clipped = _make_writable(key if len(key) <= _LONGEST_KEY else key[:_LONGEST_KEY] + "…")
    return clipped if _PLAIN_KEY.fullmatch(clipped) else json.dumps(clipped, ensure_ascii=False)


def _make_writable(text: str) -> str:
    """The text without lone surrogates and NUL, which JSON can escape but no text may hold."""
    return without_surrogates(text).replace("\0", "\ufffd")

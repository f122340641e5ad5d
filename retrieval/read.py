"""Reading: bytes of a file into a document.

Knows: encodings and how to tell them apart, byte order marks, line breaks, which suffix means what.
Does not know: how JSON is told as text (`record`), where documents are stored.
Chinese encodings are told apart by what they give: Big5 decodes as GB18030 without an error, but into characters that
hardly anyone writes.
"""

import codecs
import re
import unicodedata
from collections import Counter
from pathlib import Path

from longproof.retrieval.frequent import FREQUENT
from longproof.retrieval.record import record
from longproof.retrieval.text.fold import fold
from longproof.retrieval.types import BadInput, Document, DocumentKind

KINDS: dict[str, DocumentKind] = {".md": "markdown", ".markdown": "markdown", ".json": "record"}

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_CANDIDATES = ("gb18030", "big5hkscs", "utf-16-le", "utf-16-be")
_PLAUSIBLE = 0.7
_HAN = re.compile("[\u3400-\u9fff]")
_LONE = re.compile("(?<![^\x00-\x7f])[\u3400-\u9fff](?![^\x00-\x7f])")
_ALLOWED_CONTROLS = frozenset("\t\n\x0b\x0c\r\x85")


def read_document(path: Path, encoding: str | None = None) -> Document:
    """The document in a file: its title is the file's name without suffix, its uri the path as given.

    `.md` is markdown, `.json` a record, everything else text. Raises BadInput for a file that is missing, not
    readable, empty, binary or without text, for a directory, for bytes whose encoding can't be told (`decode`) and
    for what is not JSON.
    """
    text = decode(_bytes(path), encoding, str(path))
    kind = KINDS.get(path.suffix.lower(), "text")
    if kind == "record":
        return record(text, title=path.stem, uri=str(path))
    return Document.of(text, kind=kind, title=path.stem, uri=str(path))


def decode(data: bytes, encoding: str | None = None, name: str = "") -> str:
    """The text in the bytes, without byte order mark, each line break one `\\n`.

    Without `encoding`: UTF-8, UTF-16 or UTF-32 by their marks; then UTF-8; then GB18030, Big5 (HKSCS) or UTF-16
    without a mark, whichever gives the greatest share of frequent characters, at least 7 in 10. Controls, private-use
    and unassigned characters rule a candidate out, as do single Chinese characters scattered among ASCII, which are
    accented letters misread. Raises BadInput, naming `name`.
    """
    name = _printable(name) or "the input"
    if not data:
        raise BadInput(f"{name}: the file is empty; give one with text")
    text = _decoded_as(data, encoding, name) if encoding else _guessed(data, name)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise BadInput(
            f"{name}: it holds NUL bytes, so it is not a text file; give plain text, Markdown or JSON"
        )
    if not text.strip():
        raise BadInput(f"{name}: there is no text in it, only spaces and line breaks")
    return text


def _bytes(path: Path) -> bytes:
    name = _printable(str(path))
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise BadInput(f"{name}: there is no such file; check the path") from error
    except IsADirectoryError as error:
        raise BadInput(f"{name}: this is a directory; give a file") from error
    except OSError as error:
        raise BadInput(f"{name}: can't be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{name}: this can't be a file's name: {error}") from error


def _decoded_as(data: bytes, encoding: str, name: str) -> str:
    """The bytes in the encoding that was asked for."""
    try:
        codec = codecs.lookup(encoding)
        text = data.decode(codec.name)
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeError):
            raise BadInput(f"{name}: it is not in {encoding}; give another --encoding, or none") from error
        known = "for instance utf-8, gb18030, big5, utf-16, latin-1"
        raise BadInput(
            f"{name}: {_printable(encoding)!r} is no known encoding; give --encoding {known}"
        ) from error
    if any("\ud800" <= character <= "\udfff" for character in set(text)):
        raise BadInput(f"{name}: it is not in {encoding}; give another --encoding, or none")
    return text


def _guessed(data: bytes, name: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded_as(data[len(mark) :], encoding, name)
    text = _strictly(data, "utf-8")
    if text is not None and "\0" not in text and _controls(text) <= len(text) / 100:
        return text
    scores = {encoding: _score(data, encoding) for encoding in _CANDIDATES}
    best = max(scores, key=lambda encoding: scores[encoding])
    if scores[best] >= _PLAUSIBLE:
        return data.decode(best)
    if b"\0" in data or text is not None:
        raise BadInput(
            f"{name}: it holds NUL or control bytes, so it is not a text file; give text, Markdown or JSON"
        )
    raise BadInput(
        f"{name}: its encoding can't be told from its bytes; name it with --encoding, for instance latin-1"
    )


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _controls(text: str) -> int:
    """How many control characters the text holds that no text file needs."""
    found = [c for c in set(text) if unicodedata.category(c) == "Cc" and c not in _ALLOWED_CONTROLS]
    return sum(map(text.count, found))


def _score(data: bytes, encoding: str) -> float:
    """The share of frequent characters in what the bytes give, 0 where they can't be in the encoding.

    Two-byte encodings share ASCII with all others, so there only the rest counts.
    """
    text = _strictly(data, encoding)
    if text is None:
        return 0.0
    counts = Counter(text.removeprefix("\ufeff"))
    if any(_impossible(character) for character in counts) or 2 * len(_LONE.findall(text)) > len(
        _HAN.findall(text)
    ):
        return 0.0
    wide = encoding.startswith("utf-16")
    seen = {c: n for c, n in counts.items() if not c.isspace() and (wide or not c.isascii())}
    known = sum(n for c, n in seen.items() if c.isascii() or c in FREQUENT or fold(c).text in FREQUENT)
    return known / max(1, sum(seen.values()))


def _impossible(character: str) -> bool:
    category = unicodedata.category(character)
    return category in ("Co", "Cs", "Cn") or (category == "Cc" and character not in _ALLOWED_CONTROLS)


def _printable(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name)

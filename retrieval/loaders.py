"""Files to documents: plain text, Markdown, JSON (one value a line, each after its path), EPUB, PDF, DOCX and HTML.

Knows: which reader a file's suffix asks for, how large files and texts may be. PDFs and Word documents are read in
a process of their own, within a time and a memory: a crafted file can keep a parser busy for hours.
Does not know: how a format keeps its text (`books`, `web_pages`), how encodings are told (`contents`).
Of books and pages the document is the extracted Markdown, and offsets refer to that. Files are hostile data:
nothing is unpacked to disk, fetched or run.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Never

from longproof.retrieval.books import read_docx, read_epub, read_pdf
from longproof.retrieval.contents import CHARACTERS, Contents, decode, printable, refuse_longer
from longproof.retrieval.files import open_file
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document, DocumentKind, FileNotes
from longproof.retrieval.web_pages import read_page

KINDS: dict[str, DocumentKind] = {".md": "markdown", ".markdown": "markdown", ".json": "record"}
"""By suffix; every other file that is no book and no page is plain text."""

FILE_BYTES = 64_000_000  # how large a file may be; a long novel as a scan with pictures has about as many
SECONDS = 300  # how long reading a file may take; a scanned novel of a thousand pages takes about one minute
MEMORY = 4 << 30  # how much memory it may take, in bytes; not on Windows, which has no such limit
DEEPEST = 200  # levels of a JSON value; more are a mistake or an attack on the parser's stack
VALUES = 500_000  # of a record: each is a line that is indexed, and millions take minutes and gigabytes

_LONGEST_KEY = 100
_PLAIN_KEY = re.compile(r"[^\s.\[\]:\"](?:[^.\[\]:\"\x00-\x1f]*[^\s.\[\]:\"])?")
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_APART = {".pdf": read_pdf, ".docx": read_docx}
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from longproof.retrieval.loaders import answer; answer(sys.argv[2], sys.argv[3], sys.stdin.buffer)"
)


def read_source(path: Path, encoding: str | None = None, data: bytes | None = None) -> Document:
    """The document in a file of any kind that we read, or in `data`, its bytes; `encoding` is for plain text.

    The title is what the file says, else its name without suffix. Raises BadInput.
    """
    name, suffix = printable(str(path)), path.suffix.lower()
    # Names of files that aren't UTF-8 have no text of their own.
    title, uri = without_surrogates(path.stem), without_surrogates(str(path))
    data = read_bytes(path) if data is None else data
    if reader := READERS.get(suffix):
        book = reader(data, name)
        text = book.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
        refuse_longer(text, name)
        if not text.strip():
            raise BadInput(
                f"{name}: there is no text in it; if its pages are pictures, run text recognition first"
            )
        text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
        title = without_surrogates(book.title) or title
        return Document.of(text, kind="markdown", title=title, uri=uri, notes=book.notes)
    text, guess = decode(data, encoding, name)
    notes = FileNotes(guessed_encoding=guess)
    kind = KINDS.get(suffix, "text")
    if kind == "record":
        return record(text, title=title, uri=uri).model_copy(update={"notes": notes})
    return Document.of(text, kind=kind, title=title, uri=uri, notes=notes)


def read_stdin(encoding: str | None = None) -> Document:
    """The plain text that comes on standard input. Raises BadInput as `read_source` does."""
    name = "standard input"
    text, guess = decode(_read_within_limit(sys.stdin.buffer, name), encoding, name)
    return Document.of(text, title=name, notes=FileNotes(guessed_encoding=guess))


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file. Raises BadInput where it can't be read or has more than FILE_BYTES."""
    name = printable(str(path))
    try:
        with open_file(path) as file:
            return _read_within_limit(file, name)
    except FileNotFoundError as error:
        if re.match("(?:https?|ftp):/", name, re.IGNORECASE):
            name = name.replace(":/", "://", 1)
            raise BadInput(f"{name}: not a file; save the page first, then give its file") from error
        raise BadInput(f"{name}: there is no such file; check the path") from error
    except OSError as error:
        raise BadInput(f"{name}: can't be read: {error.strerror}; check the path") from error
    except ValueError as error:
        raise BadInput(f"{name}: this can't be a file's name: {error}") from error


def _read_within_limit(file: IO[bytes], name: str) -> bytes:
    """All that is in a file. Raises BadInput where that is more than FILE_BYTES."""
    data = file.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise BadInput(f"{name}: larger than {FILE_BYTES // 10**6} MB; give its text alone, or split it")
    return data


def is_file_name(text: str, folder: Path) -> bool:
    """True if a text is nothing but the name of an existing file, as seen from this folder."""
    name = text.strip()
    if not name or len(name) > 1000 or "\n" in name:
        return False
    with suppress(OSError, ValueError):
        return (folder / name).is_file()
    return False


def read_apart(suffix: str, data: bytes, name: str) -> Contents:
    """The contents of a PDF or a Word document. Raises BadInput, also where it takes more than SECONDS or MEMORY."""
    # -I: nothing of the folder or the environment that this runs in changes what the child imports.
    command = [sys.executable, "-I", "-c", _CHILD, json.dumps(sys.path), suffix, name]
    try:
        child = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"{name}: reading it takes more than {SECONDS} s; give its text alone") from error
    if child.returncode:
        raise BadInput(f"{name}: reading it takes too much memory, or fails; give its text alone")
    status, text = child.stdout[:1], child.stdout[1:].decode("utf-8", "surrogatepass")
    if status != b"+":
        raise BadInput(text)
    return Contents.model_validate_json(text)


def answer(suffix: str, name: str, file: BinaryIO) -> None:
    """Read a file and print `+` and its contents, or `-` and why it can't be read: what the child process does."""
    with suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        contents = _APART[suffix](file.read(), name)
        refuse_longer(contents.text, name)
        told = "+" + contents.model_dump_json()
    except BadInput as error:
        told = f"-{error}"
    sys.stdout.buffer.write(told.encode("utf-8", "surrogatepass"))


READERS: dict[str, Callable[[bytes, str], Contents | Document]] = {
    ".epub": read_epub,
    ".pdf": partial(read_apart, ".pdf"),
    ".docx": partial(read_apart, ".docx"),
    ".html": read_page,
    ".htm": read_page,
    ".xhtml": read_page,
}


def record(raw: str, *, title: str = "", uri: str = "") -> Document:
    """The JSON text as a document of kind `record`: `team.home.name: Suns`, `players[0].points: 12`.

    Scalars stand as they were written, strings without quotes and on one line; an empty object, list or string is
    said to be one. Keys that hold a dot, bracket, colon or quote are quoted in the path. Raises BadInput for what
    is not JSON, for NaN and infinities, for a key given twice, for more than DEEPEST levels or VALUES values.
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
        lines, length = [], 0
        for line in _lines(value, "", 0):
            lines.append(line)
            length += len(line) + 1
            if len(lines) > VALUES:
                raise BadInput(f"more than {VALUES:,} values; split it")
            if length > CHARACTERS:
                raise BadInput("too long when each value is written with its path; shorten keys or nest less")
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
        # Numbers are strings already.
        told = isinstance(value, str) and value
        scalar = _make_writable(_BREAKS.sub(" ", value)) if told else json.dumps(value)
        yield f"{path}: {scalar}" if path else scalar


def _key(key: str) -> str:
    clipped = _make_writable(key if len(key) <= _LONGEST_KEY else key[:_LONGEST_KEY] + "…")
    return clipped if _PLAIN_KEY.fullmatch(clipped) else json.dumps(clipped, ensure_ascii=False)


def _make_writable(text: str) -> str:
    """The text without lone surrogates and NUL, which JSON can escape but no text may hold."""
    return without_surrogates(text).replace("\0", "\ufffd")

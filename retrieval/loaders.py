"""Files to documents: plain text, Markdown, JSON, EPUB, PDF, DOCX and HTML.

Knows: which reader a file's suffix asks for, how large files and texts may be.
PDFs and Word documents are read in a process of their own, which ends when it takes too long or too much memory: a
crafted file can keep a parser busy for hours, or fill the memory.
Does not know: how a format keeps its text (`books`, `docx`, `web_pages`), how encodings are told (`contents`).
Of books and pages the document is the extracted Markdown, chapters as headings, and offsets refer to that. Files are
hostile data: nothing is unpacked to disk, fetched or run.
"""

import json
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

from longproof.retrieval.books import read_epub, read_pdf
from longproof.retrieval.contents import Contents, decode, printable, refuse_longer
from longproof.retrieval.docx import read_docx
from longproof.retrieval.json_text import record
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document, DocumentKind, FileNotes
from longproof.retrieval.web_pages import read_page

KINDS: dict[str, DocumentKind] = {".md": "markdown", ".markdown": "markdown", ".json": "record"}
"""By suffix; every other file that is no book and no page is plain text."""

FILE_BYTES = 64_000_000
"""How large a file may be, in bytes; a long novel as a scan with pictures has about as many."""
SECONDS = 300
"""How long reading a file may take; a scanned novel of a thousand pages takes about one minute."""
MEMORY = 4 << 30
"""How much memory it may take, in bytes; not on Windows, which has no such limit."""

_APART = {".pdf": read_pdf, ".docx": read_docx}
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from longproof.retrieval.loaders import answer; answer(sys.argv[2], sys.argv[3], sys.stdin.buffer)"
)


def read_source(path: Path, encoding: str | None = None, data: bytes | None = None) -> Document:
    """The document in a file of any kind that we read, or in `data`, its bytes; `encoding` is for plain text.

    The title is what the file says, else its name without suffix; the uri is the path as given. Raises BadInput
    for what can't be read, is protected, or holds no text.
    """
    name, suffix = printable(str(path)), path.suffix.lower()
    # Names of files that aren't UTF-8 have no text of their own.
    title, uri = without_surrogates(path.stem), without_surrogates(str(path))
    data = read_bytes(path) if data is None else data
    if reader := READERS.get(suffix):
        book = reader(data, name)
        text = _tidy(book.text, name)
        title = without_surrogates(book.title) or title
        return Document.of(text, kind="markdown", title=title, uri=uri, notes=book.notes)
    text, guess = decode(data, encoding, name)
    refuse_longer(text, name)
    notes = FileNotes(guessed_encoding=guess)
    kind = KINDS.get(suffix, "text")
    if kind == "record":
        return record(text, title=title, uri=uri).model_copy(update={"notes": notes})
    return Document.of(text, kind=kind, title=title, uri=uri, notes=notes)


def _tidy(text: str, name: str) -> str:
    """The text of a book or a page with plain line breaks. Raises BadInput where there is too much or none."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    refuse_longer(text, name)
    if not text.strip():
        raise BadInput(
            f"{name}: there is no text in it; if its pages are pictures, run text recognition first"
        )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def read_stdin(encoding: str | None = None) -> Document:
    """The plain text that comes on standard input. Raises BadInput as `read_source` does."""
    name = "standard input"
    text, guess = decode(_read_bounded(sys.stdin.buffer, name), encoding, name)
    refuse_longer(text, name)
    return Document.of(text, title=name, notes=FileNotes(guessed_encoding=guess))


def read_html(data: bytes, name: str) -> Contents:
    """The text of a saved page. Raises BadInput for a page without one."""
    document = read_page(data, name)
    return Contents(text=document.text, title=document.title, notes=document.notes)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises BadInput where it can't be read, is no regular file, or has more than FILE_BYTES.

    Devices and pipes have no end, or wait for a writer that never comes.
    """
    name = printable(str(path))
    try:
        refuse_irregular(path)
        with path.open("rb") as file:
            return _read_bounded(file, name)
    except FileNotFoundError as error:
        if re.match("(?:https?|ftp):/", name, re.IGNORECASE):
            name = name.replace(":/", "://", 1)
            raise BadInput(f"{name}: not a file; save the page first, then give its file") from error
        raise BadInput(f"{name}: there is no such file; check the path") from error
    except IsADirectoryError as error:
        raise BadInput(f"{name}: this is a directory; give a file") from error
    except OSError as error:
        raise BadInput(f"{name}: can't be read: {error.strerror}; check the path") from error
    except ValueError as error:
        raise BadInput(f"{name}: this can't be a file's name: {error}") from error


def _read_bounded(file: IO[bytes], name: str) -> bytes:
    """All that is in a file. Raises BadInput where that is more than FILE_BYTES."""
    data = file.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise BadInput(f"{name}: larger than {FILE_BYTES // 10**6} MB; give its text alone, or split it")
    return data


def refuse_irregular(path: Path) -> None:
    """Raises BadInput for a device, a pipe or a socket, OSError where there is nothing."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise BadInput(
            f"{printable(str(path))}: a device or a pipe, not a file; save its content to a file first"
        )


def read_apart(suffix: str, data: bytes, name: str) -> Contents:
    """The contents of a PDF or a Word document, by its suffix.

    Raises BadInput as its reader does, and where it takes more than SECONDS or MEMORY.
    """
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
    _limit_memory()
    try:
        contents = _APART[suffix](file.read(), name)
        refuse_longer(contents.text, name)
        told = "+" + contents.model_dump_json()
    except BadInput as error:
        told = f"-{error}"
    sys.stdout.buffer.write(told.encode("utf-8", "surrogatepass"))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


READERS: dict[str, Callable[[bytes, str], Contents]] = {
    ".epub": read_epub,
    ".pdf": partial(read_apart, ".pdf"),
    ".docx": partial(read_apart, ".docx"),
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
}

"""The result of every reader of a file format, and the one line that names a broken file.

Knows: texts with a title and notes; what parsers raise on broken files; XML and ZIP archives within bounds.
Does not know: any one format.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from xml.etree import ElementTree

from longproof.retrieval.encoding import printable
from longproof.retrieval.types import BadInput, FileNotes, Frozen

CHARACTERS = 20_000_000
"""How long a document may be once it is text: several times the longest novels."""
UNPACKED = 256_000_000
"""Of a packed file, in bytes; a long novel has about 5 million."""

_OF_PYTHON = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OSError,
    EOFError,
    RuntimeError,
    SyntaxError,
)
_OF_LIBRARIES = (ArithmeticError, AssertionError, MemoryError, zipfile.BadZipFile, zlib.error, struct.error)
BROKEN = (*_OF_PYTHON, *_OF_LIBRARIES)
"""The errors that parsers raise on broken files. ElementTree's are SyntaxErrors."""


class Contents(Frozen):
    """The text of a file as Markdown, the title that it names, if any, and notes."""

    text: str
    title: str = ""
    notes: FileNotes = FileNotes()


@contextmanager
def plain_errors(name: str, what: str) -> Iterator[None]:
    """Turn what parsers raise on a broken file into one line; a missing library too."""
    try:
        yield
    except BadInput as error:
        raise BadInput(str(error) if str(error).startswith(name) else f"{name}: {error}") from error
    except ImportError as error:
        raise BadInput(f"{name}: to read {what}, install longproof[read] ({_line(error)})") from error
    except BROKEN as error:
        raise broken_file(name, what, error) from error


def broken_file(name: str, what: str, error: Exception) -> BadInput:
    """That a file of this name is not what it should be."""
    return BadInput(f"{name}: not {what} that can be read: {_line(error)}; save it again, or as text")


def open_archive(data: bytes, name: str) -> zipfile.ZipFile:
    """The ZIP archive in these bytes. Raises BadInput where it unpacks to too much."""
    archive = zipfile.ZipFile(BytesIO(data))
    # zipfile reads no more of a file than its declared size.
    if sum(info.file_size for info in archive.infolist()) > UNPACKED:
        raise BadInput(f"{name}: it unpacks to more than {UNPACKED // 10**6} MB; give its text alone")
    return archive


def parse_xml(data: bytes, name: str) -> ElementTree.Element:
    """The root element. Raises BadInput for declarations: entities can grow without measure, or name files."""
    if re.search(rb"<!\s*(?:DOCTYPE|ENTITY)", data.replace(b"\0", b""), re.IGNORECASE):
        raise BadInput(f"{name}: its XML makes declarations of its own; save it again with another program")
    return ElementTree.fromstring(data)


def refuse_longer(text: str, name: str) -> None:
    """Raises BadInput for a text of more than CHARACTERS."""
    if len(text) > CHARACTERS:
        raise BadInput(f"{name}: its text is longer than {CHARACTERS:,} characters; split it")


def join_notes(notes: list[FileNotes]) -> FileNotes:
    """The notes on all parts of a file as one; of several guessed encodings the first."""
    return FileNotes(
        guessed_encoding=next((each.guessed_encoding for each in notes if each.guessed_encoding), ""),
        left_out=tuple(sorted({what for each in notes for what in each.left_out})),
        unread=tuple(sorted({what for each in notes for what in each.unread})),
    )


def _line(error: Exception) -> str:
    return printable(" ".join(str(error).split())[:200]) or type(error).__name__

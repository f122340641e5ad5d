"""What readers of all file formats share: texts in bytes, archives and XML within bounds, one line for a broken file.

Knows: a byte order mark, UTF-8 and an encoding that the caller names are certain; everything else is chardet's
guess, and is said to be one. Does not know: any one format.
"""

import codecs
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from xml.etree import ElementTree

from pydantic import BaseModel

from longproof.retrieval.types import BadInput, FileNotes

CHARACTERS = 20_000_000  # how long a document may be once it is text: several times the longest novels
UNPACKED = 256_000_000  # of a packed file, in bytes; a long novel has about 5 million

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_OF_TWO_SCRIPTS = re.compile("[A-Za-z][\u0370-\u06ff]|[\u0370-\u06ff][A-Za-z]")
"""No word has Latin letters beside Greek, Cyrillic, Hebrew or Arabic ones; a few accents misread give such words."""

_NOT_WESTERN = re.compile("[^\x00-\x7f\u00a0-\u017f\u2010-\u2027]")
"""English text written on a Chinese computer has none of these; misread as Chinese, other text has."""


class Contents(BaseModel):
    """A file's text as Markdown, the title that it names, if any, and remarks; filled while the file is read."""

    text: str = ""
    title: str = ""
    guess: str = ""  # the encoding that its bytes were taken for, where nothing told it
    left_out: set[str] = set()
    unread: set[str] = set()
    facts: dict[str, str] = {}
    """Of a page's head: `title`, `canonical`, `og:title`, `og:url`, `saved from`; the first of each."""

    @property
    def notes(self) -> FileNotes:
        """The remarks as a document keeps them."""
        left_out, unread = tuple(sorted(self.left_out)), tuple(sorted(self.unread))
        return FileNotes(guessed_encoding=self.guess, left_out=left_out, unread=unread)


@contextmanager
def plain_errors(name: str, what: str) -> Iterator[None]:
    """Turn what parsers raise on a broken file, or for a missing library, into one line that begins with its name."""
    try:
        yield
    except BadInput as error:
        raise BadInput(str(error) if str(error).startswith(name) else f"{name}: {error}") from error
    except Exception as error:  # parsers raise anything on a broken file
        reason = printable(" ".join(str(error).split())[:200]) or type(error).__name__
        if isinstance(error, ImportError):
            raise BadInput(f"{name}: to read {what}, install longproof[read] ({reason})") from error
        raise BadInput(f"{name}: not {what} that can be read: {reason}; save it again, or as text") from error


def open_archive(data: bytes) -> zipfile.ZipFile:
    """The ZIP archive in these bytes. Raises BadInput where it unpacks to too much."""
    archive = zipfile.ZipFile(BytesIO(data))
    # zipfile reads no more of a file than its declared size.
    if sum(info.file_size for info in archive.infolist()) > UNPACKED:
        raise BadInput(f"it unpacks to more than {UNPACKED // 10**6} MB; give its text alone")
    return archive


def parse_xml(data: bytes) -> ElementTree.Element:
    """The root element. Raises BadInput for declarations: entities can grow without measure, or name files."""
    if re.search(rb"<!\s*(?:DOCTYPE|ENTITY)", data.replace(b"\0", b""), re.IGNORECASE):
        raise BadInput("its XML makes declarations of its own; save it again with another program")
    return ElementTree.fromstring(data)


def refuse_longer(text: str, name: str) -> None:
    """Raises BadInput for a text of more than CHARACTERS."""
    if len(text) > CHARACTERS:
        raise BadInput(f"{name}: its text is longer than {CHARACTERS:,} characters; split it")


def decode(data: bytes, encoding: str | None = None, name: str = "") -> tuple[str, str]:
    """The text in the bytes, each line break one `\\n`, and the name of its encoding if that was guessed, else "".

    Without `encoding`: by a byte order mark, else UTF-8, else a guess. Raises BadInput, naming `name`, for what is
    no text, is too long, or is not in the encoding that was named.
    """
    name = printable(name) or "the input"
    if not data:
        raise BadInput(f"{name}: the file is empty; give one with text")
    if data.startswith(bytes.fromhex("D0CF11E0A1B11AE1")) and name.lower().endswith(".doc"):
        raise BadInput(f"{name}: an old Word file: save it as .docx")
    text, guess = (_decode_as(data, encoding, name), "") if encoding else _tell_encoding(data, name)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise BadInput(
            f"{name}: it holds NUL bytes, so it is not a text file; give plain text, Markdown or JSON"
        )
    if not text.strip():
        raise BadInput(f"{name}: there is no text in it, only spaces and line breaks")
    refuse_longer(text, name)
    return text, guess


def _decode_as(data: bytes, encoding: str, name: str) -> str:
    try:
        text = data.decode(encoding)
        text.encode()  # some encodings give half characters, which no text may hold
    except UnicodeError as error:
        raise BadInput(f"{name}: it is not in {encoding}; give another --encoding, or none") from error
    except (LookupError, ValueError) as error:
        known = "for instance utf-8, gb18030, big5, utf-16, latin-1"
        raise BadInput(
            f"{name}: {printable(encoding)!r} is no known encoding; give --encoding {known}"
        ) from error
    return text


def _tell_encoding(data: bytes, name: str) -> tuple[str, str]:
    """The text by its byte order mark, as UTF-8, or in the likeliest encoding."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], encoding, name), ""
    text = _try_encoding(data, "utf-8")
    if text is not None:
        return text, ""
    for encoding in ("gb18030", "big5hkscs"):
        text = _try_encoding(data, encoding)
        if text is not None and not _NOT_WESTERN.search(text):
            return text, encoding
    import chardet

    era = chardet.EncodingEra.MODERN_WEB
    guess = chardet.detect(data, encoding_era=era, prefer_superset=True, compat_names=False)["encoding"]
    text = _try_encoding(data, guess) if guess else None
    if text is not None and _OF_TWO_SCRIPTS.search(text):
        guess, text = "cp1252", _try_encoding(data, "cp1252")
    if text is None:
        raise BadInput(
            f"{name}: it is not a text file, or its encoding can't be told; give text, Markdown or JSON, or name it "
            "with --encoding, for instance latin-1"
        )
    return text, str(guess)


def _try_encoding(data: bytes, encoding: str) -> str | None:
    """The text if the bytes are all in this encoding, and it has hardly any control characters."""
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
    controls = [c for c in set(text) if unicodedata.category(c) == "Cc" and c not in "\t\n\x0b\x0c\r\x85"]
    return text if "\0" not in text and sum(map(text.count, controls)) <= len(text) / 100 else None


def printable(text: str) -> str:
    """The text with a question mark for each character that would break a message of one line."""
    return "".join(c if c.isprintable() else "?" for c in text)

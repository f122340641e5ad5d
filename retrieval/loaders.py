"""Files to documents: plain text, Markdown, JSON, EPUB, PDF, DOCX and HTML.

Knows: where these formats keep their text, its order and its headings; how they are protected or hollowed out.
Does not know: how encodings are told apart (`encoding`), how HTML becomes Markdown (`html_markdown`).
Of books and pages the document is the extracted Markdown, chapters as headings, and offsets refer to that. Files are
hostile data: nothing is unpacked to disk, fetched or run; XML with declarations of its own is refused, and so is what
unpacks to more than UNPACKED bytes.
"""

import logging
import posixpath
import re
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree

from longproof.retrieval.encoding import decode, printable
from longproof.retrieval.html_markdown import html_to_markdown
from longproof.retrieval.json_text import record
from longproof.retrieval.pdf_length import refuse_long
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document, DocumentKind
from longproof.retrieval.web_pages import read_page

KINDS: dict[str, DocumentKind] = {".md": "markdown", ".markdown": "markdown", ".json": "record"}
"""By suffix; every other file that is no book and no page is plain text."""

FILE_BYTES = 64_000_000
"""How large a file may be, in bytes; a long novel as a scan with pictures has about as many."""

CHARACTERS = 20_000_000
"""How long a document may be once it is text: several times the longest novels."""
COLUMNS, CELLS = 1_000, 300_000
"""How many columns a table of a Word document may have, and all tables cells, merged ones for each column."""
PIECES = 500_000
"""How many paragraphs, runs, links and cells a Word document may have; a long novel has about 100,000."""

UNPACKED = 256_000_000
"""Of a packed file, in bytes; a long novel has about 5 million."""

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_BROKEN = (ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, RuntimeError, SyntaxError)
_BROKEN_MORE = (ArithmeticError, AssertionError, MemoryError, zipfile.BadZipFile, zlib.error, struct.error)
"""What parsers raise on broken files. lxml's and ElementTree's errors are SyntaxErrors."""

_UNSAID = logging.NullHandler()
"""pypdf's warnings quote the file, terminal codes and all: they go to handlers that were asked for, not to stderr."""


class Contents(NamedTuple):
    """What a reader gives: Markdown, and the title that the file says, or none."""

    text: str
    title: str = ""


def read_source(path: Path, encoding: str | None = None, data: bytes | None = None) -> Document:
    """The document in a file of any kind that we read, or in `data`, its bytes; `encoding` is for plain text.

    The title is what the file says, else its name without suffix; the uri is the path as given. Raises BadInput
    for what can't be read, is protected, or holds no text.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        return read_document(path, encoding, data)
    name = printable(str(path))
    book = reader(read_bytes(path) if data is None else data, name)
    text = re.sub(r"\n{3,}", "\n\n", book.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))
    if not text.strip():
        raise BadInput(
            f"{name}: there is no text in it; if its pages are pictures, run text recognition first"
        )
    title = without_surrogates(book.title or path.stem)
    return Document.of(text.strip() + "\n", kind="markdown", title=title, uri=_uri(path))


def read_document(path: Path, encoding: str | None = None, data: bytes | None = None) -> Document:
    """The document in a file or its bytes: its title is the file's name without suffix, its uri the path as given.

    `.md` is markdown, `.json` a record, everything else text. Raises BadInput for a file that is missing, not
    readable, empty, binary or without text, for a directory, for bytes whose encoding can't be told (see
    `encoding.decode`) and for what is not JSON.
    """
    data = read_bytes(path) if data is None else data
    text = _Room(printable(str(path))).take(decode(data, encoding, str(path)))
    kind = KINDS.get(path.suffix.lower(), "text")
    title = without_surrogates(path.stem)
    if kind == "record":
        return record(text, title=title, uri=_uri(path))
    return Document.of(text, kind=kind, title=title, uri=_uri(path))


def read_stdin(encoding: str | None = None) -> Document:
    """The plain text that comes on standard input. Raises BadInput as `read_document` does."""
    name = "standard input"
    text = _Room(name).take(decode(_bounded(sys.stdin.buffer, name), encoding, name))
    return Document.of(text, title=name)


def epub(data: bytes, name: str) -> Contents:
    """The chapters of an EPUB in reading order. Raises BadInput where it is protected or not one."""
    with _broken(name, "an EPUB"), zipfile.ZipFile(BytesIO(data)) as packed:
        files = _Packed(packed, name)
        root = _xml(files.read(_CONTAINER), name).find(".//{*}rootfile")
        opf = unquote(root.get("full-path", "")) if root is not None else ""
        package = _xml(files.read(opf), name)
        # A spine names each chapter once; one that names it a thousand times is no book's.
        chapters = list(dict.fromkeys(_chapters(package, posixpath.dirname(opf))))
        _refuse_protected(files, chapters, name)
        room = _Room(name)
        texts = [room.take(_chapter(files.read(path), f"{name}: {path}")) for path in chapters]
        title = package.findtext(".//{http://purl.org/dc/elements/1.1/}title") or ""
    return Contents("\n\n".join(texts), " ".join(title.split()))


def _chapters(package: ElementTree.Element, folder: str) -> list[str]:
    """The paths of the documents in the spine, without those outside the reading order."""
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    chapters = []
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items[reference.get("idref")]
        if reference.get("linear") != "no" and "nav" not in item.get("properties", "").split():
            href = unquote(urldefrag(item.get("href", "")).url)
            chapters.append(posixpath.normpath(posixpath.join(folder, href)))
    return chapters


def _chapter(data: bytes, name: str) -> str:
    if not data.strip():
        return ""
    return html_to_markdown(_EMPTY_ELEMENT.sub(_written_out, decode(data, name=name)))[0]


_EMPTY_ELEMENT = re.compile(r"<([a-zA-Z][\w:.-]*)((?:\s[^<>]*)?)/>")
_VOID = re.compile("area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr", re.IGNORECASE)


def _written_out(found: re.Match[str]) -> str:
    """XHTML may say `<title/>`, which in HTML opens an element that never ends."""
    return found[0] if _VOID.fullmatch(found[1]) else f"<{found[1]}{found[2]}></{found[1]}>"


def _refuse_protected(files: "_Packed", chapters: list[str], name: str) -> None:
    if not files.has(_ENCRYPTION):
        return
    locked = _xml(files.read(_ENCRYPTION), name).iterfind(".//{*}CipherReference")
    if {unquote(reference.get("URI", "")) for reference in locked} & set(chapters):
        raise BadInput(f"{name}: the book is protected against copying; give one without protection")


def pdf(data: bytes, name: str) -> Contents:
    """The pages of a PDF, entries of its outline as headings. Raises BadInput where it is locked or not one."""
    with _broken(name, "a PDF"):
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError

        logging.getLogger("pypdf").addHandler(_UNSAID)
        try:
            reader = PdfReader(BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise BadInput(f"{name}: it is locked with a password; save a copy without one")
            refuse_long(reader, name)
            headings, room = _outline(reader, reader.outline, 1), _Room(name)
            pages = [
                _with_headings(room.take(page.extract_text()), [h for h in headings if h[0] == number])
                for number, page in enumerate(reader.pages)
            ]
            title = str((reader.metadata.title if reader.metadata else "") or "")
        except PyPdfError as error:
            raise BadInput(f"{name}: not a PDF that can be read: {_line(error)}") from error
    return Contents("\n\n".join(pages), " ".join(title.split()))


def _outline(reader: Any, entries: Any, level: int) -> list[tuple[int, int, str]]:
    """The entries as (page, level, title); what nests deeper than Markdown's six levels stays at six."""
    found = []
    for entry in entries:
        if isinstance(entry, list):
            found += _outline(reader, entry, min(level + 1, 6))
        else:
            page = reader.get_destination_page_number(entry)
            title = " ".join(str(entry.title or "").split())
            found += [(page, level, title)] if page is not None and page >= 0 and title else []
    return found


def _with_headings(text: str, headings: list[tuple[int, int, str]]) -> str:
    """The page's text, with the headings where their words stand on a line of their own, else at its top."""
    lines = text.split("\n")
    missing = []
    for _, level, title in headings:
        at = next((i for i, line in enumerate(lines) if " ".join(line.split()) == title), None)
        mark = f"{'#' * level} {title}"
        if at is None:
            missing.append(mark)
        else:
            lines[at] = f"\n{mark}\n"
    return "\n".join([*missing, *([""] if missing else []), *lines])


def docx(data: bytes, name: str) -> Contents:
    """The paragraphs and tables of a Word document, its heading styles as headings.

    Raises BadInput where it is protected or not one.
    """
    with _broken(name, "a Word document"):
        with zipfile.ZipFile(BytesIO(data)) as packed:
            files = _Packed(packed, name)
            pieces = 0
            for path in packed.namelist():
                if path.endswith((".xml", ".rels")):
                    part = files.read(path).replace(b"\0", b"")
                    _refuse_declarations(part, name)
                    pieces += sum(1 for _ in _PIECE.finditer(part))
            if pieces > PIECES:
                raise BadInput(f"{name}: it has more than {PIECES:,} paragraphs, runs and cells; split it")
        from docx import Document as Word
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.table import Table

        word = Word(BytesIO(data))
        room = _Room(name)
        parts = [
            _table(part, room) if isinstance(part, Table) else room.take(_paragraph(part))
            for part in word.iter_inner_content()
        ]
        # Where the file has no properties, python-docx makes some up, with a title.
        parts_of = {one.reltype for one in word.part.package.rels.values()}
        title = word.core_properties.title if RELATIONSHIP_TYPE.CORE_PROPERTIES in parts_of else ""
    return Contents("\n\n".join(part for part in parts if part.strip()), " ".join(title.split()))


_PIECE = re.compile(rb"<(?:[^\s<>/:]+:)?(?:p|r|hyperlink|tc)[\s/>]")


def _paragraph(paragraph: Any) -> str:
    style = (paragraph.style.name or "").lower() if paragraph.style is not None else ""
    found = re.fullmatch(r"heading ([1-6])|(title)", style)
    text = paragraph.text.strip()
    return f"{'#' * int(found[1] or 1)} {' '.join(text.split())}" if found and text else text


def _table(table: Any, room: "_Room") -> str:
    lines = []
    for row in table.rows:
        columns = sum(cell.grid_span for cell in row._tr.tc_lst)
        room.cells -= columns
        if columns > COLUMNS or room.cells < 0:
            raise BadInput(
                f"{room.name}: a table has more than {COLUMNS:,} columns, or all have more than {CELLS:,} cells; "
                "save it without them"
            )
        cells = [room.take(" ".join(cell.text.split())) for cell in row.cells]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def html(data: bytes, name: str) -> Contents:
    """The main text of a saved page. Raises BadInput for a page without one."""
    with _broken(name, "a page"):
        page = read_page(data, name)
    return Contents(page.document.text, page.document.title)


READERS: dict[str, Callable[[bytes, str], Contents]] = {
    ".epub": epub,
    ".pdf": pdf,
    ".docx": docx,
    ".html": html,
    ".htm": html,
    ".xhtml": html,
}


class _Room:
    """How much text a file may still give, so that one that repeats itself ends before it fills the memory."""

    def __init__(self, name: str) -> None:
        self.name, self.cells, self._left = name, CELLS, CHARACTERS

    def take(self, text: str) -> str:
        """The text. Raises BadInput where that makes more than CHARACTERS."""
        self._left -= len(text)
        if self._left < 0:
            raise BadInput(f"{self.name}: its text is longer than {CHARACTERS:,} characters; split it")
        return text


class _Packed:
    """The files of a ZIP archive, read into memory within bounds."""

    def __init__(self, packed: zipfile.ZipFile, name: str) -> None:
        self._packed = packed
        self._name = name
        self._left = UNPACKED
        if sum(info.file_size for info in packed.infolist()) > UNPACKED:
            raise self._too_large()

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._packed.NameToInfo

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises BadInput where the archive unpacks to too much, KeyError for no such file."""
        with self._packed.open(path) as file:
            data = file.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise self._too_large()
        return data

    def _too_large(self) -> BadInput:
        return BadInput(f"{self._name}: it unpacks to more than {UNPACKED // 10**6} MB; give its text alone")


def _xml(data: bytes, name: str) -> ElementTree.Element:
    _refuse_declarations(data, name)
    return ElementTree.fromstring(data)


def _refuse_declarations(data: bytes, name: str) -> None:
    """No book needs declarations in its XML; entities can grow without measure, or name files."""
    if re.search(rb"<!\s*(?:DOCTYPE|ENTITY)", data.replace(b"\0", b""), re.IGNORECASE):
        raise BadInput(f"{name}: its XML makes declarations of its own; save it again with another program")


@contextmanager
def _broken(name: str, what: str) -> Iterator[None]:
    """Turns what parsers raise on a broken file into one line; a missing library too."""
    try:
        yield
    except BadInput as error:
        raise BadInput(str(error) if str(error).startswith(name) else f"{name}: {error}") from error
    except ImportError as error:
        raise BadInput(f"{name}: to read {what}, install longproof[read] ({_line(error)})") from error
    except (*_BROKEN, *_BROKEN_MORE) as error:
        raise BadInput(
            f"{name}: not {what} that can be read: {_line(error)}; save it again, or as text"
        ) from error


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises BadInput where it can't be read, is no regular file, or has more than FILE_BYTES.

    Devices and pipes have no end, or wait for a writer that never comes.
    """
    name = printable(str(path))
    try:
        refuse_irregular(path)
        with path.open("rb") as file:
            return _bounded(file, name)
    except FileNotFoundError as error:
        if re.match("(?:https?|ftp):/", name, re.IGNORECASE):
            name = name.replace(":/", "://", 1)
            raise BadInput(f"{name}: not a file; save the page first, then give its file") from error
        raise BadInput(f"{name}: there is no such file; check the path") from error
    except IsADirectoryError as error:
        raise BadInput(f"{name}: this is a directory; give a file") from error
    except BadInput:
        raise
    except OSError as error:
        raise BadInput(f"{name}: can't be read: {error.strerror}; check the path") from error
    except ValueError as error:
        raise BadInput(f"{name}: this can't be a file's name: {error}") from error


def _bounded(file: IO[bytes], name: str) -> bytes:
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


def _uri(path: Path) -> str:
    """The path as a report can hold it: names that aren't UTF-8 have no text of their own."""
    return without_surrogates(str(path))


def _line(error: Exception) -> str:
    return printable(" ".join(str(error).split())[:200]) or type(error).__name__

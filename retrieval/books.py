"""EPUB and PDF: the text of a book in reading order, as Markdown.

Knows: where an EPUB keeps its chapters and how it is protected; what a page of a PDF (read by pypdf) may show that is
not in its text.
Does not know: how HTML becomes Markdown (`web_pages`), how long a crafted file takes (`loaders`).
"""

import logging
import posixpath
import re
import zipfile
from html import escape
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree

from longproof.retrieval.contents import Contents, join_notes, open_archive, parse_xml, plain_errors
from longproof.retrieval.types import BadInput, FileNotes
from longproof.retrieval.web_pages import decode_html, html_to_markdown

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_EMPTY_ELEMENT = re.compile(r"<([a-zA-Z][\w:.-]*)((?:\s[^<>]*)?)/>")
_CHARACTER_DATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
"""Text as it is, which HTML doesn't have."""
_VOID = re.compile("area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr", re.IGNORECASE)

_SILENT = logging.NullHandler()
"""pypdf's warnings quote the file, terminal codes and all: they go to handlers that were asked for, not to stderr."""
_NOTES_WITH_TEXT = {"/FreeText", "/Redact", "/Stamp", "/Watermark", "/Widget"}
"""Annotations that show text on the page; a widget is a form field."""
_PAINTING = re.compile(rb"(?<!\S)(?:Do|BI|sh)(?!\S)")


def read_epub(data: bytes, name: str) -> Contents:
    """The chapters of an EPUB in reading order, those beside it (`linear="no"`) where its spine names them.

    Raises BadInput where it is protected or not one.
    """
    with plain_errors(name, "an EPUB"), open_archive(data, name) as archive:
        root = parse_xml(archive.read(_CONTAINER), name).find(".//{*}rootfile")
        opf = unquote(root.get("full-path", "")) if root is not None else ""
        package = parse_xml(archive.read(opf), name)
        # A spine names each chapter once; one that names it a thousand times is no book's.
        chapters = list(dict.fromkeys(_chapter_paths(package, posixpath.dirname(opf))))
        _refuse_protected(archive, chapters, name)
        texts, notes = [], [FileNotes(left_out=("table of contents",))]
        for path in chapters:
            if (chapter := archive.read(path)).strip():
                markup, guess = decode_html(chapter, f"{name}: {path}")
                plain = _CHARACTER_DATA.sub(lambda found: escape(found[1]), markup)
                page = html_to_markdown(_EMPTY_ELEMENT.sub(_write_out, plain))
                texts.append(page.text)
                notes += [page.notes, FileNotes(guessed_encoding=guess)]
        title = package.findtext(".//{http://purl.org/dc/elements/1.1/}title") or ""
    return Contents(text="\n\n".join(texts), title=" ".join(title.split()), notes=join_notes(notes))


def _chapter_paths(package: ElementTree.Element, folder: str) -> list[str]:
    """The paths of the documents in the spine, without the table of contents."""
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    chapters = []
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items[reference.get("idref")]
        if "nav" not in item.get("properties", "").split():
            href = unquote(urldefrag(item.get("href", "")).url)
            chapters.append(posixpath.normpath(posixpath.join(folder, href)))
    return chapters


def _write_out(element: re.Match[str]) -> str:
    """XHTML may write `<title/>`, which in HTML opens an element that never ends."""
    if _VOID.fullmatch(element[1]):
        return element[0]
    return f"<{element[1]}{element[2]}></{element[1]}>"


def _refuse_protected(archive: zipfile.ZipFile, chapters: list[str], name: str) -> None:
    if _ENCRYPTION not in archive.namelist():
        return
    locked = parse_xml(archive.read(_ENCRYPTION), name).iterfind(".//{*}CipherReference")
    if {unquote(reference.get("URI", "")) for reference in locked} & set(chapters):
        raise BadInput(f"{name}: the book is protected against copying; give one without protection")


def read_pdf(data: bytes, name: str) -> Contents:
    """The pages of a PDF, entries of its outline as headings. Raises BadInput where it is locked or not one."""
    with plain_errors(name, "a PDF"):
        from pypdf import PdfReader

        logging.getLogger("pypdf").addHandler(_SILENT)
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise BadInput(f"{name}: it is locked with a password; save a copy without one")
        headings = _outline(reader, reader.outline, 1)
        pages, left_out, unread = [], set[str](), set[str]()
        for number, page in enumerate(reader.pages):
            text = page.extract_text()
            _note_what_is_missing(page, text, left_out, unread)
            pages.append(_with_headings(text, [h for h in headings if h[0] == number]))
        title = str((reader.metadata.title if reader.metadata else "") or "")
    notes = FileNotes(left_out=tuple(sorted(left_out)), unread=tuple(sorted(unread)))
    return Contents(text="\n\n".join(pages), title=" ".join(title.split()), notes=notes)


def _note_what_is_missing(page: Any, text: str, left_out: set[str], unread: set[str]) -> None:
    """Add to the notes what this page shows beside its text."""
    for annotation in page.annotations or ():
        kind = annotation.get_object().get("/Subtype")
        if kind in _NOTES_WITH_TEXT:
            unread.add("form fields and notes on the pages")
        elif kind != "/Link":
            left_out.add("comments")
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    drawn = objects.get_object().values() if objects is not None else ()
    pictured = any(each.get_object().get("/Subtype") == "/Image" for each in drawn)
    if text.strip():
        left_out.update(["pictures"] if pictured else [])
    elif pictured or _paints(page):
        unread.add("pages that are pictures")


def _paints(page: Any) -> bool:
    """True if a page paints something that isn't text, be it inside a form or written into the page itself."""
    contents = page.get_contents()
    return contents is not None and _PAINTING.search(contents.get_data()) is not None


def _outline(reader: Any, entries: Any, level: int) -> list[tuple[int, int, str]]:
    """The entries as (page, level, title); what nests deeper than Markdown's six levels stays at six."""
    outline = []
    for entry in entries:
        if isinstance(entry, list):
            outline += _outline(reader, entry, min(level + 1, 6))
        else:
            page = reader.get_destination_page_number(entry)
            title = " ".join(str(entry.title or "").split())
            outline += [(page, level, title)] if page is not None and page >= 0 and title else []
    return outline


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

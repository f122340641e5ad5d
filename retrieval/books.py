"""EPUB, PDF and DOCX: the text of a book in reading order, as Markdown.

Knows: where an EPUB keeps its chapters and how it is protected; what a page of a PDF (read by pypdf) may show that is
not in its text; what of mammoth's HTML of a Word document is no text, and what mammoth doesn't read.
Does not know: how HTML becomes Markdown (`web_pages`), how long a crafted file takes (`loaders`).
Of a Word document insertions, content controls, text boxes, footnotes and endnotes are read, the notes behind the
text. Tracked deletions and comments are not; hidden text is.
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
"""Annotations that show text on the page; a widget is a form field. The others are links and comments."""
_PAINTING = re.compile(rb"(?<!\S)(?:Do|BI|sh)(?!\S)")

_STYLES = "p[style-name='Title'] => h1:fresh"
_NOTE_MARK = re.compile(r'<sup><a [^>]*>\[\d+\]</a></sup>|\s?<a href="#[^"]*">↑</a>')
_IGNORED = {
    "w:altChunk": "embedded files",
    "w:fldSimple": "results of fields",
    "w:ruby": "readings above characters",
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath": "formulas",
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMathPara": "formulas",
}
"""Elements with text that mammoth reports as ignored, and what they are."""
_DRAWN = re.compile(rb"<(?:\w+:)?(?:chart|relIds|OLEObject|textpath)\b")
_HAS_LETTER = re.compile(r"<w:t(?:\s[^>]*)?>[^<]*[^\W\d_]")
_REPEATED = re.compile(r"word/(?:header|footer)\d*\.xml")


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
        texts, notes = [], list[FileNotes]()
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
        pages, unread = [], set[str]()
        for number, page in enumerate(reader.pages):
            text = page.extract_text()
            unread |= _unread_parts(page, text)
            pages.append(_with_headings(text, [h for h in headings if h[0] == number]))
        title = str((reader.metadata.title if reader.metadata else "") or "")
    return Contents(
        text="\n\n".join(pages),
        title=" ".join(title.split()),
        notes=FileNotes(unread=tuple(sorted(unread))),
    )


def _unread_parts(page: Any, text: str) -> set[str]:
    """Name what readers see on this page beside its text."""
    unread = set()
    for annotation in page.annotations or ():
        if annotation.get_object().get("/Subtype") in _NOTES_WITH_TEXT:
            unread.add("form fields and notes on the pages")
    contents = page.get_contents()
    if not text.strip() and contents is not None and _PAINTING.search(contents.get_data()):
        unread.add("pages that are pictures")
    return unread


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


def read_docx(data: bytes, name: str) -> Contents:
    """The paragraphs, lists, tables and notes of a Word document. Raises BadInput where it is no Word document."""
    with plain_errors(name, "a Word document"), open_archive(data, name) as archive:
        import mammoth

        unread = set()
        for path in archive.namelist():
            if path.endswith((".xml", ".rels")):
                part = archive.read(path)
                parse_xml(part, name)
                if _REPEATED.fullmatch(path) and _HAS_LETTER.search(part.decode("utf-8", "replace")):
                    unread.add("headers and footers")
                elif _DRAWN.search(part) and path == "word/document.xml":
                    unread.add("charts and embedded objects")
        # A style map inside the file could hide its text.
        result = mammoth.convert_to_html(
            BytesIO(data),
            style_map=_STYLES,
            include_embedded_style_map=False,
            convert_image=mammoth.images.img_element(lambda _: {}),
        )
        for message in result.messages:
            element = message.message.rpartition("ignored: ")[2]
            if element in _IGNORED:
                unread.add(_IGNORED[element])
        page = html_to_markdown(_NOTE_MARK.sub("", result.value))
        title = ""
        if "docProps/core.xml" in archive.namelist():
            properties = parse_xml(archive.read("docProps/core.xml"), name)
            title = properties.findtext("{http://purl.org/dc/elements/1.1/}title") or ""
    return Contents(
        text=page.text, title=" ".join(title.split()), notes=FileNotes(unread=tuple(sorted(unread)))
    )

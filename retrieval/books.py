"""EPUB, PDF and DOCX: the text of a book or a document in reading order, as Markdown.

Knows: where an EPUB keeps its chapters and how it is protected; what a page of a PDF may show that is not in its
text; where Office Open XML keeps text, and which of its elements are none. Tracked deletions are not read.
Does not know: how HTML becomes Markdown (`web_pages`), how long a crafted file takes (`loaders`).
"""

import logging
import posixpath
import re
import zipfile
from collections.abc import Iterator
from html import escape
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urldefrag
from xml.etree.ElementTree import Element

from longproof.retrieval.contents import Contents, open_archive, parse_xml, plain_errors
from longproof.retrieval.types import BadInput
from longproof.retrieval.web_pages import decode_html, html_to_markdown

_ENCRYPTION = "META-INF/encryption.xml"
_EMPTY_ELEMENT = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)[\s/])"
    r"([a-z][\w:.-]*)((?:\s[^<>]*)?)/>",
    re.IGNORECASE,
)
"""XHTML may write `<title/>`, which in HTML opens an element that never ends; some elements are always empty."""
_CHARACTER_DATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)  # text as it is; HTML has none

_NOTES_WITH_TEXT = {"/FreeText", "/Redact", "/Stamp", "/Watermark", "/Widget"}
"""Annotations that show text on the page; a widget is a form field."""
_PAINTING = re.compile(rb"(?<!\S)(?:Do|BI|sh)(?!\S)")

_WORD_LEFT_OUT = {
    **dict.fromkeys(("del", "moveFrom"), "deletions"),
    "commentReference": "comments",
    "instrText": "codes of fields",
    **dict.fromkeys(("pic", "imagedata"), "pictures"),
}
"""Elements of DOCX that are left out on purpose, and what they are."""
_WORD_UNREAD = {
    **dict.fromkeys(("chart", "relIds"), "charts and diagrams"),
    "object": "embedded objects",
    "altChunk": "embedded files",
    "rt": "readings above characters",
}
"""Elements of DOCX that readers see and that are not read, and what they are."""
_SPACES = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_IN_LINE = (*_SPACES, "t", "textpath", "fldChar", "txbxContent", "footnoteReference", "endnoteReference")
_HEADING_STYLE = re.compile(r"heading ([1-6])|(title)", re.IGNORECASE)


def read_epub(data: bytes, name: str) -> Contents:
    """The chapters of an EPUB as its spine orders them, `linear="no"` too. Raises BadInput, for a locked one too."""
    with plain_errors(name, "an EPUB"), open_archive(data) as archive:
        root = parse_xml(archive.read("META-INF/container.xml")).find(".//{*}rootfile")
        opf = unquote(root.get("full-path", "")) if root is not None else ""
        package = parse_xml(archive.read(opf))
        items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
        # A spine names each chapter once; one that names it a thousand times is no book's.
        chapters: dict[str, None] = {}
        for reference in package.iterfind(".//{*}spine/{*}itemref"):
            item = items[reference.get("idref")]
            if "nav" not in item.get("properties", "").split():
                href = unquote(urldefrag(item.get("href", "")).url)
                chapters[posixpath.normpath(posixpath.join(posixpath.dirname(opf), href))] = None
        if _ENCRYPTION in archive.namelist():
            locked = parse_xml(archive.read(_ENCRYPTION)).iterfind(".//{*}CipherReference")
            if {unquote(reference.get("URI", "")) for reference in locked} & chapters.keys():
                raise BadInput("the book is protected against copying; give one without protection")
        texts, book = [], Contents(title=_title_in(package), left_out={"table of contents"})
        for path in chapters:
            if (chapter := archive.read(path)).strip():
                markup, guess = decode_html(chapter, f"{name}: {path}")
                book.guess = book.guess or guess
                plain = _CHARACTER_DATA.sub(lambda found: escape(found[1]), markup)
                texts.append(html_to_markdown(_EMPTY_ELEMENT.sub(r"<\1\2></\1>", plain), book))
        book.text = "\n\n".join(texts)
        return book


def _title_in(properties: Element) -> str:
    return " ".join((properties.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "").split())


def read_pdf(data: bytes, name: str) -> Contents:
    """The pages of a PDF. Raises BadInput where it is locked or not one."""
    with plain_errors(name, "a PDF"):
        from pypdf import PdfReader

        # pypdf's warnings quote the file, terminal codes and all: they go to handlers that were asked for.
        logging.getLogger("pypdf").addHandler(logging.NullHandler())
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise BadInput("it is locked with a password; save a copy without one")
        title = str((reader.metadata.title if reader.metadata else "") or "")
        pages, book = [], Contents(title=" ".join(title.split()))
        for page in reader.pages:
            pages.append(page.extract_text())
            _note_what_is_missing(page, pages[-1], book)
        book.text = "\n\n".join(pages)
        return book


def _note_what_is_missing(page: Any, text: str, book: Contents) -> None:
    """Note what this page shows beside its text."""
    for annotation in page.annotations or ():
        kind = annotation.get_object().get("/Subtype")
        if kind in _NOTES_WITH_TEXT:
            book.unread.add("form fields and notes on the pages")
        elif kind != "/Link":
            book.left_out.add("comments")
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    drawn = objects.get_object().values() if objects is not None else ()
    pictured = any(each.get_object().get("/Subtype") == "/Image" for each in drawn)
    # A page may paint what isn't text inside a form, or write it into the page itself.
    contents = page.get_contents() if not text.strip() else None
    paints = contents is not None and _PAINTING.search(contents.get_data()) is not None
    if not text.strip() and (pictured or paints):
        book.unread.add("pages that are pictures")
    elif pictured:
        book.left_out.add("pictures")


def read_docx(data: bytes, name: str) -> Contents:
    """The paragraphs and tables of a Word document, its heading styles as headings. Raises BadInput.

    Headers stand before the text and footers behind it; a note stands behind the paragraph that refers to it.
    """
    with plain_errors(name, "a Word document"), open_archive(data) as archive:
        word = _Word(archive)
        parts = [*word.texts("header"), *word.blocks(word.document), *word.texts("footer")]
        word.contents.text = "\n\n".join(parts)
        return word.contents


class _Word:
    """A Word document. `contents` has its title, and remarks on what is not in its text."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        beside = self._relations("")
        properties = [self._parse(path) for kind, path in beside if kind == "core-properties"]
        self.contents = Contents(title=_title_in(properties[0]) if properties else "")
        main = [path for kind, path in beside if kind == "officeDocument"]
        if not main:
            raise BadInput("not a Word document that can be read: it names no text")
        self.document = self._parse(main[0])
        self._related = self._relations(main[0])
        self._levels: dict[str, int] = {}
        for style in (each for part in self._parts("styles") for each in part.iterfind("{*}style")):
            if heading := _HEADING_STYLE.fullmatch(_attribute(style.find("{*}name"), "val")):
                self._levels[_attribute(style, "styleId")] = int(heading[1] or 1)
        self._notes: dict[tuple[str, str], Element] = {}
        for kind in ("footnote", "endnote"):
            for note in (each for part in self._parts(f"{kind}s") for each in part):
                self._notes[kind, _attribute(note, "id")] = note

    def texts(self, kind: str) -> list[str]:
        """The text of each header or footer that has one, each once."""
        texts = ("\n\n".join(self.blocks(part)) for part in self._parts(kind))
        return [text for text in dict.fromkeys(texts) if text]

    def blocks(self, element: Element) -> Iterator[str]:
        """The paragraphs and tables inside an element, each as text; those without any are left out."""
        for tag, child in self._walk(element, "p", "tbl"):
            if tag == "p":
                yield from self._paragraph(child)
                continue
            rows = []
            for _, row in self._walk(child, "tr"):
                cells = [" ".join(" ".join(self.blocks(cell)).split()) for _, cell in self._walk(row, "tc")]
                rows.append("| " + " | ".join(cells) + " |")
            yield "\n".join(rows)

    def _paragraph(self, paragraph: Element) -> Iterator[str]:
        """The paragraph's text, then that of its text boxes and notes."""
        parts: list[str] = []
        beside: list[str] = []
        for tag, child in self._walk(paragraph, *_IN_LINE):
            if tag == "t":
                parts.append(child.text or "")
            elif tag == "textpath":
                parts.append(_attribute(child, "string"))
            elif tag == "fldChar":
                parts.append(_chosen(child))
            elif tag in _SPACES:
                parts.append(_SPACES[tag])
            elif tag == "txbxContent":
                beside.extend(self.blocks(child))
            else:
                # Each note is read once, however often it is referred to.
                note = self._notes.pop((tag.removesuffix("Reference"), _attribute(child, "id")), None)
                beside.extend(self.blocks(note) if note is not None else ())
        text = "".join(parts).strip()
        level = self._levels.get(_attribute(paragraph.find("{*}pPr/{*}pStyle"), "val"), 0)
        if paragraph.find("{*}pPr/{*}numPr") is not None:
            self.contents.left_out.add("numbers of lists")
        if text:
            yield f"{'#' * level} {' '.join(text.split())}" if level else text
        yield from beside

    def _walk(self, element: Element, *tags: str) -> Iterator[tuple[str, Element]]:
        """The elements of these names inside another, those in wrappers too, but none inside one of the names."""
        for child in element:
            tag = _tag(child)
            if tag in tags:
                yield tag, child
            elif not self._is_away(child):
                # Of alternatives for newer and older programs the first.
                yield from self._walk(child[0] if tag == "AlternateContent" and len(child) else child, *tags)

    def _is_away(self, element: Element) -> bool:
        """True for an element whose text isn't read; if it has text or pictures, the notes say so."""
        tag = _tag(element)
        if tag in _WORD_LEFT_OUT:
            self.contents.left_out.add(_WORD_LEFT_OUT[tag])
        elif tag in _WORD_UNREAD:
            self.contents.unread.add(_WORD_UNREAD[tag])
        elif tag == "r" and (hidden := element.find("{*}rPr/{*}vanish")) is not None:
            if _attribute(hidden, "val") in ("0", "false", "off"):
                return False
            self.contents.left_out.add("hidden text")
        else:
            return tag.endswith("Pr")
        return True

    def _parts(self, kind: str) -> list[Element]:
        return [self._parse(path) for each, path in self._related if each == kind]

    def _relations(self, path: str) -> list[tuple[str, str]]:
        """The kind and the path of each file that a file of the archive refers to."""
        folder, name = posixpath.split(path)
        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations not in self._archive.namelist():
            return []
        related = []
        for one in self._parse(relations):
            if one.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/")
                related.append((one.get("Type", "").rpartition("/")[2], target))
        return related

    def _parse(self, path: str) -> Element:
        return parse_xml(self._archive.read(path))


def _chosen(field: Element) -> str:
    """The visible choice of a form's drop-down list; empty for any other field."""
    entries = [_attribute(entry, "val") for entry in field.iterfind("{*}ffData/{*}ddList/{*}listEntry")]
    for setting in ("result", "default"):
        number = _attribute(field.find(f"{{*}}ffData/{{*}}ddList/{{*}}{setting}"), "val")
        if number.isdecimal() and int(number) < len(entries):
            return entries[int(number)]
    return entries[0] if entries else ""


def _tag(element: Element) -> str:
    """The element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def _attribute(element: Element | None, name: str) -> str:
    """The value of an attribute, whatever its namespace; empty where there is none, or no element."""
    attributes = element.attrib if element is not None else {}
    return next((value for key, value in attributes.items() if key.rpartition("}")[2] == name), "")

"""DOCX: all the text of a Word document that its readers see.

Knows: where Office Open XML keeps paragraphs, tables, insertions, content controls, results of fields, text boxes,
footnotes, endnotes, headers and footers; which of its elements are no text. Tracked deletions are not read.
Does not know: how long a crafted file takes (`loaders`).
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from longproof.retrieval.contents import Contents, open_archive, parse_xml, plain_errors
from longproof.retrieval.types import BadInput, FileNotes

_AWAY = {
    "del": "deletions",
    "moveFrom": "deletions",
    "commentReference": "comments",
    "instrText": "codes of fields",
    "pic": "pictures",
    "imagedata": "pictures",
}
"""Elements that are left out on purpose, and what they are."""
_UNREAD = {
    "chart": "charts and diagrams",
    "relIds": "charts and diagrams",
    "object": "embedded objects",
    "altChunk": "embedded files",
    "rt": "readings above characters",
}
"""Elements that readers see and that are not read, and what they are."""
_SPACES = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OFF = {"0", "false", "off"}
_HEADING = re.compile(r"heading ([1-6])|(title)")


def read_docx(data: bytes, name: str) -> Contents:
    """The paragraphs and tables of a Word document, its heading styles as headings.

    Headers stand before the text and footers behind it; a note stands behind the paragraph that refers to it. Raises
    BadInput where it is no Word document.
    """
    with plain_errors(name, "a Word document"), open_archive(data, name) as archive:
        word = _Word(archive, name)
        text = "\n\n".join(dict.fromkeys(word.parts("header")))
        body = "\n\n".join(word.blocks(word.document))
        footers = "\n\n".join(dict.fromkeys(word.parts("footer")))
        whole = "\n\n".join(part for part in (text, body, footers) if part)
        notes = FileNotes(left_out=tuple(sorted(word.left_out)), unread=tuple(sorted(word.unread)))
        return Contents(text=whole, title=word.title(), notes=notes)


class _Word:
    """A Word document, and what was seen in it that is not in its text."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        self.left_out: set[str] = set()
        self.unread: set[str] = set()
        main = [path for kind, path in self._relations("") if kind == "officeDocument"]
        if not main:
            raise BadInput(f"{name}: not a Word document that can be read: it names no text")
        self.document = self._parse(main[0])
        self._related = self._relations(main[0])
        self._levels = self._heading_levels()
        self._notes = {
            (kind, _attribute(note, "id")): note
            for kind in ("footnote", "endnote")
            for part in self._related_parts(f"{kind}s")
            for note in part
        }

    def title(self) -> str:
        """The title among the document's properties, or none."""
        for kind, path in self._relations(""):
            if kind == "core-properties":
                title = self._parse(path).findtext("{http://purl.org/dc/elements/1.1/}title")
                return " ".join((title or "").split())
        return ""

    def parts(self, kind: str) -> Iterator[str]:
        """The text of each header or footer."""
        for part in self._related_parts(kind):
            yield "\n\n".join(self.blocks(part))

    def blocks(self, element: Element) -> Iterator[str]:
        """The paragraphs and tables inside an element, each as text; those without any are left out."""
        for child in element:
            tag = _tag(child)
            if tag == "p":
                yield from self._paragraph(child)
            elif tag == "tbl":
                yield "\n".join(self._row(row) for row in self._inside(child, "tr"))
            elif not self._is_away(child):
                yield from self.blocks(self._first_alternative(child))

    def _paragraph(self, paragraph: Element) -> Iterator[str]:
        """The paragraph's text, then that of its text boxes and notes."""
        beside: list[str] = []
        text = "".join(self._inline(paragraph, beside)).strip()
        level = self._level(paragraph)
        if paragraph.find("{*}pPr/{*}numPr") is not None:
            self.left_out.add("numbers of lists")
        if text:
            yield f"{'#' * level} {' '.join(text.split())}" if level else text
        yield from beside

    def _inline(self, element: Element, beside: list[str]) -> Iterator[str]:
        """The text of runs; text boxes and notes that they refer to go to `beside`."""
        for child in element:
            tag = _tag(child)
            if tag == "t":
                yield child.text or ""
            elif tag == "textpath":
                yield _attribute(child, "string")
            elif tag in _SPACES:
                yield _SPACES[tag]
            elif tag == "txbxContent":
                beside.extend(self.blocks(child))
            elif tag in ("footnoteReference", "endnoteReference"):
                # Each note is read once, however often it is referred to.
                note = self._notes.pop((tag.removesuffix("Reference"), _attribute(child, "id")), None)
                beside.extend(self.blocks(note) if note is not None else ())
            elif not self._is_away(child):
                yield from self._inline(self._first_alternative(child), beside)

    def _row(self, row: Element) -> str:
        cells = (" ".join(" ".join(self.blocks(cell)).split()) for cell in self._inside(row, "tc"))
        return "| " + " | ".join(cells) + " |"

    def _inside(self, element: Element, tag: str) -> Iterator[Element]:
        """The elements of this name inside another, those in wrappers too, but none inside others of the name."""
        for child in element:
            if _tag(child) == tag:
                yield child
            elif not self._is_away(child):
                yield from self._inside(self._first_alternative(child), tag)

    def _first_alternative(self, element: Element) -> Element:
        """Of alternatives for newer and older programs the first, else the element itself."""
        return element[0] if _tag(element) == "AlternateContent" and len(element) else element

    def _is_away(self, element: Element) -> bool:
        """True for an element whose text isn't read; if it has text or pictures, the notes say so."""
        tag = _tag(element)
        if tag.endswith("Pr"):
            return True
        if tag in _AWAY:
            self.left_out.add(_AWAY[tag])
        elif tag in _UNREAD:
            self.unread.add(_UNREAD[tag])
        elif tag == "r":
            hidden = element.find("{*}rPr/{*}vanish")
            if hidden is None or _attribute(hidden, "val") in _OFF:
                return False
            self.left_out.add("hidden text")
        else:
            return False
        return True

    def _level(self, paragraph: Element) -> int:
        style = paragraph.find("{*}pPr/{*}pStyle")
        return self._levels.get(_attribute(style, "val"), 0) if style is not None else 0

    def _heading_levels(self) -> dict[str, int]:
        """The level of each style that makes a heading."""
        levels: dict[str, int] = {}
        for part in self._related_parts("styles"):
            for style in part.iterfind("{*}style"):
                named = style.find("{*}name")
                name = _attribute(named, "val").lower() if named is not None else ""
                if heading := _HEADING.fullmatch(name):
                    levels[_attribute(style, "styleId")] = int(heading[1] or 1)
        return levels

    def _related_parts(self, kind: str) -> list[Element]:
        return [self._parse(path) for each, path in self._related if each == kind]

    def _relations(self, path: str) -> list[tuple[str, str]]:
        """The kind and the path of each file that a file of the archive refers to."""
        folder, name = posixpath.split(path)
        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations not in self._archive.namelist():
            return []
        return [
            (
                one.get("Type", "").rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/"),
            )
            for one in self._parse(relations)
            if one.get("TargetMode") != "External"
        ]

    def _parse(self, path: str) -> Element:
        return parse_xml(self._archive.read(path), self._name)


def _tag(element: Element) -> str:
    """The element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def _attribute(element: Element, name: str) -> str:
    """The value of an attribute, whatever its namespace; empty where there is none."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")

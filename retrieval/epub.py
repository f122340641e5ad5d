"""EPUB: the chapters of a book in reading order.

Knows: where an EPUB keeps its title, its chapters and their order, and how it is protected.
Does not know: how a chapter's HTML becomes Markdown.
"""

import posixpath
import re
import zipfile
from html import escape
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

"""DOCX: the text of a Word document, which mammoth turns into HTML.

Knows: what of mammoth's HTML is no text (the marks and the arrows of notes), and what mammoth doesn't read.
Does not know: how HTML becomes Markdown, how long a crafted file takes (`loaders`).
Insertions, content controls, text boxes, footnotes and endnotes are read, the notes behind the text. Tracked
deletions and comments are not; hidden text is.
"""

import re
from io import BytesIO

from longproof.retrieval.contents import Contents, open_archive, parse_xml, plain_errors
from longproof.retrieval.types import FileNotes
from longproof.retrieval.web_pages import html_to_markdown

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

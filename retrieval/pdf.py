"""PDF: the text of its pages, with its outline as headings.

Knows: pypdf; what a page may show that is not in its text. Does not know: how long a crafted file takes (`apart`).
"""

import logging
import re
from io import BytesIO
from typing import Any

from longproof.retrieval.contents import Contents, broken_file, plain_errors
from longproof.retrieval.types import BadInput, FileNotes

_SILENT = logging.NullHandler()
"""pypdf's warnings quote the file, terminal codes and all: they go to handlers that were asked for, not to stderr."""
_NOTES_WITH_TEXT = {"/FreeText", "/Redact", "/Stamp", "/Watermark", "/Widget"}
"""Annotations that show text on the page; a widget is a form field."""
_PAINTING = re.compile(rb"(?<!\S)(?:Do|BI|sh)(?!\S)")


def read_pdf(data: bytes, name: str) -> Contents:
    """The pages of a PDF, entries of its outline as headings. Raises BadInput where it is locked or not one."""
    with plain_errors(name, "a PDF"):
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError

        logging.getLogger("pypdf").addHandler(_SILENT)
        try:
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
        except PyPdfError as error:
            raise broken_file(name, "a PDF", error) from error
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

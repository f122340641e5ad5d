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
"""Annotations that show text on the page; a widget is a form field. The others are links and comments."""
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
            pages, unread = [], set[str]()
            for number, page in enumerate(reader.pages):
                text = page.extract_text()
                unread |= _unread_parts(page, text)
                pages.append(_with_headings(text, [h for h in headings if h[0] == number]))
            title = str((reader.metadata.title if reader.metadata else "") or "")
        except PyPdfError as error:
            raise broken_file(name, "a PDF", error) from error
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

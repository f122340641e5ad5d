"""Saved web pages: the bytes of one file to a document with title, address and date.

Knows: which suffixes are pages, how an HTML page declares its encoding, where title, address and date stand in HTML
and in the front matter of Markdown.
Does not know: how markup becomes Markdown (`html_markdown`), where pages lie, how they are searched.
Titles, addresses and dates are the page's own claims: they are shown, never fetched.
"""

import re
from datetime import date
from pathlib import PurePath

from longproof.retrieval.contents import plain_errors
from longproof.retrieval.encoding import Decoded, decode
from longproof.retrieval.html_markdown import Facts, html_to_markdown
from longproof.retrieval.types import BadInput, Document, FileNotes, Frozen

SUFFIXES = (".html", ".htm", ".xhtml", ".md", ".txt")

_DATES = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "time",
)
_CHARSET = re.compile(
    rb"""<(?:meta[^>]{0,300}?charset|\?xml[^>]{0,100}?encoding)\s{0,9}=\s{0,9}["']?([\w.:-]{2,30})"""
)
_CODECS = {
    "utf8": "utf-8",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "us-ascii": "cp1252",
    "latin1": "cp1252",
    "iso-8859-1": "cp1252",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
_KNOWN_CODEC = re.compile(r"utf-8|gb18030|euc-jp|windows-(125\d|874)|iso-8859-\d\d?|koi8-[ru]")
_ADDRESS = re.compile(r"https?://[^\s<>\"'\x00-\x20]{1,2000}", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"---[ \t]*\n((?:[^\n]{0,2000}\n){0,100}?)---[ \t]*(?:\n|\Z)")


class Page(Frozen):
    """A saved page: its main text as a document of kind `page`, and its date, `YYYY-MM-DD` or empty."""

    document: Document
    date: str = ""


def read_page(data: bytes, name: str, *, main_only: bool = False) -> Page:
    """The page in a file of this name (one of `SUFFIXES`).

    HTML gives its text as Markdown, with `main_only` without what stands beside the main text; `.md` and `.txt` are
    taken as they are, a Markdown page without its front matter. The title is the page's, else its first heading, else
    the file's name; the address is the page's canonical one, else og:url, else where the browser saved it from.
    Raises BadInput for what can't be read or holds no text.
    """
    suffix = PurePath(name).suffix.lower()
    notes, facts = FileNotes(), Facts()
    with plain_errors(name, "a page"):
        if suffix in (".md", ".txt"):
            text, guess = decode(data, name=name)
            if suffix == ".md":
                text, facts = _front_matter(text)
        else:
            html, guess = decode_html(data, name)
            text, facts, notes = html_to_markdown(html, main_only=main_only)
        notes = notes.model_copy(update={"guessed_encoding": guess})
        return _page(text, facts, notes, PurePath(name).stem)


def _page(text: str, facts: Facts, notes: FileNotes, stem: str) -> Page:
    if not text.strip():
        raise BadInput("the page holds no text; save it again with its content, or leave it out")
    titles = (facts.get("title"), _heading(text), facts.get("og:title"), stem)
    title = next(clean for given in titles if (clean := " ".join((given or "").split())[:300]))
    addresses = (facts.get(name, "") for name in ("canonical", "og:url", "saved from"))
    uri = next((address for address in addresses if _ADDRESS.fullmatch(address)), "")
    said = next((day for name in _DATES if (day := _day(facts.get(name, "")))), "")
    return Page(document=Document.of(text, kind="page", title=title, uri=uri, notes=notes), date=said)


def _heading(text: str) -> str:
    found = re.search(r"^# +(\S[^\n]*)", text, re.MULTILINE)
    return found[1] if found else ""


def _day(said: str) -> str:
    """The day of an ISO 8601 date or time, or of one written without hyphens; empty for anything else."""
    found = re.match(r"(\d{4})(-?)(\d\d)\2(\d\d)(?!\d)", said.strip())
    try:
        return date(int(found[1]), int(found[3]), int(found[4])).isoformat() if found else ""
    except ValueError:
        return ""


def decode_html(data: bytes, name: str) -> Decoded:
    """The markup of an HTML file. A declared encoding holds if all but one character in a thousand are in it."""
    declared = _declared_encoding(data)
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        text = data.decode(declared, "replace")
        if 1000 * text.count("\ufffd") <= len(text):
            return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"))
    return decode(data.replace(b"\0", b"") if declared else data, name=name)


def _declared_encoding(data: bytes) -> str | None:
    found = _CHARSET.search(data[:4096].lower())
    label = found[1].decode("ascii") if found else ""
    codec = _CODECS.get(label, label)
    return codec if _KNOWN_CODEC.fullmatch(codec) or codec in _CODECS.values() else None


def _front_matter(text: str) -> tuple[str, Facts]:
    """The text after its front matter, and what that says: `title`, `date`, and an address as `canonical`."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return text, {}
    facts: Facts = {}
    for line in found[1].splitlines():
        key, colon, value = line.partition(":")
        if colon:
            facts.setdefault(key.strip().lower(), value.strip().strip("\"'"))
    address = next((facts[key] for key in ("url", "address", "source", "link") if key in facts), "")
    return text[found.end() :], {"canonical": address, **facts}

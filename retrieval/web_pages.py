"""Saved web pages: the bytes of one file to a document with title and address, HTML as Markdown.

Knows: how an HTML page declares its encoding, where title and address stand in HTML and in the front matter of
Markdown; which of html-to-markdown's options keep the text's structure and drop marks that would stand in the way
of a quote (links, emphasis, inline code). Does not know: what of the markup readers see (`visible`), where pages lie,
how they are searched.
Markup is hostile: pieces of bounded size are converted.
Titles and addresses are the page's own claims: they are shown, never fetched.
"""

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import PurePath

from longproof.retrieval.contents import Contents, decode, plain_errors
from longproof.retrieval.text.normalise import CJK
from longproof.retrieval.types import BadInput, Document
from longproof.retrieval.visible import UNREAD, UNSEEN, visible_markup

SUFFIXES = (".html", ".htm", ".xhtml", ".md", ".txt")

_CHARSET = re.compile(
    rb"""<(?:meta[^>]{0,300}?charset|\?xml[^>]{0,100}?encoding)\s{0,9}=\s{0,9}["']?([\w.:-]{2,30})"""
)
_CODECS = {
    "utf8": "utf-8",
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "big5": "big5hkscs",
    **dict.fromkeys(("us-ascii", "latin1", "iso-8859-1"), "cp1252"),
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
_KNOWN_CODEC = re.compile(r"utf-8|gb18030|euc-jp|windows-(125\d|874)|iso-8859-\d\d?|koi8-[ru]")
_ADDRESS = re.compile(r"https?://[^\s<>\"'\x00-\x20]{1,2000}", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"---[ \t]*\n((?:[^\n]{0,2000}\n){0,100}?)---[ \t]*(?:\n|\Z)")
PIECE = 250_000

_PREFORMATTED = re.compile(r"(<(?:pre|textarea)(?=[\s>]).*?(?:</(?:pre|textarea)>|\Z))", re.DOTALL | re.I)
_WIDE = f"{CJK}\u3000-\u303f\uff00-\uffef"
_BREAK_IN_CJK = re.compile(rf"(?<=[{_WIDE}])\n\s*+(?=[{_WIDE}])")

_INLINE = (
    "a abbr b big cite code del dfn em font g i img ins kbd label mark math q s samp small strike strong sub sup svg "
    "time tspan tt u var"
)
"""Elements whose tags go and whose text stays."""
_PARTS_UNSEEN = ("rp", "svg desc", "svg metadata", "annotation", "annotation-xml", "[hidden]")
_BESIDE = (
    "nav aside footer button dialog select svg math "
    "[role=navigation] [role=complementary] [role=contentinfo] [role=search]"
)
"""What stands beside the main text of a page."""


def read_page(data: bytes, name: str, *, main_only: bool = False) -> Document:
    """The page in a file of this name (one of `SUFFIXES`), as a document of kind `page`. Raises BadInput.

    HTML gives its text as Markdown, with `main_only` without what stands beside the main text; `.md` and `.txt` are
    taken as they are, without front matter. The title is the page's, else its first heading, else the file's name;
    the address is the page's canonical one, else og:url, else where the browser saved it from.
    """
    suffix, page = PurePath(name).suffix.lower(), Contents()
    facts = page.facts
    with plain_errors(name, "a page"):
        if suffix in (".md", ".txt"):
            text, page.guess = decode(data, name=name)
            text = _cut_front_matter(text, facts) if suffix == ".md" else text
        else:
            html, page.guess = decode_html(data, name)
            text = html_to_markdown(html, page, main_only=main_only)
        if not text.strip():
            raise BadInput("the page holds no text; save it again with its content, or leave it out")
    heading = re.search(r"^# +(\S[^\n]*)", text, re.MULTILINE)
    titles = (facts.get("title"), heading and heading[1], facts.get("og:title"), PurePath(name).stem)
    title = next((clean for each in titles if (clean := " ".join((each or "").split())[:300])), name)
    addresses = (facts.get(key, "") for key in ("canonical", "og:url", "saved from"))
    uri = next((address for address in addresses if _ADDRESS.fullmatch(address)), "")
    return Document.of(text, kind="page", title=title, uri=uri, notes=page.notes)


def decode_html(data: bytes, name: str) -> tuple[str, str]:
    """The markup of an HTML file. A declared encoding holds if all but one character in a thousand are in it."""
    found = _CHARSET.search(data[:4096].lower())
    label = found[1].decode("ascii") if found else ""
    declared = _CODECS.get(label, label)
    if not (_KNOWN_CODEC.fullmatch(declared) or declared in _CODECS.values()):
        declared = ""
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        text = data.decode(declared, "replace")
        if 1000 * text.count("\ufffd") <= len(text):
            return text.replace("\r\n", "\n").replace("\r", "\n"), ""
    return decode(data.replace(b"\0", b"") if declared else data, name=name)


def _cut_front_matter(text: str, facts: dict[str, str]) -> str:
    """The text after its front matter, which adds to the facts; an address counts as `canonical`."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return text
    for line in found[1].splitlines():
        key, colon, value = line.partition(":")
        if colon:
            facts.setdefault(key.strip().lower(), value.strip().strip("\"'"))
    address = next((facts[key] for key in ("url", "address", "source", "link") if key in facts), "")
    facts.setdefault("canonical", address)
    return text[found.end() :]


def html_to_markdown(html: str, page: Contents, *, main_only: bool = False) -> str:
    """All the text of a page that readers see; with `main_only`, without navigation, asides and footers.

    `page` takes what its head says and remarks on what is cut out. Raises BadInput for markup that no reader could
    have meant: deeper than can be read, or growing without measure (tables of a thousand empty columns).
    """
    markup = visible_markup(html.replace("\0", ""), page)
    # Outside preformatted text a line break is a space, or nothing between Chinese characters.
    parts = _PREFORMATTED.split(markup)
    parts[::2] = [_BREAK_IN_CJK.sub("", part).replace("\n", " ") for part in parts[::2]]
    text, limit = StringIO(), 100_000 + 20 * len(markup)
    for piece in _pieces("".join(parts)):
        text.write(_convert(piece, main_only))
        text.write("\n\n")
        if text.tell() > limit:
            raise BadInput("its tables or lists blow up when written out; save the page as text")
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<![ \t])[ \t]++(?=\n)", "", text.getvalue())).strip()


def _pieces(markup: str) -> Iterator[str]:
    """The markup in pieces of at most `PIECE` characters, cut before a heading, a box or a paragraph if it can be."""
    start = 0
    while start < len(markup):
        end = start + PIECE
        if end < len(markup):
            cuts = (markup.rfind(mark, start + PIECE // 2, end) for mark in ("<h", "<div", "<p", "<"))
            end = next((cut for cut in cuts if cut > start), end)
        yield markup[start:end]
        start = end


def _convert(markup: str, main_only: bool) -> str:
    from html_to_markdown import ConversionError, ConversionOptions, PreprocessingOptions, convert

    beside = _BESIDE.split() if main_only else []
    options = ConversionOptions(
        extract_metadata=False,
        preprocessing=PreprocessingOptions(enabled=False),
        compact_tables=True,
        autolinks=False,
        include_blockquote_citations=False,
        expand_abbreviations=False,
        skip_images=True,
        strip_tags=_INLINE.split(),
        exclude_selectors=[*UNREAD, *UNSEEN, *_PARTS_UNSEEN, *beside],
    )
    try:
        result = convert(markup, options)
    except ConversionError as error:
        raise BadInput(f"its markup can't be read ({error}); save the page as text") from error
    if any(str(warning.kind).endswith("depth_limit_exceeded") for warning in result.warnings):
        raise BadInput("its markup is nested too deep to be read whole; save the page as text")
    return result.content or ""

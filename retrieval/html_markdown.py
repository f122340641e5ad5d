"""HTML to Markdown: the text that readers of a saved page see, and what its head says about it.

Knows: which of html-to-markdown's options keep headings, paragraphs, lists, tables, quotations and preformatted text
and drop marks that would stand in the way of a quote (links, emphasis, inline code); what readers don't see.
Does not know: files and encodings, where pages are stored. Fetches nothing, runs nothing.
Markup is hostile: one linear pass cuts out scripts and overlong attributes, and pieces of bounded size are converted.
"""

import re
from collections.abc import Iterator
from html import escape, unescape
from io import StringIO
from typing import NamedTuple

from longproof.retrieval.text.tokens import CJK
from longproof.retrieval.types import BadInput, FileNotes

PIECE = 250_000
GROWTH = 20
LONGEST_TAG = 4000
"""Attributes that are longer in all are dropped: html-to-markdown takes time in the square of their number."""

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"""
_TOKEN = re.compile(
    rf"""
    <!--(?:-?>|(?P<comment>.*?)(?:--!?>|\Z))
    |<(?P<raw>script|style|title|iframe|noembed|noframes|textarea|xmp)(?=[\s/>])(?P<on_raw>{_ATTRIBUTES})
        (?P<within>.*?)(?:</(?P=raw)(?=[\s/>])[^>]*+(?:>|\Z)|\Z)
    |<[!?][^>]*+(?:>|\Z)
    |<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<attributes>{_ATTRIBUTES})
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?+""")
_PREFORMATTED = re.compile(r"(<(?:pre|textarea)(?=[\s>]).*?(?:</(?:pre|textarea)>|\Z))", re.DOTALL | re.I)
_WIDE = f"{CJK}\u3000-\u303f\uff00-\uffef"
_BREAK_IN_CJK = re.compile(rf"(?<=[{_WIDE}])\n\s*+(?=[{_WIDE}])")
_SAVED_FROM = re.compile(r"saved from url=\(\d{1,9}\)(\S+)|Page saved with SingleFile\s{1,9}url:\s{1,9}(\S+)")
_DATE_PUBLISHED = re.compile(r'"datePublished"\s{0,9}:\s{0,9}"([^"]{4,40})"')
_HIDING = re.compile(
    r"\shidden(?=[\s=>/])|(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)", re.IGNORECASE
)

_STYLE_CONTENT = re.compile(r"content\s{0,9}:([^;{}]{0,300})", re.IGNORECASE)
_STYLE_ESCAPE = re.compile(r"\\[0-9a-fA-F]{1,6}")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_SHOWN_ALL_THE_SAME = re.compile(
    r"(?=.*?\shidden[\s=>/])(?=.*?display\s{0,9}:\s{0,9}(?!none))", re.DOTALL | re.IGNORECASE
)
"""Attributes of an element that is hidden, and that a style shows again."""
_WORDED = {
    "input": ("value", "placeholder"),
    "textarea": ("placeholder",),
    "option": ("label",),
    "optgroup": ("label",),
}
"""Attributes of form fields whose words readers see."""

_BOXES = frozenset({"figcaption", "legend", "summary", "text"})
"""Become `div`, as a page's own elements do: the converter would set the first three in italics; `text` is SVG's."""
_INLINE = (
    "a abbr b big cite code del dfn em font g i img ins kbd label mark math q s samp small strike strong sub sup svg "
    "time tspan tt u var"
)
"""Elements whose tags go and whose text stays."""
_UNREAD = {
    "canvas": "drawings by scripts",
    "embed": "embedded files",
    "iframe": "embedded pages",
    "object": "embedded files",
    "rt": "readings above characters",
}
"""Elements that readers see and that are not read, and what they hold."""
_UNSEEN = {
    "audio": "sound and films",
    "video": "sound and films",
    "template": "hidden parts",
    "noscript": "hidden parts",
    "datalist": "hidden parts",
    "img": "pictures",
    "image": "pictures",
}
_PARTS_UNSEEN = ("rp", "svg desc", "svg metadata", "annotation", "annotation-xml", "[hidden]")
_BESIDE = ("nav", "aside", "footer", "button", "dialog", "select", "svg", "math")
_BESIDE_BY_ROLE = tuple(f"[role={role}]" for role in ("navigation", "complementary", "contentinfo", "search"))
"""What stands beside the main text of a page."""

Facts = dict[str, str]
"""What a head says, by lower-case name: `title`, `canonical`, `og:title`, `date`, ...; the first of each."""


class PageText(NamedTuple):
    """The text of a page as Markdown, what its head says, and what of the page is not in the text."""

    text: str
    facts: Facts
    notes: FileNotes


def html_to_markdown(html: str, *, main_only: bool = False) -> PageText:
    """All the text of a page that readers see; with `main_only`, without navigation, asides and footers.

    Raises BadInput for markup that no reader could have meant: deeper than can be read, or growing without measure
    (tables of a thousand empty columns).
    """
    cleaning = _Cleaning()
    markup = _TOKEN.sub(cleaning.replace, html.replace("\0", ""))
    text, limit = StringIO(), 100_000 + GROWTH * len(markup)
    for piece in _pieces(_without_line_breaks(markup)):
        text.write(_convert(piece, main_only))
        text.write("\n\n")
        if text.tell() > limit:
            raise BadInput("its tables or lists blow up when written out; save the page as text")
    tidy = re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<![ \t])[ \t]++(?=\n)", "", text.getvalue())).strip()
    notes = FileNotes(left_out=tuple(sorted(cleaning.left_out)), unread=tuple(sorted(cleaning.unread)))
    return PageText(tidy, cleaning.facts, notes)


class _Cleaning:
    """One pass over the tokens of a page, which notes the head's facts and what it cuts out."""

    def __init__(self) -> None:
        self.facts: Facts = {}
        self.left_out: set[str] = set()
        self.unread: set[str] = set()

    def replace(self, token: re.Match[str]) -> str:
        """Return what stays of a token: nothing of scripts and comments, of a tag its name and short attributes."""
        if (raw := (token["raw"] or "").lower()) in ("textarea", "xmp"):
            self._note_field(raw, token["on_raw"])
            within = token["within"].replace("<", "&lt;") if raw == "textarea" else escape(token["within"])
            kept = "pre" if raw == "xmp" else raw
            return f"<{kept}>{within}</{kept}>"
        if not token["name"]:
            self._note_cut(token)
            return ""
        name, attributes = token["name"].lower(), token["attributes"]
        if name in ("meta", "link", "time"):
            self._note_fact(name, attributes)
        elif name in _WORDED:
            self._note_field(name, attributes)
        elif name in _UNREAD:
            self.unread.add(_UNREAD[name])
        elif name == "template" and "shadowrootmode" in _parse_attributes(attributes):
            self.unread.add("parts in shadow trees")
        elif name in _UNSEEN:
            self.left_out.add(_UNSEEN[name])
        elif _SHOWN_ALL_THE_SAME.match(f" {attributes}"):
            self.unread.add("hidden parts that a style shows")
        elif len(attributes) > 1 and _HIDING.search(f" {attributes}"):
            self.left_out.add("hidden parts")
        short = attributes if len(attributes) <= LONGEST_TAG else ">"
        kept = "div" if name in _BOXES or "-" in name else name
        return f"<{token['end']}{kept}{short}"

    def _note_cut(self, token: re.Match[str]) -> None:
        raw, comment = (token["raw"] or "").lower(), token["comment"] or ""
        if raw == "title":
            self.facts.setdefault("title", unescape(token["within"][:2000]))
        elif raw == "iframe":
            self.unread.add(_UNREAD["iframe"])
        elif raw:
            self.left_out.add("scripts and styles")
        elif comment.strip():
            self.left_out.add("comments")
        if raw == "style" and _writes_words(token["within"]):
            self.unread.add("words that styles write")
        if raw == "script" and (dated := _DATE_PUBLISHED.search(token["within"])):
            self.facts.setdefault("datepublished", dated[1])
        if saved := _SAVED_FROM.search(comment[:2000]):
            self.facts.setdefault("saved from", saved[1] or saved[2])

    def _note_field(self, name: str, attributes: str) -> None:
        field = _parse_attributes(attributes)
        if field.get("type", "").lower() == "hidden":
            self.left_out.add("hidden parts")
        elif any(field.get(each) for each in _WORDED.get(name, ())):
            self.unread.add("values of form fields")

    def _note_fact(self, name: str, attributes: str) -> None:
        values = _parse_attributes(attributes)
        if name == "time":
            self.facts.setdefault("time", values.get("datetime", ""))
        elif name == "link" and values.get("rel", "").lower() == "canonical":
            self.facts.setdefault("canonical", values.get("href", "").strip())
        elif name == "meta" and len(self.facts) < 200:
            key = values.get("property") or values.get("name") or values.get("itemprop") or ""
            self.facts.setdefault(key.lower()[:100], values.get("content", "").strip()[:2000])


def _writes_words(style: str) -> bool:
    """True if a style writes words before or behind an element; a letter or an escape may be a sign."""
    quoted = (part for value in _STYLE_CONTENT.findall(style) for part in re.split("[\"']", value)[1::2])
    return any(_LETTERS.search(_STYLE_ESCAPE.sub("", part)) for part in quoted)


def _parse_attributes(attributes: str) -> Facts:
    """The first 50 attributes by lower-case name; of a name that comes twice, the first."""
    values: Facts = {}
    for _, match in zip(range(50), _ATTRIBUTE.finditer(attributes, 0, 20_000), strict=False):
        values.setdefault(match[1].lower(), unescape(match[2] or match[3] or match[4] or ""))
    return values


def _without_line_breaks(markup: str) -> str:
    """The markup with each line break outside preformatted text a space, or nothing between Chinese characters."""
    parts = _PREFORMATTED.split(markup)
    parts[::2] = [_BREAK_IN_CJK.sub("", part).replace("\n", " ") for part in parts[::2]]
    return "".join(parts)


def _pieces(markup: str) -> Iterator[str]:
    """The markup in pieces of at most `PIECE` characters, cut before a heading, a box or a paragraph if there is one.

    Pages of any ordinary length are one piece.
    """
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

    beside = (*_BESIDE, *_BESIDE_BY_ROLE) if main_only else ()
    options = ConversionOptions(
        extract_metadata=False,
        preprocessing=PreprocessingOptions(enabled=False),
        compact_tables=True,
        autolinks=False,
        include_blockquote_citations=False,
        expand_abbreviations=False,
        skip_images=True,
        strip_tags=_INLINE.split(),
        exclude_selectors=[*_UNREAD, *_UNSEEN, *_PARTS_UNSEEN, *beside],
    )
    try:
        result = convert(markup, options)
    except ConversionError as error:
        raise BadInput(f"its markup can't be read ({error}); save the page as text") from error
    if any(str(warning.kind).endswith("depth_limit_exceeded") for warning in result.warnings):
        raise BadInput("its markup is nested too deep to be read whole; save the page as text")
    return result.content or ""

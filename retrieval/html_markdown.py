"""HTML to Markdown: the text that a saved page shows, and what its head says about it.

Knows: which markup is kept as Markdown (headings, paragraphs, lists, tables, quotations, preformatted text), which
loses its marks so that a quote can be found (links, emphasis, inline code), and what is not the page's text
(scripts, navigation, asides, footers, hidden parts).
Does not know: files and encodings, where pages are stored. Fetches nothing, runs nothing.
Markup is hostile: one linear pass brings it down to a few bare tags of bounded depth, in pieces of bounded size,
before html-to-markdown reads it. Tags end where the HTML standard's tokenizer ends them.
"""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from io import StringIO

from longproof.retrieval.text.tokens import CJK
from longproof.retrieval.types import BadInput

DEPTH = 100
INDENTS = 10
PIECE = 250_000
GROWTH = 20

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"""
_TOKEN = re.compile(
    rf"""
    <!--(?:-?>|(?P<comment>.*?)(?:--!?>|\Z))
    |<(?P<raw>script|style|title|iframe|textarea|xmp|noembed|noframes)(?=[\s/>]){_ATTRIBUTES}
        (?P<within>.*?)(?:</(?P=raw)(?=[\s/>])[^>]*+(?:>|\Z)|\Z)
    |<[!?][^>]*+(?:>|\Z)
    |<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<attributes>{_ATTRIBUTES})
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?+""")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAME = _names("h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre del s")
_CLOSE_THEMSELVES = {
    **dict.fromkeys(("p",), 0),
    **dict.fromkeys(("li", "dt", "dd"), 1),
    **dict.fromkeys(("td", "th", "caption"), 2),
    **dict.fromkeys(("tr",), 3),
    **dict.fromkeys(("thead", "tbody", "tfoot"), 4),
}
"""Elements whose end tag may be left out: one of the same or a higher rank ends them."""
_INDENTING = _names("ul ol dl table blockquote")
_ALONE = _names("area base br col embed frame hr img input keygen link meta param source track wbr")
_AWAY = _names(
    """
    nav aside footer template noscript svg math object canvas audio video select datalist button dialog rt rp
    """
)
_BOXES = _names(
    """
    address article body center details div fieldset figcaption figure footer form header hgroup html legend main
    menu search section summary
    """
)
_INLINE = _names("span rt rp")
_ROLES_AWAY = _names("navigation complementary contentinfo search")

Facts = dict[str, str]
"""What a head says, by lower-case name: `title`, `canonical`, `og:title`, `date`, ...; the first of each."""


def html_to_markdown(html: str) -> tuple[str, Facts]:
    """The page's main text as Markdown, and the facts of its head.

    Linear in the length of `html`. Raises BadInput for markup that no reader could have meant: deeper than can be
    read even when flattened, or growing without measure (tables of a thousand empty columns).
    """
    markup, facts = bare(html)
    text, limit = StringIO(), 100_000 + GROWTH * len(markup)
    for piece in _pieces(markup):
        text.write(_converted(piece))
        text.write("\n\n")
        if text.tell() > limit:
            raise BadInput("its tables or lists blow up when written out; save the page as text")
    return _tidy(text.getvalue()), facts


def bare(html: str) -> tuple[str, Facts]:
    """The markup with only the tags that Markdown knows, without attributes, and the head's facts.

    What isn't the page's text is left out; of other elements boxes become `div`, everything inline `span`. Nested
    deeper than `DEPTH` (lists, tables and quotations: `INDENTS`), a tag gives way to a space.
    """
    pass_ = _Pass()
    at = 0
    html = html.replace("\0", "")
    for token in _TOKEN.finditer(html):
        pass_.text(html[at : token.start()])
        pass_.token(token)
        at = token.end()
    pass_.text(html[at:])
    return pass_.kept.getvalue(), pass_.facts


class _Pass:
    """One pass over the tokens of a page: the markup kept so far, the elements open, the facts found."""

    def __init__(self) -> None:
        self.kept = StringIO()
        self.facts: Facts = {}
        self._open: Counter[str] = Counter()
        self._depth = 0
        self._away: tuple[int, int | None] | None = None

    def text(self, text: str) -> None:
        if not self._away:
            if not self._open["pre"]:
                text = _BREAK_IN_CJK.sub("", text).replace("\n", " ")
            self.kept.write(text.replace("<", "&lt;"))

    def token(self, token: re.Match[str]) -> None:
        if token["name"]:
            self._tag(token)
        elif token["raw"]:
            self._raw(token["raw"].lower(), token)
        elif token["comment"] and (saved := _SAVED_FROM.search(token["comment"], 0, 2000)):
            self.facts.setdefault("saved from", saved[1] or saved[2])

    def _raw(self, name: str, token: re.Match[str]) -> None:
        if name == "title":
            self.facts.setdefault("title", unescape(token["within"][:2000]))
        elif name == "script" and (dated := _DATE_PUBLISHED.search(token["within"])):
            self.facts.setdefault("datepublished", dated[1])

    def _tag(self, token: re.Match[str]) -> None:
        name = token["name"].lower()
        if name in ("meta", "link", "time"):
            self._fact(name, token["attributes"])
        if name in _ALONE:
            if name in ("br", "hr") and not token["end"] and not self._away:
                self.kept.write(f"<{name}>")
        elif token["end"]:
            self._close(_kept_as(name))
        elif not token["attributes"].endswith("/>"):
            self._start(_kept_as(name), name in _AWAY or _hidden(name, token["attributes"]))

    def _start(self, tag: str, away: bool) -> None:
        if tag not in _CLOSE_THEMSELVES:
            self._open[tag] += 1
            self._depth += 1
        if self._away and not self._away_ends(tag):
            return
        if away:
            self.kept.write("" if tag in _INLINE else "\n")
            inside = tag in _CLOSE_THEMSELVES
            self._away = (self._depth if inside else self._depth - 1, _CLOSE_THEMSELVES.get(tag))
        else:
            self.kept.write(" " if self._too_deep(tag) else f"<{tag}>")

    def _close(self, tag: str) -> None:
        too_deep = self._too_deep(tag)
        if tag not in _CLOSE_THEMSELVES:
            if not self._open[tag]:
                return
            self._open[tag] -= 1
            self._depth -= 1
        if self._away:
            self._away_ends(tag)
        else:
            self.kept.write(" " if too_deep else f"</{tag}>")

    def _away_ends(self, tag: str) -> bool:
        """Whether this tag, counted already, ends the part that isn't the page's text; if so, it is over."""
        assert self._away is not None
        depth, rank = self._away
        closed = rank is None or _CLOSE_THEMSELVES.get(tag, -1) >= rank
        if self._depth < depth or (self._depth == depth and closed):
            self._away = None
        return self._away is None

    def _too_deep(self, tag: str) -> bool:
        if tag in _CLOSE_THEMSELVES:
            return False
        if tag in _INDENTING and sum(self._open[other] for other in _INDENTING) > INDENTS:
            return True
        return self._depth > DEPTH

    def _fact(self, name: str, attributes: str) -> None:
        said = _attributes(attributes)
        if name == "time":
            self.facts.setdefault("time", said.get("datetime", ""))
        elif name == "link" and said.get("rel", "").lower() == "canonical":
            self.facts.setdefault("canonical", said.get("href", "").strip())
        elif name == "meta" and len(self.facts) < 200:
            key = said.get("property") or said.get("name") or said.get("itemprop") or ""
            self.facts.setdefault(key.lower()[:100], said.get("content", "").strip()[:2000])


_WIDE = f"{CJK}\u3000-\u303f\uff00-\uffef"
_BREAK_IN_CJK = re.compile(rf"(?<=[{_WIDE}])\n\s*+(?=[{_WIDE}])")
_SAVED_FROM = re.compile(r"saved from url=\(\d{1,9}\)(\S+)|Page saved with SingleFile\s{1,9}url:\s{1,9}(\S+)")
_DATE_PUBLISHED = re.compile(r'"datePublished"\s{0,9}:\s{0,9}"([^"]{4,40})"')
_DISPLAY_NONE = re.compile(
    r"(?:^|;)\s{0,9}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)", re.I
)


def _kept_as(name: str) -> str:
    if name in _SAME or name in _CLOSE_THEMSELVES or name in _AWAY:
        return name
    return "div" if name in _BOXES or "-" in name else "span"


def _hidden(name: str, attributes: str) -> bool:
    """Whether the element's own attributes hide it, or say that it is not the page's text."""
    if len(attributes) < 5 or name in ("html", "body"):
        return False
    said = _attributes(attributes)
    away = said.get("role", "").lower() in _ROLES_AWAY
    return away or "hidden" in said or bool(_DISPLAY_NONE.search(said.get("style", "")))


def _attributes(attributes: str) -> Facts:
    """The first 50 attributes by lower-case name; of a name that comes twice, the first."""
    said: Facts = {}
    for _, match in zip(range(50), _ATTRIBUTE.finditer(attributes, 0, 20_000), strict=False):
        said.setdefault(match[1].lower(), unescape(match[2] or match[3] or match[4] or ""))
    return said


def _pieces(markup: str) -> Iterator[str]:
    """The markup in pieces of at most `PIECE` characters, cut before a heading, a box or a paragraph if there is one.

    Pages of any ordinary length are one piece.
    """
    start = 0
    while start < len(markup):
        end = start + PIECE
        if end < len(markup):
            cuts = (markup.rfind(mark, start + PIECE // 2, end) for mark in ("<h", "<div>", "<p>", "<"))
            end = next((cut for cut in cuts if cut > start), end)
        yield markup[start:end]
        start = end


def _converted(markup: str) -> str:
    from html_to_markdown import ConversionError, ConversionOptions, PreprocessingOptions, convert

    options = ConversionOptions(
        extract_metadata=False,
        preprocessing=PreprocessingOptions(enabled=False),
        compact_tables=True,
        autolinks=False,
    )
    try:
        result = convert(markup, options)
    except ConversionError as error:
        raise BadInput(f"its markup can't be read ({error}); save the page as text") from error
    if any(str(warning.kind).endswith("depth_limit_exceeded") for warning in result.warnings):
        raise BadInput("its markup is nested too deep to be read whole; save the page as text")
    return result.content or ""


def _tidy(text: str) -> str:
    """Without trailing spaces and without more than one blank line in a row."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<![ \t])[ \t]++(?=\n)", "", text)).strip()

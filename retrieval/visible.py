"""What readers of an HTML file see of its markup, before it becomes Markdown.

Knows: which elements readers see and the text lacks, or the reverse; the texts of forms, shadow roots, and what the
attributes of an element hide or show again. Style sheets are not applied: it notes that one may hide or show parts.
Does not know: how markup becomes text.
Markup is hostile: it is read in one linear pass, and overlong attributes go.
"""

import re
import sys
from collections.abc import Mapping
from html import escape, unescape
from itertools import islice
from typing import NamedTuple

from longproof.retrieval.contents import Contents

LONGEST_TAG = 4000
"""Longer attributes go: html-to-markdown takes time in the square of their number."""
UNREAD = {
    "canvas": "drawings by scripts",
    **dict.fromkeys(("embed", "object"), "embedded files"),
    "iframe": "embedded pages",
    "rt": "readings above characters",
}
"""Elements that readers see and that are not read, and what they hold."""
UNSEEN = {
    **dict.fromkeys(("audio", "video"), "sound and films"),
    **dict.fromkeys(("template", "noscript", "datalist"), "hidden parts"),
    **dict.fromkeys(("img", "image"), "pictures"),
}
STYLED = "parts that a style sheet may hide or show"
_BOXES = frozenset({"figcaption", "legend", "summary", "text"})
"""Become `div`, as a page's own elements do: the converter would set the first three in italics; `text` is SVG's."""
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_SILENT = frozenset(["hidden", "password", "checkbox", "radio", "file", "image", "color", "range"])
"""Types of `input` whose value readers don't see as text."""
_BUTTONS = frozenset(("submit", "reset", "button"))

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"""
_TOKEN = re.compile(
    rf"""
    <!--(?:-?>|(?P<comment>.*?)(?:--!?>|\Z))
    |<(?P<raw>script|style|title|iframe|textarea)(?=[\s/>])(?P<about>{_ATTRIBUTES})
        (?P<within>.*?)(?:</(?P=raw)(?=[\s/>])[^>]*+(?:>|\Z)|\Z)
    |<option(?=[\s/>])(?P<option>{_ATTRIBUTES})(?P<shown>[^<]*+)
    |<[!?][^>]*+(?:>|\Z)
    |<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<attributes>{_ATTRIBUTES})
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?+""")
_SAVED_FROM = re.compile(r"saved from url=\(\d{1,9}\)(\S+)|Page saved with SingleFile\s{1,9}url:\s{1,9}(\S+)")
_TELLING = re.compile(r"hidden|style|value|placeholder|label|type|shadowrootmode", re.IGNORECASE)
"""The attributes that say what readers see."""
_ENDS = {
    "p": frozenset(
        re.findall(r"\w+", "p div ul ol dl table h1 h2 h3 h4 h5 h6 section article blockquote pre form hr")
    ),
    **{name: frozenset((name,)) for name in ("li", "tr", "option")},
    **dict.fromkeys(("td", "th"), frozenset(("td", "th", "tr"))),
    **dict.fromkeys(("dd", "dt"), frozenset(("dd", "dt"))),
}
"""Elements whose end tag may be left out, and the start tags that end them."""
_AROUND = frozenset(
    re.findall(
        r"\w+",
        "ul ol menu dl table thead tbody tfoot tr td th li dd div section article main blockquote form select "
        "optgroup body html",
    )
)
"""Elements that such an element stands in: their end tags end it, and inside another one of them it goes on."""
_NO_CODE = re.compile(r"""/\*.*?(?:\*/|\Z)|"[^"\n]*+"?|'[^'\n]*+'?""", re.DOTALL)
"""Comments and strings of a style sheet."""
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_SETS = re.compile(r"(?<![\w-])(?:display|visibility)\s*+:\s*+([\w-]+)", re.IGNORECASE)
"""A rule of a style sheet that sets what is shown, and its value."""


def visible_markup(html: str, page: Contents) -> str:
    """The markup of what readers see, with the texts of forms and shadow roots, without scripts and comments.

    `page` takes what its head says, and remarks on what is cut out.
    """
    reading = _Reading(page)
    parts: list[str] = []
    start = 0
    for token in _TOKEN.finditer(html):
        if reading.visible:
            parts.append(html[start : token.start()])
        parts.append(reading.replace(token))
        start = token.end()
    if reading.visible:
        parts.append(html[start:])
    if reading.hides or (reading.styles and reading.uses_hidden):
        page.unread.add(STYLED)
    return "".join(parts)


class _Element(NamedTuple):
    """An open element: `removed` has no box, so that nothing inside it is visible."""

    name: str
    visible: bool
    removed: bool


_PAGE = _Element("", visible=True, removed=False)


class _Reading:
    """One pass through the markup of a page, token by token."""

    def __init__(self, page: Contents) -> None:
        self.page = page
        self.hides = self.styles = self.uses_hidden = False
        """A style sheet hides something; one sets `display` or `visibility`; an element has `hidden`."""
        self._open: list[_Element] = []
        """The open elements from a hidden one on."""

    @property
    def visible(self) -> bool:
        """True where text is visible."""
        return not self._open or self._open[-1].visible

    def replace(self, token: re.Match[str]) -> str:
        """What stays of a token: nothing of scripts and comments, of a tag its name and short attributes."""
        name = (token["name"] or "").lower()
        if token["raw"]:
            return self._raw(token["raw"].lower(), token["about"], token["within"])
        if token["option"] is not None:
            start = self._start("option", token["option"])
            text = escape(values_of(token["option"]).get("label", "")) or token["shown"]
            return start + (text if self.visible else "")
        if not name:
            self._comment(token["comment"] or "")
            return ""
        return self._end(name) if token["end"] else self._start(name, token["attributes"])

    def _raw(self, name: str, attributes: str, within: str) -> str:
        """What stays of an element whose content is no markup."""
        if name == "textarea":
            about = values_of(attributes)
            text = within if within.strip() else escape(about.get("placeholder", ""))
            shown = self._element(name, about).visible
            return f"<textarea>{text.replace('<', '&lt;')}</textarea>" if shown else ""
        if name == "title":
            self.page.facts.setdefault("title", unescape(within[:2000]))
        elif name == "iframe" and self.visible:
            self.page.unread.add(UNREAD[name])
        elif name in ("script", "style"):
            self.page.left_out.add("scripts and styles")
        if name == "style":
            rules = _plain_rules(within)
            values = {value.lower() for value in _SETS.findall(rules)}
            self.styles |= bool(values)
            self.hides |= not values.isdisjoint(("none", "hidden", "collapse"))
            if "@import" in rules.lower():
                self.page.left_out.add("linked style sheets")
        return ""

    def _comment(self, text: str) -> None:
        if text.strip():
            self.page.left_out.add("comments")
        if saved := _SAVED_FROM.search(text[:2000]):
            self.page.facts.setdefault("saved from", saved[1] or saved[2])

    def _start(self, name: str, attributes: str) -> str:
        """The start tag of an element, with what readers see of its attributes as text behind it."""
        about = values_of(attributes) if _TELLING.search(attributes) else {}
        self._end_implied(name)
        root = name == "template" and about.get("shadowrootmode", "").lower() in ("open", "closed")
        element = self._element("div" if root else name, about)
        if name not in _VOID and (self._open or not element.visible):
            self._open.append(element._replace(name=name))
        if name in ("meta", "link"):
            self._note_fact(name, values_of(attributes))
        if not element.visible:
            return ""
        if name in UNREAD:
            self.page.unread.add(UNREAD[name])
        elif name in UNSEEN and not root:
            self.page.left_out.add(UNSEEN[name])
        if about.keys() & {"style", "hidden"}:
            attributes = _ATTRIBUTE.sub(_without_hiding, attributes)
        short = attributes if len(attributes) <= LONGEST_TAG else ">"
        if name == "input":
            return f"<button{short}{escape(_input_text(about))}</button> "
        label = f"{escape(about['label'])} " if name == "optgroup" and "label" in about else ""
        return f"<{_plain(name)}{short}{label}"

    def _end(self, name: str) -> str:
        """The end tag of an element, if that is visible."""
        names = [element.name for element in self._open]
        if name in names:
            at = len(names) - 1 - names[::-1].index(name)
            visible = self._open[at].visible
            del self._open[at:]
            return f"</{_plain(name)}>" if visible else ""
        if name in _AROUND:
            self._open.clear()
        return f"</{_plain(name)}>" if self.visible else ""

    def _end_implied(self, name: str) -> None:
        """End an element whose end tag may be left out before this start tag."""
        for at in range(len(self._open) - 1, -1, -1):
            if name in _ENDS.get(self._open[at].name, ()):
                del self._open[at:]
            elif self._open[at].name in _AROUND:
                return

    def _element(self, name: str, about: Mapping[str, str]) -> _Element:
        """An element with these attributes, inside those that are open."""
        around = self._open[-1] if self._open else _PAGE
        style = _declared(about.get("style", ""))
        self.uses_hidden |= "hidden" in about
        boxless = style.get("display") == "none" or ("hidden" in about and "display" not in style)
        removed = around.removed or boxless or name == "template"
        visibility = style.get("visibility", "inherit")
        hidden = visibility in ("hidden", "collapse")
        visible = not removed and not hidden and (around.visible or visibility in ("visible", "initial"))
        if boxless or hidden or name == "template":
            self.page.left_out.add("hidden parts")
        return _Element(name, visible, removed)

    def _note_fact(self, name: str, values: Mapping[str, str]) -> None:
        """Note a canonical address, og:title, og:url, or that a style sheet is linked."""
        facts, relations = self.page.facts, values.get("rel", "").lower().split()
        if name == "link" and relations == ["canonical"]:
            facts.setdefault("canonical", values.get("href", "").strip())
        elif name == "link" and "stylesheet" in relations:
            self.page.left_out.add("linked style sheets")
        elif name == "meta" and (key := values.get("property", "").lower()) in ("og:title", "og:url"):
            facts.setdefault(key, values.get("content", "").strip()[:2000])


def values_of(attributes: str) -> dict[str, str]:
    """The attributes of a tag by their names in lower case; 50 are read, of a name that comes twice the first."""
    values: dict[str, str] = {}
    for match in islice(_ATTRIBUTE.finditer(attributes, 0, 20_000), 50):
        values.setdefault(match[1].lower(), unescape(match[2] or match[3] or match[4] or ""))
    return values


def _plain(name: str) -> str:
    """The name of an element that the converter reads as one that stands alone."""
    return "div" if name == "template" or name in _BOXES or "-" in name else name


def _without_hiding(attribute: re.Match[str]) -> str:
    return "" if attribute[1].lower() in ("style", "hidden") else attribute[0]


def _input_text(about: Mapping[str, str]) -> str:
    """The text that readers see in an input: its value; a placeholder where it is empty."""
    kind = about.get("type", "").lower()
    if kind in _SILENT:
        return ""
    return about.get("value", "") or ("" if kind in _BUTTONS else about.get("placeholder", ""))


def _plain_rules(style: str) -> str:
    """The rules of a style without comments, strings and escapes."""

    def character(escaped: re.Match[str]) -> str:
        code = int(escaped[1], 16) if escaped[1] else 0
        return escaped[2] or (chr(code) if 0 < code <= sys.maxunicode else "")

    return _ESCAPE.sub(character, _NO_CODE.sub(" ", style))


def _declared(style: str) -> dict[str, str]:
    """The values of `display` and `visibility` that count in a style attribute: the last, important ones first."""
    plain: dict[str, str] = {}
    important: dict[str, str] = {}
    for declaration in _plain_rules(style[:20_000]).lower().split(";"):
        name, _, value = declaration.partition(":")
        value, mark, _ = value.partition("!")
        if name.strip() in ("display", "visibility"):
            (important if mark else plain)[name.strip()] = value.strip()
    return plain | important

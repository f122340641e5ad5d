"""How much there is to draw in a PDF, told before its text is extracted, which would take minutes.

Knows: pages, the forms (`/Form` XObjects) that they draw, which may be shared, nested and drawn again and again, and
the tables of their fonts; operators take time beside their length.
Does not know: what their text is.
"""

import re
from collections.abc import Iterator
from typing import Any

from longproof.retrieval.types import BadInput

PAGES, PAGE_BYTES = 10_000, 32_000_000
"""How many pages a PDF may have, and how long what draws them may be in all: a stream that pages share counts for
each of them, and a form as often as it is drawn."""
DRAWING = 200
"""What drawing a form counts beside its length, in bytes: each takes time, even an empty one."""

OPERATOR = 24
"""What an operator counts beside its length, in bytes: a million take half a minute, however short they are."""
_STRING = re.compile(rb"\((?:[^()\\]|\\.)*\)", re.DOTALL)
_OPERATOR = re.compile(rb"(?<![^\s\])>])[A-Za-z'\"]")

TABLES = ("/ToUnicode", "/Widths", "/W", "/Encoding", "/Differences", "/DescendantFonts")
"""What is read of a font again for every page and form that has it."""
TABLE_BYTES = 16
"""So many bytes of fonts' tables count as one that draws."""


def refuse_long(reader: Any, name: str) -> None:
    """Raises BadInput for a PDF whose pages would take minutes."""
    if len(reader.pages) > PAGES:
        raise BadInput(f"{name}: it has more than {PAGES:,} pages; split it")
    drawn, forms = 0, dict[int, int]()
    for page in reader.pages:
        drawn += _drawn(page, page.get_contents(), reader, forms)
        if drawn > PAGE_BYTES:
            raise BadInput(
                f"{name}: its pages unpack to more than {PAGE_BYTES // 10**6} MB, or to too many operators; "
                "give its text alone"
            )


def _drawn(drawing: Any, contents: Any, reader: Any, known: dict[int, int]) -> int:
    """How many bytes draw a page or a form in all; counting ends beyond PAGE_BYTES. `known`: of forms and fonts."""
    from pypdf.generic import ContentStream

    if contents is None:
        return 0
    if not isinstance(contents, ContentStream):
        contents = ContentStream(contents, reader)
    fonts = _named(drawing, "/Font").values()
    data = contents.get_data()
    size = (
        len(data) + OPERATOR * _operators(data) + sum(_tables(font, known) for font in fonts) // TABLE_BYTES
    )
    forms = {name: one for name, one in _named(drawing, "/XObject").items() if one.get("/Subtype") == "/Form"}
    for operands, operator in contents.operations if forms else ():
        form = forms.get(operands[0]) if operator == b"Do" and operands else None
        if form is not None and id(form) not in known:
            known[id(form)] = PAGE_BYTES  # for a form that draws itself: that has no end
            known[id(form)] = _drawn(form, form, reader, known)
        size += known[id(form)] + DRAWING if form is not None else 0
        if size > PAGE_BYTES:
            break
    return size


def _operators(data: bytes) -> int:
    """About how many operators draw: words outside strings that are no names."""
    return sum(1 for _ in _OPERATOR.finditer(_STRING.sub(b"()", data)))


def _tables(part: Any, known: dict[int, int]) -> int:
    """How many bytes of tables a font, or a part of one, has; a number in an array counts as eight."""
    if id(part) in known:
        return known[id(part)]
    known[id(part)] = 0
    if isinstance(part, list):
        size = sum(_tables(one, known) if isinstance(one, list | dict) else 8 for one in _objects(part))
    else:
        size = len(part.get_data()) if hasattr(part, "get_data") else 0
        inner = [part[key] for key in TABLES if key in part]
        size += sum(_tables(one, known) for one in inner if isinstance(one, list | dict))
    known[id(part)] = size
    return size


def _objects(array: list[Any]) -> Iterator[Any]:
    """What stands in an array; what it only refers to is fetched."""
    return (one.get_object() if hasattr(one, "get_object") else one for one in array)


def _named(drawing: Any, kind: str) -> dict[str, Any]:
    """The fonts or other objects that a page or a form names; where it has none, what it is part of has."""
    seen = set[int]()
    while "/Resources" not in drawing and "/Parent" in drawing and id(drawing) not in seen:
        seen.add(id(drawing))
        drawing = drawing["/Parent"]
    found = drawing
    for key in ("/Resources", kind):
        found = found[key] if isinstance(found, dict) and key in found else {}
    objects = {name: found[name] for name in found} if isinstance(found, dict) else {}
    return {name: one for name, one in objects.items() if isinstance(one, dict)}

"""How much there is to draw in a PDF, told before its text is extracted, which would take minutes.

Knows: pages and the forms (`/Form` XObjects) that they draw, which may be shared, nested and drawn again and again.
Does not know: what their text is.
"""

from typing import Any

from longproof.retrieval.types import BadInput

PAGES, PAGE_BYTES = 10_000, 32_000_000
"""How many pages a PDF may have, and how long what draws them may be in all: a stream that pages share counts for
each of them, and a form as often as it is drawn."""
DRAWING = 200
"""What drawing a form counts beside its length, in bytes: each takes time, even an empty one."""


def refuse_long(reader: Any, name: str) -> None:
    """Raises BadInput for a PDF whose pages would take minutes."""
    if len(reader.pages) > PAGES:
        raise BadInput(f"{name}: it has more than {PAGES:,} pages; split it")
    drawn, forms = 0, dict[int, int]()
    for page in reader.pages:
        drawn += _drawn(page, page.get_contents(), reader, forms)
        if drawn > PAGE_BYTES:
            raise BadInput(
                f"{name}: its pages unpack to more than {PAGE_BYTES // 10**6} MB; give its text alone"
            )


def _drawn(drawing: Any, contents: Any, reader: Any, known: dict[int, int]) -> int:
    """How many bytes draw a page or a form in all; counting ends beyond PAGE_BYTES. `known`: of forms."""
    from pypdf.generic import ContentStream

    if contents is None:
        return 0
    if not isinstance(contents, ContentStream):
        contents = ContentStream(contents, reader)
    size = len(contents.get_data())
    forms = _forms(drawing)
    for operands, operator in contents.operations if forms else ():
        form = forms.get(operands[0]) if operator == b"Do" and operands else None
        if form is not None and id(form) not in known:
            known[id(form)] = PAGE_BYTES  # for a form that draws itself: that has no end
            known[id(form)] = _drawn(form, form, reader, known)
        size += known[id(form)] + DRAWING if form is not None else 0
        if size > PAGE_BYTES:
            break
    return size


def _forms(drawing: Any) -> dict[str, Any]:
    """The forms that a page or a form may draw, by name; what it has no names for, what it is part of has."""
    seen = set[int]()
    while "/Resources" not in drawing and "/Parent" in drawing and id(drawing) not in seen:
        seen.add(id(drawing))
        drawing = drawing["/Parent"]
    found = drawing
    for key in ("/Resources", "/XObject"):
        found = found[key] if isinstance(found, dict) and key in found else {}
    objects = {name: found[name] for name in found} if isinstance(found, dict) else {}
    return {
        name: one for name, one in objects.items() if isinstance(one, dict) and one.get("/Subtype") == "/Form"
    }

"""The shapes that making labelled data takes, and what code checks before anything is believed to be labelled.

Knows: a change of a text with its exact places, how two versions of a text differ by sentences, and the names of
all reasons for which a version is thrown away (LongNovel, seed 004, section 3.2 and Appendix I.1: one sentence
changed, up to two for temporal and causal errors, one added for fabrications). Does not know: who wrote a version.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from longproof.agent.types import Failure, Kind, Place
from longproof.retrieval.text import fold, locate, sentences, tokens
from longproof.retrieval.types import Document, Frozen

Maker = Literal["rules", "model", "human"]
Rejection = (
    Literal[
        "no_success",
        "not_changed",
        "too_many_changed",
        "span_not_found",
        "span_elsewhere",
        "figures_differ",
        "too_long",
        "base_rewritten",
        "wrong_count",
        "not_learned",
        "no_choice",
        "no_site",
        "told_by_source",
    ]
    | Failure
)
"""Why there is no version. The rules' own: `no_site`, nothing in the text that this kind could change;
`told_by_source`, the error stands in the source word for word, so it is none."""

MOST_CHANGED: dict[Kind, int] = {"temporal": 2, "causal": 2}
"""Sentences that a version of this kind may change; one for the others."""


class Change(Frozen):
    """A text made wrong. `wrong` are the wrong words in `text`, `stretch` the sentences that hold them.

    `right` is what stood in the place of the wrong words, `original` in that of the stretch; empty where added.
    """

    text: str
    kind: Kind
    wrong: Place
    stretch: Place
    right: str
    original: str
    how: str
    reason: str = ""


class Version(Frozen):
    """A faithful text of a unit and who wrote it."""

    text: str
    maker: Maker


class Differs(NamedTuple):
    """How a text differs from its base: the sentences gone and come, and where those that came stand.

    `region` runs from the first difference to the last: of sentences that changed places, it holds all.
    """

    gone: tuple[str, ...]
    come: tuple[str, ...]
    place: Place
    region: Place


def difference(base: str, text: str) -> Differs | None:
    """How the text differs from its base, sentence by sentence; None where it says the same words.

    Sentences are compared by their folded text, so spaces, width and script make no difference. The place runs from
    the first sentence that came to the last one.
    """
    old, new = _pieces(base), _pieces(text)
    matcher = SequenceMatcher(None, [p.key for p in old], [p.key for p in new], autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    gone = [piece.text for _, i, j, _, _ in steps for piece in old[i:j]]
    come = [piece for _, _, _, i, j in steps for piece in new[i:j]]
    if not gone and not come:
        return None
    if not come:
        return Differs(tuple(gone), (), Place(start=0, end=0), Place(start=0, end=0))
    touched = [at for step in steps for at in (step[3], step[4] - 1) if 0 <= at < len(new)]
    region = _from_to(text, new[min(touched)], new[max(touched)])
    return Differs(tuple(gone), tuple(p.text for p in come), _from_to(text, come[0], come[-1]), region)


def checked(base: str, text: str, kind: Kind, part: str, reason: str = "") -> Change | Rejection:
    """The change that a version of this kind makes to its base, or why it is none.

    `part` is the sentence that the writer says is wrong: it must stand in the text, in a sentence that changed.
    """
    differs = difference(base, text)
    if differs is None:
        return "not_changed"
    if not differs.come or not _right_many(differs, kind):
        return "too_many_changed"
    said = located(part, text)
    if said is None:
        return "span_not_found"
    where = differs.region if kind == "temporal" else differs.place
    if said.end <= where.start or said.start >= where.end:
        return "span_elsewhere"
    start, end = min(differs.place.start, said.start), max(differs.place.end, said.end)
    stretch = Place(start=start, end=end, text=text[start:end])
    return Change(
        text=text,
        kind=kind,
        wrong=stretch,
        stretch=stretch,
        right=" ".join(differs.gone),
        original=" ".join(differs.gone),
        how="written",
        reason=reason,
    )


def located(quote: str, text: str) -> Place | None:
    """The place of a quote in a text: as it stands, else after folding; never a mere likeness."""
    if not quote.strip():
        return None
    at = text.find(quote.strip())
    if at >= 0:
        return Place(start=at, end=at + len(quote.strip()), text=quote.strip())
    found = locate(quote, Document.of(text))
    if found is None or tokens(found.text) != tokens(quote):
        return None
    return Place(start=found.start, end=found.end, text=found.text)


def _right_many(differs: Differs, kind: Kind) -> bool:
    if kind == "fabrication":
        return not differs.gone and len(differs.come) == 1
    return 1 <= len(differs.come) <= MOST_CHANGED.get(kind, 1) and len(differs.gone) <= MOST_CHANGED.get(
        kind, 1
    )


class _Piece(NamedTuple):
    start: int
    text: str
    key: str


def _from_to(text: str, first: _Piece, last: _Piece) -> Place:
    end = last.start + len(last.text)
    return Place(start=first.start, end=end, text=text[first.start : end])


def _pieces(text: str) -> Sequence[_Piece]:
    return [_Piece(a, text[a:b], "".join(fold(text[a:b]).text.split())) for a, b in sentences(text)]

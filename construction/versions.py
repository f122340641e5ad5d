"""Versions of a text that a model writes, and what code checks before one is believed.

Knows: a text made wrong with its exact places, how two versions differ by sentences and by words, and all reasons
for which a version is thrown away (LongNovel, section 3.2 and Appendix I.1: one sentence changed, up to two
for temporal and causal errors, one added for fabrications). Does not know: which versions a construction asks for.
"""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from longproof.agent.models.answers import Form
from longproof.agent.types import Kind, Place
from longproof.prompts import Language
from longproof.retrieval.text.locate import locate
from longproof.retrieval.text.normalise import CJK, fold, is_chinese, tokens
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Span

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+|[^\w\s]")

MOST_CHANGED: dict[Kind, int] = {"temporal": 2, "causal": 2}
"""Sentences that a version of this kind may change; one for the others."""


class Rejected(NamedTuple):
    """The reason why an answer is not believed, in a word or two."""

    why: str


class TextWithError(NamedTuple):
    """A text made wrong: `wrong` is the place of the sentences that hold the error, `right` what stood there, if
    anything.

    `how` says who made the error: `written` on demand, or `drafted`.
    """

    text: str
    kind: Kind
    wrong: Place
    right: str
    how: str
    reason: str = ""


class Written(Form):
    """The form of an answer that is one text."""

    text: str


def prompt_language(text: str) -> Language:
    """The language of prompts about a text."""
    return "zh" if is_chinese(text) else "en"


def same_words(one: str, other: str) -> bool:
    """True if two texts are the same but for spaces, width, script and a full stop at the end."""
    return plain_form(one).rstrip(".。") == plain_form(other).rstrip(".。")


def plain_form(text: str) -> str:
    """The text in one width, case and script, without spaces."""
    return "".join(fold(text).split())


def likeness(one: str, other: str) -> float:
    """F1 of the tokens that two texts share, 0 to 1: a likeness without weights. Two empty texts are alike."""
    first, second = Counter(tokens(one)), Counter(tokens(other))
    if not first and not second:
        return 1.0
    return 2 * (first & second).total() / (first.total() + second.total())


class Difference(NamedTuple):
    """The sentences of a base that a text lacks, those that it has instead, and where those stand.

    `place` runs from the first new sentence to the last; `region` also holds sentences that changed places.
    """

    gone: tuple[str, ...]
    new: tuple[str, ...]
    place: Place
    region: Place


def sentence_difference(base: str, text: str) -> Difference | None:
    """The difference of a text from its base, by the plain form of their sentences; None where both say the same
    words.
    """
    old, new = sentences(base), sentences(text)
    before, after = [plain_form(base[a:b]) for a, b in old], [plain_form(text[a:b]) for a, b in new]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    gone, arrived, touched = list[str](), list[tuple[int, int]](), list[tuple[int, int]]()
    for step, i, j, first, end in matcher.get_opcodes():
        if step == "equal":
            continue
        gone += [base[a:b] for a, b in old[i:j]]
        arrived += new[first:end]
        touched += [new[n] for n in (first, end - 1) if 0 <= n < len(new)]
    if not arrived:
        nowhere = Place(start=0, end=0)
        return Difference(tuple(gone), (), nowhere, nowhere) if gone else None
    place = Place.of(text, arrived[0][0], arrived[-1][1])
    region = Place.of(text, min(touched)[0], max(touched)[1])
    return Difference(tuple(gone), tuple(text[a:b] for a, b in arrived), place, region)


def new_places(base: str, text: str) -> tuple[list[Place], float]:
    """The places of the text that its base does not have, and the share of the base's words that it keeps.

    Compared word by word, Chinese by characters. Places with at most a word between them are one: words are in
    common by chance, too.
    """
    old, new = _WORD.findall(base), list(_WORD.finditer(text))
    matcher = SequenceMatcher(None, old, [word[0] for word in new], autojunk=False)
    ranges: list[tuple[int, int]] = []
    n_same = 0
    for step, first, last, i, j in matcher.get_opcodes():
        if step == "equal":
            n_same += last - first
        while step == "insert" and j < len(new) and new[i][0] == new[j][0] and not new[i][0][0].isalnum():
            i, j = i + 1, j + 1
        if step in ("insert", "replace"):
            start, end = new[i].start(), new[j - 1].end()
            if ranges and len(_WORD.findall(text[ranges[-1][1] : start])) <= 1:
                start, _ = ranges.pop()
            ranges.append((start, end))
    return [Place.of(text, start, end) for start, end in ranges], n_same / max(1, len(old))


def shared_length(one: Place | Span, others: Sequence[Place]) -> int:
    """The number of characters that a place shares with others, which don't overlap."""
    return sum(max(0, min(one.end, other.end) - max(one.start, other.start)) for other in others)


def check_error(base: str, text: str, kind: Kind, part: str, reason: str = "") -> TextWithError | Rejected:
    """The change that a version of this kind makes to its base, or why it is none.

    `part` is the sentence that the writer says is wrong: it must stand in the text, in a sentence that changed.
    """
    difference = sentence_difference(base, text)
    if difference is None:
        return Rejected("not_changed")
    n_new, n_gone, most = len(difference.new), len(difference.gone), MOST_CHANGED.get(kind, 1)
    if not 1 <= n_new <= most or n_gone > (0 if kind == "fabrication" else most):
        return Rejected("too_many_changed")
    named = locate_quote(part, text)
    if named is None:
        return Rejected("span_not_found")
    where, place = difference.region if kind == "temporal" else difference.place, difference.place
    if named.end <= where.start or named.start >= where.end:
        return Rejected("span_elsewhere")
    around = Place.of(text, min(place.start, named.start), max(place.end, named.end))
    right = " ".join(difference.gone)
    return TextWithError(text, kind, around, right, "written", reason)


def locate_quote(quote: str, text: str) -> Place | None:
    """The place of a quote in a text: as it stands, else after folding; never a mere likeness."""
    if (wanted := quote.strip()) and (at := text.find(wanted)) >= 0:
        return Place.of(text, at, at + len(wanted))
    near = locate(quote, text)
    place = Place.of(text, *near) if near else None
    return place if place and tokens(place.text) == tokens(quote) else None

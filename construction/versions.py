"""Versions of a text that a model writes, and what code checks before one is believed.

Knows: how a model is asked for a version, a text made wrong with its exact places, how two versions differ by
sentences and by words, and all reasons for which a version is thrown away (LongNovel, seed 004, section 3.2 and
Appendix I.1: one sentence changed, up to two for temporal and causal errors, one added for fabrications).
Does not know: which versions a construction asks for.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Generic, NamedTuple, TypedDict, TypeVar

from typing_extensions import Unpack

from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.types import Call, Kind, Place
from longproof.prompts import Language, Prompt
from longproof.retrieval.text.locate import locate
from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.text.tokens import CJK, is_chinese, tokens
from longproof.retrieval.types import Document, Frozen

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+|[^\w\s]")
F = TypeVar("F", bound=Form)
T = TypeVar("T")

MOST_CHANGED: dict[Kind, int] = {"temporal": 2, "causal": 2}
"""Sentences that a version of this kind may change; one for the others."""


class Rejected(NamedTuple):
    """Why an answer is not believed, in a word or two."""

    why: str


class TextWithError(Frozen):
    """A text made wrong. `wrong` is the place of the sentences that hold the error, `right` what stood there.

    `right` is empty where a sentence was added; `how` says who made the error: `written` on demand, or `drafted`.
    """

    text: str
    kind: Kind
    wrong: Place
    right: str
    how: str
    reason: str = ""


class Made(NamedTuple, Generic[T]):
    """What comes of one part: at most one value, why there is no other, and the calls that it rests on."""

    value: T | None
    rejected: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()

    def of(self, what: str) -> "Made[T]":
        """The same, with a name for what was rejected."""
        return self._replace(rejected=tuple(f"{what}: {why}" for why in self.rejected))


class Written(Form):
    """The form of an answer that is one text."""

    text: str


class Drawing(TypedDict, total=False):
    """How an answer is sampled. What isn't said is left to the model's defaults."""

    sample: int
    temperature: float
    top_p: float
    max_tokens: int


async def ask_for(
    model: Model,
    prompt: Prompt,
    form: type[F],
    believed: Callable[[F], T | Rejected],
    *,
    purpose: str,
    **drawing: Unpack[Drawing],
) -> Made[T]:
    """What `believed` makes of the model's answer. A failed call is rejected, too, by the failure's name."""
    answer = await model.ask(prompt, form, purpose=purpose, **drawing)
    if answer.value is None:
        return Made(None, (str(answer.failure),), answer.calls)
    value = believed(answer.value)
    if isinstance(value, Rejected):
        return Made(None, (value.why,), answer.calls)
    return Made(value, (), answer.calls)


def prompt_language(text: str) -> Language:
    """The language of prompts about a text."""
    return "zh" if is_chinese(text) else "en"


def same_words(one: str, other: str) -> bool:
    """Whether two texts are the same but for spaces, width, script and a full stop at the end."""
    return folded(one).rstrip(".。") == folded(other).rstrip(".。")


def folded(text: str) -> str:
    """The text in one width, case and script, without spaces."""
    return "".join(fold(text).text.split())


def likeness(one: str, other: str) -> float:
    """F1 of the tokens that two texts share, 0 to 1: a likeness without weights. Two empty texts are alike."""
    first, second = Counter(tokens(one)), Counter(tokens(other))
    if not first and not second:
        return 1.0
    return 2 * (first & second).total() / (first.total() + second.total())


class Differs(NamedTuple):
    """How a text differs from its base: the sentences gone and come, and where those that came stand.

    `region` runs from the first difference to the last: of sentences that changed places, it holds all.
    """

    gone: tuple[str, ...]
    come: tuple[str, ...]
    place: Place
    region: Place


def sentence_difference(base: str, text: str) -> Differs | None:
    """How the text differs from its base, sentence by sentence; None where it says the same words.

    Sentences are compared by their folded text, so spaces, width and script make no difference. The place runs from
    the first sentence that came to the last one.
    """
    old, new = sentences(base), sentences(text)
    matcher = SequenceMatcher(
        None, [folded(base[a:b]) for a, b in old], [folded(text[a:b]) for a, b in new], autojunk=False
    )
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    gone = tuple(base[a:b] for _, i, j, _, _ in steps for a, b in old[i:j])
    come = [at for _, _, _, i, j in steps for at in new[i:j]]
    if not gone and not come:
        return None
    if not come:
        return Differs(gone, (), Place(start=0, end=0), Place(start=0, end=0))
    touched = [new[n] for step in steps for n in (step[3], step[4] - 1) if 0 <= n < len(new)]
    region = Place.of(text, min(touched)[0], max(touched)[1])
    return Differs(gone, tuple(text[a:b] for a, b in come), Place.of(text, come[0][0], come[-1][1]), region)


def new_places(base: str, text: str) -> tuple[list[Place], float]:
    """The places of the text that its base does not have, and the share of the base's words that it keeps.

    Compared word by word, Chinese by characters; an added place begins with a word where it could as well begin
    with the mark before it. Places with at most a word between them are one.
    """
    old, new = [m[0] for m in _WORD.finditer(base)], list(_WORD.finditer(text))
    matcher = SequenceMatcher(None, old, [m[0] for m in new], autojunk=False)
    ranges: list[tuple[int, int]] = []
    for step, _, _, i, j in matcher.get_opcodes():
        while step == "insert" and j < len(new) and new[i][0] == new[j][0] and not new[i][0][0].isalnum():
            i, j = i + 1, j + 1
        if step in ("insert", "replace"):
            ranges.append((new[i].start(), new[j - 1].end()))
    kept = sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(old))
    return [Place.of(text, a, b) for a, b in _join_close(ranges, text)], kept


def _join_close(ranges: Sequence[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """The ranges, close ones as one: a comparison by words finds a word in common by chance."""
    if not ranges:
        return
    start, end = ranges[0]
    for (_, _), (a, b) in pairwise(ranges):
        if len(_WORD.findall(text[end:a])) > 1:
            yield start, end
            start = a
        end = b
    yield start, end


def shared_length(one: Place, other: Place) -> int:
    """How many characters two places share."""
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def check_error(base: str, text: str, kind: Kind, part: str, reason: str = "") -> TextWithError | Rejected:
    """The change that a version of this kind makes to its base, or why it is none.

    `part` is the sentence that the writer says is wrong: it must stand in the text, in a sentence that changed.
    """
    differs = sentence_difference(base, text)
    if differs is None:
        return Rejected("not_changed")
    if not differs.come or not _right_many(differs, kind):
        return Rejected("too_many_changed")
    said = locate_quote(part, text)
    if said is None:
        return Rejected("span_not_found")
    where = differs.region if kind == "temporal" else differs.place
    if said.end <= where.start or said.start >= where.end:
        return Rejected("span_elsewhere")
    around = Place.of(text, min(differs.place.start, said.start), max(differs.place.end, said.end))
    right = " ".join(differs.gone)
    return TextWithError(text=text, kind=kind, wrong=around, right=right, how="written", reason=reason)


def locate_quote(quote: str, text: str) -> Place | None:
    """The place of a quote in a text: as it stands, else after folding; never a mere likeness."""
    if not quote.strip():
        return None
    at = text.find(quote.strip())
    if at >= 0:
        return Place.of(text, at, at + len(quote.strip()))
    found = locate(quote, Document.of(text))
    if found is None or tokens(found.text) != tokens(quote):
        return None
    return Place(start=found.start, end=found.end, text=found.text)


def _right_many(differs: Differs, kind: Kind) -> bool:
    if kind == "fabrication":
        return not differs.gone and len(differs.come) == 1
    most = MOST_CHANGED.get(kind, 1)
    return 1 <= len(differs.come) <= most and len(differs.gone) <= most

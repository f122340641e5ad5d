"""What can be wrong with a made set, found by code before anyone trusts it.

Knows: duplicates, texts shared by splits, whether length or opening words alone tell the labels, balance of kinds and
positions, places that are not where they say, names that a copied sentence has lost. Reads a set through the reader
that evaluation uses. Does not know: how a set was made, or how findings are shown (sheet).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from statistics import mean

from longproof.agent.types import KINDS
from longproof.evaluation.making import CHINESE_FROM, Language, cast_of, names_in, simplified
from longproof.evaluation.types import Example
from longproof.retrieval.text import cjk_share, fold, sentences
from longproof.retrieval.types import Frozen, text_id

TELLING = 0.65
"""An AUC from here on says that the labels can be told without reading; 0.5 is chance."""
UNEVEN = 2.0
"""The most frequent kind may be so many times as frequent as the rarest."""

PIECE, AROUND = 5, 300
"""Characters: a third of a sentence that tells its original, and how far around that the original may reach."""
ALIKE, REPLACED = 0.8, 20
"""How alike a light rewording is to its original, and how many characters of it may be replaced at one place."""


class Check(Frozen):
    """One finding: what was looked at, what was found, and whether it is as it should be."""

    name: str
    found: str
    good: bool


def checks(made: Sequence[Example], trained: Sequence[Example] = ()) -> list[Check]:
    """All checks of a set, with those between it and the training split where there is one.

    Places are checked by whoever read the examples: one that is not where it says is refused there.
    """
    return [
        Check(name="places", found=f"{_n_places([*made, *trained])} places, all where they say", good=True),
        duplicates(made),
        leakage(made, trained),
        artefact("length", made, lambda example: len(example.response)),
        artefact("sentences with an opening phrase", made, _openings),
        balance("kind", made, KINDS),
        balance("position", made, ("begin", "middle", "end")),
        labels(made),
        names_kept(made),
    ]


def duplicates(made: Sequence[Example]) -> Check:
    """Responses that stand twice in the set, folded."""
    counts = Counter(_key(example.response) for example in made)
    twice = sum(n - 1 for n in counts.values())
    return Check(name="duplicates", found=f"{twice} of {len(made)} responses stand twice", good=twice == 0)


def leakage(test: Sequence[Example], train: Sequence[Example]) -> Check:
    """Responses, sources and books that both splits hold."""
    shared = {_key(e.response) for e in test} & {_key(e.response) for e in train}
    sources = {_source(e) for e in test} & {_source(e) for e in train} - {""}
    books = {_book(e) for e in test} & {_book(e) for e in train} - {""}
    found = f"{len(shared)} responses, {len(sources)} sources, {len(books)} books in both splits"
    return Check(
        name="leakage", found=found if train else "no training split", good=not (shared or sources or books)
    )


def artefact(name: str, made: Sequence[Example], feature: Callable[[Example], float]) -> Check:
    """Whether one number a response tells the labels: the AUC over all pairs, and within each group of a pair.

    The first compares any hallucinated response with any faithful one; the second only those made of one text.
    """
    wrong = [feature(e) for e in made if e.gold.outcome == "hallucinated"]
    right = [feature(e) for e in made if e.gold.outcome == "faithful"]
    groups: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for example in made:
        if example.gold.outcome is not None:
            groups[example.group][example.gold.outcome == "faithful"].append(feature(example))
    inside = [auc(a, b) for a, b in groups.values()]
    paired = [value for value in inside if value is not None]
    overall, within = auc(wrong, right), (mean(paired) if paired else None)
    good = all(value is None or 1 - TELLING < value < TELLING for value in (overall, within))
    return Check(
        name=f"AUC of {name}", found=f"{_said(overall)} overall, {_said(within)} within pairs", good=good
    )


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """The chance that one of the first exceeds one of the second, ties half; None where either is empty."""
    if not higher or not lower:
        return None
    order = sorted([(value, 1) for value in higher] + [(value, 0) for value in lower])
    total, below, at = 0.0, 0, 0
    while at < len(order):
        end = at
        while end < len(order) and order[end][0] == order[at][0]:
            end += 1
        ties = [side for _, side in order[at:end]]
        ups, downs = sum(ties), len(ties) - sum(ties)
        total += ups * (below + downs / 2)
        below, at = below + downs, end
    return total / (len(higher) * len(lower))


def balance(slice_: str, made: Sequence[Example], names: Sequence[str]) -> Check:
    """How often each name of a slice stands among the hallucinated."""
    wrong = [e for e in made if e.gold.outcome == "hallucinated" and slice_ in e.slices]
    counts = Counter(e.slices[slice_] for e in wrong)
    rarest, most = min(counts[n] for n in names), max(counts[n] for n in names)
    found = ", ".join(f"{name} {counts[name]}" for name in names)
    return Check(name=f"balance of {slice_}", found=found, good=not wrong or most <= UNEVEN * rarest)


def labels(made: Sequence[Example]) -> Check:
    """Hallucinated against faithful."""
    counts = Counter(e.gold.outcome for e in made)
    found = f"hallucinated {counts['hallucinated']}, faithful {counts['faithful']}"
    return Check(name="balance of labels", found=found, good=counts["hallucinated"] == counts["faithful"])


def names_kept(made: Sequence[Example]) -> Check:
    """Names that a sentence of the source has, and its lightly reworded copy in a faithful response lacks.

    Names are those that code can tell, and who speaks in the source. Sentences that are no copy are not compared.
    """
    lost, copies = list[str](), 0
    for example in made:
        if example.gold.outcome != "faithful":
            continue
        language: Language = "zh" if cjk_share(example.response) >= CHINESE_FROM else "en"
        source = _plain("\n".join(source.text for source in example.sources), language)
        cast = cast_of("\n".join(source.text for source in example.sources), language)
        for start, end in sentences(example.response):
            copy = _plain(example.response[start:end], language)
            original = _original(copy, source)
            copies += original is not None
            lost += _lacking(original or "", copy, language, cast)
    shown = f": {', '.join(dict.fromkeys(lost))}"[:200] if lost else ""
    found = f"{len(lost)} names lost in {copies} copied sentences of faithful responses{shown}"
    return Check(name="names", found=found, good=not lost)


def _original(copy: str, source: str) -> str | None:
    """The source's sentence of which this is a light rewording: a third of its words stands there as it is."""
    third = len(copy) // 3
    for at in (third, 2 * third, 0) if third >= PIECE else ():
        found = source.find(copy[at : at + third])
        if found >= 0:
            near = max(0, found - AROUND)
            text = source[near : found + third + AROUND]
            return next((text[a:b] for a, b in sentences(text) if a <= found - near < b), None)
    return None


def _lacking(original: str, copy: str, language: Language, cast: Sequence[str]) -> list[str]:
    """The names that a copy doesn't have, where a few characters were replaced; a stretch left out is no loss.

    A word that opens an English sentence is no name.
    """
    opening = re.match(r"[^a-z]*[A-Z]", original) if language == "en" else None
    first = opening.end() if opening else 0
    places = [(a, b) for a, b in names_in(original, language, cast) if original[a:b] not in copy]
    matcher = SequenceMatcher(None, original, copy, autojunk=False)
    if not places or matcher.ratio() < ALIKE:
        return []
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal" and step[2] - step[1] <= REPLACED]
    return [
        original[a:b]
        for a, b in places
        if a >= first
        and any(i < b and a < j and (k == "replace" or a < i or j < b) for k, i, j, _, _ in steps)
    ]


def _plain(text: str, language: Language) -> str:
    return simplified("".join(text.split())) if language == "zh" else " ".join(text.replace("_", "").split())


_PHRASES = (
    *("后来，", "此后，", "随后，", "正因如此，", "由于这件事，", "为此，"),
    *(
        "Later, ",
        "Afterwards, ",
        "After that, ",
        "Because of this, ",
        "For this reason, ",
        "As a result of this, ",
    ),
)


def _openings(example: Example) -> float:
    return sum(example.response.count(phrase) for phrase in _PHRASES)


def _n_places(made: Sequence[Example]) -> int:
    return sum(len(e.gold.errors or ()) for e in made)


def _key(text: str) -> str:
    return "".join(fold(text).text.split())


def _source(example: Example) -> str:
    return text_id("\0".join(source.text for source in example.sources)) if example.sources else ""


def _book(example: Example) -> str:
    return example.slices.get("book", "")


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"

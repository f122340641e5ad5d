"""What can be wrong with a made set, found by code before anyone trusts it.

Knows: duplicates, texts shared by splits, whether length or opening words alone tell the labels, balance of kinds and
positions, names that a copied sentence has lost. Reads the cases as they stand in the files.
Does not know: how a set was made, or how findings are shown (data_card).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from statistics import mean

import numpy as np

from longproof.agent.types import KINDS
from longproof.construction.case_files import LabelledCase
from longproof.construction.extracts import cast_of, names_in, simplified
from longproof.construction.units import POSITIONS
from longproof.construction.versions import folded, language_of
from longproof.construction.word_tables import CAUSES, LATER
from longproof.prompts import Language
from longproof.retrieval.text import sentences
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


def checks(made: Sequence[LabelledCase], trained: Sequence[LabelledCase] = ()) -> list[Check]:
    """All checks of a set, with those between it and the training split where there is one.

    Places are checked as a case is read: one that is not where it says is refused there.
    """
    n_places = sum(len(case.errors) for case in [*made, *trained])
    return [
        Check(name="places", found=f"{n_places} places, all where they say", good=True),
        duplicates(made),
        leakage(made, trained),
        artefact("length", made, lambda case: len(case.response)),
        artefact("sentences with an opening phrase", made, _openings),
        balance("kind", made, KINDS),
        balance("position", made, POSITIONS),
        labels(made),
        names_kept(made),
    ]


def duplicates(made: Sequence[LabelledCase]) -> Check:
    """Responses that stand twice in the set, folded."""
    counts = Counter(folded(case.response) for case in made)
    twice = sum(n - 1 for n in counts.values())
    return Check(name="duplicates", found=f"{twice} of {len(made)} responses stand twice", good=twice == 0)


def leakage(test: Sequence[LabelledCase], train: Sequence[LabelledCase]) -> Check:
    """Responses, sources and books that both splits hold."""
    shared = {folded(e.response) for e in test} & {folded(e.response) for e in train}
    sources = {_source(e) for e in test} & {_source(e) for e in train} - {""}
    books = {_book(e) for e in test} & {_book(e) for e in train} - {""}
    found = f"{len(shared)} responses, {len(sources)} sources, {len(books)} books in both splits"
    return Check(
        name="leakage", found=found if train else "no training split", good=not (shared or sources or books)
    )


def artefact(name: str, made: Sequence[LabelledCase], feature: Callable[[LabelledCase], float]) -> Check:
    """Whether one number a response tells the labels: the AUC over all pairs, and within each group of a pair.

    The first compares any hallucinated response with any faithful one; the second only those made of one text.
    """
    wrong = [feature(e) for e in made if e.label == "hallucinated"]
    right = [feature(e) for e in made if e.label == "faithful"]
    groups: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for case in made:
        groups[case.group][case.label == "faithful"].append(feature(case))
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
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.sum()) / 2 / (len(higher) * len(lower))


def balance(slice_: str, made: Sequence[LabelledCase], names: Sequence[str]) -> Check:
    """How often each name of a slice stands among the hallucinated."""
    wrong = [e for e in made if e.label == "hallucinated" and slice_ in e.slices]
    counts = Counter(e.slices[slice_] for e in wrong)
    rarest, most = min(counts[n] for n in names), max(counts[n] for n in names)
    found = ", ".join(f"{name} {counts[name]}" for name in names)
    return Check(name=f"balance of {slice_}", found=found, good=not wrong or most <= UNEVEN * rarest)


def labels(made: Sequence[LabelledCase]) -> Check:
    """Hallucinated against faithful."""
    counts = Counter(e.label for e in made)
    found = f"hallucinated {counts['hallucinated']}, faithful {counts['faithful']}"
    return Check(name="balance of labels", found=found, good=counts["hallucinated"] == counts["faithful"])


def names_kept(made: Sequence[LabelledCase]) -> Check:
    """Names that a sentence of the source has, and its lightly reworded copy in a faithful response lacks.

    Names are those that code can tell, and who speaks in the source. Sentences that are no copy are not compared.
    """
    lost, copies = list[str](), 0
    for case in made:
        if case.label != "faithful":
            continue
        language = language_of(case.response)
        source = _plain(case.source_text, language)
        cast = cast_of(case.source_text, language)
        for start, end in sentences(case.response):
            copy = _plain(case.response[start:end], language)
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


_PHRASES = [phrase for table in (LATER, CAUSES) for phrases in table.values() for phrase in phrases]


def _openings(case: LabelledCase) -> float:
    return sum(case.response.count(phrase) for phrase in _PHRASES)


def _source(case: LabelledCase) -> str:
    return text_id(case.source_text) if case.source_text else ""


def _book(case: LabelledCase) -> str:
    return str(case.slices.get("book", ""))


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"

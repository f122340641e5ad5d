"""Errors made by rule, without any model: a text with one error of a chosen kind, and its exact place.

Knows: for each of LongNovel's eight kinds (seed 004, Appendix A), where in a Chinese or English text a rule can make
one sentence false (add one, or swap the order of two) and leave all others as they are. Deterministic by seed.
Does not know: the source. Errors made by rule are plainer than those that models and people make.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from longproof.agent.types import Kind, Place
from longproof.construction.rule_words import (
    AUXILIARIES_EN,
    CAUSES,
    DENIABLE_ZH,
    DENIED_EN,
    DENIED_ZH,
    FIGURES_EN,
    INVENTED_EN,
    INVENTED_ZH,
    KIN_EN,
    KIN_ZH,
    LATER,
    NOT_BEFORE_ZH,
    OPENERS_EN,
    VERBS_EN,
    VERBS_ZH,
)
from longproof.construction.versions import (
    Rejection,
    TextWithError,
    checked_error,
    containing,
    prompt_language,
)
from longproof.prompts import Language
from longproof.retrieval.text import sentences
from longproof.retrieval.text.numbers import numbers

TRIED = 40
"""How many places are tried before a text is given up for a kind."""
_EQUALS_ZH = re.compile("[和与、及同跟共并]")
_EQUALS_EN = re.compile(r"\b(?:and|or|with|nor)\b|,", re.IGNORECASE)
_REST_ZH = re.compile("[不没未无莫岂何非]")


class Text(NamedTuple):
    """What a rule may look at. `cast` are the names that may be put in; `sentences` are ranges of `text`."""

    text: str
    sentences: Sequence[tuple[int, int]]
    cast: Sequence[str]
    language: Language
    draw: Random

    @property
    def chinese(self) -> bool:
        """Whether the Chinese tables apply."""
        return self.language == "zh"

    def each(self) -> Iterator[tuple[int, str]]:
        """Every sentence with its start."""
        return ((a, self.text[a:b]) for a, b in self.sentences)


class Edit(NamedTuple):
    """`put` in the place of `[start, end)`; of `put`, the range `wrong` is what makes the text false."""

    start: int
    end: int
    put: str
    how: str
    reason: str
    wrong: tuple[int, int] | None = None


def perturb(
    text: str, kind: Kind, seed: int | str = 0, cast: Sequence[str] = ()
) -> TextWithError | Rejection:
    """The text with one error of this kind; `no_site` where no rule for it applies.

    `cast` are names of people in the story, besides those of the text itself: the text need not hold two.
    The same text, kind, seed and cast give the same change. All sentences but those of the change stay as they were.
    """
    draw = Random(f"{seed}:{kind}:{text}")
    given = Text(text, sentences(text), tuple(dict.fromkeys(cast)), prompt_language(text), draw)
    edits = list(RULES[kind](given))
    draw.shuffle(edits)
    for edit in edits[:TRIED]:
        change = _changed(text, kind, edit)
        if change is not None:
            return change
    return "no_site"


def _changed(text: str, kind: Kind, edit: Edit) -> TextWithError | None:
    """The change that an edit makes, if it is one and leaves all other sentences alone."""
    made = text[: edit.start] + edit.put + text[edit.end :]
    first, last = edit.wrong or (0, len(edit.put))
    start, end = edit.start + first, edit.start + last
    found = checked_error(text, made, kind, made[start:end], edit.reason)
    if not isinstance(found, TextWithError):
        return None
    inside = found.sentences.start <= start < end <= found.sentences.end
    right = text[edit.start : edit.end]
    if kind == "temporal":
        found = found.model_copy(update={"sentences": containing(made, start, end), "original": right})
    elif not inside:
        return None
    wrong = Place.of(made, start, end)
    return found.model_copy(update={"wrong": wrong, "right": right, "how": edit.how})


def _named(given: Text) -> Iterator[list[tuple[int, str]]]:
    """The names in each sentence with their places, longest first where they overlap."""
    if not given.cast:
        return
    words = "|".join(re.escape(name) for name in sorted(given.cast, key=len, reverse=True))
    pattern = re.compile(words if given.chinese else rf"\b(?:{words})\b(?!['’]s)")
    for start, sentence in given.each():
        yield [(start + match.start(), match[0]) for match in pattern.finditer(sentence)]


def entity(given: Text) -> Iterator[Edit]:
    """Two people change roles in a sentence, or one is replaced by another of the cast."""
    equals = _EQUALS_ZH if given.chinese else _EQUALS_EN
    for names in _named(given):
        for (at, one), (then, other) in pairwise(names):
            between = given.text[at + len(one) : then]
            if one != other and len(between) > 1 and not equals.search(between):
                put = other + between + one
                yield Edit(at, then + len(other), put, "swapped names", f"{one} and {other} change places.")
        others = [name for name in given.cast if all(name not in n and n not in name for _, n in names)]
        for at, name in names[:1]:
            if others and [n for _, n in names].count(name) == 1:
                other = given.draw.choice(others[:8])
                yield Edit(at, at + len(name), other, "replaced name", f"It was {name}, not {other}.")


def numerical(given: Text) -> Iterator[Edit]:
    """A number becomes another of the same form; figures that are only `one` are left alone."""
    for number in numbers(given.text):
        figure = _figure(number.text)
        around = given.text[max(0, number.start - 3) : number.start] + given.text[number.end : number.end + 1]
        if figure is None or number.value < 2 or around.endswith("-") or around.startswith("or "):
            continue
        for other in _others(figure, given.chinese):
            put = number.text.replace(figure, other, 1)
            yield Edit(number.start, number.end, put, "changed number", f"It was {number.text}, not {put}.")


_DIGITS_ZH = "二三四五六七八九"
_FIGURE = re.compile(r"\d+|[二三四五六七八九两]|\b(?:" + "|".join(FIGURES_EN) + r")\b", re.IGNORECASE)


def _figure(text: str) -> str | None:
    found = _FIGURE.search(text)
    return found[0] if found else None


def _others(figure: str, chinese: bool) -> list[str]:
    if figure.isdigit():
        value = int(figure)
        return [str(value + step) for step in (2, 3, 7) if value + step != value] + [str(value * 2)]
    if chinese:
        return [digit for digit in _DIGITS_ZH if digit != figure and not (digit == "二" and figure == "两")]
    words = [word for word in FIGURES_EN if word != figure.lower()]
    return [word.capitalize() if figure[0].isupper() else word for word in words]


def relation(given: Text) -> Iterator[Edit]:
    """A word of kinship becomes another, of the same sex in English."""
    if given.chinese:
        for match in re.finditer("|".join(KIN_ZH), given.text):
            for other in given.draw.sample(KIN_ZH, 4):
                if other != match[0]:
                    yield _replaced(match, other, "changed kinship")
        return
    for row in KIN_EN:
        for match in re.finditer(rf"\b(?:{'|'.join(row)})\b", given.text):
            for other in row:
                if other != match[0]:
                    yield _replaced(match, other, "changed kinship")


def inversion(given: Text) -> Iterator[Edit]:
    """An affirmed sentence is denied, or a denied one affirmed."""
    if given.chinese:
        for match in re.finditer("|".join(word for word, _ in DENIED_ZH), given.text):
            if given.text[match.end() : match.end() + 1] not in "得":  # 不能得, 不敢得 are other words
                yield _replaced(match, dict(DENIED_ZH)[match[0]], "affirmed")
        for match in re.finditer(
            rf"(?<![{_REST_ZH.pattern[1:-1]}没])(?:{'|'.join(DENIABLE_ZH)})", given.text
        ):
            put = f"没有{match[0]}"
            start = match.start() - (given.text[match.start() - 1 : match.start()] in list(NOT_BEFORE_ZH))
            yield Edit(
                start,
                match.end(),
                put,
                "denied",
                f"The original affirms: {match[0]}.",
                (0, 2 + len(match[0])),
            )
        return
    for word, other in DENIED_EN:
        for match in re.finditer(rf"\b{word}\b", given.text):
            yield _replaced(match, other, "affirmed")
    for match in re.finditer(
        rf"\b(?:{'|'.join(AUXILIARIES_EN)})\b(?! not\b| never\b| no\b| he\b| she\b| it\b| they\b|[,.;])",
        given.text,
    ):
        if given.text[match.end() : match.end() + 1] == " ":
            yield _replaced(match, f"{match[0]} not", "denied")


def event(given: Text) -> Iterator[Edit]:
    """What was done is replaced by something else that excludes it."""
    for verb, other in VERBS_ZH if given.chinese else VERBS_EN:
        pattern = re.escape(verb) if given.chinese else rf"(?<!not )(?<!never )\b{verb}\b"
        for match in re.finditer(pattern, given.text):
            before = given.text[max(0, match.start() - 2) : match.start()]
            if not (given.chinese and _REST_ZH.search(before)):
                yield _replaced(match, other, "other action")


def temporal(given: Text) -> Iterator[Edit]:
    """Two neighbouring sentences change places, and the one now second is said to come later."""
    for (a, b), (c, d) in pairwise(given.sentences):
        first, gap, second = given.text[a:b], given.text[b:c], given.text[c:d]
        if "\n" in gap or not (_stands_alone(first, given) and _stands_alone(second, given)):
            continue
        later = given.draw.choice(LATER[given.language])
        put = second + gap + later + _lowered(first, given)
        yield Edit(a, d, put, "swapped order", "The second came before the first.")


def causal(given: Text) -> Iterator[Edit]:
    """A sentence is said to follow from the one before it, which tells of other people; or its cause is replaced."""
    yield from _other_cause(given)
    for (a, b), (c, d) in pairwise(given.sentences):
        second = given.text[c:d]
        first = given.text[a:b]
        if "\n" in given.text[b:c] or not _stands_alone(second, given) or _shared(first, second, given):
            continue
        cause = given.draw.choice(CAUSES[given.language])
        put = cause + _lowered(second, given)
        yield Edit(c, d, put, "invented cause", "The two events are not cause and effect.", (0, len(put)))


_PEOPLE_EN = re.compile(r"\b(?:I|me|my|we|us|our|he|him|his|she|her|they|them|their)\b", re.IGNORECASE)


def _shared(first: str, second: str, given: Text) -> bool:
    """Whether two sentences may tell of the same people, so that one may well be the cause of the other."""
    if any(name in first and name in second for name in given.cast):
        return True
    pattern = re.compile("[他她其之]") if given.chinese else _PEOPLE_EN
    return pattern.search(first) is not None and pattern.search(second) is not None


_CAUSE_ZH = re.compile("因(?:为)?(?P<cause>[^，。；：“”「」因]{3,20})，")
_CAUSE_EN = re.compile(r"\b(?:because|for the reason that)\s(?P<cause>[^,.;:“”\"]{10,120})(?=[,.;])")


def _other_cause(given: Text) -> Iterator[Edit]:
    """The stated cause gives way to what happens in another sentence."""
    for match in (_CAUSE_ZH if given.chinese else _CAUSE_EN).finditer(given.text):
        for start, sentence in given.each():
            clause = re.split("[，。；：,.;:]", sentence)[0].strip()
            if not start <= match.start() < start + len(sentence) and 4 <= len(clause) <= 80:
                put = clause if given.chinese else _lowered(clause, given)
                yield Edit(*match.span("cause"), put, "replaced cause", f"The cause was: {match['cause']}.")


def fabrication(given: Text) -> Iterator[Edit]:
    """One of the cast does something, in a sentence of its own, that no text tells."""
    there = list(dict.fromkeys(name for names in _named(given) for _, name in names)) or list(given.cast[:4])
    for _, b in given.sentences:
        if given.text[b : b + 1] == "\n" or not there:
            continue
        name = given.draw.choice(there)
        sentence = given.draw.choice(INVENTED_ZH if given.chinese else INVENTED_EN).format(name=name)
        space = "" if given.chinese else " "
        wrong = (len(space), len(space) + len(sentence))
        yield Edit(b, b, space + sentence, "invented event", "Nothing of the kind is told.", wrong)


_BACK_EN = re.compile(r"(?:This|That|These|Those|It|He|She|They|Such|Then|But|And|So|Thus|Therefore)\b")
_BACK_ZH = re.compile(
    "[他她它其此这那但却又也]|于是|因此|所以|后来|此后|随后|正因|由于|为此|次日|第二天|当下"
)


def _stands_alone(sentence: str, given: Text) -> bool:
    """Whether another opening may be put before a sentence: it leans on none before it, and its case is known."""
    if given.chinese:
        return _BACK_ZH.match(sentence) is None
    words = {word for name in given.cast for word in name.split()}
    return _first(sentence) in words.union(OPENERS_EN) and _BACK_EN.match(sentence) is None


def _lowered(sentence: str, given: Text) -> str:
    """The sentence as it stands behind an opening word: a small letter, unless a name begins it."""
    small = not given.chinese and _first(sentence) in OPENERS_EN
    return sentence[0].lower() + sentence[1:] if small else sentence


def _first(sentence: str) -> str:
    return sentence.split(maxsplit=1)[0]


def _replaced(match: re.Match[str], other: str, how: str) -> Edit:
    return Edit(*match.span(), other, how, f"The original says: {match[0]}.")


RULES: dict[Kind, Callable[[Text], Iterator[Edit]]] = {
    "entity": entity,
    "numerical": numerical,
    "relation": relation,
    "inversion": inversion,
    "event": event,
    "temporal": temporal,
    "causal": causal,
    "fabrication": fabrication,
}
"""The rule of each kind: where and how it may be made."""

"""Labelled cases from books without any model: summaries by extraction, light rewording, errors by rule.

Knows: which sentences of a unit may stand for it, how to put them into slightly other words without changing what
they say, and who the people of a book are. The set has LongNovel's shape (seed 004, section 3) and is easier than
what models and people write. Does not know: how errors are made by rule, or how units are joined.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from longproof.agent.types import Kind
from longproof.construction.case_files import Provenance, books_used, fresh, write_summary_cases
from longproof.construction.graph import ConstructInput, finished, now
from longproof.construction.rule_errors import perturb
from longproof.construction.rule_words import LATER, NAMED, OPENS_BACK, REWORDINGS
from longproof.construction.units import (
    SCALES,
    Book,
    Split,
    SummaryCase,
    Unit,
    books_for_test,
    case_pairs,
    units,
)
from longproof.construction.versions import (
    Rejection,
    TextWithError,
    Version,
    prompt_language,
    sentence_difference,
)
from longproof.prompts import Language
from longproof.retrieval.loaders import read_document
from longproof.retrieval.text import sentences
from longproof.retrieval.text.normalise import simplified
from longproof.retrieval.types import BadInput, Document

SENTENCES = 8
"""Sentences of a summary; fewer where a unit has fewer that can stand alone."""
LENGTHS: dict[Language, tuple[int, int]] = {"zh": (12, 70), "en": (40, 240)}
"""Characters of a sentence that may be taken."""
OFTEN = 5
"""Who is named less often is not of the cast."""
CAST = 60
TOLD_LATER = 0.3
"""How often a rewording opens a sentence with a word of time: opening phrases are balanced over the labels, so that
they give nothing away."""


class RuleSet(NamedTuple):
    """The cases of a set, in pairs, its books, and how often a rule found nothing to change."""

    cases: list[SummaryCase]
    books: list[Book]
    rejected: Counter[Rejection]


def made_by_rules(
    sources: Sequence[Path | Document], n_cases: int, seed: int = 0, test_share: float = 1.0
) -> RuleSet:
    """About `n_cases` cases of five scales from these books, half of them with one error, in pairs.

    `test_share` of the books go to the test split, drawn with the seed, the others to train. Fewer cases come where
    books are short. Raises BadInput for a source without a unit of 2,000 tokens.
    """
    if n_cases < 2 * len(SCALES) or not sources:
        raise BadInput(f"give at least one source, and ask for at least {2 * len(SCALES)} cases")
    documents = [s if isinstance(s, Document) else read_document(s) for s in sources]
    names = {document.id for document in documents}
    if len(names) < len(documents):
        raise BadInput("two sources have the same text; give each once")
    tests = books_for_test(len(documents), test_share, seed)
    books = [book_of(d, seed, "test" if n in tests else "train") for n, d in enumerate(documents)]
    plain = ["".join(simplified(book.text).split()) for book in books]
    rejected: Counter[Rejection] = Counter()

    @cache
    def change(book: int, unit: int, kind: Kind) -> tuple[TextWithError, Version] | None:
        base = books[book].summaries[unit].text
        found = perturb(base, kind, seed, books[book].cast) if base else "no_site"
        if not isinstance(found, TextWithError):
            rejected[found] += 1
            return None
        if "".join(found.sentences.text.split()) in plain[book]:
            rejected["told_by_source"] += 1
            return None
        other = reword_by_rule(base, books[book].language, Random(f"{seed}:{base}"), books[book].cast)
        if sentence_difference(base, other) is None:
            rejected["not_changed"] += 1
            return None
        return found, Version(text=other)

    per_scale = round(n_cases / 2 / len(SCALES))
    cases = [case for pair in case_pairs(books, per_scale, change, seed) for case in pair]
    return RuleSet(cases, books, rejected)


def construct_by_rules(
    sources: Sequence[Path], out: str, cases: int, seed: int, test_share: float
) -> Provenance:
    """Make about so many cases by rule and write them with their provenance."""
    folder, started = Path(out), now()
    fresh(folder)
    made = made_by_rules(sources, cases, seed, test_share)
    write_summary_cases(folder, made.cases, made.books)
    given = ConstructInput(out=out, seed=seed, cases=cases, test_share=test_share)
    rejected = [str(why) for why in made.rejected.elements()]
    return finished(
        "rules",
        {"given": given, "started": started, "rejected": rejected},
        len(made.cases),
        sources=books_used(made.books),
        parameters={"cases": cases, "test_share": test_share},
    )


def book_of(document: Document, seed: int, split: Split) -> Book:
    """The book cut into units, each with a summary of its own sentences. Raises BadInput where there is no unit."""
    language = prompt_language(document.text)
    cut = units(document.text)
    if not cut:
        raise BadInput(f"{document.title or 'a source'} is too short: a unit has at least 2,000 tokens")
    names = cast_of(document.text, language)
    draw = Random(f"{seed}:{document.id}")
    summaries = [Version(text=extracted_summary(document.text, u, language, names, draw)) for u in cut]
    return Book(
        title=document.title or document.id[7:19],
        text=document.text,
        language=language,
        units=tuple(cut),
        summaries=tuple(summaries),
        cast=tuple(names),
        split=split,
    )


_SPEAKER_ZH = re.compile(
    r"(?<![\u4e00-\u9fff])([\u4e00-\u9fff]{2,4}?)(?:[大又乃亦便只冷]?[笑怒惊喜哭叹问答])?(?:曰|道)[：:，]"
)
_NAMED = r"(?:(?:Mr|Mrs|Miss|Lady|Lord|Sir|Captain)\.? )?[A-Z][a-z]{2,}(?: [A-Z][a-z]+)?"
_ACTS_EN = re.compile(
    rf"(?<!of )\b({_NAMED}) (?:said|asked|replied|answered|cried|looked|turned|stood|came|went|rose|took)"
    rf"\b|\b(?:said|asked|replied|answered|cried|exclaimed|returned|whispered) ({_NAMED})"
)
_NO_NAME_ZH = re.compile(
    "[曰道说笑怒问答叹喜惊大众人皆又乃亦便只一二三四五六七八九十之其此内忽故左右某自有却奏写略声报厉因那]"
)
_NO_NAME_EN = re.compile(
    r"\b(?:God|Heaven|Christmas|Earth|Sun|English|French|Church|Hall|Chapter|King"
    r"|(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day"
    r"|January|February|March|April|May|June|July|August|September|October|November|December)\b"
)


def cast_of(text: str, language: Language) -> list[str]:
    """The people of a book, the most often named first: who speaks, or in English does something."""
    if language == "zh":
        counts = Counter(
            simplified(n) for n in _SPEAKER_ZH.findall(text) if not _NO_NAME_ZH.search(simplified(n))
        )
    else:
        found = (one or other for one, other in _ACTS_EN.findall(text))
        counts = Counter(name for name in found if not _NO_NAME_EN.search(name))
    return [name for name, n in counts.most_common(CAST) if n >= OFTEN]


def extracted_summary(text: str, unit: Unit, language: Language, cast: Sequence[str], draw: Random) -> str:
    """Sentences of a unit that can stand alone, spread over it in its order, lightly reworded."""
    told = list(_standalone(text[unit.start : unit.end], language))
    if not told:
        return ""
    count = min(SENTENCES, len(told))
    parts = [told[len(told) * n // count : len(told) * (n + 1) // count] for n in range(count)]
    taken = [max(part, key=lambda s: (sum(name in s for name in cast), draw.random())) for part in parts]
    taken = [_with_synonym(sentence, language, draw, cast) for sentence in dict.fromkeys(taken)]
    return ("" if language == "zh" else " ").join(taken)


_SPOKEN = re.compile("[“”\"「」『』‘:：?？!！()（）\\[\\]*—…]|--|(?<![a-z])'|^[A-Z .]+$|\\d\\.$")
_ADDRESS = re.compile(r"\b(?:you|your|thy|thee)\b|[我你您吾汝朕臣]", re.IGNORECASE)
_ASIDE_ZH = re.compile("分解|看官|有诗|诗曰|后人|未知|且看|词曰|史官")
_OPEN, _CLOSE = "“「『", "”」』"
_WHOLE_EN = re.compile(r"[A-Z].*[a-z]\.\Z")


def _standalone(text: str, language: Language) -> Iterator[str]:
    """Sentences that tell something, address nobody and lean on no sentence before them."""
    least, most = LENGTHS[language]
    for start, end in sentences(text):
        sentence = plain_text(text[start:end], language)
        if not least <= len(sentence) <= most or _SPOKEN.search(sentence) or _ADDRESS.search(sentence):
            continue
        if not (_WHOLE_EN.match(sentence) if language == "en" else sentence.endswith("。")):
            continue
        alone = len(sentences(sentence)) == 1 and not OPENS_BACK[language].match(sentence)
        if alone and not _ASIDE_ZH.search(sentence) and not _spoken(text, start):
            yield sentence


def plain_text(text: str, language: Language) -> str:
    """Chinese in simplified characters without spaces; English without line breaks and marks of emphasis."""
    return simplified("".join(text.split())) if language == "zh" else " ".join(text.replace("_", "").split())


def _spoken(text: str, at: int) -> bool:
    """Whether a quotation that opened in this paragraph is still open here."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    opened = sum(before.count(mark) for mark in _OPEN) - sum(before.count(mark) for mark in _CLOSE)
    return opened > 0 or before.count('"') % 2 == 1


def names_in(sentence: str, language: Language, cast: Sequence[str]) -> list[tuple[int, int]]:
    """The places of names in a sentence: titles and places that code can tell, and the people of the cast."""
    found = [match.span() for match in NAMED[language].finditer(sentence)]
    return found + [
        m.span() for name in cast if name in sentence for m in re.finditer(re.escape(name), sentence)
    ]


def _with_synonym(sentence: str, language: Language, draw: Random, cast: Sequence[str]) -> str:
    """The sentence with one word that has a synonym put in its place, outside names; as it was where it has none."""
    names = names_in(sentence, language, cast)

    def free(match: re.Match[str]) -> bool:
        return all(match.end() <= start or end <= match.start() for start, end in names)

    synonyms = [
        (pattern, synonym)
        for pattern, synonym in REWORDINGS[language]
        if any(map(free, pattern.finditer(sentence)))
    ]
    if not synonyms:
        return sentence
    pattern, synonym = draw.choice(synonyms)
    return pattern.sub(lambda match: synonym if free(match) else match[0], sentence)


def reword_by_rule(text: str, language: Language, draw: Random, cast: Sequence[str] = ()) -> str:
    """The text with one or two sentences in other words; one in three times, one is said to come later.

    It says what the text says: sentences stand in the order of the story, so every one but the first comes later.
    """
    order = list(range(len(sentences(text))))
    draw.shuffle(order)
    wanted, later = draw.choice((1, 2)), draw.random() < TOLD_LATER
    for number in order:
        start, end = sentences(text)[number]
        sentence = text[start:end]
        other = _with_synonym(sentence, language, draw, cast)
        if later and number > 0:
            later, other = False, _later(draw.choice(LATER[language]), sentence)
        text = text[:start] + other + text[end:]
        wanted -= other != sentence
        if not wanted:
            break
    return text


_SMALL = re.compile(r"(?:The|A|An|In|On|At|When|While|After|Before|As|For|With|There|His|Her|Their|Its)\b")


def _later(later: str, sentence: str) -> str:
    return later + (sentence[0].lower() + sentence[1:] if _SMALL.match(sentence) else sentence)

"""Claims put in their places: a window for every sentence, the piece that is shown first, and the claims that are
read together.

Knows: sentences aligned one at a time and response by response, how sure a sentence's place is, which claims are
about the whole source. Sizes and thresholds were measured with benchmarks/alignment.py. Pure.
Does not know: who judges, or what is shown after the first piece.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from longproof.agent.offline import OfflineJudge
from longproof.agent.types import Judgement, Look, SourcePlace
from longproof.graphs.evidence.sources import Place, Sources, merge
from longproof.graphs.policy import LOOKS
from longproof.graphs.settings import Reach
from longproof.graphs.state import ClaimState
from longproof.prompts import Language
from longproof.retrieval.align import Matrix, viterbi
from longproof.retrieval.ranking import terms
from longproof.retrieval.text.normalise import CJK, fold, is_chinese
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Window

SHOWN_WHOLE, SHOWN_WHOLE_IF_DENSE = 16_000, {"en": 40_000, "zh": 24_000}
"""Characters of a source that are shown whole, once: in any case, and where one question about a whole response would
show nearly everything. A Chinese character is about a token, an English one a quarter."""
READ_UNASKED = 3_000_000
"""Characters of a source up to which all of it is read, if need be, without being asked for."""
PLACE = 3000
"""Characters of source around a sentence's place that are shown first (measured, benchmarks/alignment.py)."""
SPARSE, DENSE = 12_000, 22_000
"""Characters of source that a question holds: of places apart, which cost attention, and of one long piece."""
OVERLAP = 1.25
"""How much more than the source is read where the places of neighbours overlap."""
CLAIMS = 32
"""Claims that a question asks about, at most: a longer answer is hard to give."""
OWN_FIRST = 4
"""Passages that a claim's own words find, shown first where its place isn't sure."""
RANGE, STEP = 1000, 500
"""A sentence's place inside its window is the most similar range of this length; one begins at every step."""
SURE = 0.75
"""The least confidence of a window that is sure."""
FEW_WORDS = 3
FEW_SENTENCES = 2
"""A response of no more sentences says little about their order."""
LEAN = 0.5
"""How much of the row of the sentence before counts in the row of a sentence of few words."""

_CJK = re.compile(f"[{CJK}]")
_QUOTED = re.compile(r'"[^"]*"')
_WHOLE_ENGLISH = re.compile(
    r"\b(?:never|always|throughout|nowhere|repeatedly|consistently|frequently|not once|at no (?:point|time)"
    r"|(?:for|is|was) the (?:very )?(?:first|last|only) time|(?:time and|again and) again"
    r"|the (?:only|sole)|only (?:once|twice|ever)|(?:each|every|all the) time"
    r"|all (?:through|along|his life|her life|their lives)|(?:his|her|their) (?:whole|entire) (?:life|lives)"
    r"|for the rest of (?:his|her|their|the)|from (?:the )?(?:beginning|start|first) to (?:the )?(?:end|finish|last)"
    r"|(?:over|in) the course of|(?:whole|entire) (?:story|book|novel|text|plot)"
    r"|twice(?! (?:as|the|a|that)\b)"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|\d+|several|many|numerous|multiple|countless|both)"
    r" (?:separate |different |more )?(?:times|occasions)(?! (?:as|more|larger|bigger|the)\b))\b"
)
_WHOLE_CHINESE = re.compile(
    "从未|从不|从来|从没|始终|第一次|首次|最后一次|唯一|总是|老是|经常|屡次|屡屡|每次|每回|每逢|自始至终|几次三番"
    "|(?<!道)一直(?![走往向到等送追跑赶飞拉退])|从头到尾(?!地?[说讲看读念])|[全通][书篇]|整[部本个](?:小说|书|故事|作品)"
    "|一生|终生|终身|毕生|一辈子|[只仅][^，。；]{0,6}一次|(?<!第)(?:[二两三四五六七八九十百几数多]|\\d+)次"
)


class SentencePlace(NamedTuple):
    """The place where a sentence is read against its sources."""

    window: Window
    piece: Place
    """The part of the window that is shown first."""
    sure: bool
    """The window is likely to be the right one."""


def looks_within(reach: Reach | None, source_characters: int) -> tuple[Look, ...]:
    """The looks at a source of this length: no further than asked for."""
    reach = reach or ("scan" if source_characters <= READ_UNASKED else "search")
    if reach == "place":
        return LOOKS[: LOOKS.index("search")]
    return LOOKS[: LOOKS.index(reach) + 1]


def evidence_shown(source_characters: int, sentences: int, language: Language) -> int:
    """The characters of a source that a first question shows at most.

    A short source is shown whole. One of which a response tells nearly everything is cheaper read along in long
    pieces than sentence by sentence at their places, or whole where one question asks about all sentences.
    """
    dense = sentences * PLACE >= OVERLAP * source_characters
    one_question = dense and sentences <= CLAIMS and source_characters <= SHOWN_WHOLE_IF_DENSE[language]
    if source_characters <= SHOWN_WHOLE or one_question:
        return source_characters
    return DENSE if dense else SPARSE


def place_claims(
    claims: Sequence[ClaimState],
    response: str,
    parts: Sequence[int],
    sources: Sources,
    *,
    whole: bool = False,
) -> tuple[list[ClaimState], list[list[str]]]:
    """The claims where their sentences stand, and the ids of those that are checked together.

    A source that is short enough, or `whole`, is shown whole. A claim of no sure place is in no group: it is read at
    the places that fit its own words. Sentences of a longer response hold each other's places; those of a shorter
    one are read at their place alone, and searched for where that isn't enough: a window is ten times as dear and no
    surer. Several short responses that are checked together are of no sure place.
    """
    cut = sentences(response)
    responses = parts_of([start for start, _ in cut], parts)
    located = locate_sentences([response[start:end] for start, end in cut], responses, sources)
    ids = [one.claim.id for one in claims]
    in_order = [ids[n : n + CLAIMS] for n in range(0, len(ids), CLAIMS)]
    if not located:
        return list(claims), in_order
    held: set[int] = set()
    for part in responses:
        if len(part) > FEW_SENTENCES:
            held.update(part)
    language: Language = "zh" if is_chinese(response) else "en"
    shown_first = evidence_shown(sources.characters, len(cut), language)
    whole = whole or sources.characters <= shown_first
    shown_whole = {"place": tuple(range(sources.number_of_lines)), "sure": True, "everywhere": False}
    placed, likely, pieces = list[ClaimState](), list[str](), list[Place]()
    for claim in claims:
        at = located[claim.claim.sentence]
        if parts:
            at = at._replace(sure=False)
        one = _at_sentence(claim, at, claim.claim.sentence in held, sources)
        if whole:
            one = one.model_copy(update=shown_whole)
        elif one.sure:
            likely.append(one.claim.id)
            pieces.append(at.piece)
        else:
            hits = sources.hits(one.claim.text, OWN_FIRST)
            one = one.model_copy(update={"found": tuple(line.number for line in hits)})
        placed.append(one)
    return placed, in_order if whole else claim_groups(likely, pieces, shown_first)


def _at_sentence(claim: ClaimState, place: SentencePlace, held: bool, sources: Sources) -> ClaimState:
    """The claim at its sentence's place. `held`: the sentences around it hold that place."""
    window = sources.places(place.window)
    number = sources.blocks[place.window.centre][0]
    _, start, end = next(one for one in window if one[0] == number)
    centre = SourcePlace(source_id=sources.documents[number].id, start=start, end=end)
    return claim.model_copy(
        update={
            "window": centre,
            "place": sources.lines_in([place.piece]),
            "around": sources.lines_in(window) if held else (),
            "sure": place.sure or held,
            "everywhere": held and not place.sure and about_the_whole(claim.claim.text),
        }
    )


def locate_sentences(
    sentences: Sequence[str], parts: Sequence[range], sources: Sources
) -> list[SentencePlace]:
    """The place of every sentence, each of `parts` by itself; empty where the sources have no text."""
    if not sources.blocks:
        return []
    aligned = windows(sources.similarity(sentences), sentences, parts)
    pieces = _pieces(sentences, aligned, parts, sources)
    places = []
    for sentence, window, piece in zip(sentences, aligned, pieces, strict=True):
        places.append(SentencePlace(window, piece, sure(sentence, window)))
    return places


def parts_of(starts: Sequence[int], begins: Sequence[int]) -> list[range]:
    """The numbers of the sentences of each response, given where sentences start and where responses begin."""
    cuts = sorted({0, len(starts), *(bisect_left(starts, at) for at in begins)})
    return [range(first, end) for first, end in pairwise(cuts)]


def windows(similarity: Matrix, sentences: Sequence[str], parts: Sequence[range]) -> list[Window]:
    """The window of every sentence, a row of the matrix each: `viterbi` through the rows of each part."""
    rows = _lean_on_neighbours(similarity, sentences, parts)
    found: list[Window] = []
    for part in parts:
        found += viterbi(rows[part.start : part.stop])
    return found


def sure(sentence: str, window: Window) -> bool:
    """True if the place is certain: nearly all belief lies in the window, and more than a few words say so."""
    return window.confidence >= SURE and not _few_words(sentence)


def about_the_whole(claim: str) -> bool:
    """True if no single place can prove the claim: it says always, never, only, the first time, or how often, and not
    inside quotation marks. Rules, rather too narrow than too wide."""
    said = _QUOTED.sub("", fold(claim))
    return bool(_WHOLE_ENGLISH.search(said) or _WHOLE_CHINESE.search(said))


def claim_groups(claims: Sequence[str], pieces: Sequence[Place], evidence: int) -> list[list[str]]:
    """Neighbouring claims, by their ids, in groups that are read together; `pieces` are those of their sentences.

    Claims join as long as their pieces, merged where they touch, are no more than so many characters of evidence:
    those of a dense response read one long piece along, those of a sparse one have a piece each in a question.
    """
    groups: list[list[str]] = []
    shown: list[Place] = []
    for claim, piece in zip(claims, pieces, strict=True):
        joined = merge([*shown, piece])
        fits = sum(end - start for _, start, end in joined) <= evidence
        if groups and fits and len(groups[-1]) < CLAIMS:
            groups[-1].append(claim)
            shown = joined
        else:
            groups.append([claim])
            shown = [piece]
    return groups


def _lean_on_neighbours(similarity: Matrix, sentences: Sequence[str], parts: Sequence[range]) -> Matrix:
    """The rows, those of sentences of few words with a share of the row before: "She wept." stands anywhere."""
    rows = np.array(similarity, dtype=np.float64)
    for part in parts:
        for number in part[1:]:
            if _few_words(sentences[number]):
                rows[number] += LEAN * rows[number - 1]
    return rows


def _few_words(sentence: str) -> bool:
    """True if a sentence has at most three words that count; four terms of Chinese weigh what one word does."""
    return sum(0.25 if _CJK.match(term) else 1 for term in terms(sentence)) <= FEW_WORDS


def _pieces(
    sentences: Sequence[str], aligned: Sequence[Window], parts: Sequence[range], sources: Sources
) -> list[Place]:
    """For each sentence PLACE characters around the range of its window that is most similar to it."""
    places_of = list(map(sources.places, aligned))
    # All ranges that begin in one of the places or reach into it.
    reaching: set[Place] = set()
    for number, start, end in merge(chain.from_iterable(places_of)):
        length = len(sources.documents[number].text)
        for begin in range(start - start % STEP, end, STEP):
            reaching.add((number, begin, min(begin + RANGE, length)))
    ranges = sorted(reaching)
    rows = _lean_on_neighbours(sources.similarity(sentences, ranges), sentences, parts)
    documents, starts, ends = np.array(ranges).T
    middles = (starts + ends) // 2
    pieces = []
    for row, places in zip(rows, places_of, strict=True):
        inside = np.zeros(len(ranges), dtype=bool)
        for number, start, end in places:
            inside |= (documents == number) & (start <= middles) & (middles <= end)
        best = int(np.where(inside, row, -np.inf).argmax())
        alike = inside & (row >= row[best]) & (documents == documents[best]) & (starts < ends[best])
        number, start, _ = ranges[best]
        length = len(sources.documents[number].text)
        around = (start + int(ends[alike].max()) - PLACE) // 2
        first = max(0, min(around, length - PLACE))
        pieces.append((number, first, min(first + PLACE, length)))
    return pieces


def same_text(response: str, sources: Sources) -> bool:
    """True if the response is the only source, but for blanks before and behind it."""
    return len(sources.documents) == 1 and sources.documents[0].text.strip() == response.strip()


def place_copy(claim: ClaimState, response: str, sources: Sources) -> ClaimState:
    """A claim of a response that is its source, with the place that it is a copy of."""
    source, words, origin = sources.documents[0], response.strip(), claim.claim.origin
    shift = source.text.index(words) - response.index(words)
    said = Judgement(
        claim_id=claim.claim.id,
        judge=OfflineJudge.name,
        round="source",
        question_id="",
        label="explicitly_supported",
        quotes=(source.span(origin.start + shift, origin.end + shift),),
        reason="the response is its source, word for word",
    )
    return claim.with_judgements([said]).model_copy(update={"copied": True})

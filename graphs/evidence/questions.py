"""The questions about a claim group, whose evidence only grows.

Knows: what was shown stays where it stood, and what is new comes behind it; which claims one question asks about.
Pure. Does not know: where the evidence was looked for, who judges, or what they say.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import chain

from longproof.agent.types import Judgement, Lines, Look, Question, SourcePlace
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.state import ClaimState
from longproof.retrieval.types import Span

FOUND, TOGETHER = 8000, 12_000
"""Characters of what was found that one question shows, for one claim and for several."""
NOTED = 16_000
"""Characters of what a reader of everything noted for a claim that are shown: as much as of a source shown whole."""
PART, WHOLE, SCANNED, OPEN = "judge", "judge_whole", "judge_scanned", "judge_open"
"""The prompts that judges answer: they say that parts of the source are shown, or all of it, or what bears on the
claims after all was read; or there is none."""


def widen(
    claims: Sequence[ClaimState], sources: Sources, lines: Iterable[int], look: Look
) -> Question | None:
    """The question about these claims with more lines shown; None where neither these nor the prompt are new.

    The claims were all asked about in the same question before, or in none.
    """
    last = claims[0].asked[-1] if claims[0].asked else None
    before = last.lines if last else ()
    shown = set(chain.from_iterable(before))
    new = tuple(sorted(set(lines) - shown))
    scanned = all("scan" in one.looks and one.unread is None for one in claims)
    whole = len(shown) + len(new) == sources.number_of_lines
    prompt = WHOLE if whole else SCANNED if scanned else PART
    if last and not new and last.prompt == prompt:
        return None
    if whole:
        look = "source"
    all_lines = (*before, new) if new else before
    pages = last.pages if last else ()
    return make_question([one.claim.id for one in claims], sources, look, all_lines, pages, prompt)


def cited_lines(claim: ClaimState, votes: Iterable[Judgement], sources: Sources) -> set[int]:
    """The numbers of the lines that these votes on a claim cite."""
    quotes: set[Span] = set()
    for vote in votes:
        quotes.update(vote.quotes)
    return {number for number in claim.lines_shown() if sources.line(number).span in quotes}


def with_snippets(claim: ClaimState, sources: Sources, snippets: Iterable[Span]) -> Question:
    """The question about one claim, with snippets of saved pages behind the evidence of its last one."""
    last = claim.asked[-1] if claim.asked else None
    places = [SourcePlace(source_id=s.source_id, start=s.start, end=s.end) for s in snippets]
    pages = (*(last.pages if last else ()), *places)
    lines, prompt = (last.lines, last.prompt) if last else ((), OPEN)
    return make_question([claim.claim.id], sources, "pages", lines, pages, prompt)


def make_question(
    claim_ids: Sequence[str],
    sources: Sources,
    look: Look,
    lines: tuple[Lines, ...] = (),
    pages: tuple[SourcePlace, ...] = (),
    prompt: str = PART,
) -> Question:
    """A question without texts, named by all that it shows and asks."""
    places: list[str] = []
    for added in lines:
        for number, start, end in sources.places_of(added):
            places.append(f"{sources.documents[number].id}:{start}-{end}")
    places += [f"{page.source_id}:{page.start}-{page.end}" for page in pages]
    # The "0" is part of the names that kept reports have.
    key = "|".join([prompt, look, "0", *claim_ids, *places])
    id_ = "q-" + sha256(key.encode()).hexdigest()[:12]
    return Question(id=id_, claim_ids=tuple(claim_ids), look=look, prompt=prompt, lines=lines, pages=pages)


def group_claims(claims: Iterable[ClaimState], size: int, sources: Sources) -> list[list[ClaimState]]:
    """Claims that one question asks about: those that share their last one and whose windows touch; of those never
    asked about yet, as many as find room for what was found for them."""
    by_last: dict[str, list[list[ClaimState]]] = {}
    for one in claims:
        groups = by_last.setdefault(one.last_asked, [])
        if groups and len(groups[-1]) < size and _fits(groups[-1], one, sources):
            groups[-1].append(one)
        else:
            groups.append([one])
    return list(chain.from_iterable(by_last.values()))


def _fits(group: Sequence[ClaimState], one: ClaimState, sources: Sources) -> bool:
    """True if one more claim leaves a question's evidence short enough, or shares the windows of the group."""
    if one.found:
        return sum(sources.characters_of(other.found) for other in (*group, one)) <= TOGETHER
    if one.place and not one.asked:
        places = {other.place for other in (*group, one)}
        return sum(map(sources.characters_of, places)) <= TOGETHER
    last = group[-1].around
    return last == one.around or not set(last).isdisjoint(one.around)

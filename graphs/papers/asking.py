"""A paper's questions, and the answers to them.

Knows: what each placeholder of a paper's prompt stands for; an answer that is not on a menu is `unparsed`, as the
authors would have seen it; exact pieces of a text; how a panel's answers are counted: where an answer only says
whether something is wrong, contradicted and not found are one side.
Does not know: what a paper asks, or what its answers mean.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from hashlib import sha256

from longproof.agent.guards import Weighed, word
from longproof.agent.judge import ModelArbiter, ModelJudge, ask_about_claims
from longproof.agent.models.asker import Asker
from longproof.agent.prompting import brief, language_of, line, opinions
from longproof.agent.types import (
    Answered,
    Case,
    Claim,
    Error,
    Failure,
    JudgeLabel,
    Judgement,
    Label,
    Look,
    Question,
    SourcePlace,
)
from longproof.agent.vote import SIDES, Side, final_label, most_common, vote
from longproof.graphs.papers.paper import About, Decision, Paper, Unit
from longproof.prompts import Prompt, placeholders, render
from longproof.retrieval.types import Span

Numbered = Mapping[int, Claim]
COARSE: dict[JudgeLabel, Side] = {
    label: "contradicted" if side == "not_found" else side for label, side in SIDES.items()
}
"""The sides where an answer only says whether something is wrong."""


def question_about(
    paper: Paper, claims: Sequence[Claim], places: Sequence[SourcePlace], look: Look
) -> Question:
    """A question, named by all that it shows and asks. It holds places until it is asked, and no texts."""
    ids = tuple(claim.id for claim in claims)
    prompt = paper.question or paper.prompt[0]
    shown = (f"{place.source_id}:{place.start}-{place.end}" for place in places)
    key = "|".join([prompt, look, "0", *ids, *shown])
    name = "q-" + sha256(key.encode()).hexdigest()[:12]
    return Question(id=name, claim_ids=ids, look=look, prompt=prompt, pages=tuple(places))


def fill(parts: Sequence[str], shown: Sequence[Span], numbered: Numbered, case: Case) -> Prompt:
    """The prompt of these parts about these units. Raises KeyError for an unknown placeholder."""
    language, values = language_of(case), _values(shown, numbered, case)
    filled = []
    for part in parts:
        wanted = {name: values[name] for name in placeholders(part, language)}
        filled.append(render(part, language, **wanted))
    return reduce(Prompt.then, filled)


def _values(shown: Sequence[Span], numbered: Numbered, case: Case) -> dict[str, str | list[str]]:
    """The values of all placeholders. A `piece` is the first place shown, `surroundings` what is shown beside it."""
    texts = [span.text for span in shown]
    evidence: list[str] = []
    pages: list[str] = []
    for span in shown:
        (evidence if span.source_id in case.source_ids else pages).append(span.text)
    first, second = in_order(case)
    rows = [line(sentence=f"S{n}", text=claim.text) for n, claim in numbered.items()]
    return {
        "evidence": evidence,
        "pages": pages,
        "piece": texts[0] if texts else "",
        "surroundings": texts[1:],
        "context": case.context,
        "response": case.response,
        "first": first,
        "second": second,
        "passage": [claim.text for claim in numbered.values()],
        "sentences": "\n".join(rows),
    }


def in_order(case: Case) -> tuple[str, str]:
    """The response and the reference in an order that follows from their texts and tells nothing."""
    first, second = sorted([case.response, case.reference or ""])
    swap = sha256(f"{first}\0{second}".encode()).digest()[0] % 2
    return (second, first) if swap else (first, second)


async def ask_model(
    paper: Paper,
    judge: ModelJudge | ModelArbiter,
    question: Question,
    claims: Sequence[Claim],
    case: Case,
    prior: Sequence[Judgement] | None = None,
) -> Answered:
    """One judgement for each claim. `prior`: those that an arbiter decides between, shuffled and without names."""

    def prompt_of(numbered: Numbered) -> Prompt:
        prompt = fill(paper.prompt, question.shown, numbered, case)
        if prior is None:
            return prompt
        said = opinions(numbered, prior, question)
        return prompt.then(render("arbitrate_paper", language_of(case), opinions=said))

    return await ask_about_claims(
        asker_of(paper, judge),
        judge.name,
        question,
        claims,
        purpose="judge" if prior is None else "arbitrate",
        form=paper.form,
        prompt_of=prompt_of,
        read=lambda value, n, claim: paper.read(value, About(n, claim, question.shown, case)),
    )


def asker_of(paper: Paper, judge: ModelJudge | ModelArbiter) -> Asker:
    """A model and how it is asked: a judge at its own temperature, where one is named for it, else at the paper's."""
    asker = judge.asker._replace(once=not paper.asks_again)
    if isinstance(judge, ModelArbiter) or judge.temperature is not None:
        return asker
    return asker._replace(temperature=paper.temperature)


def choose(menu: Mapping[str, Label], answer: str, reason: str = "") -> Weighed:
    """The label that a word of the menu stands for."""
    label = menu.get(word(answer))
    return Weighed(label, None if label else "unparsed", reason=brief(reason))


def mark_pieces(
    pieces: Sequence[str], origin: Span, reason: str, *, whole: bool, failure: Failure
) -> Weighed:
    """A list of exact pieces of a text that are made up: none means faithful; `failure` where none stands there."""
    named = [piece for piece in pieces if piece.strip()]
    places, dropped = exact_places(named, origin, whole=whole)
    if named and not places:
        return Weighed(None, failure, dropped=dropped, reason=brief(reason))
    errors = tuple(Error(span=place) for place in places)
    label: Label = "fabricated" if named else "implicitly_supported"
    return Weighed(label, None, dropped=dropped, errors=errors, reason=brief(reason))


def exact_places(pieces: Sequence[str], origin: Span, *, whole: bool = False) -> tuple[tuple[Span, ...], int]:
    """Find pieces of a text, character by character, a repeated one at its next place; count those that aren't there.

    A piece that is the whole text marks nothing, and is not believed (seed 001), unless `whole`: all of a response
    of one sentence may be made up.
    """
    found: dict[Span, None] = {}
    after: dict[str, int] = {}
    for piece in pieces:
        start = origin.text.find(piece, after.get(piece, 0))
        if start < 0 or (not whole and piece.strip() == origin.text.strip()):
            continue
        after[piece] = start + len(piece)
        at = origin.start + start
        found[Span(source_id=origin.source_id, start=at, end=at + len(piece), text=piece)] = None
    return tuple(found), len(pieces) - len(found)


def count_votes(unit: Unit, paper: Paper, case: Case, consensus: float) -> Decision:
    """The label that enough of the panel agree on; `split` where they don't, a failure where nobody answered."""
    question = unit.asked[-1]
    sides = COARSE if paper.coarse else SIDES
    if question.look == "pages":
        sides = {**sides, "out_dependent": "supported"}
    tally = vote(unit.votes(question.id), consensus=consensus, sides=sides)
    if tally.label is not None:
        return Decision(label=final_label(tally.label), decided_by="vote")
    if not tally.votes:
        return Decision(failure=most_common(judgement.failure for judgement in unit.judgements))
    return Decision(failure="split")

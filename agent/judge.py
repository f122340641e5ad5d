"""Judges and arbiters that ask a language model.

Knows: that whoever fails a guard is asked once more, with the reason and for the failed claims alone; a paper's
protocol asks once, in words alone. Judgements come back for every claim, in order, each a label or a failure.
Does not know: how prompts are worded and answers read (asking, readers), how a model is reached or paid (model).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from longproof.agent.asking import asking, language_of, opinions
from longproof.agent.forms import Form, Segments
from longproof.agent.guards import Guards, Weighed, located
from longproof.agent.model import Answer, Model
from longproof.agent.readers import ASKINGS, about
from longproof.agent.types import Answered, Call, Case, Claim, Failure, Found, Judgement, Question, Search
from longproof.prompts import Prompt, render

ASKED_AGAIN: frozenset[Failure] = frozenset(
    {"ungrounded", "self_contradicted", "off_menu", "truncated", "unparsed", "refused", "timeout"}
)
"""Failures that a second asking may mend; the others are not the model's."""
Numbered = Mapping[int, Claim]
F = TypeVar("F", bound=Form)


class ModelJudge:
    """Asks one model about all claims of a question at once.

    `prompt_name` None: the question names its prompt. `sample` tells apart seats that ask the same of the same model.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        *,
        prompt_name: str | None = None,
        temperature: float = 0.0,
        sample: int = 0,
        guards: Guards = "ours",
    ) -> None:
        self.name = name
        self._seat = Seat(name, model, temperature, sample, guards)
        self._prompt_name = prompt_name

    @property
    def endpoint(self) -> str:
        """Where its answers come from."""
        return self._seat.model.endpoint

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""
        return await self._seat.ask("judge", self._prompt_name or question.prompt, question, claims, case)

    async def find(self, question: Question, claim: Claim, case: Case) -> Found:
        """Where in what is shown evidence of the claim stands: pieces in order, or why none could be named."""
        return await self._seat.find(question, claim, case)


class ModelArbiter:
    """One more judge, who also sees what the others said: shuffled, without names."""

    def __init__(self, name: str, model: Model, *, temperature: float = 0.0, guards: Guards = "ours") -> None:
        self.name = name
        self._seat = Seat(name, model, temperature, 0, guards)

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """One judgement for each of `claims`, in their order."""
        return await self._seat.ask("arbitrate", question.prompt, question, claims, case, judgements)


class Seat(NamedTuple):
    """Who is asked, and how strictly the answer is taken."""

    name: str
    model: Model
    temperature: float
    sample: int
    guards: Guards

    async def ask(
        self,
        purpose: str,
        name: str,
        question: Question,
        claims: Sequence[Claim],
        case: Case,
        heard: Sequence[Judgement] | None = None,
    ) -> Answered:
        """Ask; ask once more where a guard says so; note in the ledger what came to nothing.

        `heard` is what others said before, where this seat decides between them.
        """
        numbered = dict(enumerate(claims, start=1))
        prompt = _prompt(name, question, numbered, case, heard)
        found, calls = await self._round(purpose, name, prompt, question, numbered, case)
        failed = {n: found[n].failure for n in numbered if found[n].failure in ASKED_AGAIN}
        if failed and self.guards == "ours":
            left = {n: numbered[n] for n in failed}
            second = _prompt(name, question, left, case, heard)
            if reasons := [f"C{n}: {failure}" for n, failure in failed.items() if failure != "timeout"]:
                second = second.then(render("again", second.language, reasons="\n".join(reasons)))
            mended, more = await self._round(purpose, name, second, question, left, case)
            found, calls = found | mended, calls + more
        for judgement in found.values():
            if judgement.failure in ASKED_AGAIN:
                await self.model.mark(judgement.call_id, judgement.failure)
        return Answered([found[n] for n in numbered], calls)

    async def find(self, question: Question, claim: Claim, case: Case) -> Found:
        """Pieces of evidence, located in what is shown. To name only what isn't there is `ungrounded`."""
        prompt = asking((question.prompt,), question, {1: claim}, case)
        answer = await self._answer(prompt, Segments, "find")
        named = [piece for piece in answer.value.segments if piece.strip()] if answer.value else []
        pieces, _ = located(named, question.shown)
        failure = answer.failure or ("ungrounded" if named and not pieces else None)
        if failure in ASKED_AGAIN:
            await self.model.mark(answer.call_id, failure)
        found = None if failure else tuple(sorted(pieces, key=lambda piece: (piece.source_id, piece.start)))
        return Found(
            Search(claim_id=claim.id, judge=self.name, found=found, failure=failure), list(answer.calls)
        )

    async def _answer(self, prompt: Prompt, form: type[F], purpose: str) -> Answer[F]:
        return await self.model.ask(
            prompt,
            form,
            purpose=purpose,
            sample=self.sample,
            temperature=self.temperature,
            in_words=self.guards == "paper",
        )

    async def _round(
        self, purpose: str, name: str, prompt: Prompt, question: Question, numbered: Numbered, case: Case
    ) -> tuple[dict[int, Judgement], list[Call]]:
        answer = await self._answer(prompt, ASKINGS[name].form, purpose)
        judgements = {}
        for n, claim in numbered.items():
            weighed = self._weighed(name, n, claim, answer, question, case)
            judgements[n] = self._judgement(claim, weighed, answer, question, prompt)
        return judgements, list(answer.calls)

    def _judgement(
        self, claim: Claim, weighed: Weighed, answer: Answer[Form], question: Question, prompt: Prompt
    ) -> Judgement:
        return Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.round,
            question_id=question.id,
            call_id=answer.call_id,
            label=weighed.label,
            failure=weighed.failure,
            quotes=weighed.quotes,
            quotes_dropped=weighed.dropped,
            errors=weighed.errors,
            readings=weighed.readings,
            reason=weighed.reason or answer.detail,
            prompt_hash=prompt.hash,
        )

    def _weighed(
        self, name: str, n: int, claim: Claim, answer: Answer[Form], question: Question, case: Case
    ) -> Weighed:
        if answer.value is None:
            return Weighed(None, answer.failure)
        return ASKINGS[name].read(about(answer.value, n), claim, question, case, self.guards)


def _prompt(
    name: str, question: Question, numbered: Numbered, case: Case, heard: Sequence[Judgement] | None
) -> Prompt:
    prompt = asking(ASKINGS[name].parts, question, numbered, case)
    if heard is None:
        return prompt
    return prompt.then(render("arbitrate", language_of(case), opinions=opinions(numbered, heard)))

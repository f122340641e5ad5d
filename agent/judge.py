"""Judges and arbiters that ask a language model.

Knows: what a judge is asked and how its answer becomes a judgement for every claim, in order, each a label or a
failure; a paper's protocol (`paper` guards) asks once, in words alone.
Does not know: how prompts are worded (prompting) and answers read (recipes), or how a model is reached, asked again
and paid for (models).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from longproof.agent.forms import Segments
from longproof.agent.guards import Guards, Weighed, located
from longproof.agent.models.answers import Form
from longproof.agent.models.asker import Asker
from longproof.agent.models.model import Answer, Model
from longproof.agent.prompting import language_of, opinions, prompt_for
from longproof.agent.recipes import RECIPES, Recipe, about
from longproof.agent.types import Answered, Case, Claim, Found, Judgement, Question, Search
from longproof.prompts import Prompt, render

Numbered = Mapping[int, Claim]


class ModelJudge:
    """Asks one model about all claims of a question at once.

    `prompt_name` None: the question names its prompt. `sample` tells apart judges that put the same question to the
    same model. `purpose` is what its calls are for.
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
        purpose: str = "judge",
    ) -> None:
        self.name = name
        self._asker = Asker(model, temperature, sample, once=guards == "paper")
        self._guards, self._prompt_name, self._purpose = guards, prompt_name, purpose

    @property
    def endpoint(self) -> str:
        """Where its answers come from."""
        return self._asker.model.endpoint

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""
        recipe = RECIPES[self._prompt_name or question.prompt]
        vote = _Vote(self.name, self._guards, recipe, question, case)
        return await vote.cast(self._asker, self._purpose, claims)

    async def find(self, question: Question, claim: Claim, case: Case) -> Found:
        """Where in what is shown evidence of the claim stands: pieces in order, or why none could be named.

        To name only what isn't there is `ungrounded`.
        """
        prompt = prompt_for((question.prompt,), question, {1: claim}, case)
        answer = await self._asker.ask(prompt, Segments, "find")
        named = [piece for piece in answer.value.segments if piece.strip()] if answer.value else []
        pieces, _ = located(named, question.shown)
        failure = answer.failure or ("ungrounded" if named and not pieces else None)
        await self._asker.mark(answer.call_id, failure)
        found = None if failure else tuple(sorted(pieces, key=lambda piece: (piece.source_id, piece.start)))
        return Found(
            Search(claim_id=claim.id, judge=self.name, found=found, failure=failure), list(answer.calls)
        )


class ModelArbiter:
    """One more judge, who also sees what the others said: shuffled, without names."""

    def __init__(self, name: str, model: Model, *, temperature: float = 0.0, guards: Guards = "ours") -> None:
        self.name = name
        self._asker = Asker(model, temperature, once=guards == "paper")
        self._guards = guards

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """One judgement for each of `claims`, in their order."""
        vote = _Vote(self.name, self._guards, RECIPES[question.prompt], question, case, judgements)
        return await vote.cast(self._asker, "arbitrate", claims)


class _Vote(NamedTuple):
    """One judge's vote on the claims of a question. `prior`: the judgements that an arbiter decides between."""

    judge: str
    guards: Guards
    recipe: Recipe
    question: Question
    case: Case
    prior: Sequence[Judgement] | None = None

    async def cast(self, asker: Asker, purpose: str, claims: Sequence[Claim]) -> Answered:
        numbered = dict(enumerate(claims, start=1))
        found, calls = await asker.ask_about(
            numbered,
            letter="C",
            purpose=purpose,
            form=self.recipe.form,
            prompt_of=self._prompt,
            read=self._judgements,
        )
        return Answered([found[n] for n in numbered], calls)

    def _prompt(self, numbered: Numbered) -> Prompt:
        prompt = prompt_for(self.recipe.parts, self.question, numbered, self.case)
        if self.prior is None:
            return prompt
        said = opinions(numbered, self.prior, self.question)
        return prompt.then(render(self.recipe.arbitrate, language_of(self.case), opinions=said))

    def _judgements(self, answer: Answer[Form], numbered: Numbered, prompt: Prompt) -> dict[int, Judgement]:
        return {
            n: self._judgement(claim, self._weighed(n, claim, answer), answer, prompt)
            for n, claim in numbered.items()
        }

    def _weighed(self, n: int, claim: Claim, answer: Answer[Form]) -> Weighed:
        if answer.value is None:
            return Weighed(None, answer.failure)
        return self.recipe.read(about(answer.value, n), claim, self.question, self.case, self.guards)

    def _judgement(self, claim: Claim, weighed: Weighed, answer: Answer[Form], prompt: Prompt) -> Judgement:
        return Judgement(
            claim_id=claim.id,
            judge=self.judge,
            round=self.question.round,
            question_id=self.question.id,
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

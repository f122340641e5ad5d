"""Judges and arbiters that ask a language model.

Knows: what a judge is asked and how its answer becomes a judgement for every claim, in order, each a label or a
failure.
Does not know: how prompts are worded (prompting) and answers read (recipes), or how a model is reached, asked again
and paid for (models).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from longproof.agent.guards import Weighed
from longproof.agent.models.answers import Form
from longproof.agent.models.asker import Asker
from longproof.agent.models.model import Answer, Model
from longproof.agent.prompting import language_of, opinions, prompt_for
from longproof.agent.recipes import RECIPES, Recipe, about
from longproof.agent.types import Answered, Case, Claim, Judgement, Question
from longproof.prompts import Prompt, render

Numbered = Mapping[int, Claim]


class ModelJudge:
    """Asks one model about all claims of a question at once.

    `prompt_name` None: the question names its prompt. `temperature` None: none is named, and it is 0. `sample` tells
    apart judges that put the same question to the same model. `purpose` is what its calls are for.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        *,
        prompt_name: str | None = None,
        temperature: float | None = None,
        sample: int = 0,
        purpose: str = "judge",
    ) -> None:
        self.name, self.temperature = name, temperature
        self.asker = Asker(model, temperature or 0.0, sample)
        self._prompt_name, self._purpose = prompt_name, purpose

    @property
    def endpoint(self) -> str:
        """Where its answers come from."""
        return self.asker.model.endpoint

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""
        recipe = RECIPES[self._prompt_name or question.prompt]
        vote = _Vote(self.name, recipe, question, case)
        return await vote.cast(self.asker, self._purpose, claims)


class ModelArbiter:
    """One more judge, who also sees what the others said: shuffled, without names."""

    def __init__(self, name: str, model: Model, *, temperature: float = 0.0) -> None:
        self.name = name
        self.asker = Asker(model, temperature)

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """One judgement for each of `claims`, in their order."""
        vote = _Vote(self.name, RECIPES[question.prompt], question, case, judgements)
        return await vote.cast(self.asker, "arbitrate", claims)


class _Vote(NamedTuple):
    """One judge's vote on the claims of a question. `prior`: the judgements that an arbiter decides between."""

    judge: str
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
        return prompt.then(render("arbitrate", language_of(self.case), opinions=said))

    def _judgements(self, answer: Answer[Form], numbered: Numbered, prompt: Prompt) -> dict[int, Judgement]:
        return {
            n: self._judgement(claim, self._weighed(n, claim, answer), answer, prompt)
            for n, claim in numbered.items()
        }

    def _weighed(self, n: int, claim: Claim, answer: Answer[Form]) -> Weighed:
        if answer.value is None:
            return Weighed(None, answer.failure)
        return self.recipe.read(about(answer.value, n), claim, self.question, self.case)

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

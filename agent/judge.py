"""Judges, arbiters too, that ask a language model.

Knows: what a judge is asked and how its answer becomes a judgement for every claim, in order, each a label or a
failure.
Does not know: how prompts are worded (prompting) and answers read (recipes), or how a model is reached, asked again
and paid for (models).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from longproof.agent.guards import Weighed
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Answer, Asker, Model
from longproof.agent.prompting import language_of, opinions, prompt_for
from longproof.agent.recipes import RECIPES, part_about
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
        """The server that its answers come from."""
        return self.asker.model.endpoint

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""
        return await _ask_by_recipe(
            self.asker,
            self.name,
            question,
            claims,
            case,
            purpose=self._purpose,
            recipe_name=self._prompt_name or question.prompt,
        )

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """The same by one more judge, who also sees what the others said: shuffled, without names."""
        return await _ask_by_recipe(
            self.asker,
            self.name,
            question,
            claims,
            case,
            purpose="arbitrate",
            recipe_name=question.prompt,
            prior=judgements,
        )


async def ask_about_claims(
    asker: Asker,
    judge: str,
    question: Question,
    claims: Sequence[Claim],
    *,
    purpose: str,
    form: type[Form],
    prompt_of: Callable[[Numbered], Prompt],
    read: Callable[[Any, int, Claim], Weighed],
) -> Answered:
    """Ask a model about each claim of a question; `read` takes a filled form and the claim's number in it."""

    def judgements(answer: Answer[Form], numbered: Numbered, prompt: Prompt) -> dict[int, Judgement]:
        said = {}
        for n, claim in numbered.items():
            weighed = Weighed(None, answer.failure) if answer.value is None else read(answer.value, n, claim)
            said[n] = _judgement(judge, question, claim, weighed, answer, prompt)
        return said

    found, calls = await asker.ask_about(
        dict(enumerate(claims, start=1)),
        letter="C",
        purpose=purpose,
        form=form,
        prompt_of=prompt_of,
        read=judgements,
    )
    return Answered(list(found.values()), calls)


async def _ask_by_recipe(
    asker: Asker,
    judge: str,
    question: Question,
    claims: Sequence[Claim],
    case: Case,
    *,
    purpose: str,
    recipe_name: str,
    prior: Sequence[Judgement] | None = None,
) -> Answered:
    """Ask with the product's own prompts. `prior`: the judgements that an arbiter decides between."""
    recipe = RECIPES[recipe_name]
    texts = Counter(claim.text for claim in claims)

    def prompt_of(numbered: Numbered) -> Prompt:
        prompt = prompt_for(recipe.parts, question, numbered, case)
        if prior is None:
            return prompt
        return prompt.then(
            render("arbitrate", language_of(case), opinions=opinions(numbered, prior, question))
        )

    return await ask_about_claims(
        asker,
        judge,
        question,
        claims,
        purpose=purpose,
        form=recipe.form,
        prompt_of=prompt_of,
        read=lambda value, n, claim: recipe.read(
            part_about(value, n, claim.text if texts[claim.text] == 1 else ""), claim, question, case
        ),
    )


def _judgement(
    judge: str, question: Question, claim: Claim, weighed: Weighed, answer: Answer[Form], prompt: Prompt
) -> Judgement:
    return Judgement(
        claim_id=claim.id,
        judge=judge,
        round=question.look,
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

"""Judges and arbiters that ask a language model.

Knows: how a question becomes a prompt, a finding a judgement, and that whoever fails a guard is asked once more, with
the reason and for the failed claims alone. Judgements come back for every claim, in order, each a label or a failure.
Does not know: how a model is reached or paid (model), how judgements are counted (vote).
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, TypeVar

from longproof.agent.forms import Finding, Findings
from longproof.agent.guards import Guards, Weighed, weigh, word
from longproof.agent.model import Answer, Model
from longproof.agent.types import Answered, Call, Case, Claim, Failure, Judgement, Question
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.text.tokens import cjk_share

T = TypeVar("T")

CHINESE_FROM = 0.3
"""Share of CJK letters in the response from which on prompts are Chinese."""
ASKED_AGAIN: frozenset[Failure] = frozenset(
    {"ungrounded", "self_contradicted", "off_menu", "truncated", "unparsed", "refused", "timeout"}
)
"""Failures that a second asking may mend; the others are not the model's."""
LONGEST_REASON = 2000
_NUMBER = re.compile(r"\W*[CS]?\s*(\d{1,4})\W*", re.IGNORECASE | re.ASCII)


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

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""
        name = self._prompt_name or question.prompt

        def prompt(numbered: Mapping[int, Claim]) -> Prompt:
            return asking(name, question, numbered, case)

        return await self._seat.ask("judge", prompt, question, claims, case)


class ModelArbiter:
    """One more judge, who also sees what the others said: shuffled, without names."""

    def __init__(self, name: str, model: Model, *, temperature: float = 0.0, guards: Guards = "ours") -> None:
        self.name = name
        self._seat = Seat(name, model, temperature, 0, guards)

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """One judgement for each of `claims`, in their order."""

        def prompt(numbered: Mapping[int, Claim]) -> Prompt:
            heard = opinions(numbered, judgements)
            return asking(question.prompt, question, numbered, case).then(
                render("arbitrate", language_of(case), opinions=heard)
            )

        return await self._seat.ask("arbitrate", prompt, question, claims, case)


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
        prompt: Callable[[Mapping[int, Claim]], Prompt],
        question: Question,
        claims: Sequence[Claim],
        case: Case,
    ) -> Answered:
        """Ask; ask once more where a guard says so; note in the ledger what came to nothing."""
        numbered = dict(enumerate(claims, start=1))
        found, calls = await self._round(purpose, prompt(numbered), question, numbered, case)
        failed = {n: found[n].failure for n in numbered if found[n].failure in ASKED_AGAIN}
        if failed and self.guards == "ours":
            left = {n: numbered[n] for n in failed}
            second = prompt(left)
            if reasons := [f"C{n}: {failure}" for n, failure in failed.items() if failure != "timeout"]:
                second = second.then(render("again", second.language, reasons="\n".join(reasons)))
            mended, more = await self._round(purpose, second, question, left, case)
            found, calls = found | mended, calls + more
        for judgement in found.values():
            if judgement.failure in ASKED_AGAIN:
                await self.model.mark(judgement.call_id, judgement.failure)
        return Answered([found[n] for n in numbered], calls)

    async def _round(
        self, purpose: str, prompt: Prompt, question: Question, numbered: Mapping[int, Claim], case: Case
    ) -> tuple[dict[int, Judgement], list[Call]]:
        answer = await self.model.ask(
            prompt, Findings, purpose=purpose, sample=self.sample, temperature=self.temperature
        )
        said = (
            by_number((finding.claim, finding) for finding in answer.value.findings) if answer.value else {}
        )
        judgements = {
            n: self._judgement(claim, said.get(n, []), answer, question, prompt, case)
            for n, claim in numbered.items()
        }
        return judgements, list(answer.calls)

    def _judgement(
        self,
        claim: Claim,
        said: Sequence[Finding],
        answer: Answer[Findings],
        question: Question,
        prompt: Prompt,
        case: Case,
    ) -> Judgement:
        weighed = self._weighed(claim, said, answer, question, case)
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
            reason=brief(said[-1].reason) if said else answer.detail,
            prompt_hash=prompt.hash,
        )

    def _weighed(
        self, claim: Claim, said: Sequence[Finding], answer: Answer[Findings], question: Question, case: Case
    ) -> Weighed:
        if answer.failure:
            return Weighed(None, answer.failure)
        if not said:
            return Weighed(None, "unparsed")
        if len({word(finding.label) for finding in said}) > 1:
            return Weighed(None, "self_contradicted" if self.guards == "ours" else "unparsed")
        weighed = weigh(said[-1], claim, question.shown, self.guards)
        if self.guards == "ours" and weighed.label == "out_dependent" and question.round == "pages":
            return _from_pages(weighed, case)
        return weighed


def _from_pages(weighed: Weighed, case: Case) -> Weighed:
    """Out-dependent rests on a page: one of its quotes stands in a snippet, or it is ungrounded."""
    if any(quote.source_id not in case.source_ids for quote in weighed.quotes):
        return weighed
    return Weighed(None, "ungrounded", weighed.quotes, weighed.dropped)


def asking(name: str, question: Question, numbered: Mapping[int, Claim], case: Case) -> Prompt:
    """The prompt of a question: evidence first, claims last."""
    source = [span.text for span in question.shown if span.source_id in case.source_ids]
    pages = [span.text for span in question.shown if span.source_id not in case.source_ids]
    return render(
        name, language_of(case), evidence=source, pages=pages, context=case.context, claims=listed(numbered)
    )


def listed(numbered: Mapping[int, Claim]) -> str:
    """Claims one a line, each with the passage of the response that it came from, as JSON: no text ends its line."""
    return "\n".join(
        line(claim=f"C{n}", text=claim.text, passage=claim.origin.text) for n, claim in numbered.items()
    )


def opinions(numbered: Mapping[int, Claim], judgements: Sequence[Judgement]) -> str:
    """What the others said of each claim, in an order that tells nothing of who they are."""
    lines: list[str] = []
    for n, claim in numbered.items():
        heard = sorted(
            line(claim=f"C{n}", label=j.label, reason=j.reason, quotes=[quote.text for quote in j.quotes])
            for j in judgements
            if j.claim_id == claim.id and j.label is not None
        )
        random.Random(sha256(f"{claim.id} {claim.text}".encode()).digest()).shuffle(heard)
        lines += heard
    return "\n".join(lines)


def language_of(case: Case) -> Language:
    """The language of the prompts about a case."""
    return "zh" if cjk_share(case.response) >= CHINESE_FROM else "en"


def line(**fields: object) -> str:
    """One line of JSON, readable in any script."""
    return json.dumps(fields, ensure_ascii=False)


def brief(text: str) -> str:
    """A reason on one line, within bounds."""
    return " ".join(text.split())[:LONGEST_REASON]


def by_number(said: Iterable[tuple[str, T]]) -> dict[int, list[T]]:
    """What was said, by the number that it names (`C3`, `3`, `[C3]`); what names none is left out."""
    found: dict[int, list[T]] = defaultdict(list)
    for name, what in said:
        if number := _NUMBER.fullmatch(name):
            found[int(number[1])].append(what)
    return found

"""The prompt of a question: its parts, filled with what the question shows.

Knows: what each placeholder of a prompt stands for, and in which language a case is asked about.
Does not know: who is asked, or how the answer is read.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from hashlib import sha256

from longproof.agent.recipes import in_order
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.prompts import Language, Prompt, placeholders, render
from longproof.retrieval.text.tokens import is_chinese

Numbered = Mapping[int, Claim]
Value = Callable[[Question, Numbered, Case], str | list[str]]

VALUES: dict[str, Value] = {
    "evidence": lambda question, _, case: [s.text for s in question.shown if s.source_id in case.source_ids],
    "pages": lambda question, _, case: [s.text for s in question.shown if s.source_id not in case.source_ids],
    "piece": lambda question, _, case: question.shown[0].text,
    "surroundings": lambda question, _, case: [span.text for span in question.shown[1:]],
    "context": lambda question, _, case: case.context,
    "response": lambda question, _, case: case.response,
    "first": lambda question, _, case: in_order(case)[0],
    "second": lambda question, _, case: in_order(case)[1],
    "claims": lambda question, numbered, case: listed(numbered),
    "passage": lambda question, numbered, case: [claim.text for claim in numbered.values()],
}
"""What a prompt may ask for. A `piece` is the first place shown, `surroundings` are what is shown beside it."""


def prompt_for(parts: Sequence[str], question: Question, numbered: Numbered, case: Case) -> Prompt:
    """The prompt of a question, its parts one after the other. Raises KeyError for an unknown placeholder."""
    language = language_of(case)
    filled = (
        render(
            part, language, **{k: VALUES[k](question, numbered, case) for k in placeholders(part, language)}
        )
        for part in parts
    )
    return reduce(Prompt.then, filled)


def listed(numbered: Numbered) -> str:
    """Claims one a line, as JSON: no text ends its line. Each with the passage of the response that it came from,
    where that says it in other words."""
    return "\n".join(
        line(claim=f"C{n}", text=claim.text)
        if claim.text == claim.origin.text
        else line(claim=f"C{n}", text=claim.text, passage=claim.origin.text)
        for n, claim in numbered.items()
    )


def opinions(numbered: Numbered, judgements: Sequence[Judgement]) -> str:
    """What the others said of each claim, in an order that tells nothing of who they are."""
    lines: list[str] = []
    for n, claim in numbered.items():
        said = sorted(
            line(claim=f"C{n}", label=j.label, reason=j.reason, quotes=[quote.text for quote in j.quotes])
            for j in judgements
            if j.claim_id == claim.id and j.label is not None
        )
        random.Random(sha256(f"{claim.id} {claim.text}".encode()).digest()).shuffle(said)
        lines += said
    return "\n".join(lines)


def language_of(case: Case) -> Language:
    """The language of the prompts about a case."""
    return "zh" if is_chinese(case.response) else "en"


def line(**fields: object) -> str:
    """One line of JSON, readable in any script."""
    return json.dumps(fields, ensure_ascii=False)

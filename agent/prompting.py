"""The prompt of a question: its parts, filled with what the question shows.

Knows: what each placeholder of a prompt stands for, how lines of evidence and claims are written down, and in which
language a case is asked about. The text of a line stands on one line behind its number, so that no text that we read
can begin a line with a number of its own.
Does not know: who is asked, or how the answer is read.
"""

import json
import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from hashlib import sha256
from itertools import islice, pairwise

from longproof.agent.evidence.citations import line_name, numbered_line, on_one_line, runs
from longproof.agent.types import Case, Claim, Error, Judgement, Question
from longproof.prompts import Language, Prompt, placeholders, render
from longproof.retrieval.text.normalise import is_chinese
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Line, Span

Numbered = Mapping[int, Claim]

OPPOSITE: dict[Language, str] = {"en": "It is not so: {}", "zh": "事实并非如此：{}"}
"""The statement that denies a claim."""
WRONG_WORDS: dict[Language, tuple[str, str, str]] = {
    "en": (" Wrong in it: {}.", "“{}”, rather “{}”", "; "),
    "zh": (" 错在：{}。", "“{}”，应为“{}”", "；"),
}
"""The words that it takes for wrong: all of them, one with its correction, what stands between two."""
NOWHERE = Span(source_id="", start=0, end=0, text="")
"""No sentence: nothing of the response was told yet."""


def prompt_for(parts: Sequence[str], question: Question, numbered: Numbered, case: Case) -> Prompt:
    """The prompt of a question about claims. What stands around a claim, and its opposite, are those of the first."""
    first = next(iter(numbered.values()))
    values = {
        **shown_blocks(question),
        "context": case.context,
        "claims": in_sentences(numbered, case),
        "around": text_around(first, case, NOWHERE),
        "last": str(question.last_line or ""),
        "statements": list(statements(first, question.denied, case)),
    }
    return fill(parts, language_of(case), values)


def fill(parts: Sequence[str], language: Language, values: Mapping[str, str | Sequence[str]]) -> Prompt:
    """The prompt of these parts, one after the other. Raises KeyError for a placeholder without a value."""
    filled = []
    for part in parts:
        wanted = {name: values[name] for name in placeholders(part, language)}
        filled.append(render(part, language, **wanted))
    return reduce(Prompt.then, filled)


def shown_blocks(question: Question) -> dict[str, list[str]]:
    """The lines that a question shows as prompts have them: `evidence` from the sources, and `pages`."""
    blocks: dict[str, list[str]] = {"evidence": [], "pages": []}
    for run in shown_runs(question):
        kind = "evidence" if run[0].number >= 0 else "pages"
        blocks[kind].append("\n".join(map(numbered_line, run)))
    return blocks


def shown_runs(question: Question) -> list[list[Line]]:
    """The lines that a question shows, in runs: one look added them, they follow each other. A snippet is alone."""
    found: list[list[Line]] = []
    rest = map(Line, question.numbers, question.shown)
    for added in question.lines:
        found += runs(islice(rest, len(added)))
    return [*found, *([snippet] for snippet in rest)]


def in_sentences(numbered: Numbered, case: Case) -> str:
    """The claims, one a line: `C3| its text`. Before a part of a sentence stands the sentence, before a whole one
    the sentence before it in the response, where that isn't there already: `S| text`."""
    rows: list[str] = []
    for (n, claim), context in zip(numbered.items(), context_rows(numbered.values(), case), strict=True):
        rows += [*context, f"C{n}| {on_one_line(claim.text)}"]
    return "\n".join(rows)


def context_rows(claims: Iterable[Claim], case: Case) -> Iterator[list[str]]:
    """For each of these claims the row `S| text` that goes before it; none where it would tell nothing new."""
    told = NOWHERE
    for claim in claims:
        text = text_around(claim, case, told)
        yield [f"S| {text}"] if text else []
        told = sentence_of(claim, case)


def text_around(claim: Claim, case: Case, told: Span) -> str:
    """The sentence of a claim that is part of one; of a whole sentence, the end of the sentence before it in its
    response. Empty where the sentence `told` last is that already."""
    sentence = sentence_of(claim, case)
    if claim.text != sentence.text:
        return "" if told == sentence else on_one_line(sentence.text)
    start, before = before_in_response(sentence, case)
    if not before or told.end >= start + len(before):
        return ""
    found = _sentences(case.response, case.parts)
    first, last = found[bisect_right(found, (sentence.start, 0)) - 1]
    return on_one_line(case.response[max(first, last - 300) : last])


def before_in_response(sentence: Span, case: Case) -> tuple[int, str]:
    """The start of the response that a sentence belongs to, if several are checked together, and its text before the
    sentence."""
    start = max((at for at in case.parts if at <= sentence.start), default=0)
    return start, case.response[start : sentence.start].rstrip()


def sentence_of(claim: Claim, case: Case) -> Span:
    """The sentence of the response that a claim was drawn from; its origin where that lies in no single sentence."""
    origin, found = claim.origin, _sentences(case.response, case.parts)
    at = bisect_right(found, (origin.start, len(case.response))) - 1
    start, end = found[at] if at >= 0 else (0, 0)
    elsewhere = case.response[origin.start : origin.end] != origin.text
    if elsewhere or not start <= origin.start < origin.end <= end:
        return origin
    return Span(source_id=origin.source_id, start=start, end=end, text=case.response[start:end])


def opinions(numbered: Numbered, judgements: Sequence[Judgement], question: Question) -> str:
    """The others' answers on each claim, in an order that tells nothing of who they are."""
    numbers = dict(zip(question.shown, question.numbers, strict=False))
    lines: list[str] = []
    for n, claim in numbered.items():
        said = sorted(
            line(claim=f"C{n}", label=j.label, reason=j.reason, **_proof(j, numbers))
            for j in judgements
            if j.claim_id == claim.id and j.label is not None
        )
        random.Random(sha256(f"{claim.id} {claim.text}".encode()).digest()).shuffle(said)
        lines += said
    return "\n".join(lines)


def statements(claim: Claim, denied: Sequence[Error], case: Case) -> tuple[str, str]:
    """A claim and its opposite, which names the words that are denied, in an order that is drawn by the claim."""
    language = language_of(case)
    all_of_them, corrected, between = WRONG_WORDS[language]
    named = []
    for error in denied:
        words, right = on_one_line(error.span.text), on_one_line(error.correction or "")
        named.append(corrected.format(words, right) if right else f"“{words}”")
    denial = OPPOSITE[language].format(claim.text)
    denial += all_of_them.format(between.join(named)) if named else ""
    drawn = random.Random(sha256(f"{claim.id} {claim.text}".encode("utf-8", "backslashreplace")).digest())
    return (claim.text, denial) if drawn.random() < 0.5 else (denial, claim.text)


def language_of(case: Case) -> Language:
    """The language of the prompts about a case."""
    return "zh" if is_chinese(case.response) else "en"


def brief(text: str) -> str:
    """A reason on one line, within bounds."""
    return on_one_line(text)[:2000]


def line(**fields: object) -> str:
    """One line of JSON, readable in any script."""
    return json.dumps(fields, ensure_ascii=False)


def _proof(judgement: Judgement, numbers: Mapping[Span, int]) -> dict[str, list[str]]:
    """The evidence that a judge rests on: lines by number and beginning; where lines have no numbers, quotes."""
    if not numbers:
        return {"quotes": [quote.text for quote in judgement.quotes]}
    begun = ((numbers.get(quote), on_one_line(quote.text)[:20].strip()) for quote in judgement.quotes)
    return {"lines": [text if number is None else f"{line_name(number)} {text}" for number, text in begun]}


@lru_cache(maxsize=8)
def _sentences(response: str, parts: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The sentences of a response; none reaches from one of its parts into the next."""
    ends = sorted({0, *parts, len(response)})
    return tuple(
        (first + start, first + end)
        for first, last in pairwise(ends)
        for start, end in sentences(response[first:last])
    )

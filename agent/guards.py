"""Checks on the strings of an answer: errors, and citations of what was or wasn't shown. Pure.

Knows: words stand where they are said to, and a cited line begins as it is said to. The failures are those that
LongNovel (section 5.4 and Appendix H) saw in models.
Does not know: which model answered, or whether it is asked again.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from longproof.agent.evidence.citations import begins, letters, read_citation, says_something
from longproof.agent.prompting import shown_runs
from longproof.agent.types import KINDS, Claim, Error, Failure, JudgeLabel, Judgement, Question, Reading
from longproof.retrieval.text.locate import locate
from longproof.retrieval.text.normalise import fold
from longproof.retrieval.types import Span

_ERROR = re.compile(
    rf"(?:(?P<kind>{'|'.join([*KINDS, 'none'])})\s*[:：])?(?P<wrong>.+?)(?:\s*(?:=>|→|⇒)(?P<correction>.*))?",
    re.DOTALL | re.IGNORECASE,
)
"""An error as a model writes it: `entity: Tom => Ada`."""
_MARKS = " \"'“”‘’「」`"
_SEMICOLON = re.compile("[;；]")
_COMMA = re.compile(r"[,，、]\s?(?=\W{0,2}[PpＰ]?\d)")
UNKNOWN = ("?", "？")
"""The marks that stand for a correction that nobody knows; an empty one means that the words go."""
MOST_CITED = 40
"""Citations of one claim that are read."""


class Weighed(NamedTuple):
    """A finding after the checks: exactly one of label and failure, and what could be located."""

    label: JudgeLabel | None
    failure: Failure | None
    quotes: tuple[Span, ...] = ()
    quotes_dropped: int = 0
    errors: tuple[Error, ...] = ()
    readings: tuple[Reading, ...] = ()
    reason: str = ""

    def judgement(
        self,
        judge: str,
        question: Question,
        claim: Claim,
        call_id: str | None = None,
        hash_: str | None = None,
    ) -> Judgement:
        """The judgement that a judge gives so on a claim; the call and the prompt's hash are those of a model."""
        return Judgement(
            claim_id=claim.id,
            judge=judge,
            round=question.look,
            question_id=question.id,
            call_id=call_id,
            prompt_hash=hash_,
            **self._asdict(),
        )


def read_lines(citations: Sequence[str], question: Question) -> tuple[tuple[Span, ...], int]:
    """The lines that are cited, each once; and how many citations fit nothing. One string may hold several."""
    found = [line for citation in citations[:MOST_CITED] for line in _each(citation, question)]
    return tuple(dict.fromkeys(line for line in found if line)), found.count(None)


def cites_unseen(citations: Sequence[str], question: Question) -> bool:
    """True if lines are cited by number, and none of them was shown: who cites so read something else."""
    parts = [part for citation in citations[:MOST_CITED] for part in _SEMICOLON.split(citation)]
    numbers = [cited.number for part in parts if (cited := read_citation(part))]
    return bool(numbers) and not set(numbers) & set(question.numbers)


def find_cited_line(citation: str, question: Question) -> Span | None:
    """The line whose number the citation names and that begins as it says; or the line that it quotes.

    None for what fits nothing, and for a number alone: that proves no reading.
    """
    return _line_by_number(citation, question) or _line_by_quote(citation, question)


def find_quote(quote: str, shown: Sequence[Span]) -> Span | None:
    """The place of a quote in what was shown; None where it doesn't, or is too short to say anything."""
    if not says_something(quote):
        return None
    for span in shown:
        if place := locate(quote, span.text):
            return span.part(*place)
    return None


def wrong_place(wrong: str, kind: str, correction: str, reason: str, *places: Span) -> tuple[Error, ...]:
    """The error at these words, in the first of these places where they stand; none where they stand in none."""
    span = next(filter(None, (exactly(wrong, place) for place in places)), None)
    if span is None or same(wrong, correction):
        return ()
    named = word(kind)
    return (
        Error(
            span=span,
            kind=named if named in KINDS else None,
            correction=None if correction.strip() in UNKNOWN else correction.strip(),
            reason=" ".join(reason.split()),
        ),
    )


def error_parts(error: str) -> tuple[str, str, str]:
    """The wrong words, the kind and the correction in an error's string; all of it is wrong words where it has no
    kind. Without an arrow the true words aren't known."""
    said = _ERROR.fullmatch(error.strip())
    if said is None:
        return error.strip(), "", UNKNOWN[0]
    correction = said["correction"]
    return (
        said["wrong"].strip(_MARKS),
        said["kind"] or "",
        UNKNOWN[0] if correction is None else correction.strip(_MARKS),
    )


def word(text: str) -> str:
    """A menu word as models write it: case, spaces, hyphens and quotation marks don't matter; all else does."""
    return re.sub(r"[\s\-]+", "_", text.strip().strip("\"'`*“”「」.。").strip().lower())


def same(one: str, other: str) -> bool:
    """True if two texts say the same in the same words: marks, spaces, case and script don't matter."""
    return bool(letters(one)) and letters(one) == letters(other)


def _each(citations: str, question: Question) -> list[Span | None]:
    """The lines cited in one string: by all of it, else by its parts between semicolons, or commas before numbers."""
    if whole := _line_by_number(citations, question):
        return [whole]
    found: list[Span | None] = []
    for piece in filter(str.strip, _SEMICOLON.split(" ".join(citations.split()))[:MOST_CITED]):
        parts = [piece] if find_cited_line(piece, question) else _COMMA.split(piece)[:MOST_CITED]
        found += [find_cited_line(part, question) for part in parts]
    return found


def _line_by_number(citation: str, question: Question) -> Span | None:
    """The line that a number and some of its text name."""
    cited = read_citation(citation)
    if cited is None or cited.number not in question.numbers:
        return None
    line = question.shown[question.numbers.index(cited.number)]
    return line if begins(line.text, cited.beginning) or find_quote(cited.beginning, [line]) else None


def _line_by_quote(quote: str, question: Question) -> Span | None:
    """The line that holds most of a quote without a number, which may run on into the lines after it."""
    if not says_something(quote) or not re.search(r"[^\W\d]", quote):
        return None
    begun = re.match(r"\W*(\d+)", fold(quote))
    for run in shown_runs(question):
        lines = [line.span for line in run]
        text = "\n".join(line.text for line in lines)
        first, last = locate(quote, text) or (0, 0)
        # A number before the quoted words is a line's, and not of the line that has them.
        if first == last or (begun and begun[1] not in fold(text[first:last])):
            continue
        held, start = [], 0
        for line in lines:
            held.append(min(last, start + len(line.text)) - max(first, start))
            start += len(line.text) + 1
        return lines[held.index(max(held))]
    return None


def exactly(words: str, origin: Span) -> Span | None:
    """The place of exact words in a part of the response: as they are, or in another script or width."""
    words = words.strip()
    if not words:
        return None
    start = origin.text.find(words)
    if start >= 0:
        return origin.part(start, start + len(words))
    return find_quote(words, [origin])

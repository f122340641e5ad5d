"""Many short cases about one long source, checked together: which they are, how they are joined, and whose report is
whose afterwards. Pure.

Knows: which cases may be checked together and in which groups; the joined response, in which the cases' responses
stand one after the other, and where each begins; how the one report on it becomes a report a case, with places in the
case's own response and its share of what the group used. Does not know: how a joined response is checked, or where
cases come from.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate, groupby
from operator import itemgetter
from typing import NamedTuple, TypeVar

from longproof.agent.report import WRONG, counts_by_label, coverage_of, left_unread, outcome
from longproof.agent.types import (
    Call,
    Case,
    Error,
    Judgement,
    Place,
    Report,
    ReportClaim,
    ReportDocument,
    ReportSentence,
    Usage,
)
from longproof.graphs.protocol import LONGPROOF
from longproof.graphs.protocols import protocol
from longproof.graphs.settings import Settings
from longproof.retrieval.types import Span, text_id

T = TypeVar("T")
RESPONSE_CHARACTERS = 1000
"""How long a response may be that is checked together with others."""
SOURCE_CHARACTERS = 16_000
"""A source must be longer; up to here it is shown whole to every case anyway."""
MOST_CASES = 50
"""How many cases are checked together at most."""
WHOLE = ("money", "cascade")
"""What a stamp tells of the whole group alone."""
BETWEEN = "\n\n"


def joins(settings: Settings) -> bool:
    """Whether these settings check cases together: by a protocol that can, with language models."""
    ours = protocol(settings.protocol or LONGPROOF.name).joins
    named = (judge if isinstance(judge, str) else judge.kind for judge in settings.judges)
    return ours and any(judge.startswith("openai") for judge in named)


def joinable(case: Case) -> bool:
    """Whether a case may be checked together with others: a short response, and nothing else that says how to
    read it."""
    alone = case.context or case.reference is not None or case.labels is not None
    short = len(case.response) <= RESPONSE_CHARACTERS
    return not alone and short and re.search(r"\w", case.response) is not None


def case_groups(cases: Iterable[tuple[str, str | None, T]]) -> Iterator[list[T]]:
    """The groups in which cases are checked; each comes as the key of its source and task, its pair, and itself.

    Cases with one key must be neighbours; those with an empty key are checked alone. Two cases of one pair are never
    in one group: which goes first is drawn from the pair's name, so that no group gets all first members (in many a
    data set, the true ones).
    """
    for key, same in groupby(cases, key=itemgetter(0)):
        if not key:
            yield from ([case] for _, _, case in same)
            continue
        members, open_groups = Counter[str](), dict[int, list[T]]()
        for _, pair, case in same:
            number = 0
            if pair is not None:
                number = members[pair] ^ sha256(pair.encode("utf-8", "backslashreplace")).digest()[0] & 1
                members[pair] += 1
            open_groups.setdefault(number, []).append(case)
            if len(open_groups[number]) == MOST_CASES:
                yield open_groups.pop(number)
        yield from open_groups.values()


def join(cases: Sequence[Case]) -> Case:
    """One case whose response is those of all with a blank line between them, which no sentence runs over. It bears
    the first one's id."""
    starts = tuple(accumulate((len(case.response) + len(BETWEEN) for case in cases[:-1]), initial=0))
    joined = BETWEEN.join(case.response for case in cases)
    return cases[0].model_copy(update={"response": joined, "parts": starts})


def split(report: Report, cases: Sequence[Case]) -> list[Report]:
    """A report a case, from the one on the joined response.

    Raises ValueError where that is another response's report, or a sentence or a claim lies in no case's response.
    """
    joined = join(cases)
    if report.case.response != joined.response:
        raise ValueError("the report is on another response")
    parts = [_Part(n, start, case) for n, (start, case) in enumerate(zip(joined.parts, cases, strict=True))]
    held_sentences = _held(parts, [(sentence.start, sentence.end) for sentence in report.sentences])
    held_claims = _held(parts, [(claim.origin.start, claim.origin.end) for claim in report.claims])
    served = _served(report, held_claims)
    shares = usage_shares([(call, sorted(served[call.id])) for call in report.calls], len(cases))
    paid = _paid_shares(Usage.model_validate(report.stamp.get("paid") or {}), shares)
    return [
        _own(
            report,
            part,
            held_sentences[part.number],
            held_claims[part.number],
            calls=tuple(call for call in report.calls if part.number in served[call.id]),
            usage=shares[part.number],
            stamp={
                **{name: value for name, value in report.stamp.items() if name not in WHOLE},
                "paid": paid[part.number].model_dump(mode="json"),
                "group": {
                    "cases": [case.id for case in cases],
                    "shared_calls": sum(len(served[call.id]) > 1 for call in report.calls),
                    "usage": report.usage.model_dump(mode="json"),
                    **{name: report.stamp[name] for name in WHOLE if name in report.stamp},
                },
            },
        )
        for part in parts
    ]


def usage_shares(calls: Sequence[tuple[Call, Sequence[int]]], cases: int) -> list[Usage]:
    """What each of so many cases used of calls that served these of them: equal shares of each call.

    Whole numbers that add up to what all calls used.
    """
    columns: dict[str, list[int]] = {}
    for name in Usage.model_fields:
        used = [Fraction(0)] * cases
        for call, served in calls:
            amount = 1 if name == "calls" else getattr(call, name) or 0
            for case in served:
                used[case] += Fraction(amount, len(served))
        columns[name] = apportioned(int(sum(used)), used)
    return [Usage(**{name: column[n] for name, column in columns.items()}) for n in range(cases)]


def apportioned(total: int, weights: Sequence[Fraction | int]) -> list[int]:
    """Whole numbers that add up to the total, as near to the weights' proportions as can be (largest remainder)."""
    if not sum(weights):
        weights = [1] * len(weights)
    exact = [Fraction(total) * weight / Fraction(sum(weights)) for weight in weights]
    given = [int(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda n: (given[n] - exact[n], n))
    for n in by_remainder[: total - sum(given)]:
        given[n] += 1
    return given


class _Part(NamedTuple):
    """A case's response in the joined one."""

    number: int
    start: int
    case: Case

    @property
    def id(self) -> str:
        return text_id(self.case.response)

    def holds(self, start: int, end: int) -> bool:
        return self.start <= start and end <= self.start + len(self.case.response)

    def place(self, place: Place) -> Place:
        return Place(start=place.start - self.start, end=place.end - self.start, text=place.text)

    def span(self, span: Span) -> Span:
        return Span(
            source_id=self.id, start=span.start - self.start, end=span.end - self.start, text=span.text
        )


def _held(parts: Sequence[_Part], places: Sequence[tuple[int, int]]) -> list[list[int]]:
    """For each part, the indices of the places that lie in it, in order."""
    starts = [part.start for part in parts]
    held: list[list[int]] = [[] for _ in parts]
    for index, (start, end) in enumerate(places):
        part = parts[bisect_right(starts, start) - 1]
        if not part.holds(start, end):
            raise ValueError(f"[{start}, {end}) lies in no response of the group")
        held[part.number].append(index)
    return held


def _served(report: Report, held_claims: Sequence[Sequence[int]]) -> dict[str, set[int]]:
    """Which cases each call served: those whose claims' judgements name it; where none does, all of them."""
    served: dict[str, set[int]] = {call.id: set() for call in report.calls}
    for number, held in enumerate(held_claims):
        for judgement in (said for index in held for said in report.claims[index].judgements):
            if judgement.call_id in served:
                served[judgement.call_id].add(number)
    return {id_: cases or set(range(len(held_claims))) for id_, cases in served.items()}


def _paid_shares(paid: Usage, used: Sequence[Usage]) -> list[Usage]:
    """What this run paid, in proportion to what each case used: the report doesn't tell which calls were bought."""
    columns = {
        name: apportioned(getattr(paid, name), [getattr(share, name) for share in used])
        for name in Usage.model_fields
    }
    return [Usage(**{name: column[n] for name, column in columns.items()}) for n in range(len(used))]


def _own(
    report: Report,
    part: _Part,
    held_sentences: Sequence[int],
    held_claims: Sequence[int],
    *,
    calls: tuple[Call, ...],
    usage: Usage,
    stamp: dict[str, object],
) -> Report:
    """The report on one case's part."""
    ids = {report.claims[index].id: f"c{n}" for n, index in enumerate(held_claims)}
    numbers = {index: n for n, index in enumerate(held_sentences)}
    shown = tuple(_sentence(report.sentences[index], part) for index in held_sentences)
    claims = tuple(_claim(report.claims[index], part, ids, numbers) for index in held_claims)
    searches = (search for search in report.searches if search.claim_id in ids)
    labels = [claim.label for claim in claims]
    response = ReportDocument(id=part.id, role="response", kind="text", characters=len(part.case.response))
    return report.model_copy(
        update={
            "case": part.case.model_copy(update={"source_ids": report.case.source_ids}),
            "documents": (response, *report.documents[1:]),
            "verdict": outcome(
                [one.label for one in shown], unread=left_unread(report.triage, claims, [response])
            )
            if claims
            else "undecided",
            "sentences": shown,
            "claims": claims,
            "searches": tuple(s.model_copy(update={"claim_id": ids[s.claim_id]}) for s in searches),
            "calls": calls,
            "counts": counts_by_label(labels),
            "coverage": coverage_of(labels),
            "usage": usage,
            "stamp": stamp,
        }
    )


def _sentence(sentence: ReportSentence, part: _Part) -> ReportSentence:
    moved = {"start": sentence.start - part.start, "end": sentence.end - part.start}
    return sentence.model_copy(update=moved)


def _claim(claim: ReportClaim, part: _Part, ids: dict[str, str], numbers: dict[int, int]) -> ReportClaim:
    origin = part.place(claim.origin)
    errors = _errors(claim.errors, part)
    if claim.errors and not errors and claim.label in WRONG:
        whole = Span(source_id=part.id, start=origin.start, end=origin.end, text=origin.text)
        errors = (Error(span=whole, reason=claim.errors[0].reason),)
    return claim.model_copy(
        update={
            "id": ids[claim.id],
            "sentence": numbers[claim.sentence],
            "origin": origin,
            "errors": errors,
            "judgements": tuple(_judgement(said, part, ids[claim.id]) for said in claim.judgements),
        }
    )


def _judgement(said: Judgement, part: _Part, claim_id: str) -> Judgement:
    return said.model_copy(update={"claim_id": claim_id, "errors": _errors(said.errors, part)})


def _errors(errors: Sequence[Error], part: _Part) -> tuple[Error, ...]:
    """Those that lie in this part: what is wrong elsewhere is another case's."""
    return tuple(
        error.model_copy(update={"span": part.span(error.span)})
        for error in errors
        if part.holds(error.span.start, error.span.end)
    )

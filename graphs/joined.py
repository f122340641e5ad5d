"""Many short cases about one long source, checked together. Pure.

Knows: which cases may be checked together and in which groups; the joined response, in which the cases' responses
stand one after the other, and where each begins; how the one report on it becomes a report a case, with places in the
case's own response. Does not know: how a joined response is checked, or where cases come from.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TypeVar

from longproof.agent.report import WRONG, figures
from longproof.agent.specs import as_spec
from longproof.agent.types import (
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
from longproof.graphs.settings import LONGPROOF, Settings
from longproof.graphs.verify import method
from longproof.retrieval.types import Document

T = TypeVar("T")
P = TypeVar("P", ReportSentence, Place)
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
    """True if these settings check cases together: by a protocol that can, with language models."""
    ours = method(settings.protocol or LONGPROOF.name).protocol.joins
    return ours and any(as_spec(judge).is_model for judge in settings.judges)


def joinable(case: Case) -> bool:
    """True if a case may be checked together with others: a short response, and nothing else that says how to
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
    """A report a case, from the one on the joined response. The first one tells the calls of the whole group.

    Raises ValueError where that is another response's report, or a sentence or a claim lies in no case's response.
    """
    joined = join(cases)
    if report.case.response != joined.response:
        raise ValueError("the report is on another response")
    owners = [_owner(joined, sentence.start, sentence.end) for sentence in report.sentences]
    for claim in report.claims:
        if _owner(joined, claim.origin.start, claim.origin.end) != owners[claim.sentence]:
            raise ValueError(f"the claim {claim.id} lies in no response of the group")
    group = {"cases": [case.id for case in cases], "usage": report.usage.model_dump(mode="json")}
    group |= {name: report.stamp[name] for name in WHOLE if name in report.stamp}
    stamp = {name: value for name, value in report.stamp.items() if name not in WHOLE} | {"group": group}
    unpaid = {"calls": (), "usage": Usage(), "stamp": stamp | {"paid": Usage().model_dump(mode="json")}}
    reports: list[Report] = []
    for number, case in enumerate(cases):
        own = [index for index, owner in enumerate(owners) if owner == number]
        made = _Part(case, joined.parts[number], own).report(report)
        reports.append(made.model_copy(update=unpaid if reports else {"stamp": stamp}))
    return reports


def _owner(joined: Case, start: int, end: int) -> int:
    """The number of the case in whose response a place of the joined one lies."""
    number = bisect_right(joined.parts, start) - 1
    until = [*joined.parts[1:], len(joined.response) + len(BETWEEN)][number] - len(BETWEEN)
    if end > until:
        raise ValueError(f"[{start}, {end}) lies in no response of the group")
    return number


class _Part:
    """One case of a group, and what the group's report says of it: these sentences, their places counted from where
    the case's own response begins in the joined one."""

    def __init__(self, case: Case, offset: int, own: Sequence[int]) -> None:
        self.case, self.offset, self.own = case, offset, list(own)
        self.response = Document.of(case.response)

    def report(self, report: Report) -> Report:
        """The report on the case."""
        sentences = [self.sentence(report.sentences[index], n) for n, index in enumerate(self.own)]
        claims = [self.claim(claim) for claim in report.claims if claim.sentence in self.own]
        size = len(self.response.text)
        document = ReportDocument(
            id=self.response.id, role="response", kind="text", characters=size, notes=self.case.notes
        )
        changes = {
            "case": self.case.model_copy(update={"source_ids": report.case.source_ids}),
            "documents": (document, *report.documents[1:]),
            "sentences": tuple(sentences),
            "claims": tuple(claims),
            **figures(sentences, claims, [document], triage=report.triage)._asdict(),
        }
        return report.model_copy(update=changes)

    def sentence(self, sentence: ReportSentence, index: int) -> ReportSentence:
        """The sentence, with the votes that no longer count."""
        votes = self.votes(sentence.judgements, index)
        return self.move(sentence).model_copy(update={"judgements": votes})

    def claim(self, claim: ReportClaim) -> ReportClaim:
        """The claim. An error in another case's words is not this case's: then all of the claim is marked."""
        index, origin = self.own.index(claim.sentence), self.move(claim.origin)
        errors = self.errors(claim.errors)
        if claim.errors and not errors and claim.label in WRONG:
            span = self.response.span(origin.start, origin.end)
            errors = (Error(span=span, reason=claim.errors[0].reason),)
        changes = {
            "id": _own_id(claim.id, index),
            "sentence": index,
            "origin": origin,
            "errors": errors,
            "judgements": self.votes(claim.judgements, index),
        }
        return claim.model_copy(update=changes)

    def votes(self, votes: Sequence[Judgement], index: int) -> tuple[Judgement, ...]:
        """The votes on a claim of this sentence."""
        own: list[Judgement] = []
        for vote in votes:
            changes = {"claim_id": _own_id(vote.claim_id, index), "errors": self.errors(vote.errors)}
            own.append(vote.model_copy(update=changes))
        return tuple(own)

    def errors(self, errors: Sequence[Error]) -> tuple[Error, ...]:
        """The errors that lie in this response."""
        own: list[Error] = []
        for error in errors:
            start, end = error.span.start - self.offset, error.span.end - self.offset
            if start >= 0 and end <= len(self.response.text):
                own.append(error.model_copy(update={"span": self.response.span(start, end)}))
        return tuple(own)

    def move(self, place: P) -> P:
        """A place of the joined response, counted in the case's own."""
        moved = {"start": place.start - self.offset, "end": place.end - self.offset}
        return place.model_copy(update=moved)


def _own_id(id_: str, sentence: int) -> str:
    """The id of a claim in its case's own report, where its sentence has this index."""
    _, dot, part = id_.partition(".")
    return f"s{sentence + 1}{dot}{part}"

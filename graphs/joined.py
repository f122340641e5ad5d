"""Many short cases about one long source, checked together. Pure.

Knows: which cases may be checked together; the joined response, in which the cases' responses
stand one after the other, and where each begins; how the one report on it becomes a report a case, with places in the
case's own response. Does not know: how a joined response is checked, or where cases come from.
"""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

from longproof.agent.report import WRONG, allows_no_fact, figures
from longproof.agent.specs import as_spec
from longproof.agent.types import (
    Case,
    Error,
    Judgement,
    Place,
    Report,
    ReportClaim,
    ReportSentence,
    Usage,
)
from longproof.graphs.settings import LONGPROOF, Settings
from longproof.graphs.verify import method
from longproof.retrieval.types import Document

P = TypeVar("P", ReportSentence, Place)
RESPONSE_CHARACTERS = 1000
"""How long a response may be that is checked together with others."""
SOURCE_CHARACTERS = 16_000
"""A source must be longer; up to here it is shown whole to every case anyway."""
MOST_CASES = 50
"""How many cases are checked together at most."""
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
    parts = [_Part(case, start) for case, start in zip(cases, joined.parts, strict=True)]
    owners = [_owner(parts, sentence) for sentence in report.sentences]
    for claim in report.claims:
        if _owner(parts, claim.origin) is not owners[claim.sentence]:
            raise ValueError(f"the claim {claim.id} lies in no response of the group")
    group = {"cases": [case.id for case in cases], "usage": report.usage.model_dump(mode="json")}
    # What a stamp tells of the whole group alone.
    stamp = dict(report.stamp)
    for name in ("money", "cascade"):
        if name in stamp:
            group[name] = stamp.pop(name)
    stamp["group"] = group
    unpaid = {"calls": (), "usage": Usage(), "stamp": stamp | {"paid": Usage().model_dump(mode="json")}}
    reports: list[Report] = []
    for part in parts:
        own = part.report(report, [index for index, owner in enumerate(owners) if owner is part])
        reports.append(own.model_copy(update=unpaid if reports else {"stamp": stamp}))
    return reports


class _Part:
    """One case of a group. Its places are counted from where its own response begins in the joined one."""

    def __init__(self, case: Case, start: int) -> None:
        self.case, self.start = case, start
        self.response = Document.of(case.response)

    def report(self, report: Report, own: Sequence[int]) -> Report:
        """The report on the case, from the group's: these sentences of it, by their index."""
        sentences: list[ReportSentence] = []
        for index, old in enumerate(own):
            sentence = self.move(report.sentences[old])
            votes = self.votes(sentence.judgements, index)
            sentences.append(sentence.model_copy(update={"judgements": votes}))
        claims = [self.claim(one, own.index(one.sentence)) for one in report.claims if one.sentence in own]
        case, response = self.case, self.response
        about = {"id": response.id, "characters": len(response.text), "notes": case.notes}
        documents = (report.documents[0].model_copy(update=about), *report.documents[1:])
        case = case.model_copy(update={"source_ids": report.case.source_ids})
        told = {"case": case, "documents": documents, "sentences": tuple(sentences), "claims": tuple(claims)}
        may = allows_no_fact(report.stamp)
        counted = figures(sentences, claims, documents, triage=report.triage, may_state_no_fact=may)
        return report.model_copy(update=told | counted._asdict())

    def claim(self, claim: ReportClaim, index: int) -> ReportClaim:
        """The claim. An error in another case's words is not this case's: then all of the claim is marked."""
        origin, errors = self.move(claim.origin), self.errors(claim.errors)
        if claim.errors and not errors and claim.label in WRONG:
            span = self.response.span(origin.start, origin.end)
            errors = (Error(span=span, reason=claim.errors[0].reason),)
        judgements = self.votes(claim.judgements, index)
        own = {"id": _own_id(claim.id, index), "sentence": index, "origin": origin}
        return claim.model_copy(update={**own, "errors": errors, "judgements": judgements})

    def votes(self, votes: Sequence[Judgement], index: int) -> tuple[Judgement, ...]:
        """The votes on a claim of the sentence with this index."""
        own: list[Judgement] = []
        for vote in votes:
            changes = {"claim_id": _own_id(vote.claim_id, index), "errors": self.errors(vote.errors)}
            own.append(vote.model_copy(update=changes))
        return tuple(own)

    def errors(self, errors: Sequence[Error]) -> tuple[Error, ...]:
        """The errors that lie in this response."""
        own: list[Error] = []
        for error in errors:
            start, end = error.span.start - self.start, error.span.end - self.start
            if start >= 0 and end <= len(self.response.text):
                own.append(error.model_copy(update={"span": self.response.span(start, end)}))
        return tuple(own)

    def move(self, place: P) -> P:
        """A place of the joined response, counted in the case's own."""
        moved = {"start": place.start - self.start, "end": place.end - self.start}
        return place.model_copy(update=moved)


def _owner(parts: Sequence[_Part], place: ReportSentence | Place) -> _Part:
    """The case in whose response a place of the joined one lies."""
    for part in parts:
        if part.start <= place.start and place.end <= part.start + len(part.response.text):
            return part
    raise ValueError(f"[{place.start}, {place.end}) lies in no response of the group")


def _own_id(id_: str, sentence: int) -> str:
    """The id of a claim in its case's own report, where its sentence has this index."""
    _, dot, part = id_.partition(".")
    return f"s{sentence + 1}{dot}{part}"

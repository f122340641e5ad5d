"""From judgements and a decision to a verdict with its places, and from all verdicts to the report of a case. Pure.

Knows: whose quotes are evidence and whose errors stand; that the whole claim is marked where no judge named what is
wrong; how sentences get their labels from claims and the case its outcome from sentences; counts, coverage, cost
and price.
Does not know: how a decision was reached, or how a report is shown.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from longproof.agent.models.model import UNANSWERED
from longproof.agent.types import (
    LABELS,
    Call,
    Case,
    Claim,
    DecidedBy,
    Error,
    Failure,
    Judgement,
    Label,
    Looked,
    Outcome,
    Place,
    Report,
    ReportClaim,
    ReportDocument,
    ReportSentence,
    Search,
    Sentence,
    SourcePlace,
    Usage,
    Verdict,
)
from longproof.agent.vote import SIDES
from longproof.retrieval.types import Frozen, Span

F = TypeVar("F", bound=Frozen)
WRONG: tuple[Label, ...] = ("contradicting", "fabricated")
UNUSABLE: frozenset[Failure | None] = frozenset(
    {"unparsed", "off_menu", "ungrounded", "self_contradicted", "truncated", "refused"}
)
"""Failures of answers that came."""
_NO_ANSWER: frozenset[Failure | None] = UNANSWERED | {"too_long"}
"""Failures where no answer came, or nothing could be asked."""
CONFIRMING_FAILED = "called wrong, but asking once more failed"
"""The caveat of a claim of which a conviction could not be confirmed because nobody answered."""
WRITTEN = 5
"""How many times what it costs to have a character read it costs to have one written."""


def verdict(
    claim: Claim,
    judgements: Sequence[Judgement],
    *,
    label: Label | None,
    decided_by: DecidedBy,
    question_id: str,
    failure: Failure | None = None,
    caveat: str = "",
    localised: Sequence[Error] = (),
) -> Verdict:
    """The verdict on a claim. Evidence and errors come from those who said what was decided.

    `question_id` names the question that was decided on: its judgements go before those of earlier rounds.
    `localised` are errors found afterwards, where the judges named none.
    """
    if label is None:
        return Verdict(
            claim_id=claim.id,
            label=None,
            failure=failure or "unavailable",
            decided_by="nobody",
            judgements=tuple(judgements),
            caveat=caveat,
        )
    agreeing = agreed(judgements, label, question_id)
    return Verdict(
        claim_id=claim.id,
        label=label,
        decided_by=decided_by,
        errors=(named(agreeing) or tuple(localised) or _all_of(claim, agreeing)) if label in WRONG else (),
        readings=next((j.readings for j in agreeing if j.readings), ()) if label == "ambiguous" else (),
        judgements=tuple(judgements),
        evidence=_evidence(agreeing),
        caveat=caveat,
    )


def agreed(judgements: Sequence[Judgement], label: Label, question_id: str) -> list[Judgement]:
    """Those who said what was decided, the decisive question's first."""
    agreeing = [j for j in judgements if j.label is not None and SIDES[j.label] == SIDES[label]]
    return sorted(agreeing, key=lambda j: j.question_id != question_id)


def named(judgements: Sequence[Judgement]) -> tuple[Error, ...]:
    """The errors that were named, one a place, in text order."""
    found = {error.span: error for j in reversed(judgements) for error in reversed(j.errors)}
    return tuple(sorted(found.values(), key=lambda error: (error.span.start, error.span.end)))


def _evidence(judgements: Sequence[Judgement]) -> tuple[Span, ...]:
    return _distinct(quote for judgement in judgements for quote in judgement.quotes)


def _all_of(claim: Claim, judgements: Sequence[Judgement]) -> tuple[Error, ...]:
    """No judge located the error: mark the whole claim."""
    reason = next((j.reason for j in judgements if j.reason), "")
    return (Error(span=claim.origin, reason=reason),)


def _distinct(values: Iterable[F]) -> tuple[F, ...]:
    return tuple(dict.fromkeys(values))


def report(
    *,
    case: Case,
    documents: Sequence[ReportDocument],
    sentences: Sequence[Sentence],
    claims: Sequence[Claim],
    verdicts: Sequence[Verdict],
    windows: Mapping[str, SourcePlace],
    looked: Mapping[str, Looked] | None = None,
    searches: Sequence[Search] = (),
    calls: Sequence[Call] = (),
    stamp: dict[str, Any],
    triage: bool = False,
    copied: bool = False,
) -> Report:
    """The report of one case. `windows` maps claim ids to places in a source, `looked` to how far was looked.

    In a `triage`, a sentence without claims is undecided: no rule of the offline check has read it. But where the
    response is `copied` from its source, all of it stands there, titles too; no other triage is faithful.
    Raises ValueError where a claim has no verdict or more than one: no claim leaves the denominator.
    """
    by_claim = {verdict.claim_id: verdict for verdict in verdicts}
    if len(by_claim) != len(verdicts) or set(by_claim) != {claim.id for claim in claims}:
        raise ValueError("every claim has exactly one verdict")
    about = _about(sentences, claims)
    unread: list[Label | None] = ["explicitly_supported"] if copied else [None] if triage else []
    shown = tuple(
        _sentence(s, [_label_in(s, c, by_claim[c.id], triage) for c in held] or unread)
        for s, held in zip(sentences, about, strict=True)
    )
    labels = [verdict.label for verdict in verdicts]
    return Report(
        case=case,
        documents=tuple(documents),
        verdict=outcome([s.label for s in shown], unread=left_unread(triage, verdicts, documents))
        if claims or copied
        else "undecided",
        triage=triage,
        sentences=shown,
        claims=tuple(_claim(c, by_claim[c.id], windows.get(c.id), (looked or {}).get(c.id)) for c in claims),
        searches=tuple(searches),
        calls=tuple(calls),
        counts=counts_by_label(labels),
        coverage=coverage_of(labels),
        usage=usage(calls),
        stamp=stamp,
    )


def sentence_label(labels: Sequence[Label | None]) -> Label | None:
    """The label of a sentence from those of its claims; None: undecided.

    The least faithful of the claims that state facts; `no_fact` only if none does. What is wrong wins over
    what is undecided; otherwise one undecided claim leaves the sentence undecided.
    """
    stating = [label for label in labels if label != "no_fact"]
    if not stating:
        return "no_fact"
    decided = [label for label in stating if label is not None]
    worst = min(decided, key=LABELS.index, default=None)
    return worst if worst in WRONG or len(decided) == len(stating) else None


def outcome(labels: Sequence[Label | None], *, unread: bool = False) -> Outcome:
    """Hallucinated if any sentence is wrong; else undecided if any is undecided, or nobody read; else faithful."""
    if any(label in WRONG for label in labels):
        return "hallucinated"
    return "undecided" if unread or None in labels else "faithful"


def left_unread(
    triage: bool, decided: Iterable[Verdict | ReportClaim], documents: Iterable[ReportDocument]
) -> bool:
    """Return whether nobody read all of the response.

    So it is where its file shows text that was not read, and where only the offline check looked and the response
    isn't its source, word for word: a sentence that stands in the source may mean something else among other ones.
    """
    if response_is_cut(documents):
        return True
    return triage and any(one.decided_by != "rule" for one in decided)


def response_is_cut(documents: Iterable[ReportDocument]) -> bool:
    """True if readers of the response's file see text that was not read."""
    return any(document.role == "response" and document.notes.unread for document in documents)


def counts_by_label(labels: Sequence[Label | None]) -> dict[str, int]:
    """How many claims have which label; those without one are undecided."""
    return {**{label: labels.count(label) for label in LABELS}, "undecided": labels.count(None)}


def coverage_of(labels: Sequence[Label | None]) -> float:
    """The share of claims that somebody decided."""
    return 1 - labels.count(None) / len(labels) if labels else 0.0


def trusted(report: Report, at_least: Label) -> tuple[ReportSentence, ...]:
    """The sentences whose label is at least so faithful: selective prediction (VeriGray, seed 002, section 5.3).

    Undecided sentences are never trusted; those that state no fact have the rank that their label has.
    """
    least = LABELS.index(at_least)
    return tuple(s for s in report.sentences if s.label is not None and LABELS.index(s.label) >= least)


def distinct(calls: Sequence[Call]) -> list[Call]:
    """Each call once, in an order that does not depend on time; bought if this run bought it."""
    found: dict[str, Call] = {}
    for call in calls:
        known = found.get(call.id)
        found[call.id] = call if known is None or call.bought else known
    return sorted(found.values(), key=lambda call: call.id)


def usage(calls: Sequence[Call]) -> Usage:
    """What the answers cost when they were bought. Unknown token counts add nothing."""
    return Usage(
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens or 0 for call in calls),
        completion_tokens=sum(call.completion_tokens or 0 for call in calls),
        cached_tokens=sum(call.cached_tokens or 0 for call in calls),
        prompt_characters=sum(call.prompt_characters for call in calls),
        answer_characters=sum(call.answer_characters or 0 for call in calls),
    )


def total_usage(used: Iterable[Usage]) -> Usage:
    """What several checks cost together."""
    given = list(used)
    return Usage(**{name: sum(getattr(one, name) for one in given) for name in Usage.model_fields})


def price(used: Usage, source_characters: int) -> float | None:
    """Characters read, and those written five times, by the characters of the source: one plain reading costs a
    little over 1. None without a source, and where the answers' lengths were not kept."""
    if not source_characters or (used.calls and not used.answer_characters):
        return None
    return (used.prompt_characters + WRITTEN * used.answer_characters) / source_characters


def _sentence(sentence: Sentence, labels: Sequence[Label | None]) -> ReportSentence:
    span = sentence.span
    return ReportSentence(start=span.start, end=span.end, text=span.text, label=sentence_label(labels))


def _about(sentences: Sequence[Sentence], claims: Sequence[Claim]) -> list[list[Claim]]:
    """For each sentence the claims from it, and those about a longer passage that it lies in.

    Sentences stand in text order and share no character, so those that a claim touches are neighbours.
    """
    about: list[dict[str, Claim]] = [{} for _ in sentences]
    places = {sentence.index: place for place, sentence in enumerate(sentences)}
    starts = [sentence.span.start for sentence in sentences]
    ends = [sentence.span.end for sentence in sentences]
    for claim in claims:
        first, last = bisect_right(ends, claim.origin.start), bisect_left(starts, claim.origin.end)
        for place in (places[claim.sentence], *range(first, last)):
            about[place][claim.id] = claim
    return [list(held.values()) for held in about]


def _label_in(sentence: Sentence, claim: Claim, verdict: Verdict, triage: bool) -> Label | None:
    """What a claim's label says of one sentence.

    Where a wrong claim runs over several sentences, its errors say which of them are wrong; the others were read by
    the same judges and not named. In a triage nobody has read them.
    """
    alone = claim.sentence == sentence.index and claim.origin.end <= sentence.span.end
    if alone or verdict.label not in WRONG or any(_touch(e.span, sentence.span) for e in verdict.errors):
        return verdict.label
    return None if triage else "implicitly_supported"


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _claim(claim: Claim, verdict: Verdict, window: SourcePlace | None, looked: Looked | None) -> ReportClaim:
    origin = claim.origin
    return ReportClaim(
        id=claim.id,
        text=claim.text,
        sentence=claim.sentence,
        origin=Place(start=origin.start, end=origin.end, text=origin.text),
        window=window,
        label=verdict.label,
        failure=verdict.failure,
        decided_by=verdict.decided_by,
        errors=verdict.errors,
        readings=verdict.readings,
        evidence=verdict.evidence,
        judgements=verdict.judgements,
        caveat=verdict.caveat,
        looked=looked,
    )


def judges_failures(report: Report) -> Counter[str | None]:
    """How often judgements failed, and why; under None, how many did not."""
    return Counter(said.failure for claim in report.claims for said in claim.judgements)


def unanswered(failures: Counter[str | None]) -> bool:
    """Whether judges were asked, and none of them answered anything."""
    return bool(failures) and failures.keys() <= _NO_ANSWER


def unusable(failures: Counter[str | None]) -> bool:
    """Whether judges answered, and none of their answers could be used."""
    failed = failures.keys() <= _NO_ANSWER | UNUSABLE
    return failed and not failures.keys().isdisjoint(UNUSABLE)

"""From judgements and a decision to a reported claim with its places, and from all claims to the report. Pure.

Knows: whose quotes are evidence and whose errors stand; how sentences get their labels from claims and the case its
outcome from sentences; counts, coverage, cost and price.
Does not know: how a decision was reached, or how a report is shown.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from longproof.agent.types import (
    LABELS,
    Call,
    Case,
    Claim,
    Decision,
    Error,
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
    SourcePlace,
    Usage,
)
from longproof.agent.vote import SIDES, clears
from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.sentences import Range, sentences
from longproof.retrieval.types import Frozen

WRONG: tuple[Label, ...] = ("contradicting", "fabricated")
CONFIRMING_FAILED = "called wrong, but asking once more failed"
"""The caveat of a claim of which a conviction could not be confirmed because nobody answered."""
UNPROVED = "its lines alone don't prove it"
"""The caveat of a contradiction that a judge doesn't see in the cited lines by themselves."""
CONFIRMING = "confirm:"
"""The beginning of the name under which a model's word on a conviction stands in a report."""


def reported_claim(
    claim: Claim,
    judgements: Sequence[Judgement],
    decision: Decision,
    question_id: str,
    *,
    localised: Sequence[Error] = (),
    window: SourcePlace | None = None,
    looked: Looked | None = None,
    proved: bool | None = None,
) -> ReportClaim:
    """The claim as the report has it. Evidence and errors come from those who said what was decided.

    `question_id` names the question that was decided on: its judgements go before those of earlier ones.
    `localised` are errors found afterwards, where the judges named none.
    """
    label = decision.label
    agreeing = agreeing_judgements(judgements, label, question_id) if label else []
    errors = last_errors(agreeing, question_id) or tuple(localised)
    if not errors:
        # No judge said where: all of the claim is one error.
        errors = (Error(span=claim.origin, reason=next((j.reason for j in agreeing if j.reason), "")),)
    readings = next((j.readings for j in agreeing if j.readings), ())
    # The lines that prove it to somebody who sees nothing else are shown first.
    by_proof = sorted(agreeing, key=lambda one: not (proved and one.judge.startswith(CONFIRMING)))
    quotes = dict.fromkeys(quote for one in by_proof for quote in one.quotes)
    return ReportClaim(
        id=claim.id,
        text=claim.text,
        sentence=claim.sentence,
        origin=Place(start=claim.origin.start, end=claim.origin.end, text=claim.origin.text),
        window=window,
        label=label,
        failure=None if label else decision.failure or "unavailable",
        decided_by=decision.decided_by if label else "nobody",
        errors=errors if label in WRONG else (),
        readings=readings if label == "ambiguous" else (),
        evidence=decision.evidence or tuple(quotes),
        judgements=tuple(judgements),
        caveat=decision.caveat,
        looked=looked,
        proved=proved,
        hint=next((judgement.hint for judgement in judgements if judgement.hint), None),
    )


def agreeing_judgements(judgements: Sequence[Judgement], label: Label, question_id: str) -> list[Judgement]:
    """The judgements that say what was decided, the decisive question's first."""
    agreeing = [j for j in judgements if j.label is not None and SIDES[j.label] == SIDES[label]]
    return sorted(agreeing, key=lambda j: j.question_id != question_id)


def last_errors(judgements: Sequence[Judgement], question_id: str) -> tuple[Error, ...]:
    """The errors that the answers to this question name; those of other questions only where they name none: a later
    answer may have withdrawn what an earlier one called wrong."""
    newest = [judgement for judgement in judgements if judgement.question_id == question_id]
    return named_errors(newest) or named_errors(judgements)


def named_errors(judgements: Sequence[Judgement]) -> tuple[Error, ...]:
    """The errors that these judgements name, in text order; of places that overlap, the one named first."""
    found: list[Error] = []
    for judgement in judgements:
        for error in judgement.errors:
            start, end = error.span.start, error.span.end
            if not any(start < other.span.end and other.span.start < end for other in found):
                found.append(error)
    return tuple(sorted(found, key=lambda error: error.span.start))


def report(
    *,
    case: Case,
    documents: Sequence[ReportDocument],
    claims: Sequence[ReportClaim],
    stamp: dict[str, Any],
    searches: Sequence[Search] = (),
    calls: Sequence[Call] = (),
    triage: bool = False,
    copied: bool = False,
    superseded: Mapping[int, Sequence[Judgement]] | None = None,
) -> Report:
    """The report of one case, every claim once. `superseded`: votes that no longer count, by the sentence's number.

    In a `triage`, a sentence without claims is undecided: no rule of the offline check has read it. But where the
    response is `copied` from its source, all of it stands there, titles too; no other triage is faithful.
    """
    unread: list[Label | None] = ["explicitly_supported"] if copied else [None] if triage else []
    shown = []
    places = sentences(case.response)
    for number, (place, about) in enumerate(zip(places, _claims_about(places, claims), strict=True)):
        label = sentence_label([_label_in(number, place, claim, triage) for claim in about] or unread)
        votes = tuple((superseded or {}).get(number, ()))
        start, end = place
        text = case.response[start:end]
        shown.append(ReportSentence(start=start, end=end, text=text, label=label, judgements=votes))
    return Report(
        case=case,
        documents=tuple(documents),
        triage=triage,
        sentences=tuple(shown),
        claims=tuple(claims),
        searches=tuple(searches),
        calls=tuple(calls),
        usage=usage(calls),
        stamp=stamp,
        **figures(shown, claims, documents, triage=triage, may_state_no_fact=allows_no_fact(stamp))._asdict(),
    )


class Figures(NamedTuple):
    """The figures of a report that follow from its sentences and claims, under its own names for them."""

    verdict: Outcome
    counts: dict[str, int]
    coverage: float


def figures(
    sentences: Sequence[ReportSentence],
    claims: Sequence[ReportClaim],
    documents: Iterable[ReportDocument],
    *,
    triage: bool,
    may_state_no_fact: bool = False,
) -> Figures:
    """The verdict on all sentences; claims by label, those without one undecided; the share that somebody decided.

    Hallucinated if any sentence is wrong; else undecided if any is, or if none states a fact (unless the settings
    allow that), or if text was not read; else faithful. Text was not read where the response's file shows more than
    was read, and where only the offline check looked and the response isn't its source, word for word: a sentence may
    mean something else among other ones.
    """
    of_claims = [claim.label for claim in claims]
    undecided = of_claims.count(None)
    counts: dict[str, int] = {label: of_claims.count(label) for label in LABELS}
    coverage = 1 - undecided / len(claims) if claims else 0.0
    labels = [sentence.label for sentence in sentences]
    unread = triage and any(claim.decided_by != "rule" for claim in claims)
    verdict: Outcome = "faithful"
    if states_no_fact(sentences) and not may_state_no_fact:
        verdict = "undecided"
    elif any(label in WRONG for label in labels):
        verdict = "hallucinated"
    elif None in labels or unread or response_is_cut(documents):
        verdict = "undecided"
    return Figures(verdict, {**counts, "undecided": undecided}, coverage)


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


def states_no_fact(sentences: Iterable[ReportSentence]) -> bool:
    """True if no sentence states a fact: nothing was checked."""
    return all(sentence.label == "no_fact" for sentence in sentences)


def allows_no_fact(stamp: Mapping[str, Any]) -> bool:
    """True if the settings of a run say that sentences may state no fact."""
    return bool((stamp.get("settings") or {}).get("may_state_no_fact"))


def response_is_cut(documents: Iterable[ReportDocument]) -> bool:
    """True if readers of the response's file see text that was not read."""
    return any(document.role == "response" and document.notes.unread for document in documents)


def sentences_at_least(report: Report, least: Label) -> list[ReportSentence]:
    """The sentences whose label is at least so faithful: selective prediction (VeriGray, section 5.3).

    Undecided sentences never are; those that state no fact have the rank that their label has.
    """
    faithful_enough = LABELS[LABELS.index(least) :]
    return [sentence for sentence in report.sentences if sentence.label in faithful_enough]


def distinct(calls: Sequence[Call]) -> list[Call]:
    """Each call once, in an order that does not depend on time; bought if this run bought it."""
    found: dict[str, Call] = {}
    for call in calls:
        if call.bought or call.id not in found:
            found[call.id] = call
    return sorted(found.values(), key=lambda call: call.id)


def usage(calls: Sequence[Call]) -> Usage:
    """The cost of the answers when they were bought. Unknown token counts add nothing."""
    counted = Usage.model_fields.keys() - {"calls"}
    return Usage(calls=len(calls), **{name: sum(getattr(c, name) or 0 for c in calls) for name in counted})


def total_usage(used: Iterable[Usage]) -> Usage:
    """The cost of several checks together."""
    given = list(used)
    return Usage(**{name: sum(getattr(one, name) for one in given) for name in Usage.model_fields})


def price(used: Usage, source_characters: int) -> float | None:
    """Characters read, and those written five times, by the characters of the source: one plain reading costs a
    little over 1. None without a source, and where the answers' lengths were not kept."""
    if not source_characters or (used.calls and not used.answer_characters):
        return None
    return (used.prompt_characters + 5 * used.answer_characters) / source_characters


def _claims_about(places: Sequence[Range], claims: Sequence[ReportClaim]) -> list[list[ReportClaim]]:
    """For each sentence the claims from it, and those about a longer passage that it lies in.

    Sentences stand in text order and share no character, so those that a claim touches are neighbours.
    """
    about: list[dict[str, ReportClaim]] = [{} for _ in places]
    for claim in claims:
        first = bisect_right(places, claim.origin.start, key=itemgetter(1))
        last = bisect_left(places, claim.origin.end, key=itemgetter(0))
        for number in (claim.sentence, *range(first, last)):
            about[number][claim.id] = claim
    return [list(held.values()) for held in about]


def _label_in(number: int, place: Range, claim: ReportClaim, triage: bool) -> Label | None:
    """The label that a claim gives to one sentence.

    Where a wrong claim runs over several sentences, its errors say which of them are wrong; the others were read by
    the same judges and not named. In a triage nobody has read them.
    """
    start, end = place
    alone = claim.sentence == number and claim.origin.end <= end
    named = any(error.span.start < end and start < error.span.end for error in claim.errors)
    if alone or named or claim.label not in WRONG:
        return claim.label
    return None if triage else "implicitly_supported"


def judges_failures(report: Report) -> Counter[str | None]:
    """Count why judgements failed; under None, those that did not."""
    return Counter(said.failure for claim in report.claims for said in claim.judgements)


class NotBorneOut(NamedTuple):
    """Sentences of a faithful response that its source doesn't bear out, by their index.

    `no_fact`: something in it is said to state no fact and is no set phrase, so nobody held it against the source;
    `pages`: saved pages alone bear something out, beside a source that doesn't have it.
    """

    no_fact: tuple[int, ...] = ()
    pages: tuple[int, ...] = ()


def not_borne_out(report: Report) -> NotBorneOut:
    """Return what keeps a faithful response from being borne out by its source, sentence by sentence.

    Where the settings say `may_state_no_fact`, what states no fact is no reason. A response without a source is held
    against saved pages: there they are no reason.
    """
    if report.verdict != "faithful":
        return NotBorneOut()
    labels: dict[int, set[Label | None]] = {n: {one.label} for n, one in enumerate(report.sentences)}
    for claim in report.claims:
        if claim.label != "no_fact" or not is_set_phrase(claim.text):
            labels[claim.sentence].add(claim.label)
    may = allows_no_fact(report.stamp)
    sourced = any(document.role == "source" for document in report.documents)
    silent: list[int] = []
    by_pages: list[int] = []
    for n, found in labels.items():
        if "no_fact" in found and not may and not is_set_phrase(report.sentences[n].text):
            silent.append(n)
        if "out_dependent" in found and sourced:
            by_pages.append(n)
    return NotBorneOut(tuple(silent), tuple(by_pages))


class ClearedAlone(Frozen):
    """Counts of claims that the first judge of a cascade alone cleared, that the others read again, and of these
    that were overturned: no rate of errors, since the others may share its mistakes."""

    cleared: int = 0
    again: int = 0
    overturned: int = 0


def cleared_alone(claims: Sequence[ReportClaim], first: str) -> ClearedAlone:
    """Count what the judge named `first` cleared alone, and what became of the claims that were read again."""
    alone = again = overturned = 0
    for claim in claims:
        last = [j for j in claim.judgements if j.question_id == claim.judgements[-1].question_id]
        if any(j.judge == first and clears(j) for j in last):
            alone += len(last) == 1
            again += len(last) > 1
            overturned += len(last) > 1 and claim.label in WRONG
    return ClearedAlone(cleared=alone, again=again, overturned=overturned)


def is_set_phrase(sentence: str) -> bool:
    """True if this is, as a whole, one of the set phrases that state no fact, in whatever case, script and marks."""
    return _bare(sentence) in _set_phrases()


@cache
def _set_phrases() -> frozenset[str]:
    lines = Path(__file__).with_name("set_phrases.txt").read_text("utf-8").splitlines()
    return frozenset(_bare(line) for line in lines if line and not line.startswith("#"))


def _bare(text: str) -> str:
    """The words of a text, with one blank between them. Where marks stand between them doesn't matter."""
    return re.sub(r"[\W_]+", " ", fold(text)).strip()

"""The report of a run: at its end, and while it goes on, stopped or waits; and what a dry run says a run would pay.

Knows: how a claim's state becomes a reported claim; the stamp; how the graph's channels grow with what a node writes.
A dry run builds every prompt of the first round and is refused each call; how often a claim can be asked about then.
Does not know: who watches, where checkpoints lie, how long answers are, or second askings.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple, cast

from longproof import __version__
from longproof.agent.evidence.scan import MOST_CLAIMS
from longproof.agent.evidence.search import TURNS
from longproof.agent.models.limits import money
from longproof.agent.offline import OfflineDecomposer
from longproof.agent.report import cleared_alone, distinct, report, reported_claim, usage
from longproof.agent.types import Call, Case, Judgement, Report, ReportClaim, ReportDocument
from longproof.graphs.evidence.places import SHOWN_WHOLE, looks_within, same_text
from longproof.graphs.policy import Step, next_step
from longproof.graphs.run import Run, Session, plan_of, roles_named
from longproof.graphs.settings import LONGPROOF, PERSON, Settings, settings_of
from longproof.graphs.state import ClaimState, State, latest
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.types import text_id

LEAST_UNREAD = 0.0001
"""The share that is left unread where not all was read, however much a searcher saw in passing."""
CLAIMS_A_SENTENCE = 8
PIECE_READ = 15_000
"""Characters of source that a reader of all of it is given at once, at least."""
BOUND = (
    f"Upper bound: {CLAIMS_A_SENTENCE} claims a sentence, every round needed, every claim disputed. "
    "Retries not included. Cap it with --max-calls."
)


class SoFar(NamedTuple):
    """A report; while its run isn't done, claims may be missing from it or undecided for now."""

    report: Report
    open_claims: frozenset[str] = frozenset()
    """The ids of the claims that are not settled."""
    decomposed: bool = True
    """False while the claims aren't known, and all sentences are open."""


def so_far(state: State, settings: Settings, run: Run | None = None) -> SoFar:
    """The report on what is known so far: at least `case` and `sources`.

    Without a run, of one that goes on, stopped or waits, nothing need be open, and the stamp is short.
    """
    plan = run.plan if run else plan_of(settings, roles_named(settings), state["sources"])
    case, claims = state["case"], latest(state) if "claims" in state else []
    copied = run is not None and same_text(case.response, run.sources)
    calls = distinct(state.get("calls", []))
    reported: list[ReportClaim] = []
    superseded: dict[int, list[Judgement]] = {}
    unsettled: set[str] = set()
    for one in claims:
        if one.unit == "superseded":
            superseded.setdefault(one.claim.sentence, []).extend(one.judgements)
            continue
        step = next_step(one, plan)
        reported.append(conclude(one, step))
        if step.do != "settle":
            unsettled.add(one.claim.id)
    stamp = _short_stamp(settings, calls)
    if run:
        panel = run.panel
        decomposer = OfflineDecomposer.name if copied else panel.decomposer.name
        stamp = stamp_of(run.session, state["started"], decomposer, calls)
        stamp["coarse"] = False
        stamp["reviews"] = [one.model_dump(mode="json") for one in state.get("reviews", [])]
        if plan.cascade:
            stamp["cascade"] = cleared_alone(reported, panel.judges[0].name).model_dump(mode="json")
    whole = report(
        case=case,
        documents=report_documents(case, state["sources"], state.get("pages", [])),
        claims=reported,
        calls=[call.model_copy(update={"bought": True}) for call in calls],
        triage=run is not None and run.session.triage,
        copied=copied,
        superseded=superseded,
        stamp=stamp,
    )
    return SoFar(whole, frozenset(unsettled), "claims" in state)


def conclude(claim: ClaimState, step: Step) -> ReportClaim:
    """The claim as the report has it; one that isn't settled is undecided."""
    share = 1.0 if claim.read_whole else min(round(claim.looked.share, 4), 1 - LEAST_UNREAD)
    proved = {"confirmed": True, "unproved": False}.get(claim.confirmation or "")
    return reported_claim(
        claim.claim,
        claim.judgements,
        step,
        claim.last_asked,
        localised=claim.localised,
        window=claim.window,
        looked=claim.looked.model_copy(update={"share": share}),
        proved=proved if step.label == "contradicting" else None,
    )


def grow(state: State, written: State) -> State:
    """The values after a node wrote this: to some channels nodes add, as `State` says."""
    before, given = dict(state), dict(written)
    for name in given.keys() & {"checked", "calls", "pages", "reviews"}:
        given[name] = [*cast("list[object]", before.get(name) or []), *cast("list[object]", given[name])]
    return cast("State", before | given)


def stamp_of(session: Session, started: float, decomposer: str, calls: Sequence[Call]) -> dict[str, Any]:
    """Enough to run it again, and what it took; `calls` are all that the answers rest on, each once."""
    settings, panel = session.settings, session.panel
    bought = [call for call in calls if call.bought]
    stamp = _short_stamp(settings, calls)
    if settings.prices:
        stamp["money"]["paid"] = money(bought, settings.prices)
    refused = session.limits.refused_steps()
    return stamp | {
        "longproof": __version__,
        "protocol": settings.protocol,
        "judges": [judge.name for judge in panel.judges],
        "arbiter": PERSON if settings.arbiter == PERSON else panel.arbiter and panel.arbiter.name,
        "decomposer": decomposer,
        "refused": {purpose: list(paid) for purpose, paid in refused.items()},
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
        "paid": usage(bought).model_dump(mode="json"),
    }


def _short_stamp(settings: Settings, calls: Sequence[Call]) -> dict[str, Any]:
    """The part of a stamp that can be told of a run that isn't open."""
    told = settings.model_dump(mode="json", exclude={"home", "run_id", "retry_failed"})
    stamp: dict[str, Any] = {"settings": told}
    if settings.prices:
        stamp["money"] = {"answers": money(calls, settings.prices)}
    return stamp


def report_documents(
    case: Case, sources: Sequence[DocumentRef], pages: Sequence[DocumentRef]
) -> list[ReportDocument]:
    """The texts that a report points into: the response, the sources, the pages that were shown."""
    response = ReportDocument(
        id=text_id(case.response),
        role="response",
        kind="text",
        characters=len(case.response),
        notes=case.notes,
    )
    documents = [response]
    shown = {ref.id: ref for ref in pages}
    for ref in [*sources, *(shown[id_] for id_ in sorted(shown))]:
        role = "source" if len(documents) <= len(sources) else "page"
        fields = ref.model_dump(exclude={"raw_id", "notes"})
        documents.append(ReportDocument(role=role, notes=ref.notes, **fields))
    return documents


class Estimate(NamedTuple):
    """The estimate of a run that pays, from dry runs."""

    calls: Mapping[str, int]
    """By purpose, the calls of the first round: for answers that are kept already, none."""
    tokens: int
    """Of all their prompts, as we count them."""
    most: int | None
    """Calls at most, the first round included; None for a paper's method, whose later rounds are its own."""


def estimate(dry: Sequence[Report]) -> Estimate:
    """Estimate what the cases of these dry runs would pay together.

    One verifier made all of them: a budget keeps what it refused, so the last report tells the refusals of all.
    """
    refused: Mapping[str, tuple[int, int]] = dry[-1].stamp["refused"] if dry else {}
    calls = {purpose: count for purpose, (count, _) in refused.items()}
    tokens = sum(tokens for _, tokens in refused.values())
    if any(report.stamp["protocol"] != LONGPROOF.name for report in dry):
        return Estimate(calls, tokens, None)
    return Estimate(calls, tokens, sum(map(_most_calls, dry)) if calls else 0)


def estimate_lines(told: Estimate, money: tuple[str, str] | None = None) -> Iterator[str]:
    """The estimate in words; `money` is what reading the first round costs, by the cheapest model and the dearest."""
    if not told.calls:
        yield "nothing would be paid"
        return
    steps = ", ".join(f"{purpose} {count:,}" for purpose, count in told.calls.items())
    yield f"first round: {sum(told.calls.values()):,} calls ({steps}), {told.tokens:,} tokens to read"
    if money:
        least, most = money
        costs = least if least == most else f"{least} to {most}"
        yield f"what the first round reads costs {costs}, by the prices given"
    if told.most is None:
        yield "what comes after it is not told for papers' methods. Cap it with --max-calls."
        return
    yield f"at most: {told.most:,} calls"
    yield BOUND


def _most_calls(dry: Report) -> int:
    """The calls of one case, if each of its sentences and of their parts goes every way there is."""
    settings, judges = settings_of(dry.stamp["settings"]), len(dry.stamp["judges"])
    source = sum(document.characters for document in dry.documents if document.role == "source")
    looks = looks_within(settings.reach, source) if source > SHOWN_WHOLE else ("source",)
    sentences = len(dry.claims)
    claims = sentences * (1 + CLAIMS_A_SENTENCE)
    scans, pages = "scan" in looks, settings.pages is not None
    # A split, or a sentence whose parts were cleared, is put to the arbiter before all is read, after it, and once
    # more over pages.
    arbitrates = dry.stamp["arbiter"] not in (None, PERSON)
    rulings = arbitrates * (1 + scans + pages)
    # What is wrong is confirmed twice at most, by cited lines and by those that a search found, and placed once.
    convicted = 1 if settings.confirm == "off" else 3
    asked = claims * (judges * (len(looks) + pages) + rulings + convicted) + sentences
    pieces = ceil(source / PIECE_READ) + 1
    # The sentences are searched for, then their parts, then lines that prove what is wrong.
    readings = 3 * TURNS * ("search" in looks) + pieces * scans
    return asked + ceil(claims / MOST_CLAIMS) * readings

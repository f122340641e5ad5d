"""The report of a run that goes on, stopped or waits: what is known of each claim so far.

Knows: the values of the verify graph's channels, how they grow with what a node writes, and that a claim is open
until the policy settles it.
Does not know: who watches, or where checkpoints lie.
"""

from collections.abc import Sequence
from operator import add
from typing import NamedTuple, cast, get_type_hints

from longproof.agent.models.prices import money, tokens_of
from longproof.agent.report import distinct, report
from longproof.agent.types import Report, Sentence
from longproof.graphs.nodes import concluded, documents
from longproof.graphs.policy import next_step
from longproof.graphs.settings import Settings
from longproof.graphs.state import State, latest
from longproof.indexes.documents import DocumentStore
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

ADDED = frozenset(
    name
    for name, hint in get_type_hints(State, include_extras=True).items()
    if add in getattr(hint, "__metadata__", ())
)
"""The channels to which nodes add."""


class SoFar(NamedTuple):
    """A report in which claims may be missing or undecided for now; `open_claims` are the ids of the latter.

    `decomposed` is false while the claims aren't known, and all sentences are open.
    """

    report: Report
    open_claims: frozenset[str]
    decomposed: bool


def report_of(known: Report | SoFar) -> Report:
    """The report, whether it is done or not."""
    return known.report if isinstance(known, SoFar) else known


def grown(values: State, written: State) -> State:
    """The values after a node wrote this: to some channels nodes add, as `State` says."""
    before, given = dict(values), dict(written)
    added = {name: _listed(before.get(name)) + _listed(given[name]) for name in ADDED & given.keys()}
    return cast("State", before | given | added)


def _listed(channel: object) -> list[object]:
    """What stands in a channel that nodes add to: nothing before the first of them."""
    return list(channel) if isinstance(channel, Sequence) else []


def so_far(values: State, store: DocumentStore, settings: Settings) -> SoFar:
    """What is known from these values: at least `case` and `sources`."""
    kept = values["case"]
    case = kept.with_text(store.text(kept.response_id))
    claims = latest(values) if "claims" in values else []
    calls = distinct(values.get("calls", []))
    verdicts = [concluded(next_step, one, values["plan"]) for one in claims]
    made = report(
        case=case,
        documents=documents(values, case),
        sentences=values.get("sentences") or _uncut(case.response),
        claims=[one.claim for one in claims],
        verdicts=verdicts,
        windows={one.claim.id: one.window for one in claims if one.window},
        looked={one.claim.id: one.how_far(kept) for one in claims},
        calls=calls,
        stamp={
            "settings": settings.model_dump(mode="json", exclude={"home", "run_id", "retry_failed"}),
            "money": {"answers": money(tokens_of(calls), settings.prices)} if settings.prices else {},
        },
    )
    unsettled = [one.claim.id for one in claims if next_step(one, values["plan"]).do != "settle"]
    return SoFar(made, frozenset(unsettled), "sentences" in values)


def _uncut(response: str) -> list[Sentence]:
    """The response's sentences before anybody looked for claims in them."""
    document = Document.of(response)
    places = enumerate(sentences(response))
    return [Sentence(index=n, span=document.span(*place)) for n, place in places]

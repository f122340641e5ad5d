"""What is given to a run, held against what its protocol needs.

Knows: what can't be checked and why, in one line; the record behind a text of facts.
Does not know: how it is checked.
"""

import re
from collections.abc import Sequence

from longproof.agent.types import TASKS
from longproof.graphs.protocols import Need, Protocol, missing
from longproof.graphs.state import VerifyInput
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput

_WORD = re.compile(r"\w")


def refuse(given: VerifyInput, sources: Sequence[DocumentRef], row: Protocol) -> None:
    """Raises BadInput where this can't be checked by this protocol."""
    if given.task not in TASKS:
        raise BadInput(f"there is no task {given.task!r}: choose one of {', '.join(TASKS)}")
    if not _WORD.search(given.response):
        raise BadInput("the response has no text: give the text that is to be checked")
    if not sources and row.rounds != ("nothing",):
        _refuse_without_a_source(given, row)
    has: list[Need] = []
    has += ["labels"] if given.labels is not None else []
    has += ["reference"] if given.reference is not None else []
    has += ["record"] if sources and all(ref.kind == "record" for ref in sources) else []
    if why := missing(row, has, among=("labels", "reference", "record")):
        raise BadInput(why)
    _refuse_labels(given)


def _refuse_without_a_source(given: VerifyInput, row: Protocol) -> None:
    if given.task != "open":
        raise BadInput("there is no source text: give one, or choose the task `open`")
    if row.consult == "never":
        raise BadInput(f"the protocol {row.name} holds a response against a source: give one")


def as_shown(sources: Sequence[DocumentRef], row: Protocol, store: DocumentStore) -> list[DocumentRef]:
    """The sources as the protocol shows them: records as the JSON that was given, where the row says so."""
    return [_raw(ref, store) if row.raw else ref for ref in sources]


def _raw(ref: DocumentRef, store: DocumentStore) -> DocumentRef:
    if ref.raw_id is None:
        return ref
    size = len(store.text(ref.raw_id))
    return DocumentRef(id=ref.raw_id, kind=ref.kind, title=ref.title, uri=ref.uri, characters=size)


def _refuse_labels(given: VerifyInput) -> None:
    if given.labels is None:
        return
    count = len(sentences(given.response))
    if len(given.labels) != count:
        raise BadInput(
            f"{len(given.labels)} labels are given for {count} sentences: give one for each sentence"
        )

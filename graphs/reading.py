"""The texts of a case, put into the store as a run begins.

Knows: a text is kept once, under its id; a task must exist, a response must say something, and in no more sentences
than can be checked.
Does not know: how a response is checked.
"""

import re
from typing import NamedTuple

from longproof.agent.types import TASKS, Case
from longproof.graphs.state import VerifyInput
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document

_WORD = re.compile(r"\w")
MOST_SENTENCES = 20_000
"""Sentences of a response, about those of a long novel. So many took 23 CPU seconds and 0.4 GB without a model."""
NO_SOURCE = "there is no source text: give one, or choose the task `open`"


class StoredTexts(NamedTuple):
    """A case, and where its texts are kept."""

    case: Case
    response: DocumentRef
    sources: list[DocumentRef]


def store_texts(given: VerifyInput, store: DocumentStore) -> StoredTexts:
    """Keep the texts of an input. Raises BadInput for what nobody could check."""
    if given.task not in TASKS:
        raise BadInput(f"there is no task {given.task!r}: choose one of {', '.join(TASKS)}")
    if not _WORD.search(given.response):
        raise BadInput("the response has no text: give the text that is to be checked")
    response = Document.of(given.response)
    if (count := len(sentences(response.text))) > MOST_SENTENCES:
        raise BadInput(
            f"the response has {count:,} sentences, and at most {MOST_SENTENCES:,} are checked: split it"
        )
    texts = [Document.of(given.source)] if given.source.strip() else []
    *added, kept = [store.put(document) for document in [*texts, response]]
    sources: dict[str, DocumentRef] = {}
    for ref in [*given.sources, *added]:
        sources.setdefault(ref.id, ref)
    case = Case(
        id=given.case_id,
        task=given.task,
        response=response.text,
        source_ids=tuple(sources),
        context=given.context,
        reference=given.reference,
        labels=None if given.labels is None else tuple(given.labels),
        parts=tuple(given.parts),
        notes=given.notes,
    )
    return StoredTexts(case, kept, list(sources.values()))

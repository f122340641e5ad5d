"""Texts as Python's users give them: sources, and a response with what is known of it.

Knows: what may stand for a source, and that a file's name in the place of a text is refused.
Does not know: what is done with them.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from pydantic import ValidationError

from longproof.agent.types import Case, Label, Task
from longproof.retrieval.loaders import KINDS, READERS, is_file_name, read_source, record
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document, FileNotes, first_fault

Sources = Any
"""A text, the path of a file, a document (ours, LangChain's or LlamaIndex's), or a JSON record (a dictionary); or a
list of them. A list of nothing but dictionaries and lists is one JSON record."""
Response = str | Path | Document
SWAPPED_TIMES, SWAPPED_CHARACTERS = 5, 5000
"""A response that is longer than this, and this many times as long as its sources, may be swapped with them."""
_SUFFIXES = "|".join(suffix[1:] for suffix in (".txt", *KINDS, *READERS))
_NAME = re.compile(
    rf"\s*(https?://\S+|(/|~|\.\.?[/\\]|\w:\\)[^\n]*\.({_SUFFIXES})|\S+\.({_SUFFIXES}))\s*", re.I
)
"""An address, a path with a suffix that we read, or one word with one."""


class About(TypedDict, total=False):
    """The facts on a response that may be known."""

    task: Task
    """What the response is to its source."""
    context: str
    """The question, or the turns before."""
    id: str
    """The name of the case; `case_id` is accepted, too."""
    case_id: str
    reference: str | None
    """The right text, for the protocols that need it."""
    labels: Sequence[Label] | None
    """One for each sentence, for the protocols that need them."""


def case_of(response: Response, **about: Unpack[About]) -> Case:
    """The case of a response; a file is a `Path`.

    Raises BadInput for what is no case, and for a file's name in the place of a text: only the answer to a question
    may be one.
    """
    notes = FileNotes()
    if isinstance(response, Path):
        response = read_source(response)
    if isinstance(response, Document):
        notes, response = response.notes, response.raw or response.text
    if not isinstance(response, str):
        raise BadInput(f"a response is a text or a path, not {response!r:.40}")
    if not about.get("context"):
        _refuse_name(response)
    if "id" in about and "case_id" in about:
        raise BadInput("id and case_id are the same: give one of them")
    case: dict[str, Any] = {"id": about.get("case_id", "case"), **about, "response": response, "notes": notes}
    case.pop("case_id", None)
    try:
        return Case(**case)
    except ValidationError as error:
        raise BadInput(": ".join(first_fault(error))) from error


def documents_of(source: Sources) -> list[Document]:
    """The documents that a source stands for; those of other libraries get title and address from their metadata.

    Raises BadInput for files that can't be read.
    """
    if isinstance(source, Document | Path):
        return [read_source(source) if isinstance(source, Path) else source]
    if isinstance(source, str):
        _refuse_name(source)
        return [Document.of(without_surrogates(source))] if source.strip() else []
    if hasattr(source, "page_content") or hasattr(source, "get_content"):
        text = source.page_content if hasattr(source, "page_content") else source.get_content()
        named = source.metadata
        title = next((str(named[key]) for key in ("title", "file_name") if named.get(key)), "")
        uri = next((str(named[key]) for key in ("source", "url", "file_path") if named.get(key)), "")
        return [Document.of(without_surrogates(text), title=title, uri=uri)]
    if not isinstance(source, dict | list | tuple):
        raise BadInput(
            f"a source is a text, a path, a document or a record, or a list of them, not {source!r:.40}"
        )
    nested = [isinstance(item, dict | list) for item in source]
    if isinstance(source, dict) or (nested and all(nested)):
        return [_record_of(source)]
    return [document for item in source for document in documents_of(item)]


def _record_of(value: object) -> Document:
    """The document of a JSON record. Raises BadInput for a value that JSON can't hold."""
    try:
        return record(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"a record holds what JSON can't: {error}") from error


def seem_swapped(sources: Sequence[Document], response: str) -> bool:
    """True if a response is so much longer than its sources that the two may be swapped. A text about data is often
    longer than its records."""
    if not sources or any(source.kind == "record" for source in sources):
        return False
    characters = sum(len(source.text) for source in sources)
    return len(response) > max(SWAPPED_TIMES * characters, SWAPPED_CHARACTERS)


def _refuse_name(text: str) -> None:
    """Raises BadInput for a text that is only the name of a file, or an address: nothing is opened for a name."""
    if is_file_name(text, Path()) or (len(text) < 1000 and _NAME.fullmatch(text)):
        raise BadInput(
            f"this looks like a file's name or an address: {text.strip()!r:.80}; give the text, or a pathlib.Path"
        )

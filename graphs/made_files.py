"""Made cases as files: our case form, the papers' forms, the sources, and where all of it came from.

Knows: `cases.jsonl` (test) and `train.jsonl` with their sources as files beside them, LongNovel's release form a file
a scale, `provenance.json`. Everything is written whole or not at all. Times stand in the provenance alone, so the
same input, seed and ledger give the same other files, byte for byte. Does not know: how cases are made.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from longproof.agent.extend import SCALES, Book, MadeCase, Scale
from longproof.agent.forms import KIND_NAMES, NO, YES
from longproof.agent.types import Usage
from longproof.graphs.state import Json
from longproof.indexes.place import write_whole
from longproof.retrieval.types import BadInput, Document, Frozen, text_id

CASES, TRAIN, PROVENANCE = "cases.jsonl", "train.jsonl", "provenance.json"
LENGTH_NAMES: dict[Scale, str] = {"S": "2k", "M": "16k", "L": "32k", "XL": "64k", "XXL": "100k"}


class SourceUsed(Frozen):
    """A source of a made set; `id` is the hash of its text."""

    id: str
    title: str
    characters: int
    language: str = ""
    split: str = "test"


class Provenance(Frozen):
    """Where a made set came from: enough to make it again. `prompts` are hashes of the wordings by name.

    `rejected` counts what was thrown away, by kind of version and reason; `calls` are all calls that the set rests
    on, `bought` those that this run paid. `note` says what the set is good for.
    """

    construction: str
    version: str
    seed: int
    parameters: dict[str, str]
    models: tuple[str, ...] = ()
    prompts: dict[str, str] = Field(default_factory=dict)
    sources: tuple[SourceUsed, ...]
    made: int
    rejected: dict[str, int]
    usage: Usage = Usage()
    calls: int = 0
    bought: int = 0
    started: str
    ended: str
    note: str = ""


def fresh(out: Path) -> None:
    """See that the folder holds no other set. Raises BadInput where it holds files that no construction made."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out} is a file: name a folder")
    if out.exists() and any(out.iterdir()) and not (out / PROVENANCE).exists():
        raise BadInput(f"{out} holds other files: name an empty folder")


def sources_used(books: Sequence[Book]) -> tuple[SourceUsed, ...]:
    """What is noted of each book."""
    return tuple(
        SourceUsed(
            id=text_id(book.text),
            title=book.title,
            characters=len(book.text),
            language=book.language,
            split=book.split,
        )
        for book in books
    )


def write_cases(out: Path, cases: Sequence[MadeCase], books: Sequence[Book]) -> None:
    """The cases in our form and in LongNovel's, with the stretches of the books that they are about.

    What an earlier run left in these places is replaced.
    """
    texts = {book.title: book.text for book in books}
    for old in [out / TRAIN, *(out / "longnovel").glob("*.jsonl")]:
        old.unlink(missing_ok=True)
    for file, split in ((CASES, "test"), (TRAIN, "train")):
        own = [case for case in cases if case.split == split]
        if own or split == "test":
            write_lines(out / file, (case_row(case, _kept(out, case, texts)) for case in own))
        for scale in SCALES:
            rows = [longnovel_row(case, _article(case, texts)) for case in own if case.scale == scale]
            if rows:
                write_lines(out / "longnovel" / f"{split}_{LENGTH_NAMES[scale]}.jsonl", rows)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line."""
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8"))


def write_provenance(out: Path, provenance: Provenance) -> None:
    """Written last: a folder with a provenance is a whole set."""
    text = json.dumps(provenance.model_dump(mode="json"), ensure_ascii=False, indent=1)
    write_whole(out / PROVENANCE, (text + "\n").encode("utf-8"))


def case_row(case: MadeCase, source: str) -> Json:
    """The case in the case file format, its gold with it; `source` is a path beside the file."""
    error = case.error
    slices = {"scale": case.scale, "position": case.position, "language": case.language, "book": case.book}
    row: Json = {
        "id": case.id,
        "task": "summary",
        "source": source,
        "response": case.response,
        "label": case.label,
        "errors": [],
        "group": case.group,
        "slices": slices,
        "made": {"how": error.how if error else "reworded", "source_start": case.source[0]},
    }
    if error:
        slices["kind"] = error.kind
        row["errors"] = [
            {
                **error.place.model_dump(),
                "kind": error.kind,
                "correction": error.correction,
                "reason": error.reason,
            }
        ]
    return row


def longnovel_row(case: MadeCase, article: str) -> Json:
    """The case as LongNovel's release has it; `output` is the gold answer."""
    error = case.error
    details = (
        [
            {
                "hallucination_type": KIND_NAMES[error.kind],
                "hallucinated_sentence": error.stretch.text,
                "corrected_content": error.original,
                "reason": error.reason,
            }
        ]
        if error
        else []
    )
    return {
        "id": case.id,
        "language": case.language,
        "article": article,
        "summary": case.response,
        "instruction": "",
        "input": "",
        "output": {"has_hallucination": YES if error else NO, "details": details},
    }


def _article(case: MadeCase, texts: Mapping[str, str]) -> str:
    return texts[case.book][slice(*case.source)]


def _kept(out: Path, case: MadeCase, texts: Mapping[str, str]) -> str:
    """The path of the case's source, written once for all cases that share it."""
    document = Document.of(_article(case, texts))
    path = Path("sources") / f"{document.id.removeprefix('sha256:')[:16]}.txt"
    if not (out / path).exists():
        write_whole(out / path, document.text.encode("utf-8"))
    return path.as_posix()

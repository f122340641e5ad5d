"""The files of a made set: labelled cases, their sources, and where all of it came from.

Knows: `cases.jsonl` with the sources as files beside it, `provenance.json`. Everything
is written whole or not at all. Times stand in the provenance alone, so the same input, seed and ledger give the same
other files, byte for byte. Does not know: how cases are made.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from longproof.agent.types import Usage
from longproof.construction.units import Book, SummaryCase
from longproof.graphs.cases import GivenCase, GivenError, case_documents, case_lines, parse_case
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput, Document, Frozen

CASES, PROVENANCE = "cases.jsonl", "provenance.json"


class SourceUsed(Frozen):
    """A source of a made set; `id` is the hash of its text."""

    id: str
    title: str
    characters: int


class Provenance(Frozen):
    """The origin of a made set: enough to make it again. `prompts` are hashes of the wordings by name.

    `rejected` counts what was thrown away, by kind of version and reason; `calls` are all calls that the set rests
    on, `bought` those that this run paid.
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


def refuse_other_files(out: Path) -> None:
    """See that the folder holds no other set. Raises BadInput where it holds files that no construction made."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out} is a file: name a folder")
    if out.exists() and any(out.iterdir()) and not (out / PROVENANCE).exists():
        raise BadInput(f"{out} holds other files: name an empty folder")


def write_cases(path: Path, cases: Iterable[GivenCase]) -> None:
    """Write a case file. Fields that were not given are not written."""
    write_json_lines(path, (case.model_dump(mode="json", exclude_unset=True) for case in cases))


def read_cases(path: Path) -> list[GivenCase]:
    """The cases of a file in a made set, with their sources' texts; none where there is no file.

    Raises BadInput for a line that is no case.
    """
    cases = []
    for line, data in case_lines(path) if path.exists() else ():
        try:
            case = parse_case(data)
        except BadInput as error:
            raise BadInput(f"{path.name} line {line.number}: {error}") from error
        text = "\n".join(document.text for document in case_documents(case, path.parent))
        cases.append(case.model_copy(update={"source": None, "source_text": text}))
    return cases


def write_summary_cases(out: Path, cases: Iterable[SummaryCase], books: Iterable[Book]) -> None:
    """Cases about books, with the parts of the books that they are about."""
    texts = {book.title: book.text for book in books}
    given = list[GivenCase]()
    for case in cases:
        article = texts[case.book][slice(*case.source)]
        given.append(_given_case(case, _source_file(out, article)))
    write_cases(out / CASES, given)


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8"))


def write_provenance(out: Path, provenance: Provenance) -> None:
    """Write the provenance, last of all: a folder with one is a whole set."""
    text = json.dumps(provenance.model_dump(mode="json"), ensure_ascii=False, indent=1)
    write_whole(out / PROVENANCE, (text + "\n").encode("utf-8"))


def _given_case(case: SummaryCase, source: str) -> GivenCase:
    slices = {name: getattr(case, name) for name in ("scale", "position", "language", "book")}
    errors: tuple[GivenError, ...] = ()
    if error := case.error:
        slices["kind"] = error.kind
        wrong = error.wrong.model_dump()
        errors = (GivenError(**wrong, kind=error.kind, correction=error.right, reason=error.reason),)
    return GivenCase(
        id=case.id,
        task="summary",
        source=source,
        response=case.response,
        label=case.label,
        errors=errors,
        group=case.group,
        slices=slices,
        made={"how": error.how if error else "reworded", "source_start": case.source[0]},
    )


def _source_file(out: Path, article: str) -> str:
    """The path of a source beside the case file, written once for all cases that share it."""
    document = Document.of(article)
    path = Path("sources") / f"{document.id.removeprefix('sha256:')[:16]}.txt"
    if not (out / path).exists():
        write_whole(out / path, document.text.encode("utf-8"))
    return path.as_posix()

"""The case file: a JSON object a line, each a response with the sources that it claims to be faithful to.

Knows: `id` (or `case_id`); one of `response` (a text) and `response_file` (a path); optionally `task, context,
reference, labels`, and one of `source` (path, or a JSON record), `sources` (paths) and `source_text` (a text, a list
of texts, or a JSON record), none of these texts the name of a file that is there; what gold says of the case
(`label`, `errors`, `claims`, `group`, `slices`, `made`), which a check never reads; other fields are refused. `pair`
is a name that belongs to two or more cases that must not be seen together, such as a true and a false claim about
one event.
Paths are relative to the file. Lines are read one at a time: no file is too long.
Does not know: what is done with a case, or what its gold means.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue, PrivateAttr, ValidationError

from longproof.agent.types import Case, Kind, Label, Task
from longproof.graphs.joined import SOURCE_CHARACTERS, joinable
from longproof.retrieval.files import open_file
from longproof.retrieval.loaders import is_file_name, read_source, record
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document, FileNotes, Frozen, first_fault

REPORTS = "reports"
"""The folder of reports in a run's folder."""
NAME_BYTES = 120
"""How long a case's name in a folder may be; file systems take 255 with what is added."""
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?$", re.IGNORECASE)


class CaseLine(NamedTuple):
    """A line of a case file: its number from 1, its place in bytes."""

    number: int
    offset: int
    length: int


class GivenError(BaseModel):
    """A wrong place of a response by gold. `correction` is what should stand there."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    start: int
    end: int
    text: str
    kind: Kind | None = None
    correction: str = ""
    reason: str = ""


class GivenClaim(BaseModel):
    """A claim by gold: the words of the response that it came from, and quotes of the first source."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    text: str
    segment: str = ""
    hallucinated: bool
    evidence: tuple[str, ...] = ()


class GivenCase(Frozen):
    """One case as a file gives it. `label` and what follows is gold, for those who keep score."""

    id: str | int = Field(validation_alias=AliasChoices("id", "case_id"))
    response: str = ""
    response_file: str = ""
    task: Task = "summary"
    source: str | dict[str, JsonValue] | None = None
    sources: tuple[str, ...] = ()
    source_text: str | tuple[str, ...] | dict[str, JsonValue] = ()
    context: str | None = None
    reference: str | None = None
    labels: tuple[Label, ...] | None = None
    pair: str | None = None
    label: str | None = None
    errors: tuple[GivenError, ...] | None = None
    claims: tuple[GivenClaim, ...] | None = None
    group: str | int | None = None
    slices: dict[str, JsonValue] = Field(default_factory=dict)
    made: dict[str, JsonValue] | None = None
    """The writing that a response came from, and where its source begins in the book."""
    _notes: FileNotes = PrivateAttr(default=FileNotes())
    """How the response's file became its text."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the case names."""
        return (self.source,) if isinstance(self.source, str) and self.source else self.sources

    @property
    def record(self) -> str:
        """The JSON record that the case holds; empty where it holds none."""
        held = next((one for one in (self.source, self.source_text) if isinstance(one, dict)), None)
        return "" if held is None else json.dumps(held, ensure_ascii=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that the case holds, a record as JSON."""
        if self.record:
            return (self.record,)
        held = self.source_text
        return (held,) if isinstance(held, str) else tuple(held)


def case_lines(path: Path) -> Iterator[tuple[CaseLine, bytes]]:
    """Every line that is not blank. Raises BadInput where the file can't be read."""
    try:
        with open_file(path) as file:
            offset = 0
            for number, data in enumerate(file, start=1):
                if data.strip():
                    yield CaseLine(number, offset, len(data)), data
                offset += len(data)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}; give a file of cases") from error


def case_line(path: Path, line: CaseLine) -> bytes:
    """One line again."""
    with open_file(path) as file:
        file.seek(line.offset)
        return file.read(line.length)


def parse_case(data: bytes, folder: Path) -> GivenCase:
    """The case of a line of a file in this folder. Raises BadInput where it is none."""
    try:
        return given_case(without_surrogates(json.loads(data.decode("utf-8-sig"))), folder)
    except ValidationError as error:
        place, why = first_fault(error)
        raise BadInput(f"not a case: {place}: {why}" if place else "not a JSON object") from error
    except RecursionError as error:
        raise BadInput("not a case: its JSON is nested too deeply") from error
    except ValueError as error:
        raise BadInput(str(error) if isinstance(error, BadInput) else f"not JSON: {error}") from error


def given_case(row: Any, folder: Path) -> GivenCase:
    """The case of a row, with the text of its `response_file`, if it names one; a field that is null is not given.

    Raises ValidationError; and BadInput for two sources, two responses or none, a file that can't be read, and the
    name of an existing file in the place of a text.
    """
    if isinstance(row, dict):
        row = {name: value for name, value in row.items() if value is not None}
    case = GivenCase.model_validate(row)
    if sum(map(bool, (case.source, case.sources, case.source_text))) > 1:
        raise BadInput("a case has one of source, sources and source_text")
    if (case.response != "") == (case.response_file != ""):
        raise BadInput("a case has one of response and response_file")
    if is_file_name(case.response, folder):
        raise BadInput(f"response is the name of a file, {case.response!r:.80}: write response_file instead")
    for text in case.texts:
        if is_file_name(text, folder):
            raise BadInput(f"source_text is the name of a file, {text!r:.80}: write source instead")
    if case.response_file:
        read = read_source(folder / case.response_file)
        case = case.model_copy(update={"response": read.raw or read.text})
        case._notes = read.notes
    return case


def line_name(data: bytes, line: CaseLine) -> str:
    """The id of a line that is no case, where it has one, else its number."""
    with suppress(ValueError, RecursionError):
        given = json.loads(data.decode("utf-8-sig"))
        id_ = given.get("id", given.get("case_id")) if isinstance(given, dict) else None
        if isinstance(id_, str | int):
            return str(without_surrogates(id_))
    return f"line {line.number}"


def case_documents(case: GivenCase, folder: Path, encoding: str | None = None) -> list[Document]:
    """The case's sources, read. Raises BadInput for a file that can't be."""
    if case.record:
        return [record(case.record)]
    read = [read_source(folder / path, encoding) for path in case.paths]
    return read + [Document.of(text) for text in case.texts if text.strip()]


def sources_key(case: GivenCase, folder: Path) -> str:
    """A digest that cases with the same sources share: of paths with their sizes and times of change, or of texts."""
    files: list[list[str | int]] = []
    for path in case.paths:
        files.append([str(folder / path)])
        with suppress(OSError, ValueError):
            stat = (folder / path).stat()
            files[-1] += [stat.st_size, stat.st_mtime_ns]
    return digest(files or case.texts)


def case_key(case: GivenCase, sources: str) -> str:
    """A digest of all that shapes the check of a case; `sources` is that of its sources."""
    given = [str(case.id), case.response, case.task, case.context, case.reference, case.labels]
    return digest([*given, sources])


def group_key(case: Case, sources: str, texts: Sequence[str] | None) -> str:
    """A key that cases share which may be checked together, by their sources and task; empty for one checked alone.
    `texts` are the sources, where they are known already."""
    long = texts is None or sum(map(len, texts)) > SOURCE_CHARACTERS
    return digest([sources, case.task]) if long and joinable(case) else ""


def asked_case(case: GivenCase) -> Case:
    """The case as a checker takes it, without its sources."""
    about = case.model_dump(include={"task", "response", "reference", "labels"})
    return Case(id=str(case.id), context=case.context or "", notes=case._notes, **about)


def file_name(id_: str) -> str:
    """A name that every file system takes, close to the id: letters and digits of any script, `-`, `_` and `.` stay,
    all else becomes `_`. Two ids may get one name."""
    name = re.sub(r"[^\w.-]", "_", unicodedata.normalize("NFC", id_)).strip(".")
    if RESERVED.match(name) or not name:
        name = f"_{name}"
    if len(name.encode()) <= NAME_BYTES:
        return name
    short = name.encode()[: NAME_BYTES - 13].decode(errors="ignore")
    return f"{short}-{sha256(id_.encode()).hexdigest()[:12]}"


def report_path(folder: Path, name: str) -> Path:
    """The file of the report on the case of this name; another name has another file, as far as names go."""
    plain = file_name(name)
    return folder / REPORTS / f"{plain if plain == name else f'{plain}-{digest(name)[:8]}'}.json"


def digest(value: Any) -> str:
    """The hash of a value that JSON can hold."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

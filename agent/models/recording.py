"""The answers of one run in one compressed file: kept while a run uses them, and answered from later, asking nobody.

Knows: the file (gzip, JSON Lines: first what was run, then a line a request, under its key in the ledger), and how
large it may be. A request that nobody answered is kept as the failure that it was, and fails again. Prompts are not
kept, nor any text of a source beyond what answers quote. What a file holds is checked and never executed.
Does not know: what a run is, what is asked, or what an answer means.
"""

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from longproof.agent.models.addresses import DEFAULT_ADDRESS
from longproof.agent.models.answers import Raw
from longproof.agent.models.clients import Message, Unanswered
from longproof.agent.types import Failure
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput, Frozen

MOST_BYTES, MOST_EXPANDED = 16_000_000, 128_000_000
"""A larger file, compressed or expanded, is refused."""


class Header(Frozen):
    """The first line. `run` says what was run, in the words of whoever ran it; `address` is where models are that
    were named without one."""

    format: Literal["longproof.recording"] = "longproof.recording"
    version: Literal[1] = 1
    made: str
    address: str
    run: dict[str, Any]


class Line(Frozen):
    """One request. `lost` are its failures in their order, each of a try without an answer, before `answer`."""

    key: str = Field(pattern="^[0-9a-f]{64}$")
    purpose: str = Field(max_length=100)
    model: str = Field(max_length=1000)
    lost: tuple[Failure, ...] = ()
    answer: Raw | None = None


class Recorder:
    """Keeps what a run's models answer, whether it was paid now or lay in the ledger."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    def keep(self, key: str, purpose: str, model: str, answer: Raw) -> None:
        """This request has this answer."""
        self._lines[key] = self._line(key, purpose, model).model_copy(update={"answer": answer})

    def lose(self, key: str, purpose: str, model: str, failure: Failure) -> None:
        """Nobody answered this request, for this reason."""
        line = self._line(key, purpose, model)
        self._lines[key] = line.model_copy(update={"lost": (*line.lost, failure)})

    def write(self, path: Path, run: Mapping[str, Any]) -> None:
        """Write the file. Raises BadInput where nothing was asked, or it would be too large to be read again."""
        if not self._lines:
            raise BadInput(f"no language model was asked: there is nothing to keep in {path}")
        address = (os.environ.get("OPENAI_BASE_URL") or DEFAULT_ADDRESS).rstrip("/")
        header = Header(made=f"{datetime.now(UTC):%Y-%m-%d}", address=address, run=dict(run))
        lines = (line.model_dump_json(exclude_defaults=True) for _, line in sorted(self._lines.items()))
        text = "".join(f"{line}\n" for line in (header.model_dump_json(), *lines)).encode()
        data = gzip.compress(text, mtime=0)
        if len(data) > MOST_BYTES or len(text) > MOST_EXPANDED:
            raise BadInput(f"{path} would be too large: record fewer examples in one file")
        write_whole(path, data)

    def _line(self, key: str, purpose: str, model: str) -> Line:
        return self._lines.get(key) or Line(key=key, purpose=purpose, model=model)


class Replay:
    """A recording opened: its answers by key, and how many requests were not in it."""

    def __init__(self, path: Path, header: Header, lines: list[Line]) -> None:
        self.path, self.header = path, header
        self._lines = {line.key: line for line in lines}
        self._lost = {line.key: list(line.lost) for line in lines if line.lost}
        self._missing: Counter[str] = Counter()

    @classmethod
    def open(cls, path: Path) -> "Replay":
        """Open and check a file. Raises BadInput where it is no recording, or too large."""
        first, *rest = _read(path)
        try:
            header = Header.model_validate(json.loads(first))
            return cls(path, header, [_checked(line) for line in rest])
        except (ValueError, TypeError, RecursionError) as error:
            raise BadInput(f"{path} is no recording of this version: record it again") from error

    def __len__(self) -> int:
        """The number of requests."""
        return len(self._lines)

    def answered(self) -> Iterator[tuple[str, str, Raw]]:
        """Key, model and answer of the requests that were answered at once, for a ledger."""
        for line in self._lines.values():
            if line.answer is not None and not line.lost:
                yield line.key, line.model, line.answer

    def said(self, key: str) -> Raw | Failure | None:
        """What comes of the next try of a request: its answer or its failure; None where it was not recorded."""
        line = self._lines.get(key)
        if line is None:
            return None
        lost = self._lost.get(key, [])
        if line.answer is None:
            return line.lost[-1] if len(lost) < 2 else lost.pop(0)
        return lost.pop(0) if lost else line.answer

    def miss(self, purpose: str) -> None:
        """Count a request that is not in the recording."""
        self._missing[purpose] += 1

    def refuse_missing(self) -> None:
        """Raises BadInput where requests were not in the recording."""
        if self._missing:
            counted = ", ".join(f"{purpose} {n}" for purpose, n in self._missing.most_common())
            raise BadInput(
                f"{self._missing.total()} answers are not in {self.path} ({counted}): prompts, or how texts are cut, "
                "changed since it was made; record it again (CONTRIBUTING says how)"
            )

    def chat(self, model: str, address: str | None) -> "RecordedChat":
        """The model of this name at this address, as it was when it was asked."""
        return RecordedChat((address or self.header.address).rstrip("/"), model)


class RecordedChat:
    """A model that is not there any more: its answers come from a recording. Needs no key, and connects to nobody."""

    has_schema = True

    def __init__(self, endpoint: str, model: str) -> None:
        self.endpoint, self.model = endpoint, model

    async def send(self, message: Message) -> Raw:
        """Nobody is asked."""
        raise Unanswered("a recording answers, no server", final=True)

    async def close(self) -> None:
        """Nothing to close."""


def _read(path: Path) -> list[str]:
    """The file's lines, expanded as far as is allowed and no further."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        with gzip.open(BytesIO(data[:MOST_BYTES])) as expanded:
            text = b"" if len(data) > MOST_BYTES else expanded.read(MOST_EXPANDED + 1)
        if len(data) > MOST_BYTES or len(text) > MOST_EXPANDED:
            raise BadInput(f"{path} is too large for a recording: it is not read")
        return text.decode().removesuffix("\n").split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadInput(f"can't read the recording {path}: {error}") from error


def _checked(line: str) -> Line:
    """A line of the file. Raises ValueError where it is none."""
    read = Line.model_validate(json.loads(line))
    if read.answer is None and not read.lost:
        raise ValueError("a request has an answer, or failures")
    return read

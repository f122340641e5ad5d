"""An exported ledger: the answers of one run in one compressed file, from which the run can be made again.

Knows: the file (gzip, JSON Lines: first what was run, then a line a request, under its key in the ledger), and how
large it may be. A request that nobody answered fails again as it did. Prompts are not kept, nor any text of a source
beyond what answers quote. What a file holds is checked and never executed.
Does not know: what a run is, what is asked, or what an answer means.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from longproof.agent.models.answers import Chat, Message, Raw, Unanswered
from longproof.agent.types import Failure
from longproof.retrieval.files import write_whole
from longproof.retrieval.text.redact import own_address
from longproof.retrieval.types import BadInput, Frozen

MOST_BYTES = 128_000_000
"""A file that is larger when it is expanded is refused."""


class Header(Frozen):
    """The first line: the settings of the run in its owner's words, and the address of models named without one."""

    format: Literal["longproof.recording"] = "longproof.recording"
    version: Literal[1] = 1
    made: str
    address: str
    run: dict[str, Any]


class Line(Frozen):
    """One request: its answer, or the failures that it ended in; the last one counts."""

    key: str = Field(pattern="^[0-9a-f]{64}$")
    purpose: str = Field(max_length=100)
    model: str = Field(max_length=1000)
    lost: tuple[Failure, ...] = ()
    answer: Raw | None = None


class Recorder:
    """Keeps what a run's models answer, whether it was paid now or lay in the ledger."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    def note(
        self, message: Message, model: str, answer: Raw | None = None, failure: Failure | None = None
    ) -> None:
        """Note the answer to this request, or why nobody gave one: what comes last counts."""
        key, purpose, lost = message.key, message.purpose, (failure,) if failure else ()
        self._lines[key] = Line(key=key, purpose=purpose, model=model, lost=lost, answer=answer)

    def write(self, path: Path, run: Mapping[str, Any]) -> None:
        """Write the file. Raises BadInput where nothing was asked."""
        if not self._lines:
            raise BadInput(f"no language model was asked: there is nothing to keep in {path}")
        header = Header(made=f"{datetime.now(UTC):%Y-%m-%d}", address=own_address(), run=dict(run))
        lines = [line.model_dump(exclude_defaults=True) for _, line in sorted(self._lines.items())]
        # Half a character, as servers send it where an answer is cut, is escaped: it has no bytes of its own.
        text = "".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
            for line in (header.model_dump(), *lines)
        )
        write_whole(path, gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0))


class Replay(NamedTuple):
    """A recording opened: its requests by key, and those that were asked for and are not in it, by purpose."""

    path: Path
    header: Header
    lines: dict[str, Line]
    missing: Counter[str]

    @classmethod
    def open(cls, path: Path) -> "Replay":
        """Open and check a file. Raises BadInput where it is no recording, or too large."""
        try:
            with gzip.open(path) as file:
                text = file.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"can't read the recording {path}: {error}") from error
        if len(text) > MOST_BYTES:
            raise BadInput(f"{path} is too large for a recording: it is not read")
        try:
            first, *rest = text.decode().removesuffix("\n").split("\n")
            header = Header.model_validate(json.loads(first))
            lines = [Line.model_validate(json.loads(line)) for line in rest]
            if not all(line.answer or line.lost for line in lines):
                raise ValueError("a request has neither an answer nor failures")
        except (ValueError, TypeError, RecursionError) as error:
            raise BadInput(f"{path} is no recording of this version: record it again") from error
        return cls(path, header, {line.key: line for line in lines}, Counter())

    def answers(self) -> Iterator[tuple[str, str, Raw]]:
        """Key, model and answer of the requests that were answered, for a ledger."""
        return ((line.key, line.model, line.answer) for line in self.lines.values() if line.answer)

    def refuse_missing(self) -> None:
        """Raises BadInput where requests were not in the recording."""
        if self.missing:
            counted = ", ".join(f"{purpose} {n}" for purpose, n in self.missing.most_common())
            raise BadInput(
                f"{self.missing.total()} answers are not in {self.path} ({counted}): prompts, or how texts are cut, "
                "changed since it was made; record it again (CONTRIBUTING says how)"
            )


class RecordedChat(Chat):
    """A model that is not there any more, asked for what a ledger with its answers lacks: lost is lost again."""

    has_schema = True

    def __init__(self, replay: Replay, model: str, address: str | None) -> None:
        self._replay, self.model = replay, model
        self.endpoint = (address or replay.header.address).rstrip("/")

    async def send(self, message: Message) -> Raw:
        """Raises Unanswered: as it was recorded, or since it wasn't. A schema that wasn't recorded is refused."""
        line = self._replay.lines.get(message.key)
        if line and line.lost:
            raise Unanswered("so it was recorded", failure=line.lost[-1], status=410)
        if message.schema is None:
            self._replay.missing[message.purpose] += 1
        raise Unanswered("not in the recording", status=410 if message.schema is None else 501)

"""A check that the browser lists, as its folder keeps it: how it was begun and stands, what a person said of it.

Knows: `run.json` and `marks.json`; that only what is newly said changes marks. Does not know: folders, what is under
way, who marks.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from longproof.agent.types import JudgeLabel, Task
from longproof.graphs.settings import Settings
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.files import read_whole, write_whole
from longproof.retrieval.types import BadInput, Frozen

RunState = Literal["running", "stopped", "waiting", "failed", "done"]
LONGEST = 2000
"""Of anything that a person writes on a claim, in characters."""
Line = Annotated[str, Field(max_length=LONGEST)]


class Begun(Frozen):
    """A run: how it was begun, and how it stands. Its line in the list is that of an index page."""

    id: str
    title: str
    created: str
    settings: Settings
    sources: tuple[DocumentRef, ...]
    response: DocumentRef
    task: Task = "summary"
    context: str = ""
    name: str = ""
    """A person's name for it; else it goes by its text's title."""
    recorded: bool = False
    """Its answers are a recording's: nothing more can be asked."""
    state: RunState = "stopped"
    why: str = ""
    line: dict[str, Any] = Field(default={})


def new_run(settings: Settings, **about: Any) -> Begun:
    """A run that begins now, under a name of its own. `about`: the other fields."""
    now = datetime.now(UTC)
    id_ = f"{now:%Y%m%d-%H%M%S}-{token_hex(4)}"
    own = settings.model_copy(update={"run_id": id_})
    return Begun(id=id_, created=now.isoformat(timespec="seconds"), settings=own, **about)


class DraftDecision(Frozen):
    """A `longproof.graphs.review.PersonDecision`, as far as it is given."""

    label: JudgeLabel | Literal[""] = ""
    reason: Line = ""
    wrong: Line = ""
    correction: Line = ""


class ClaimMarks(Frozen):
    """All that a person says of one claim: whether its finding is right, why, which of its errors' corrections (by
    number) to make, and what is decided."""

    mark: Literal["", "right", "wrong", "unclear"] = ""
    note: Line = ""
    accepted: dict[Annotated[int, Field(ge=0, lt=1000)], bool] = Field(default={})
    decision: DraftDecision = DraftDecision()


_MARKS = TypeAdapter(dict[str, ClaimMarks])


class NoMark(BadInput):
    """This is no mark of this report: sent again, it would be refused again."""


def read_marks(path: Path) -> dict[str, ClaimMarks]:
    """The marks in this file, by claim; none where there is no file. Raises BadInput for a damaged one."""
    try:
        return _MARKS.validate_json(read_whole(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        raise BadInput(f"the marks in {path} can't be read: move the file away") from error


def add_marks(path: Path, given: Mapping[str, Any], claims: Sequence[str]) -> None:
    """Take in what is newly said, and of each claim only that.

    Raises NoMark for what is none, and BadInput where marks can't be kept.
    """
    known = {id_: said.model_dump(mode="json") for id_, said in read_marks(path).items()}
    try:
        marks = _MARKS.validate_json(json.dumps(_merge(known, given)))
    except (ValidationError, RecursionError) as error:
        raise NoMark(
            f"this is no mark: give right, wrong or unclear, and of each line at most {LONGEST:,} characters"
        ) from error
    if not marks.keys() <= set(claims):
        raise NoMark("there is no such claim in this report")
    write_whole(path, _MARKS.dump_json(marks))


def _merge(known: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Put what is given over what is known: only the innermost values are replaced."""
    merged = {**known, **given}
    for key, value in given.items():
        before = known.get(key, {})
        if isinstance(value, dict) and isinstance(before, dict):
            merged[key] = _merge(before, value)
    return merged


def forget_decisions(path: Path) -> None:
    """Clear decisions after they were handed in, so that a claim that waits once more is asked about anew."""
    left = {
        id_: said.model_copy(update={"decision": DraftDecision()}) for id_, said in read_marks(path).items()
    }
    if left:
        write_whole(path, _MARKS.dump_json(left))


def accepted_keys(marks: Mapping[str, ClaimMarks]) -> set[str]:
    """The corrections to be made, by their keys in `longproof.report.corrected`."""
    return {f"{id_}:{n}" for id_, said in marks.items() for n, made in said.accepted.items() if made}

"""What a person says of a report's claims: marks, accepted corrections, decisions; kept beside the report.

Knows: the file, and that only what is newly said changes it. Does not know: who marks, or where it is shown.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from longproof.agent.types import JudgeLabel
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput, Frozen

LONGEST = 2000
"""Of anything that a person writes on a claim, in characters."""
Line = Annotated[str, Field(max_length=LONGEST)]


class Decided(Frozen):
    """A person's decision where the judges disagree: `longproof.graphs.review.Decision`, as far as it is given."""

    label: JudgeLabel | Literal[""] = ""
    reason: Line = ""
    wrong: Line = ""
    correction: Line = ""


class Said(Frozen):
    """All that a person says of one claim: whether its finding is right, why, which of its errors' corrections (by
    number) to make, and what is decided."""

    mark: Literal["", "right", "wrong", "unclear"] = ""
    note: Line = ""
    accepted: dict[int, bool] = Field(default={}, max_length=1000)
    decision: Decided = Decided()


_MARKS = TypeAdapter(dict[str, Said])


class NoMark(BadInput):
    """This is no mark of this report: sent again, it would be refused again."""


def read_marks(path: Path) -> dict[str, Said]:
    """The marks in this file, by claim; none where there is no file. Raises BadInput for a damaged one."""
    try:
        return _MARKS.validate_json(path.read_bytes())
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
    left = {id_: said.model_copy(update={"decision": Decided()}) for id_, said in read_marks(path).items()}
    if left:
        write_whole(path, _MARKS.dump_json(left))


def accepted_keys(marks: Mapping[str, Said]) -> set[str]:
    """The corrections to be made, by their keys in `longproof.report.corrected`."""
    return {f"{id_}:{n}" for id_, said in marks.items() for n, made in said.accepted.items() if made}

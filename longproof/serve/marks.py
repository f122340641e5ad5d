"""What a person says of a report's claims: marks, accepted corrections, decisions; kept beside the report.

Knows: the file, and what case file comes of the marks. Does not know: who marks, or where it is shown.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from longproof.agent.report import WRONG
from longproof.agent.types import JudgeLabel, Report, ReportClaim
from longproof.evaluation.types import OUTCOME_OF
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


def case_file(report: Report, texts: Mapping[str, str], marks: Mapping[str, Said]) -> str:
    """The marked claims as one case of the format that `evaluate` reads: each a paragraph of its own, the errors
    those that the marks bear out.

    Left out is what a mark doesn't settle: `unclear`, and a grey or missing label.
    """
    if missing := [d.title or d.id for d in report.documents if d.role == "source" and d.id not in texts]:
        raise BadInput(
            f"the text of {missing[0]!r} is gone from the data folder: there is no case without it"
        )
    parts: list[str] = []
    errors: list[dict[str, Any]] = []
    at = 0
    for claim in report.claims:
        said = marks.get(claim.id, Said())
        if claim.label not in OUTCOME_OF or said.mark not in ("right", "wrong"):
            continue
        text = " ".join(claim.text.split())
        if (claim.label in WRONG) == (said.mark == "right"):
            errors.append({**_error(claim, text, at), "reason": said.note})
        parts.append(text)
        at += len(text) + 2
    if not parts:
        raise BadInput("no finding is marked right or wrong yet")
    line = {
        "id": report.case.id,
        "task": report.case.task,
        "context": report.case.context,
        "source_text": [texts[d.id] for d in report.documents if d.role == "source"],
        "response": "\n\n".join(parts),
        "errors": errors,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _error(claim: ReportClaim, text: str, at: int) -> dict[str, Any]:
    """The claim's wrong words where they stand in its text once, else all of it."""
    words, kind, correction = text, None, ""
    if claim.errors:
        first = claim.errors[0]
        kind = first.kind
        if text.count(first.span.text) == 1 and first.span.text != text:
            words, correction = first.span.text, first.correction or ""
    start = at + text.index(words)
    return {"start": start, "end": start + len(words), "text": words, "kind": kind, "correction": correction}

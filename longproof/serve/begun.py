"""A check that the browser lists, as its folder keeps it.

Knows: how it was begun and how it stands; that one which an earlier edition kept can still be named, and deleted.
Does not know: folders, what is under way.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from longproof.agent.types import Task
from longproof.graphs.settings import Settings
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import Frozen

SETTINGS = Settings.model_fields.keys()
RunState = Literal["running", "stopped", "waiting", "failed", "done", "earlier"]
"""`earlier`: it is of an earlier edition, and can only be deleted."""


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
    """What a person calls it; else it goes by its text's title."""
    recorded: bool = False
    """Its answers are a recording's: nothing more can be asked."""
    state: RunState = "stopped"
    why: str = ""
    line: dict[str, Any] = Field(default={})

    @field_validator("settings", mode="before")
    @classmethod
    def _drop_gone(cls, given: Any) -> Any:
        """Leave out settings that there were once, where they said nothing."""
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value is not None or name in SETTINGS}


def read_run(id_: str, data: bytes) -> Begun:
    """The run in a file; of one of an earlier edition, what can be said. Raises ValueError for a damaged file."""
    try:
        return Begun.model_validate_json(data)
    except ValidationError:
        told = without_surrogates(json.loads(data))
    if not isinstance(told, dict):
        raise ValueError("a run is a JSON object")
    settings = told.get("settings")
    run_id = settings.get("run_id") if isinstance(settings, dict) else None
    return Begun(
        id=id_,
        title=str(told.get("title") or id_),
        created=str(told.get("created") or ""),
        name=str(told.get("name") or ""),
        settings=Settings(run_id=run_id if isinstance(run_id, str) else id_),
        sources=(),
        response=DocumentRef(id="", characters=0),
        state="earlier",
    )


def new_run(
    title: str, settings: Settings, sources: Sequence[DocumentRef], response: DocumentRef, task: Task
) -> Begun:
    """A run that begins now, under a name of its own."""
    now = datetime.now(UTC)
    id_ = f"{now:%Y%m%d-%H%M%S}-{token_hex(4)}"
    return Begun(
        id=id_,
        title=title,
        created=now.isoformat(timespec="seconds"),
        settings=settings.model_copy(update={"run_id": id_}),
        sources=tuple(sources),
        response=response,
        task=task,
    )

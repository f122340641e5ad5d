"""Every setting of a run, with a default for each: the graphs' `context_schema`.

Knows: names, defaults, bounds. Does not know: keys (they come from the environment alone), or what
a setting does.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from longproof.retrieval.types import BadInput


class Settings(BaseModel):
    """How a run is made. The same settings, input and ledger give the same report."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Settings")

    protocol: str = Field(
        default="longproof",
        title="Protocol",
        description="Which method checks the response; `longproof protocols` lists them.",
    )
    judges: list[str] = Field(
        default=["offline"],
        title="Judges",
        description="The panel, one a line: offline, openai:MODEL, openai:MODEL@BASE_URL or nli:PATH.",
        examples=[["offline"], ["openai:gpt-4.1", "openai:qwen3-32b@http://127.0.0.1:8000/v1"]],
        min_length=1,
    )
    arbiter: str | None = Field(
        default=None,
        title="Arbiter",
        description="Who decides where the panel is split: a judge, `person`, or empty for the protocol's own.",
    )
    embedder: str = Field(
        default="lexical", title="Embedder", description="How the response is aligned with the source."
    )
    consensus: float | None = Field(
        default=None,
        gt=0,
        le=1,
        title="Consensus",
        description="Share of the panel that must agree; empty for the protocol's own.",
    )
    sample: int = Field(
        default=0,
        ge=0,
        title="Sample",
        description="Which answer to draw from each model: another number asks anew.",
    )
    home: str | None = Field(
        default=None, title="Data folder", description="Where texts, indexes and answers are kept."
    )


def settings_of(context: Any) -> Settings:
    """The settings of a run from whatever the caller passed: nothing, a mapping, ours, or a host's object.

    Raises BadInput where a mapping holds an unknown or ill-formed setting.
    """
    if isinstance(context, Settings):
        return context
    if not isinstance(context, dict):
        return Settings()
    try:
        return Settings(**context)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"setting {'.'.join(map(str, first['loc']))}: {first['msg']}") from error

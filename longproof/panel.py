"""Who judges and under which name, as the terminal says it; and the runs that there were.

Knows: options go before `longproof.toml`, which goes before the offline check. Does not know: how anybody judges.
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

TOML = Path("longproof.toml")


def panel_settings(
    judges: Sequence[str] | None, arbiter: str | None, decomposer: str | None, toml: Path = TOML
) -> dict[str, Any]:
    """The settings that name the panel. Raises BadInput where the TOML file can't be read."""
    from longproof.agent.specs import PanelTable, read_panel

    table = read_panel(toml) if toml.exists() else PanelTable()
    return {
        "judges": list(judges or table.judges) or ["offline"],
        "arbiter": arbiter or table.arbiter,
        "decomposer": decomposer or table.decomposer,
        "consensus": table.consensus,
        **table.model_dump(include={"stream", "timeout_s"}, exclude_none=True),
    }


def run_name(given: str | None) -> str:
    """The run's name: the one given, else the time and a few random letters."""
    return given or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}"


def run_lines() -> Iterator[str]:
    """A line a run, the latest first."""
    runs = asyncio.run(_runs())
    if not runs:
        yield "no runs yet"
    for run in runs:
        paid = f"{run.calls} calls, {run.prompt_tokens + run.completion_tokens} tokens paid"
        judges = ", ".join(str(judge) for judge in run.asked.get("judges", []))
        yield f"{run.run_id}  {run.state:11}  {run.started}  {paid}  {run.asked.get('protocol', '')}  {judges}"


async def _runs() -> list[Any]:
    from longproof.agent.models.ledger import Ledger
    from longproof.indexes.files import home

    path = home() / "ledger.sqlite"
    if not path.exists():
        return []
    ledger = await Ledger.open(path)
    try:
        return list(await ledger.runs())
    finally:
        await ledger.close()

"""The stamp of a report: enough to run it again, and what this run took.

Does not know: what was found.
"""

import time
from collections.abc import Sequence

from longproof import __version__
from longproof.agent.models.prices import money, tokens_of
from longproof.agent.report import usage
from longproof.agent.types import Call
from longproof.graphs.run import Session
from longproof.graphs.settings import PERSON, Settings


def stamp_of(session: Session, started: float, decomposer: str, calls: Sequence[Call]) -> dict[str, object]:
    """The facts that every report tells of its run; `calls` are all that its answers rest on, each once."""
    settings, panel = session.settings, session.panel
    bought = [call for call in calls if call.bought]
    told: dict[str, object] = {
        "longproof": __version__,
        "protocol": settings.protocol,
        "judges": [judge.name for judge in panel.judges],
        "arbiter": PERSON if settings.arbiter == PERSON else panel.arbiter and panel.arbiter.name,
        "decomposer": decomposer,
        "refused": {purpose: list(paid) for purpose, paid in session.limits.budget.refused_steps().items()},
        "settings": settings_told(settings),
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
        "paid": usage(bought).model_dump(mode="json"),
    }
    if settings.prices:
        told["money"] = {
            "answers": money(tokens_of(calls), settings.prices),
            "paid": money(tokens_of(bought), settings.prices),
        }
    return told


def settings_told(settings: Settings) -> dict[str, object]:
    """The settings as a report tells them: without what names this machine or this run."""
    return settings.model_dump(mode="json", exclude={"home", "run_id", "retry_failed"})

"""The offline panel: small deterministic judges without a model. A triage, not a reader.

Each looks at one thing; none reads lengths, ids, names of files or positions.
"""

from longproof.agent.offline import facts, order, polarity, wording
from longproof.agent.offline.arbiter import OfflineArbiter
from longproof.agent.offline.decompose import OfflineDecomposer
from longproof.agent.offline.judge import OfflineJudge
from longproof.agent.offline.view import Viewer
from longproof.agent.types import Arbiter, Judge

__all__ = ["OfflineDecomposer", "offline_arbiter", "offline_panel"]


def offline_panel() -> list[Judge]:
    """The judges, sharing one viewer, so that evidence is read once."""
    viewer = Viewer()
    looks = {"wording": wording.look, "facts": facts.look, "polarity": polarity.look, "order": order.look}
    return [OfflineJudge(name, look, viewer) for name, look in looks.items()]


def offline_arbiter() -> Arbiter:
    """The arbiter that decides where the panel is split."""
    return OfflineArbiter()

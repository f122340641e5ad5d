"""The offline panel: small deterministic judges without a model. A triage, not a reader.

Each looks at one thing; none reads lengths, ids, names of files or positions.
"""

from longproof.agent.offline.arbiter import OfflineArbiter
from longproof.agent.offline.coverage import CoverageJudge
from longproof.agent.offline.decompose import OfflineDecomposer
from longproof.agent.offline.facts import FactsJudge
from longproof.agent.offline.polarity import PolarityJudge
from longproof.agent.offline.reading import Reader
from longproof.agent.types import Arbiter, Judge

__all__ = ["OfflineDecomposer", "offline_arbiter", "offline_panel"]


def offline_panel() -> list[Judge]:
    """The judges, sharing one reader, so that evidence is read once."""
    reader = Reader()
    return [CoverageJudge(reader), FactsJudge(reader), PolarityJudge(reader)]


def offline_arbiter() -> Arbiter:
    """The arbiter that decides where the panel is split."""
    return OfflineArbiter()

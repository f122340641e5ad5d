"""The check that needs no model: what stands in a source nearly word for word, and what conflicts with it there.

All else it leaves to a model. Adding a source never changes what it says of another.
"""

from longproof.agent.offline.decompose import OfflineDecomposer
from longproof.agent.offline.judge import OfflineJudge

__all__ = ["OfflineDecomposer", "OfflineJudge"]

"""The check that needs no model: which sentences stand in a source, and which conflict with it there.

All else it leaves to a model. Adding a source never changes what it says of another.
"""

from longproof.agent.offline.decompose import OfflineDecomposer
from longproof.agent.offline.judge import OfflineJudge

__all__ = ["OfflineDecomposer", "OfflineJudge"]

"""The papers' methods: a file a paper, each with its steps, prompts, forms, reader and numbers, over one runner.

docs/protocols.md says where each number stands in its paper, and where we differ. The product depends on nothing in
here.
"""

from longproof.graphs.papers import data_to_text, halueval, longnovel, probe, verigray
from longproof.graphs.papers.paper import Paper
from longproof.graphs.papers.plain import PLAIN

PAPERS: tuple[Paper, ...] = (
    *longnovel.PAPERS,
    *probe.PAPERS,
    *verigray.PAPERS,
    *halueval.PAPERS,
    *data_to_text.PAPERS,
    PLAIN,
)
"""The protocols of all papers."""

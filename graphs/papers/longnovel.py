"""LongNovel's ways of checking a summary of a novel (seed 004): RAG, zero-shot in three wordings, arbitration.

Knows: segments of 150 characters against a sliding window of blocks (Appendix D); the whole source and the whole
response in one prompt (Appendix I.2); two judges and a third where they differ (section 3.2).
"""

from longproof.graphs.papers.method import each_unit, paper
from longproof.graphs.verify import Method

RAG = paper(
    "longnovel-rag",
    "Segments of 150 characters against a sliding window of blocks; any flagged segment decides.",
    "004, Appendix D",
    unit="segment",
    alignment="greedy",
    embeds="blocks",
    rounds=("window",),
    prompt="longnovel",
)
ZERO_SHOT = (
    paper(
        "longnovel-zero-shot",
        "The whole source, then the whole response, in one prompt (Prompt-E).",
        "004, Appendix I.2",
        unit="response",
        prompt="longnovel",
        needs=("models",),
    ),
    paper(
        "longnovel-zero-shot-beginning",
        "The same with the response before the source (Prompt-B).",
        "004, Appendix I.2",
        unit="response",
        prompt="longnovel_beginning",
        needs=("models",),
    ),
    paper(
        "longnovel-zero-shot-cot",
        "The same with the response at the end, after reasoning in steps.",
        "004, Appendix I.2",
        unit="response",
        prompt="longnovel_cot",
        needs=("models",),
    ),
)
ARBITRATION = paper(
    "longnovel-arbitration",
    "Two judges on the whole response; a third where they differ.",
    "004, section 3.2",
    unit="response",
    prompt="longnovel",
    needs=("models",),
    consensus=1.0,
)
METHODS = (
    Method(RAG, each_unit("segment")),
    *(Method(protocol, each_unit("response")) for protocol in (*ZERO_SHOT, ARBITRATION)),
)

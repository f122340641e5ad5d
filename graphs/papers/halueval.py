"""HaluEval's recognition of hallucinations (seed 003): four tasks, yes or no, each in up to four variants.

Knows: the tasks (question answering, dialogue, summary, general) and where their instructions stand; the variants of
section 3.2: with the knowledge, after reasoning in steps, and beside the right text.
"""

from longproof.graphs.papers.method import each_unit, paper
from longproof.graphs.protocol import Need
from longproof.graphs.verify import Method

SUMMARIES = {
    "qa": "An answer: yes or no by four patterns",
    "dialogue": "A turn: yes or no by three patterns",
    "summary": "A summary with its document: yes or no by three patterns",
    "general": "A reply to a user's request: yes or no by three patterns",
}
VARIANTS = {
    "": "",
    "-knowledge": ", with the knowledge",
    "-cot": ", after reasoning in steps",
    "-contrast": "; which of two is made up",
}
WHERE = {
    "qa": "003, table 8",
    "dialogue": "003, table 15",
    "summary": "003, table 16",
    "general": "003, section 2.2",
}
OFFERED = {
    "qa": ("", "-knowledge", "-cot", "-contrast"),
    "dialogue": ("", "-knowledge", "-cot", "-contrast"),
    "summary": ("", "-cot", "-contrast"),
    "general": ("", "-cot"),
}
NEEDED: dict[str, tuple[Need, ...]] = {"-contrast": ("models", "reference"), "-knowledge": ()}

PROTOCOLS = tuple(
    paper(
        f"halueval-{task}{variant}",
        f"{SUMMARIES[task]}{VARIANTS[variant]}.",
        "003, section 3.2" if variant else WHERE[task],
        unit="response",
        rounds=("source",) if task == "summary" or variant == "-knowledge" else ("nothing",),
        prompt=f"halueval_{task}{variant.replace('-', '_').removesuffix('_knowledge')}",
        temperature=0.0,
        needs=NEEDED.get(variant, () if task == "summary" else ("models",)),
    )
    for task, variants in OFFERED.items()
    for variant in variants
)
METHODS = tuple(Method(protocol, each_unit("response")) for protocol in PROTOCOLS)

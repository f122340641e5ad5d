"""What the offline check says of the development sets' sentences, and how often gold agrees.

    LONGPROOF_DATA=data python benchmarks/offline_check.py [SET ...]

Prints a table: for each set the sentences, how many stand there, conflict, need a model; the share of conflicts that
lie in what gold calls wrong; the share of what stands there that lies in what gold calls right. Where gold judges the
response as a whole, what stands there in a wrong response is `unknown`: the error may lie elsewhere. Nothing here is
read by the check itself.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator

from longproof.agent.offline import OfflineDecomposer, OfflineJudge
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.evaluation.datasets import examples
from longproof.evaluation.types import Example, Source
from longproof.retrieval.json_text import record
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

SETS = (
    "longnovel_mini_zh:S", "longnovel_mini_zh:XXL", "ragtruth", "summedits", "bamboo_hallu", "faithbench",
    "storysumm", "begin_dialogue", "uhgeval_zh", "quintd_data2text", "accuracy_rotowire",
)  # fmt: skip
COLUMNS = (
    "set", "sentences", "stand there", "conflict", "need a model", "conflicts right", "stands right", "unknown",
)  # fmt: skip
SAID = {"explicitly_supported": "stands", "contradicting": "conflicts", None: "model"}


def main() -> None:
    """Check the sets named on the command line, all without a name, and print the table."""
    total: Counter[tuple[str, str]] = Counter()
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for name in sys.argv[1:] or SETS:
        counts = Counter(_claims(name))
        total += counts
        print(_row(name, counts), flush=True)
    print(_row("all", total))


def _claims(name: str) -> Iterator[tuple[str, str]]:
    """For each claim of a set, what the check says, and what gold says: right, wrong or unknown."""
    dataset, _, scale = name.partition(":")
    judge = OfflineJudge()
    for example in examples(dataset):
        if example.slices.get("scale", "") == scale or not scale:
            for claim, judgement in asyncio.run(_judged(judge, example)):
                yield SAID[judgement.label], _gold(example, claim)


async def _judged(judge: OfflineJudge, example: Example) -> list[tuple[Claim, Judgement]]:
    """Each claim with its judgement, eight claims a question, all sources shown whole."""
    case = Case(id=example.id, task=example.task, response=example.response, context=example.context)
    response = Document.of(example.response)
    spans = [response.span(start, end) for start, end in sentences(example.response)]
    claims = (await OfflineDecomposer().decompose(case, spans)).claims
    shown = tuple(d.span(0, len(d.text)) for d in map(_document, example.sources) if d.text)
    found: list[tuple[Claim, Judgement]] = []
    for at in range(0, len(claims), 8):
        asked = claims[at : at + 8]
        question = Question(
            id=f"q{at}", claim_ids=tuple(c.id for c in asked), shown=shown, round="source", prompt=""
        )
        found += zip(asked, (await judge.judge(question, asked, case)).judgements, strict=True)
    return found


def _document(source: Source) -> Document:
    return record(source.text) if source.kind == "record" else Document.of(source.text, title=source.title)


def _gold(example: Example, claim: Claim) -> str:
    """What gold says of a claim: by spans, else by sentences, else by a reference that holds it, else as a whole."""
    gold, start, end = example.gold, claim.origin.start, claim.origin.end
    if gold.errors is not None:
        return "wrong" if any(e.place.start < end and start < e.place.end for e in gold.errors) else "right"
    if gold.parts is not None:
        sides = {part.outcome for part in gold.parts if part.place.start < end and start < part.place.end}
        return "wrong" if "hallucinated" in sides else "right" if sides == {"faithful"} else "unknown"
    if gold.outcome == "faithful" or (example.reference and claim.text.strip(" .") in example.reference):
        return "right"
    return "wrong of all" if gold.outcome else "unknown"


def _row(name: str, counts: Counter[tuple[str, str]]) -> str:
    of: Counter[str] = Counter()
    for (said, _), n in counts.items():
        of[said] += n
    wrong = counts["conflicts", "wrong"] + counts["conflicts", "wrong of all"]
    right, false = counts["stands", "right"], counts["stands", "wrong"]
    cells = [
        name, of.total(), of["stands"], of["conflicts"], of["model"],
        _share(wrong, of["conflicts"] - counts["conflicts", "unknown"]), _share(right, right + false),
        of["stands"] - right - false,
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()

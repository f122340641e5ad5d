"""What the offline check says of the development sets' claims, and how often gold agrees.

    LONGPROOF_DATA=data python benchmarks/offline_check.py [SET ...] [--show conflicts|stands]

Prints a table: for each set the claims, how many stand there, conflict, need a model; the share of conflicts that lie
in what gold calls wrong; the share of what stands there that lies in what gold calls right. Where gold judges the
response as a whole, what stands there in a wrong response is `unknown`: the error may lie elsewhere. `--show` prints
each claim where gold disagrees. Nothing here is read by the check itself.
"""

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from longproof.agent.offline import OfflineDecomposer, OfflineJudge
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.evaluation.datasets import examples
from longproof.evaluation.types import Example, Source
from longproof.retrieval.json_text import record
from longproof.retrieval.text import sentences
from longproof.retrieval.types import Document

SETS = (
    "longnovel_mini_zh:S", "longnovel_mini_zh:XXL", "ragtruth", "summedits", "bamboo_hallu", "faithbench",
    "storysumm", "begin_dialogue", "uhgeval_zh", "quintd_data2text", "accuracy_rotowire",
)  # fmt: skip
COLUMNS = (
    "set", "claims", "stands there", "conflicts", "needs a model", "conflicts right", "stands right", "unknown", "s",
)  # fmt: skip
AGAINST = {"stands": "wrong", "conflicts": "right"}
"""What gold says where it disagrees."""
SAID = {"explicitly_supported": "stands", "contradicting": "conflicts", None: "model"}


class Told(NamedTuple):
    """What the check says of one claim, and what gold says: right, wrong or unknown."""

    example: Example
    claim: Claim
    judgement: Judgement
    said: str
    gold: str


def main() -> None:
    """Check the sets named on the command line, all without a name, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--show", choices=("conflicts", "stands"))
    parser.add_argument("--all", action="store_true", help="show claims where gold agrees, too")
    given = parser.parse_args()
    total: Counter[tuple[str, str]] = Counter()
    print(
        "| set | claims | stands there | conflicts | needs a model | conflicts right | stands right | unknown | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.sets:
        started = time.process_time()
        told = list(_told(name))
        counts = Counter((each.said, each.gold) for each in told)
        total += counts
        print(_row(name, counts, time.process_time() - started), flush=True)
        for each in told:
            if given.show == each.said and (given.all or each.gold == AGAINST[each.said]):
                _show(each)
    print(_row("all", total, 0.0))


def _told(name: str) -> Iterator[Told]:
    dataset, _, scale = name.partition(":")
    judge = OfflineJudge()
    for example in examples(dataset):
        if example.slices.get("scale", "") == scale or not scale:
            for claim, judgement in asyncio.run(_judged(judge, example)):
                yield Told(example, claim, judgement, SAID[judgement.label], _gold(example, claim))


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


def _row(name: str, counts: Counter[tuple[str, str]], seconds: float) -> str:
    of: Counter[str] = Counter()
    for (said, _), n in counts.items():
        of[said] += n
    wrong = counts["conflicts", "wrong"] + counts["conflicts", "wrong of all"]
    right, false = counts["stands", "right"], counts["stands", "wrong"]
    cells = [
        name, of.total(), of["stands"], of["conflicts"], of["model"],
        _share(wrong, of["conflicts"] - counts["conflicts", "unknown"]), _share(right, right + false),
        of["stands"] - right - false, f"{seconds:.1f}",
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.3f}" if whole else "-"


def _show(told: Told) -> None:
    judgement = told.judgement
    print(f"    [{told.example.id}] gold {told.gold}: {told.claim.text!r}")
    print(f"        {judgement.reason}")
    for quote in judgement.quotes:
        print(f"        source: {quote.text!r}")


if __name__ == "__main__":
    main()

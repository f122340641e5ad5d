"""Every protocol on real data from beginning to end: its development set, or a stand-in that is named.

Every row runs with scripted readers on loopback (tests/reader.py states their rule). They are not the model that a
paper asks, so a number says that the row works on such data, and what it costs, not how good the method is. Beside
each stands what calling everything wrong, and nothing wrong, would score. The harness is that of `longproof
evaluate`; the judges see no gold.

    LONGPROOF_DATA=... PYTHONPATH=tests python benchmarks/protocols.py [--only NAME ...] [--sample N] [--seed S]

Prints a Markdown table. `--sample` is for every row; without it each has a size that takes a few seconds.
"""

import argparse
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from fakes import ChatServer
from reader import reader

from longproof.agent.types import Label, Place
from longproof.agent.vote import SIDES
from longproof.evaluation.datasets import examples
from longproof.evaluation.results import PredictedClaim, PredictedSentence, Prediction, Result
from longproof.evaluation.run import evaluate_dataset
from longproof.evaluation.sections import sections
from longproof.evaluation.tables import Score, number
from longproof.evaluation.types import Example, GoldPart, Source
from longproof.graphs.papers.verigray import NOT_AUDITED
from longproof.graphs.protocols import Protocol, protocol
from longproof.retrieval.text.sentences import sentences

PLANTED = 0.25
"""The share of audited labels that are moved to another side before an audit sees them."""
PASSAGE = re.compile(r"passage \d+:")
COLUMNS = (
    "protocol", "seed, section", "data", "judges", "examples", "coverage", "calls", "passes", "scores", "value",
    "all wrong", "nothing wrong", "s",
)  # fmt: skip

Named = tuple[str, str]
"""A score by its section and its name."""
CLASSES: tuple[Named, ...] = (("Responses", "mean accuracy"), ("Responses", "MCC"))
ACCURACY: tuple[Named, ...] = (("Responses", "accuracy"),)
SEVEN: tuple[Named, ...] = tuple(
    ("Parts, seven labels", name) for name in ("balanced accuracy", "hallucination F1", "ranking loss")
)
PARTS: tuple[Named, ...] = (("Parts", "parts: mean accuracy"), ("Parts", "parts: F1"))
PLACES: tuple[Named, ...] = tuple(("Places", f"characters: {name}") for name in ("precision", "recall", "F1"))
KAPPA: Named = ("Judges and runs", "Fleiss' kappa")
AUDIT: tuple[Named, ...] = tuple(
    ("Audit of given labels", f"{side} labels left to people") for side in ("wrong", "right")
)


class Trial(NamedTuple):
    """A protocol on data: what the data are, how they are had (pages go into the folder), the paper's scores."""

    protocol: str
    data: str
    chosen: Callable[[Path], list[Example]]
    scores: tuple[Named, ...]
    size: int
    readers: tuple[int, ...] = (65,)
    arbiter: int = 65


def longnovel(_: Path) -> list[Example]:
    """LongNovel-mini, the development set made after the paper; both summaries of a stretch are drawn together."""
    found = examples("longnovel_mini_zh")
    return [e.model_copy(update={"pair": f"{e.group} {e.slices['scale']}"}) for e in found]


def faithbench(_: Path) -> list[Example]:
    """FaithBench with its sentences' labels."""
    return examples("faithbench")


def audited(_: Path) -> list[Example]:
    """FaithBench sentences with their own labels, a seeded share of them moved to another side."""
    draw, made = Random(0), []
    for example in examples("faithbench"):
        labels = [part.label for part in example.gold.parts or () if part.label]
        given = [_moved(label) if draw.random() < PLANTED else label for label in labels]
        made.append(example.model_copy(update={"labels": tuple(given)}))
    return made


def ragtruth(_: Path) -> list[Example]:
    """RAGTruth's answers, their marked places taken by sentence too."""
    return [_by_sentence(example) for example in examples("ragtruth")]


def ragtruth_pages(folder: Path) -> list[Example]:
    """RAGTruth with the first passage as the document, and the others of all questions as saved pages."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for example in ragtruth(folder):
        first, *others = [text.strip() for text in PASSAGE.split(example.sources[0].text) if text.strip()]
        for n, text in enumerate(others, start=2):
            (folder / f"{example.group}-{n}.txt").write_text(text, encoding="utf-8")
        made.append(example.model_copy(update={"sources": (Source(text=first),)}))
    return made


def begin(_: Path) -> list[Example]:
    """BEGIN's turns that take a side; the generic ones are gray."""
    return [example for example in examples("begin_dialogue") if example.gold.outcome]


def begin_pairs(folder: Path) -> list[Example]:
    """Two turns on the same knowledge, one attributable and one not: each is the other's right (or wrong) text."""
    found: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for example in begin(folder):
        found[example.group, str(example.gold.outcome)].append(example)
    made = []
    for (group, outcome), wrong in found.items():
        if outcome == "hallucinated":
            for one, other in zip(wrong, found.get((group, "faithful"), []), strict=False):
                made += _pair(one, other)
    return made


def summedits(_: Path) -> list[Example]:
    """SummEdits: edited summaries, consistent with their document or not."""
    return examples("summedits")


def summedits_pairs(folder: Path) -> list[Example]:
    """An inconsistent edit and the original that it was made from, each beside the other."""
    made = []
    for example in summedits(folder):
        if example.gold.outcome == "hallucinated" and example.reference:
            gold = example.gold.model_copy(update={"outcome": "faithful"})
            right = {"id": f"{example.id}-right", "response": example.reference, "gold": gold, "slices": {}}
            made += _pair(example, example.model_copy(update=right))
    return made


def halueval_qa(_: Path) -> list[Example]:
    """HaluEval's own questions; both answers to one are drawn together."""
    return [e.model_copy(update={"pair": e.group}) for e in examples("halueval_qa")]


def halueval_general(_: Path) -> list[Example]:
    """HaluEval's own replies to user queries."""
    return examples("halueval_general")


def quintd(_: Path) -> list[Example]:
    """Quintd-1's articles from JSON records: phones, ice hockey, weather."""
    return [example for example in examples("quintd_data2text") if example.sources[0].kind == "record"]


_HALUEVAL: dict[str, tuple[str, Callable[[Path], list[Example]], str, Callable[[Path], list[Example]]]] = {
    "qa": ("HaluEval QA", halueval_qa, "HaluEval QA", halueval_qa),
    "dialogue": ("BEGIN (stand-in)", begin, "BEGIN by knowledge, in pairs (stand-in)", begin_pairs),
    "summary": ("SummEdits (stand-in)", summedits, "SummEdits with originals (stand-in)", summedits_pairs),
    "general": ("HaluEval general", halueval_general, "", halueval_general),
}
NOVEL = "LongNovel-mini"
TRIALS: tuple[Trial, ...] = (
    Trial("longproof", NOVEL, longnovel, CLASSES, 12, (75, 80, 85), 80),
    *(
        Trial("longproof", data, chosen, CLASSES, 40, (50, 65, 80))
        for data, chosen in (
            ("RAGTruth", ragtruth),
            ("BEGIN", begin),
            ("Quintd-1 records", quintd),
            ("HaluEval general, no source, no pages", halueval_general),
        )
    ),
    Trial("longnovel-rag", NOVEL, longnovel, CLASSES, 12, (80,)),
    Trial("longnovel-zero-shot", NOVEL, longnovel, CLASSES, 40, (80,)),
    Trial("longnovel-zero-shot-beginning", NOVEL, longnovel, CLASSES, 40, (80,)),
    Trial("longnovel-zero-shot-cot", NOVEL, longnovel, CLASSES, 40, (80,)),
    Trial("longnovel-arbitration", NOVEL, longnovel, CLASSES, 40, (75, 85), 80),
    Trial("probe", "RAGTruth (stand-in)", ragtruth, (*PLACES, KAPPA), 10, (50, 60, 70, 80)),
    Trial("probe-direct", "RAGTruth (stand-in)", ragtruth, PLACES, 100),
    Trial("verigray", "FaithBench by sentence (stand-in)", faithbench, SEVEN, 60),
    Trial("verigray-rag", "RAGTruth, one passage and pages (stand-in)", ragtruth_pages, PARTS, 40),
    Trial("verigray-audit", "FaithBench by sentence (stand-in)", audited, AUDIT, 40, (45, 55, 65, 75, 85)),
    *(
        Trial(
            f"halueval-{task}{variant}",
            paired if variant == "-contrast" else plain,
            pairs if variant == "-contrast" else chosen,
            ACCURACY,
            100,
        )
        for task, (plain, chosen, paired, pairs) in _HALUEVAL.items()
        for variant in ("", "-knowledge", "-cot", "-contrast")
        if (task, variant)
        not in {("summary", "-knowledge"), ("general", "-knowledge"), ("general", "-contrast")}
    ),
    Trial("data-to-text", "Quintd-1 records (stand-in)", quintd, PLACES, 60),
    Trial("plain", "RAGTruth", ragtruth, CLASSES, 100),
)
"""One for every protocol, and for ours one a task."""


def lines(trial: Trial, sample: int | None, seed: int) -> Iterator[list[str]]:
    """The table's line of one protocol."""
    row = protocol(trial.protocol)
    with ChatServer(reader) as server:
        seats = [f"openai:reader-{share}@{server.address}" for share in trial.readers]
        shares = ", ".join(str(share) for share in trial.readers)
        arbiter = f"openai:reader-{trial.arbiter}@{server.address}"
        yield measured(trial, row, f"reader {shares}", seats, sample, seed, arbiter=arbiter)


def measured(
    trial: Trial, row: Protocol, name: str, judges: Sequence[str], sample: int | None, seed: int, **more: Any
) -> list[str]:
    """One run through the evaluation harness, and its line of the table."""
    started = time.perf_counter()
    with TemporaryDirectory() as place:
        folder = Path(place)
        chosen = trial.chosen(folder / "pages")
        done = evaluate_dataset(
            trial.data,
            chosen=chosen,
            protocol=row.name,
            judges=judges,
            out=folder / "out",
            sample=sample or trial.size,
            seed=seed,
            home=str(folder / "home"),
            pages=str(folder / "pages") if "pages" in row.needs else None,
            **more,
        )
    seconds = time.perf_counter() - started
    length = {example.id: len(example.response) for example in chosen}
    all_wrong, nothing = (
        [r.model_copy(update={"prediction": constant(r, length[r.id], wrong=wrong)}) for r in done.results]
        for wrong in (True, False)
    )
    found = [_named(results, trial.scores) for results in (done.results, all_wrong, nothing)]
    passes = _named(done.results, [("Cost", "passes")])[0]
    coverage = found[0][0].coverage
    return [
        row.name,
        row.cites,
        trial.data,
        name,
        str(len(done.results)),
        "" if coverage is None else f"{coverage:.2f}",
        f"{sum(r.prediction.usage.calls for r in done.results):,}",
        number(passes.value if passes.n else None),
        ", ".join(score.name for score in found[0]),
        *(", ".join(number(score.value) for score in scores) for scores in found),
        f"{seconds:.0f}",
    ]


def constant(result: Result, length: int, *, wrong: bool) -> Prediction:
    """What calling everything wrong, or nothing, would have said; of an audit, leaving all or nothing to people."""
    if any(claim.given for claim in result.prediction.claims):
        label = {"label": None, "failure": "disputed"}
        claims = [
            c.model_copy(update=label if wrong else {"label": c.given}) for c in result.prediction.claims
        ]
        return result.prediction.model_copy(update={"claims": tuple(claims)})
    said: Label = "fabricated" if wrong else "implicitly_supported"
    all_of_it = Place(start=0, end=length)
    claim = PredictedClaim(
        text="",
        origin=all_of_it,
        label=said,
        failure=None,
        decided_by="rule",
        flagged=(all_of_it,) if wrong else (),
    )
    return Prediction(
        outcome="hallucinated" if wrong else "faithful",
        label=said,
        sentences=(PredictedSentence(start=0, end=length, label=said),),
        claims=(claim,),
        coverage=1,
    )


def _named(results: Sequence[Result], wanted: Sequence[Named]) -> list[Score]:
    found = {(section.title, score.name): score for section in sections(results) for score in section.scores}
    return [
        found.get((section, name)) or Score(name=name, value=None, over="", n=0) for section, name in wanted
    ]


def _by_sentence(example: Example) -> Example:
    wrong = [error.place for error in example.gold.errors or ()]
    parts = [
        GoldPart(
            place=Place(start=start, end=end, text=example.response[start:end]),
            outcome="hallucinated" if any(p.start < end and start < p.end for p in wrong) else "faithful",
        )
        for start, end in sentences(example.response)
    ]
    return example.model_copy(update={"gold": example.gold.model_copy(update={"parts": tuple(parts)})})


def _moved(label: Label) -> Label:
    if label in NOT_AUDITED:
        return label
    return "fabricated" if SIDES[label] == "supported" else "explicitly_supported"


def _pair(wrong: Example, right: Example) -> list[Example]:
    """Two examples, each with the other's text beside it."""
    return [
        one.model_copy(update={"reference": other.response, "pair": wrong.id})
        for one, other in ((wrong, right), (right, wrong))
    ]


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    names = list(dict.fromkeys(trial.protocol for trial in TRIALS))
    parser = argparse.ArgumentParser(description="Every protocol on real data.")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for trial in TRIALS:
        if trial.protocol in given.only:
            for line in lines(trial, given.sample, given.seed):
                print("| " + " | ".join(line) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

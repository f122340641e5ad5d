"""The data sets by name; each loader or converter opens with its set's law of conversion.

Knows: which sets there are, where their makers publish them, and where they lie (`LONGPROOF_DATA`, a path, or
bundled); gold of a case file (`graphs/cases.py`). Does not know: metrics.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from longproof.agent.types import LABELS, Place
from longproof.evaluation.datasets import dialogue, summaries
from longproof.evaluation.datasets.reading import Location, Row, convert_rows, each_row, find_quote, rows
from longproof.evaluation.types import OUTCOME_OF, Example, Gold, GoldClaim, GoldError, GoldOutcome
from longproof.graphs.cases import GivenCase, case_documents, given_case
from longproof.retrieval.types import BadInput, Document

DATA = "LONGPROOF_DATA"
"""The environment variable that names the folder of the data sets, one folder a set."""
GZ = "records.jsonl.gz"
OUTCOMES: dict[str, GoldOutcome] = {**OUTCOME_OF, "faithful": "faithful", "hallucinated": "hallucinated"}
"""The side of each outcome and label that has one."""
SMALL = ("qa", "dialogue", "summary", "general", "claims", "audit", "record")
BUNDLED = ("stories", *(f"small_{kind}" for kind in SMALL))
"""The case files in `longproof/examples`, ours; the small ones have what papers' methods need."""


class DataSet(NamedTuple):
    """The loader of a set, from its folder or a file of its kind, and where its makers publish it on GitHub."""

    load: Callable[[Location], Iterator[Example]]
    home: str = ""
    folder: str = ""
    """Its folder among all sets; empty where that has the set's name."""


def load_cases(location: Location) -> Iterator[Example]:
    """All cases of a file in this project's own format, or of `cases.jsonl` in a folder.

    Law: labels contradicting and fabricated are hallucinated, the two supported ones faithful, the others gray;
    errors alone are an outcome, and so are claims alone. Without label, errors and claims an example is run, but no
    score counts it.
    """
    path = Path(location)
    folder = path if path.is_dir() else path.parent

    def convert(row: Row) -> Iterator[Example]:
        case = given_case(row, folder)
        sources = case_documents(case, folder)
        yield Example(
            id=str(case.id),
            task=case.task,
            # Where a file lies on this machine is no part of the example.
            sources=tuple(source.model_copy(update={"uri": ""}) for source in sources),
            response=case.response,
            context=case.context or "",
            reference=case.reference,
            labels=case.labels,
            group=str(case.id if case.group is None else case.group),
            pair=case.pair,
            slices={name: str(value) for name, value in case.slices.items()},
            gold=_gold(case, sources),
        )

    return convert_rows(rows(path, "cases.jsonl"), convert)


def _gold(case: GivenCase, sources: list[Document]) -> Gold:
    """The gold of a case; a claim's segment is found in the response behind the last one's beginning."""
    errors, claims, after = list[GoldError](), list[GoldClaim](), 0
    for error in case.errors or ():
        at = Place(start=error.start, end=error.end, text=error.text)
        errors.append(GoldError(place=at, **error.model_dump(include={"kind", "correction", "reason"})))
    for claim in case.claims or ():
        origin = find_quote(case.response, claim.segment, after) if claim.segment else None
        after = origin.start if origin else after
        evidence = tuple(find_quote(sources[0].text, quote) for quote in claim.evidence)
        claims.append(
            GoldClaim(text=claim.text, origin=origin, hallucinated=claim.hallucinated, evidence=evidence)
        )
    label = next((label for label in LABELS if label == case.label), None)
    outcome = OUTCOMES.get(str(case.label))
    if case.label is not None and not label and not outcome:
        raise BadInput(f"label {case.label!r} is neither an outcome nor one of {', '.join(LABELS)}")
    if case.label is None and (case.errors is not None or case.claims is not None):
        wrong = errors if case.errors is not None else [claim for claim in claims if claim.hallucinated]
        outcome = "hallucinated" if wrong else "faithful"
    return Gold(
        outcome=outcome,
        label=label,
        errors=None if case.errors is None else tuple(errors),
        claims=None if case.claims is None else tuple(claims),
    )


HALUEVAL = ("RUCAIBox/HaluEval", "halueval")
DATASETS = {
    "accuracy_rotowire": DataSet(each_row(GZ, dialogue.accuracy_rotowire), "ehudreiter/accuracySharedTask"),
    "bamboo_hallu": DataSet(each_row(GZ, summaries.bamboo_hallu), "RUCAIBox/BAMBOO"),
    "begin_dialogue": DataSet(each_row(GZ, dialogue.begin_dialogue), "google/BEGIN-dataset"),
    "faithbench": DataSet(each_row("samples.jsonl.gz", summaries.faithbench), "vectara/FaithBench"),
    "halluqa_zh": DataSet(each_row("records.jsonl", dialogue.halluqa_zh), "OpenMOSS/HalluQA"),
    "halueval_dialogue": DataSet(partial(dialogue.load_halueval, task="dialogue"), *HALUEVAL),
    "halueval_general": DataSet(each_row("general.jsonl", dialogue.halueval_general), *HALUEVAL),
    "halueval_qa": DataSet(partial(dialogue.load_halueval, task="qa"), *HALUEVAL),
    "halueval_summary": DataSet(partial(dialogue.load_halueval, task="summary"), *HALUEVAL),
    "jsonl": DataSet(load_cases),
    "longnovel": DataSet(summaries.load_longnovel),
    "longnovel_mini_zh": DataSet(summaries.load_longnovel_mini),
    "nocha_sample": DataSet(summaries.load_nocha, "marzenakrp/nocha"),
    "ocnli_zh": DataSet(each_row("records.jsonl", summaries.ocnli_zh), "CLUEbenchmark/OCNLI"),
    "quintd_data2text": DataSet(dialogue.load_quintd, "kasnerz/quintd"),
    "ragtruth": DataSet(dialogue.load_ragtruth, "ParticleMedia/RAGTruth"),
    "sanguo_pairs": DataSet(summaries.load_sanguo_pairs, folder="novels_zh"),
    "storysumm": DataSet(each_row(GZ, summaries.storysumm), "melaniesubbiah/storysumm"),
    "summedits": DataSet(summaries.load_summedits, "salesforce/factualNLG"),
    "uhgeval_zh": DataSet(each_row(GZ, dialogue.uhgeval_zh), "IAAR-Shanghai/UHGEval"),
    "verigray": DataSet(each_row("verigray.jsonl", summaries.verigray)),
    **dict.fromkeys(BUNDLED, DataSet(load_cases)),
}
"""Each reader's docstring names the fields of a row."""


def examples(dataset: str, path: Location | None = None) -> list[Example]:
    """All examples of a data set, in the order of its file. A case file's path is a data set too.

    `path` is a folder or a file; without it the set's folder in the one that LONGPROOF_DATA names, or the package's
    own. Raises BadInput for an unknown set, a missing file, a row that does not fit, or two examples of one id.
    """
    if dataset not in DATASETS and path is None and Path(dataset).is_file():
        dataset, path = "jsonl", dataset
    if dataset not in DATASETS:
        raise BadInput(
            f"there is no data set {dataset!r}; choose a case file, or one of {', '.join(DATASETS)}"
        )
    load, home, name = DATASETS[dataset]
    if path is None and dataset in BUNDLED:
        path = Path(str(files("longproof") / "examples" / f"{dataset}.jsonl"))
    elif path is None:
        root = os.environ.get(DATA)
        path = Path(root or "") / (name or dataset)
        if not root or not path.exists():
            from_ = f"get them from https://github.com/{home}" if home else "see evaluation/README.md"
            where = f"--path FOLDER, or {DATA} for the folder of all data sets"
            raise BadInput(
                f"the data of {dataset} are not in {root or 'any folder'}: {from_}, then say where they lie: {where}"
            )
    found, ids = list(load(path)), set[str]()
    for example in found:
        if example.id in ids:
            raise BadInput(f"{dataset}: two examples have the id {example.id!r}; ids must differ")
        ids.add(example.id)
    return found

"""The data sets by name; each loader or converter opens with its set's law of conversion.

Knows: which sets there are, and where they lie (`LONGPROOF_DATA`, a path, or bundled). Does not know: metrics.
"""

import os
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

from longproof.evaluation.datasets import dialogue, novels, records, summaries
from longproof.evaluation.datasets.jsonl import load_cases
from longproof.evaluation.datasets.reading import HUB, Location, each_row
from longproof.evaluation.types import Example
from longproof.retrieval.types import BadInput

DATA = "LONGPROOF_DATA"
"""The environment variable that names the folder of the data sets, one folder a set (`FOLDERS`: but for these)."""

GZ = "records.jsonl.gz"
FOLDERS = {
    **{f"halueval_{name}": "halueval" for name in ("dialogue", "general", "qa", "summary")},
    "sanguo_pairs": "novels_zh",
}
"""Where a set lies whose folder has another name."""
BUNDLED = {"stories": "examples/stories.jsonl"}
"""The sets that come with the package, and their files in it."""
GITHUB = "https://github.com/"
HOMES = {
    "accuracy_rotowire": f"{GITHUB}ehudreiter/accuracySharedTask",
    "bamboo_hallu": f"{GITHUB}RUCAIBox/BAMBOO",
    "begin_dialogue": f"{GITHUB}google/BEGIN-dataset",
    "faithbench": f"{GITHUB}vectara/FaithBench",
    "halluqa_zh": f"{GITHUB}OpenMOSS/HalluQA",
    **{name: f"{GITHUB}RUCAIBox/HaluEval" for name, folder in FOLDERS.items() if folder == "halueval"},
    "nocha_sample": f"{GITHUB}marzenakrp/nocha",
    "ocnli_zh": f"{GITHUB}CLUEbenchmark/OCNLI",
    "quintd_data2text": f"{GITHUB}kasnerz/quintd",
    "ragtruth": f"{GITHUB}ParticleMedia/RAGTruth",
    "storysumm": f"{GITHUB}melaniesubbiah/storysumm",
    "summedits": f"{GITHUB}salesforce/factualNLG",
    "uhgeval_zh": f"{GITHUB}IAAR-Shanghai/UHGEval",
}
"""Where a set's makers publish it. Each reader's docstring names the fields of a row."""
PAIRS = dialogue.HaluEvalPairs
DATASETS: dict[str, Callable[[Location], Iterator[Example]]] = {
    "accuracy_rotowire": each_row(GZ, records.accuracy_rotowire),
    "bamboo_hallu": each_row(GZ, summaries.bamboo_hallu),
    "begin_dialogue": each_row(GZ, dialogue.begin_dialogue),
    "data_to_text": each_row("data_to_text.jsonl", records.data_to_text),
    "faithbench": each_row("samples.jsonl.gz", summaries.faithbench),
    "halluqa_zh": each_row("records.jsonl", dialogue.halluqa_zh),
    "halueval_dialogue": PAIRS(
        "dialogue", "dialogue.jsonl", "response", "turn", "knowledge", "dialogue_history"
    ),
    "halueval_general": each_row("general.jsonl", dialogue.halueval_general),
    "halueval_qa": PAIRS("qa", "qa.jsonl", "answer", "answer", "knowledge", "question"),
    "halueval_summary": PAIRS("summary", "summarization.jsonl", "summary", "summary", "document"),
    "jsonl": load_cases,
    "longnovel": novels.load_longnovel,
    "longnovel_mini_zh": novels.load_longnovel_mini,
    "nocha_sample": novels.load_nocha,
    "ocnli_zh": each_row("records.jsonl", summaries.ocnli_zh),
    "quintd_data2text": records.load_quintd,
    "ragtruth": dialogue.load_ragtruth,
    "sanguo_pairs": novels.load_sanguo_pairs,
    "stories": load_cases,
    "storysumm": each_row(GZ, summaries.storysumm),
    "summedits": summaries.load_summedits,
    "uhgeval_zh": each_row(GZ, dialogue.uhgeval_zh),
    "verigray": each_row("verigray.jsonl", summaries.verigray),
}
"""What loads a data set from where it lies: its folder, or a file of its kind."""


def examples(dataset: str, path: Location | None = None) -> list[Example]:
    """All examples of a data set, in the order of its file. A case file's path is a data set too.

    `path` is a folder, a file or `hub:OWNER/NAME[@SPLIT]`; without it the set's folder in the one that
    LONGPROOF_DATA names, or the package's own file where the set is bundled. Raises BadInput for an unknown set, a
    missing file, a row that does not fit, or two examples of one id.
    """
    if dataset not in DATASETS and path is None and Path(dataset).is_file():
        dataset, path = "jsonl", dataset
    if dataset not in DATASETS:
        raise BadInput(
            f"there is no data set {dataset!r}; choose a case file, or one of {', '.join(DATASETS)}"
        )
    found = list(DATASETS[dataset](_location(dataset, path)))
    if len({example.id for example in found}) < len(found):
        twice = next(e.id for i, e in enumerate(found) if e.id in {other.id for other in found[:i]})
        raise BadInput(f"{dataset}: two examples have the id {twice!r}; ids must differ")
    return found


def _location(dataset: str, path: Location | None) -> Location:
    if path is not None:
        return path if str(path).startswith(HUB) else Path(path)
    if dataset in BUNDLED:
        return Path(str(files("longproof") / BUNDLED[dataset]))
    root = os.environ.get(DATA)
    folder = Path(root or "") / FOLDERS.get(dataset, dataset)
    if not root or not folder.exists():
        from_ = f"get them from {HOMES[dataset]}" if dataset in HOMES else "see evaluation/README.md"
        where = f"--path FOLDER, or {DATA} for the folder of all data sets"
        raise BadInput(
            f"the data of {dataset} are not in {root or 'any folder'}: {from_}, then say where they lie: {where}"
        )
    return folder

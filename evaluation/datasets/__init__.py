"""The data sets: one reader a file, each opening with its law of conversion.

Knows: which sets there are, and where they lie (`LONGPROOF_DATA`, or a path). Does not know: metrics.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from longproof.evaluation.datasets import (
    accuracy_rotowire,
    bamboo_hallu,
    begin_dialogue,
    data_to_text,
    faithbench,
    halluqa_zh,
    halueval,
    jsonl,
    longnovel,
    longnovel_mini_zh,
    nocha_sample,
    ocnli_zh,
    probe,
    quintd_data2text,
    ragtruth,
    storysumm,
    summedits,
    uhgeval_zh,
    verigray,
)
from longproof.evaluation.datasets.hub import HUB
from longproof.evaluation.datasets.reading import Location
from longproof.evaluation.types import Example
from longproof.retrieval.types import BadInput

DATA = "LONGPROOF_DATA"
"""The environment variable that names the folder of the data sets, one folder a set."""

READERS: dict[str, tuple[str, Callable[[Location], Iterator[Example]]]] = {
    "accuracy_rotowire": ("accuracy_rotowire", accuracy_rotowire.read),
    "bamboo_hallu": ("bamboo_hallu", bamboo_hallu.read),
    "begin_dialogue": ("begin_dialogue", begin_dialogue.read),
    "data_to_text": ("data_to_text", data_to_text.read),
    "faithbench": ("faithbench", faithbench.read),
    "halluqa_zh": ("halluqa_zh", halluqa_zh.read),
    "halueval_dialogue": ("halueval", halueval.read_dialogue),
    "halueval_general": ("halueval", halueval.read_general),
    "halueval_qa": ("halueval", halueval.read_qa),
    "halueval_summary": ("halueval", halueval.read_summary),
    "jsonl": ("jsonl", jsonl.read),
    "longnovel": ("longnovel", longnovel.read),
    "longnovel_mini_zh": ("longnovel_mini_zh", longnovel_mini_zh.read),
    "nocha_sample": ("nocha_sample", nocha_sample.read),
    "ocnli_zh": ("ocnli_zh", ocnli_zh.read),
    "probe": ("probe", probe.read),
    "quintd_data2text": ("quintd_data2text", quintd_data2text.read),
    "ragtruth": ("ragtruth", ragtruth.read),
    "storysumm": ("storysumm", storysumm.read),
    "summedits": ("summedits", summedits.read),
    "uhgeval_zh": ("uhgeval_zh", uhgeval_zh.read),
    "verigray": ("verigray", verigray.read),
}
"""Name of a data set: the folder in which it lies, and its reader."""


def examples(dataset: str, path: Location | None = None) -> list[Example]:
    """All examples of a data set, in the order of its file. A case file's path is a data set too.

    `path` is a folder, a file or `hub:OWNER/NAME[@SPLIT]`; without it the set's folder in the one that
    LONGPROOF_DATA names. Raises BadInput for an unknown set, a missing file, a row that does not fit, or
    two examples of one id.
    """
    if dataset not in READERS and path is None and Path(dataset).is_file():
        dataset, path = "jsonl", dataset
    if dataset not in READERS:
        raise BadInput(
            f"there is no data set {dataset!r}; choose a case file, or one of {', '.join(READERS)}"
        )
    folder, read = READERS[dataset]
    found = list(read(_location(folder, path)))
    if len({example.id for example in found}) < len(found):
        twice = next(e.id for i, e in enumerate(found) if e.id in {other.id for other in found[:i]})
        raise BadInput(f"{dataset}: two examples have the id {twice!r}; ids must differ")
    return found


def _location(folder: str, path: Location | None) -> Location:
    if path is not None:
        return path if str(path).startswith(HUB) else Path(path)
    root = os.environ.get(DATA)
    if not root:
        raise BadInput(f"say where the data lie: give a path, or set {DATA} to the folder of the data sets")
    return Path(root) / folder

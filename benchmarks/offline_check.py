"""The check without a model on the sentences of development sets, and how often gold agrees.

    LONGPROOF_DATA=data python benchmarks/offline_check.py [SET ...]

Prints a table: for each set the sentences, how many stand there, have a hint, need a model; the share of hints that
lie in what gold calls wrong; the share of what stands there that lies in what gold calls right. Where gold judges the
response as a whole, what stands there in a wrong response is `unknown`: the error may lie elsewhere.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from longproof.evaluation.metrics import Counts, sum_counts
from longproof.evaluation.run import evaluate_dataset
from longproof.evaluation.scores import hint_counts, stands_there_counts, table_row

SETS = (
    "longnovel_mini_zh:S", "longnovel_mini_zh:XXL", "ragtruth", "summedits", "bamboo_hallu", "faithbench",
    "storysumm", "begin_dialogue", "uhgeval_zh", "quintd_data2text", "accuracy_rotowire",
)  # fmt: skip
COLUMNS = (
    "set", "sentences", "stand there", "hints", "need a model", "hints right", "stands right", "unknown",
)  # fmt: skip


def main() -> None:
    """Check the sets named on the command line, all without a name, and print the table."""
    print(table_row(COLUMNS) + "\n" + "|---" * len(COLUMNS) + "|")
    for name in sys.argv[1:] or SETS:
        print(table_row([name, *row(name)]), flush=True)


def row(name: str) -> list[str]:
    """The cells of one set, which may be named with a scale."""
    dataset, _, scale = name.partition(":")
    with TemporaryDirectory() as folder:
        done = evaluate_dataset(dataset, out=Path(folder), only=f"scale={scale}" if scale else None)
    claims = [claim for result in done.results for claim in result.prediction.claims]
    labels = [claim.label for claim in claims]
    hints = sum_counts(map(hint_counts, done.results))
    stands = sum_counts(map(stands_there_counts, done.results))
    n_stands = labels.count("explicitly_supported")
    n_hints = sum(claim.hint is not None for claim in claims)
    counts = (len(labels), n_stands, n_hints, labels.count(None))
    return [*map(str, counts), share(hints), share(stands), str(n_stands - stands.flags)]


def share(counts: Counts) -> str:
    """Right ones of all on which gold takes a side."""
    return f"{counts.true_positive}/{counts.flags}" if counts.flags else "-"


if __name__ == "__main__":
    main()

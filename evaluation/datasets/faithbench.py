"""FaithBench: summaries by ten models, spans annotated by two to four people who need not agree.

Law (worst annotation wins, as the set's authors pool): any Unwanted span makes the summary hallucinated,
contradicting if one is Intrinsic, else fabricated; else any Questionable span makes it ambiguous, gray: no
outcome; else it is faithful, out_dependent if a span is Benign (true by world knowledge), explicitly_supported
without annotation. Gold errors are the Unwanted spans, with the annotator's note. A group is the passage.
CC BY-NC-SA 4.0: not for commercial use. Detector scores in `metadata` are never read.
"""

from collections.abc import Iterator
from hashlib import sha256

from longproof.agent.types import Label, Place
from longproof.evaluation.datasets.reading import Location, Row, converted, rows
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, Source


def read(location: Location) -> Iterator[Example]:
    """All summaries of `samples.jsonl.gz`."""
    return converted(rows(location, "samples.jsonl.gz"), lambda row: [_example(row)])


def _example(row: Row) -> Example:
    label = _label({name for note in row["annotations"] for name in note["label"]})
    outcomes: dict[Label, GoldOutcome] = {
        "contradicting": "hallucinated",
        "fabricated": "hallucinated",
        "out_dependent": "faithful",
        "explicitly_supported": "faithful",
    }
    unwanted = [note for note in row["annotations"] if any(n.startswith("Unwanted") for n in note["label"])]
    return Example(
        id=f"{row['batch']}-{row['sample_id']}",
        task="summary",
        sources=(Source(text=row["source"]),),
        response=row["summary"],
        group=sha256(row["source"].encode()).hexdigest()[:12],
        slices={"model": row["metadata"]["summarizer"]},
        gold=Gold(outcome=outcomes.get(label), label=label, errors=tuple(map(_error, unwanted))),
    )


def _label(names: set[str]) -> Label:
    if "Unwanted.Intrinsic" in names:
        return "contradicting"
    if any(name.startswith("Unwanted") for name in names):
        return "fabricated"
    if "Questionable" in names:
        return "ambiguous"
    return "out_dependent" if "Benign" in names else "explicitly_supported"


def _error(note: Row) -> GoldError:
    at = Place(start=note["summary_start"], end=note["summary_end"], text=note["summary_span"])
    return GoldError(place=at, name="/".join(note["label"]), reason=note["note"] or "")

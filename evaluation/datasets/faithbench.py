"""FaithBench: summaries by ten models, spans annotated by two to four people who need not agree.

Law (worst annotation wins, as the set's authors pool) of the summary, and of each of its sentences by the spans that
meet it, which are gold parts: any Unwanted span makes it hallucinated, contradicting if one is Intrinsic, else
fabricated; else any Questionable span makes it ambiguous, gray: no outcome; else it is faithful, out_dependent if a
span is Benign (true by world knowledge), explicitly_supported without annotation (a sentence that states no fact
too: nobody was asked). Gold errors are the Unwanted spans, with the annotator's note. A group is the passage.
CC BY-NC-SA 4.0: not for commercial use. Detector scores in `metadata` are never read.
"""

from collections.abc import Iterator
from hashlib import sha256

from longproof.agent.types import Label, Place
from longproof.evaluation.datasets.reading import Location, Row, converted, place, rows
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, GoldPart, Source
from longproof.retrieval.text.sentences import sentences

OUTCOMES: dict[Label, GoldOutcome] = {
    "contradicting": "hallucinated",
    "fabricated": "hallucinated",
    "out_dependent": "faithful",
    "explicitly_supported": "faithful",
}

UNWANTED = ("Unwanted.Intrinsic", "Unwanted.Extrinsic", "Unwanted")
"""The worst first; an error's name is the worst that its annotator gave."""


def read(location: Location) -> Iterator[Example]:
    """All summaries of `samples.jsonl.gz`."""
    return converted(rows(location, "samples.jsonl.gz"), lambda row: [_example(row)])


def _example(row: Row) -> Example:
    label = _label(row["annotations"])
    unwanted = [note for note in row["annotations"] if set(note["label"]) & set(UNWANTED)]
    return Example(
        id=f"{row['batch']}-{row['sample_id']}",
        task="summary",
        sources=(Source(text=row["source"]),),
        response=row["summary"],
        group=sha256(row["source"].encode()).hexdigest()[:12],
        slices={"model": row["metadata"]["summarizer"]},
        gold=Gold(
            outcome=OUTCOMES.get(label),
            label=label,
            errors=tuple(map(_error, unwanted)),
            parts=tuple(_parts(row)),
        ),
    )


def _parts(row: Row) -> Iterator[GoldPart]:
    for start, end in sentences(row["summary"]):
        met = [n for n in row["annotations"] if n["summary_start"] < end and start < n["summary_end"]]
        label = _label(met)
        yield GoldPart(place=place(row["summary"], start, end), outcome=OUTCOMES.get(label), label=label)


def _label(notes: list[Row]) -> Label:
    names = {name for note in notes for name in note["label"]}
    if UNWANTED[0] in names:
        return "contradicting"
    if names & set(UNWANTED):
        return "fabricated"
    if "Questionable" in names:
        return "ambiguous"
    return "out_dependent" if "Benign" in names else "explicitly_supported"


def _error(note: Row) -> GoldError:
    at = Place(start=note["summary_start"], end=note["summary_end"], text=note["summary_span"])
    name = next(name for name in UNWANTED if name in note["label"])
    return GoldError(place=at, name=name, reason=note["note"] or "")

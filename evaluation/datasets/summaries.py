"""Summaries and hypotheses about one text: FaithBench, StorySumm, SummEdits, BAMBOO, OCNLI, VeriGray (seed 002).

Does not know: whole novels (novels.py).
"""

from collections import Counter
from collections.abc import Iterator

from longproof.agent.types import LABELS, Label, Place
from longproof.evaluation.datasets.reading import Location, Row, convert_rows, quotes_in_order, rows, text_key
from longproof.evaluation.types import OUTCOME_OF, Example, Gold, GoldError, GoldPart
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document

FAITHBENCH_OUTCOMES = {**OUTCOME_OF, "out_dependent": OUTCOME_OF["explicitly_supported"]}
OCNLI_GOLD = {
    "entailment": Gold(outcome="faithful", label="implicitly_supported"),
    "neutral": Gold(outcome="hallucinated", label="fabricated"),
    "contradiction": Gold(outcome="hallucinated", label="contradicting"),
}
LABEL_NAMES: dict[str, Label] = {
    "contradicting": "contradicting",
    "inconsistent": "contradicting",
    "fabricated": "fabricated",
    "ambiguous": "ambiguous",
    "no-fact": "no_fact",
    "out-dependent": "out_dependent",
    "implicitly-supported": "implicitly_supported",
    "generally-supported": "implicitly_supported",
    "explicitly-supported": "explicitly_supported",
}
UNWANTED = ("Unwanted.Intrinsic", "Unwanted.Extrinsic", "Unwanted")
"""The worst first; an error's name is the worst that its annotator gave."""


def faithbench(row: Row) -> Iterator[Example]:
    """FaithBench: summaries by ten models, spans annotated by two to four people who need not agree.

    Law (worst annotation wins, as the set's authors pool) of the summary, and of each of its sentences by the spans
    that meet it, which are gold parts: any Unwanted span makes it hallucinated, contradicting if one is Intrinsic,
    else fabricated; else any Questionable span makes it ambiguous, gray: no outcome; else it is faithful,
    out_dependent if a span is Benign (true by world knowledge), explicitly_supported without annotation. Gold errors
    are the Unwanted spans, with the annotator's note. A group is the passage. CC BY-NC-SA 4.0: no commercial use.
    """
    label, errors, parts = _worst_label(row["annotations"]), list[GoldError](), list[GoldPart]()
    for note in row["annotations"]:
        if name := next((name for name in UNWANTED if name in note["label"]), ""):
            at = Place(start=note["summary_start"], end=note["summary_end"], text=note["summary_span"])
            errors.append(GoldError(place=at, name=name, reason=note["note"] or ""))
    for start, end in sentences(row["summary"]):
        met = [n for n in row["annotations"] if n["summary_start"] < end and start < n["summary_end"]]
        worst, place = _worst_label(met), Place.of(row["summary"], start, end)
        parts.append(GoldPart(place=place, outcome=FAITHBENCH_OUTCOMES.get(worst), label=worst))
    yield Example(
        id=f"{row['batch']}-{row['sample_id']}",
        task="summary",
        sources=(Document.of(row["source"]),),
        response=row["summary"],
        group=text_key(row["source"]),
        slices={"model": row["metadata"]["summarizer"]},
        gold=Gold(
            outcome=FAITHBENCH_OUTCOMES.get(label), label=label, errors=tuple(errors), parts=tuple(parts)
        ),
    )


def _worst_label(notes: list[Row]) -> Label:
    names = {name for note in notes for name in note["label"]}
    if UNWANTED[0] in names:
        return "contradicting"
    if names & set(UNWANTED):
        return "fabricated"
    if "Questionable" in names:
        return "ambiguous"
    return "out_dependent" if "Benign" in names else "explicitly_supported"


def storysumm(row: Row) -> Iterator[Example]:
    """StorySumm: model summaries of short stories, judged as wholes and sentence by sentence.

    Law: the response is the summary's sentences joined by a blank; each is a gold part, hallucinated where its
    `errors` entry is 0. The summary's `label` (1 faithful, 0 not) is the outcome even in the one record where no
    sentence is marked. A row whose marks are not one a sentence has no gold parts. Slices: difficulty, model. A group
    is the story. MIT licence.
    """
    response, parts = " ".join(row["summary"]), list[GoldPart]()
    if len(row["summary"]) == len(row["errors"]):
        for place, right in zip(quotes_in_order(response, row["summary"]), row["errors"], strict=True):
            parts.append(GoldPart(place=place, outcome="faithful" if right == 1 else "hallucinated"))
    yield Example(
        id=row["id"],
        task="summary",
        sources=(Document.of(row["story"]),),
        response=response,
        group=str(row["story-id"]),
        slices={"model": row["model"]} | ({"difficulty": row["difficulty"]} if row["difficulty"] else {}),
        gold=Gold(outcome="faithful" if row["label"] == 1 else "hallucinated", parts=tuple(parts)),
    )


def load_summedits(location: Location) -> Iterator[Example]:
    """SummEdits (`records.jsonl.gz`): summaries with small edits, consistent with their document or not.

    Law: `label` 1 is faithful, 0 hallucinated; `doc` is the source, `summary` the response, the original
    summary the reference. The edits' names, sorted and joined by `+`, are the pattern. A group is the document.
    Ids repeat in the file, so each gets its number in its document. Apache-2.0.
    """
    seen = Counter[str]()

    def convert(row: Row) -> Iterator[Example]:
        seen[row["id"]] += 1
        edits = "+".join(sorted(row["edit_types"]))
        yield Example(
            id=f"{row['id']}-{seen[row['id']]}",
            task="summary",
            sources=(Document.of(row["doc"]),),
            response=row["summary"],
            reference=row["original_summary"],
            group=text_key(row["doc"]),
            slices={"domain": row["domain"]} | ({"pattern": edits} if edits else {}),
            gold=Gold(outcome="faithful" if row["label"] == 1 else "hallucinated"),
        )

    return convert_rows(rows(location, "records.jsonl.gz"), convert)


def bamboo_hallu(row: Row) -> Iterator[Example]:
    """BAMBOO SenHallu and AbsHallu: does a hypothesis agree with a paper of about 4,000 tokens.

    Law: `content` is the source, `hypothesis` the response; `answer` true is faithful, false hallucinated.
    Slice: task. A group is the paper, which both tasks and both answers share. MIT licence.
    """
    yield Example(
        id=f"{row['task']}-{row['row']}",
        task="summary",
        sources=(Document.of(row["content"], title=row["title"]),),
        response=row["hypothesis"],
        group=row["title"],
        slices={"task": row["task"]},
        gold=Gold(outcome="faithful" if row["answer"] else "hallucinated"),
    )


def ocnli_zh(row: Row) -> Iterator[Example]:
    """OCNLI: does a Chinese sentence follow from another. One-sentence sources: a check of the judge alone.

    Law: sentence1 is the source, sentence2 the response. entailment is implicitly_supported (faithful),
    contradiction is contradicting, neutral is fabricated (both hallucinated). Slices: domain, pattern (the label).
    A group is the premise. CC BY-NC 2.0: not for commercial use.
    """
    yield Example(
        id=str(row["id"]),
        task="summary",
        sources=(Document.of(row["sentence1"]),),
        response=row["sentence2"],
        group=row["prem_id"],
        slices={"domain": row["genre"], "pattern": row["label"]},
        gold=OCNLI_GOLD[row["label"]],
    )


def verigray(row: Row) -> Iterator[Example]:
    """VeriGray (seed 002): summaries labelled sentence by sentence with seven labels.

    The authors' file could not be had here; this format follows the paper (section 4). JSON or JSON Lines,
    one summary a record: `id`, `document`, `sentences`: a list of `text`, `label`, and where given `reason`;
    `model` where known. Law: the document is the source; the response is `summary` where there is one, else
    the sentences joined by a blank; each sentence is a gold part at its place, in order, with its label under our
    name. The paper's prompt says Generally-Supported and Inconsistent for Implicitly-Supported and
    Contradicting: the same labels. The summary's own label is that of its least faithful sentence that states
    facts (none: no_fact); without an outcome, so gray, where that is ambiguous, out_dependent or no_fact.
    """
    texts, parts, stated = (
        [sentence["text"] for sentence in row["sentences"]],
        list[GoldPart](),
        list[Label](),
    )
    response = row.get("summary") or " ".join(texts)
    for at, sentence in zip(quotes_in_order(response, texts), row["sentences"], strict=True):
        # `Explicitly-Supported`, `explicitly_supported`, `Ambiguous (…)` all are read.
        name = sentence["label"].strip().lower().replace("_", "-").replace(" ", "-").split("(")[0].rstrip("-")
        if name not in LABEL_NAMES:
            wanted = ", ".join(LABEL_NAMES)
            raise BadInput(f"{sentence['label']!r} is not a VeriGray label; use one of {wanted}")
        label = LABEL_NAMES[name]
        parts.append(GoldPart(place=at, outcome=OUTCOME_OF.get(label), label=label))
        stated += [label] if label != "no_fact" else []
    least = min(stated, key=LABELS.index, default="no_fact")
    yield Example(
        id=str(row["id"]),
        task="summary",
        sources=(Document.of(row["document"]),),
        response=response,
        group=str(row.get("document_id", row["id"])),
        slices={"model": row["model"]} if row.get("model") else {},
        gold=Gold(outcome=OUTCOME_OF.get(least), label=least, parts=tuple(parts)),
    )

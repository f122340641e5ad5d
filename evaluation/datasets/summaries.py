"""Summaries, and claims about whole novels: LongNovel, VeriGray, NoCha, FaithBench and others.

Does not know: other sets.
"""

import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

from longproof.agent.types import LABELS, Label, Place
from longproof.evaluation.datasets.reading import (
    Location,
    Row,
    convert_rows,
    find_quote,
    parse_json,
    quotes_in_order,
    rows,
    rows_by_key,
    text_key,
    whole_text,
)
from longproof.evaluation.types import OUTCOME_OF, Example, Gold, GoldError, GoldOutcome, GoldPart
from longproof.graphs.papers.longnovel import KINDS
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput, Document

SCALES = {"2k": "S", "16k": "M", "32k": "L", "64k": "XL", "100k": "XXL"}
LONGNOVEL_OUTCOMES: dict[str, GoldOutcome] = {"有幻觉": "hallucinated", "无幻觉": "faithful"}
FAITHFUL_SCORE = 3
SANGUO = "sanguo_yanyi_三国演义.txt"
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
    out_dependent if a span is Benign (true by world knowledge), explicitly_supported without annotation. Gold
    errors are the Unwanted spans, with the annotator's note. A group is the passage. CC BY-NC-SA 4.0: no commercial
    use.
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
    `errors` entry is 0. The summary's `label` (1 faithful, 0 not) is the outcome even where no sentence is marked.
    A row whose marks are not one a sentence has no gold parts. MIT licence.
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
    """SummEdits: summaries with small edits, consistent with their document or not.

    Law: `label` 1 is faithful, 0 hallucinated; the original summary is the reference. The edits' names, sorted and
    joined by `+`, are the pattern. Ids repeat in the file, so each gets its number in its document. Apache-2.0.
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

    Law: `answer` true is faithful. A group is the paper, which both tasks and both answers share. MIT licence.
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
    contradiction is contradicting, neutral is fabricated (both hallucinated). CC BY-NC 2.0: not for commercial use.
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
    """VeriGray: summaries labelled sentence by sentence with seven labels.

    The authors' file could not be had here; this format follows the paper (section 4). JSON or JSON Lines, one
    summary a record: `id`, `document`, `sentences`: a list of `text`, `label`; `model` where known. Law: the
    response is `summary` where there is one, else the sentences joined by a blank; each sentence is a gold part at
    its place, in order, with its label under our name. The paper's prompt says Generally-Supported and Inconsistent
    for Implicitly-Supported and Contradicting: the same labels. The summary's own label is that of its least
    faithful sentence that states facts (none: no_fact); without an outcome, so gray, where that is ambiguous,
    out_dependent or no_fact.
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


def load_longnovel(location: Location) -> Iterator[Example]:
    """LongNovel as its authors published it: JSON or JSON Lines, one record a summary.

    A file, or `test.json` in a folder, with the fields that the release's README names (the data files could not be
    read here). Law: `output` is the gold answer in the form that the paper's prompts ask for, as text or as an
    object. Each detail is a gold error; one whose sentence does not stand in the summary is refused, not guessed.
    Slices: kind; scale, from the release's file names (test_16k.json and so on); and, as the paper draws it,
    position: the third of the summary that holds the first error. The release scores from 0 to 5 in a later prompt;
    a `score` below 3 is hallucinated.
    """
    named = re.search(r"_(\d+k)(?=[_.])", Path(location).name)
    scale = SCALES.get(named[1]) if named else None

    def convert(row: Row) -> Iterator[Example]:
        summary, errors = row["summary"], list[GoldError]()
        answer = parse_json(row["output"]) if isinstance(row["output"], str) else row["output"]
        said = answer.get("has_hallucination")
        if said is None and "score" in answer:
            outcome: GoldOutcome = "faithful" if int(answer["score"]) >= FAITHFUL_SCORE else "hallucinated"
        elif said in LONGNOVEL_OUTCOMES:
            outcome = LONGNOVEL_OUTCOMES[said]
        else:
            raise BadInput(f"has_hallucination is {said!r}, not one of {', '.join(LONGNOVEL_OUTCOMES)}")
        for detail in answer.get("details", []):
            error = GoldError(
                place=find_quote(summary, detail["hallucinated_sentence"]),
                kind=KINDS.get(detail["hallucination_type"]),
                name=detail["hallucination_type"],
                correction=detail.get("corrected_content", ""),
                reason=detail.get("reason", ""),
            )
            errors.append(error)
        slices = {"language": str(row.get("language", "zh"))} | ({"scale": scale} if scale else {})
        if errors:
            third = 3 * errors[0].place.start // max(1, len(summary))
            slices |= {"position": ("begin", "middle", "end")[third]}
            slices |= {"kind": errors[0].kind} if errors[0].kind else {}
        yield Example(
            id=str(row["id"]),
            task="summary",
            sources=(Document.of(row["article"]),),
            response=summary,
            group=str(row["id"]),
            slices=slices,
            gold=Gold(outcome=outcome, errors=tuple(errors)),
        )

    return convert_rows(rows(location, "test.json"), convert)


def load_longnovel_mini(location: Location) -> Iterator[Example]:
    """LongNovel-mini (Chinese): summaries of one to thirty units of a novel, half of them with one error.

    Law: a case's source is its part of `novel.txt`, its response the joined unit summaries, one line each. The
    error sentence of a hallucinated case is its one gold error; each line is a gold part, hallucinated where it
    holds the error. Slices: scale, position, kind. A group is the unit that was changed, so both cases of a pair,
    at all scales, stay together. Written for this project after LongNovel; the novel is in the public domain.
    """
    novel = whole_text(Path(location) / "novel.txt")

    def convert(row: Row) -> Iterator[Example]:
        summary, errors = row["summary"], list[GoldError]()
        slices = {"scale": row["scale"], "position": row["position"]}
        if row["label"] == "hallucinated":
            place = find_quote(summary, row["error_sentence"])
            errors.append(GoldError(place=place, kind=KINDS[row["type"]], name=row["type"]))
            slices["kind"] = KINDS[row["type"]]
        parts = list[GoldPart]()
        for line in quotes_in_order(summary, filter(None, summary.split("\n"))):
            wrong = any(line.start <= error.place.start < line.end for error in errors)
            parts.append(GoldPart(place=line, outcome="hallucinated" if wrong else "faithful"))
        source = novel[row["source_start"] : row["source_end"]]
        yield Example(
            id=row["id"],
            task="summary",
            sources=(Document.of(source, title="儒林外史"),),
            response=summary,
            group=str(row["unit"]),
            slices=slices,
            gold=Gold(outcome=row["label"], errors=tuple(errors), parts=tuple(parts)),
        )

    return convert_rows(rows(location, "cases.jsonl"), convert)


def load_nocha(location: Location) -> Iterator[Example]:
    """NoCha, public sample: true and false claims about whole novels, in pairs.

    Law: the novel is the source, the claim the response; `type` true is faithful. The two claims of a pair share
    `index` and count together (pair accuracy). A group is the pair. MIT licence; do not train on these.
    """
    books = rows_by_key(rows(location, "books.jsonl.gz"), "book_title", value="text")

    def convert(row: Row) -> list[Example]:
        title = row["book_title"]
        source = Document.of(books[title,], title=title)
        return [_claim(row, f"{title}-{row['index']}", source, {"book": title})]

    return convert_rows(rows(location, "claims.jsonl"), convert)


def _claim(row: Row, pair: str, source: Document, slices: dict[str, str]) -> Example:
    """One of a pair of claims, a true and a false one, about a novel."""
    return Example(
        id=f"{pair}-{'true' if row['type'] else 'false'}",
        task="summary",
        sources=(source,),
        response=row["claim"],
        group=pair,
        pair=pair,
        slices=slices,
        gold=Gold(outcome="faithful" if row["type"] else "hallucinated"),
    )


def load_sanguo_pairs(location: Location) -> Iterator[Example]:
    """Twenty pairs of true and false claims about Sanguo Yanyi, in modern Chinese, in the manner of NoCha.

    The location is the folder with the novel's text, or that file. Written for this project; each row quotes the
    `places` that decide it, and says `why` a false one is false; no judge sees either. A text in which a quote
    doesn't stand at its place is refused: the claims were not checked against it.
    """
    path = Path(location)
    source = Document.of(whole_text(path / SANGUO if path.is_dir() else path), title="三国演义")

    def convert(row: Row) -> list[Example]:
        for place in row["places"]:
            if not place["quote"] or not source.text.startswith(place["quote"], place["start"]):
                said = f"{place['quote']!r} does not stand at {place['start']}"
                raise BadInput(f"{said}: give the novel as it was checked")
        return [_claim(row, f"sanguo-{row['index']}", source, {})]

    with as_file(files(__package__) / "sanguo_pairs.jsonl") as claims:
        yield from convert_rows(rows(claims, claims.name), convert)

"""Claims and summaries of whole novels: LongNovel (seed 004), LongNovel-mini, NoCha's public sample, and our pairs.

Does not know: other sets.
"""

import re
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

from longproof.evaluation.datasets.reading import (
    Location,
    Row,
    convert_rows,
    find_quote,
    parse_json,
    quotes_in_order,
    rows,
    rows_by_key,
    whole_text,
)
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, GoldPart
from longproof.graphs.papers.longnovel import KINDS
from longproof.retrieval.types import BadInput, Document

SCALES = {"2k": "S", "16k": "M", "32k": "L", "64k": "XL", "100k": "XXL"}
OUTCOMES: dict[str, GoldOutcome] = {"有幻觉": "hallucinated", "无幻觉": "faithful"}
FAITHFUL_SCORE = 3
SANGUO = "sanguo_yanyi_三国演义.txt"


def load_longnovel(location: Location) -> Iterator[Example]:
    """LongNovel (seed 004) as its authors published it: JSON or JSON Lines, one record a summary.

    A file, or `test.json` in a folder, with the fields that the release's README names (the data files could not be
    read here). Law: the article is the source, the summary the response; `output` is the gold answer in the form that
    the paper's prompts ask for, as text or as an object. Each detail is a gold error; one whose sentence does not
    stand in the summary is refused, not guessed. Slices: kind, where there is one; scale, from the release's file
    names (test_16k.json and so on); and, as the paper draws it, position: the third of the summary that holds the
    first error (summaries follow the article). The release scores from 0 to 5 in a later prompt; an integer `score`
    below 3 is read as hallucinated.
    """
    named = re.search(r"_(\d+k)(?=[_.])", Path(location).name)
    scale = SCALES.get(named[1]) if named else None

    def convert(row: Row) -> Iterator[Example]:
        summary, errors = row["summary"], list[GoldError]()
        answer = parse_json(row["output"]) if isinstance(row["output"], str) else row["output"]
        said = answer.get("has_hallucination")
        if said is None and "score" in answer:
            outcome: GoldOutcome = "faithful" if int(answer["score"]) >= FAITHFUL_SCORE else "hallucinated"
        elif said in OUTCOMES:
            outcome = OUTCOMES[said]
        else:
            raise BadInput(f"has_hallucination is {said!r}, not one of {', '.join(OUTCOMES)}")
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

    Law: a case's source is its part of `novel.txt`, its response the joined unit summaries, one line each. The error
    sentence of a hallucinated case is its one gold error; each line is a gold part, hallucinated where it holds the
    error. Slices: scale, position, kind. A group is the unit that was changed, so both cases of a pair, at all
    scales, stay together. Written for this project after seed 004; the novel is in the public domain.
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

    The location is the folder with the novel's text, or that file. Law: the novel is the source, the claim the
    response; `type` true is faithful; the two claims of a pair share `index`. Written for this project; each row
    quotes the `places` that decide it, at their offsets, and says `why` a false one is false. No judge sees
    either. A text in which a quote doesn't stand at its place is refused: the claims were not checked against it.
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

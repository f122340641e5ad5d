"""LongNovel-mini (Chinese): summaries of one to thirty units of a novel, half of them with one error.

Law: a case's source is its stretch of `novel.txt` (`source_start` to `source_end`), its response the
joined unit summaries, one line each. `label` is the outcome. The error sentence of a hallucinated case is
its one gold error, with the kind of its Chinese name; each sentence's line is a gold part, hallucinated
where it holds the error. Line i retells unit (first unit + i): that is the gold alignment. Slices: scale,
position, kind. A group is the unit that was changed, so both cases of a pair, at all scales, stay together.
Written for this project after seed 004; the novel is in the public domain.
"""

from collections.abc import Iterator
from pathlib import Path

from longproof.agent.types import Kind
from longproof.evaluation.datasets.reading import Location, Row, converted, find, keyed, lines, place, rows
from longproof.evaluation.types import Aligned, Example, Gold, GoldError, GoldEvidence, GoldPart, Source
from longproof.retrieval.types import BadInput

KIND_NAMES: dict[str, Kind] = {
    "实体幻觉": "entity",
    "数字幻觉": "numerical",
    "关系幻觉": "relation",
    "反向陈述": "inversion",
    "事件幻觉": "event",
    "时间线乱序": "temporal",
    "因果链伪造": "causal",
    "虚构事件": "fabrication",
}
"""LongNovel's eight types, as its prompts and this set name them."""


def read(location: Location) -> Iterator[Example]:
    """All cases, in the file's order. The location is the folder."""
    folder = Path(location)
    try:
        novel = (folder / "novel.txt").read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot read {folder / 'novel.txt'}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{folder / 'novel.txt'} is not UTF-8: save the file as UTF-8") from error
    units = keyed(rows(folder, "annotations.jsonl"), lambda row: (row["unit"], row))
    return converted(rows(folder, "cases.jsonl"), lambda row: [_example(row, novel, units)])


def _example(row: Row, novel: str, units: dict[int, Row]) -> Example:
    source = novel[row["source_start"] : row["source_end"]]
    errors = [_error(row)] if row["label"] == "hallucinated" else []
    slices = {"scale": row["scale"], "position": row["position"]}
    return Example(
        id=row["id"],
        task="summary",
        sources=(Source(text=source, title="儒林外史"),),
        response=row["summary"],
        group=str(row["unit"]),
        slices=slices | ({"kind": KIND_NAMES[row["type"]]} if errors else {}),
        gold=Gold(
            outcome=row["label"],
            errors=tuple(errors),
            parts=tuple(_parts(row["summary"], errors)),
            alignment=tuple(_alignment(row, source, units)),
        ),
    )


def _error(row: Row) -> GoldError:
    return GoldError(
        place=find(row["summary"], row["error_sentence"]), kind=KIND_NAMES[row["type"]], name=row["type"]
    )


def _parts(summary: str, errors: list[GoldError]) -> Iterator[GoldPart]:
    for line in lines(summary):
        wrong = any(line.start <= error.place.start < line.end for error in errors)
        yield GoldPart(place=line, outcome="hallucinated" if wrong else "faithful")


def _alignment(row: Row, source: str, units: dict[int, Row]) -> Iterator[Aligned]:
    """Line i against the i-th unit from the first one of the case's stretch."""
    inside = [
        unit for _, unit in sorted(units.items()) if row["source_start"] <= unit["start"] < row["source_end"]
    ]
    for line, unit in zip(lines(row["summary"]), inside, strict=True):
        start, end = unit["start"] - row["source_start"], unit["end"] - row["source_start"]
        yield Aligned(part=line, evidence=GoldEvidence(source=0, place=place(source, start, end)))

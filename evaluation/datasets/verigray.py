"""VeriGray (seed 002): summaries labelled sentence by sentence with seven labels.

The authors' file could not be had here; this format follows the paper (section 4). JSON or JSON Lines,
one summary a record: `id`, `document`, `sentences`: a list of `text`, `label`, and where given `reason`;
`model` where known. Law: the document is the source; the response is `summary` where there is one, else
the sentences joined by a blank; each sentence is a gold part at its place, in order, with its label under our
name. The paper's prompt says Generally-Supported and Inconsistent for Implicitly-Supported and
Contradicting: the same labels. The summary's own label is that of its least faithful sentence that states
facts (none: no_fact); it is hallucinated where that is contradicting or fabricated, faithful where it is
supported, gray (no outcome) where it is ambiguous, out_dependent or no_fact.
"""

from collections.abc import Iterator

from longproof.agent.types import LABELS, Label
from longproof.evaluation.datasets.reading import Row, find_quote
from longproof.evaluation.types import OUTCOME_OF, Example, Gold, GoldPart, Source
from longproof.retrieval.types import BadInput

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


def verigray(row: Row) -> Iterator[Example]:
    """The example of one record, as this module's docstring says."""
    texts = [sentence["text"] for sentence in row["sentences"]]
    response = row.get("summary") or " ".join(texts)
    parts, after = [], 0
    for sentence in row["sentences"]:
        at, label = find_quote(response, sentence["text"], after), _label(sentence["label"])
        parts.append(GoldPart(place=at, outcome=OUTCOME_OF.get(label), label=label))
        after = at.end
    stated = [part.label for part in parts if part.label and part.label != "no_fact"]
    least: Label = min(stated, key=LABELS.index, default="no_fact")
    yield Example(
        id=str(row["id"]),
        task="summary",
        sources=(Source(text=row["document"]),),
        response=response,
        group=str(row.get("document_id", row["id"])),
        slices={"model": row["model"]} if row.get("model") else {},
        gold=Gold(outcome=OUTCOME_OF.get(least), label=least, parts=tuple(parts)),
    )


def _label(name: str) -> Label:
    """Our name of a label: `Explicitly-Supported`, `explicitly_supported`, `Ambiguous (…)` all are read."""
    known = name.strip().lower().replace("_", "-").replace(" ", "-").split("-(")[0].split("(")[0]
    if known not in LABEL_NAMES:
        raise BadInput(f"{name!r} is not a VeriGray label; use one of {', '.join(LABEL_NAMES)}")
    return LABEL_NAMES[known]

"""The bundled stories, ours: each with a faithful summary and one with four planted errors;
`stories.jsonl` has short responses to them, the data set `stories`.

Knows: where they lie. Does not know: what is done with them.
"""

import json
from importlib.resources import files

from longproof.agent.report import WRONG
from longproof.agent.types import Report
from longproof.retrieval.types import BadInput, Document

LANGUAGES = ("en", "zh")


def example(language: str, summary: str = "hallucinated") -> tuple[Document, Document]:
    """The story and a summary of it: `hallucinated` or `faithful`. Raises BadInput for another language."""
    if language not in LANGUAGES:
        raise BadInput(f"there is no example in {language!r}: choose one of {', '.join(LANGUAGES)}")
    folder = files(__name__) / language
    story, text = ((folder / f"{name}.txt").read_text("utf-8") for name in ("story", summary))
    return Document.of(story, title=f"story ({language})"), Document.of(text, title=summary)


def hits(report: Report, language: str) -> str:
    """How many of the planted errors the findings touch, and how many sentences were flagged without one."""
    planted = json.loads((files(__name__) / language / "planted.json").read_text("utf-8"))
    flagged = [s for s in report.sentences if s.label in WRONG]
    touched = [e for e in planted if any(s.start < e["end"] and e["start"] < s.end for s in flagged)]
    wrongly = sum(not any(s.start < e["end"] and e["start"] < s.end for e in planted) for s in flagged)
    kinds = ", ".join(e["kind"] for e in planted if e not in touched)
    return (
        f"{len(touched)} of {len(planted)} planted errors found, {wrongly} sentences flagged without one"
        + (
            f"; not seen: {kinds}. To see those takes a model: give --judge openai:MODEL to `verify`"
            if kinds
            else ""
        )
    )

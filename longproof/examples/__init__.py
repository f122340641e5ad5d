"""The bundled stories, ours: each with a faithful summary, one with four planted errors, and what the demo needs;
`stories.jsonl` has short responses to them, the data set `stories`. `small_*.jsonl`, over the texts and saved pages
in `small`, are data sets for the papers' methods.

Knows: where they lie. Does not know: what is done with them.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from longproof.agent.report import WRONG
from longproof.agent.types import Report
from longproof.report.words import words
from longproof.retrieval.types import BadInput, Document

LANGUAGES = ("en", "zh")


def example(language: str, summary: str = "hallucinated") -> tuple[Document, Document]:
    """The story and a summary of it: `hallucinated` or `faithful`. Raises BadInput for another language."""
    if language not in LANGUAGES:
        raise BadInput(f"there is no example in {language!r}: choose one of {', '.join(LANGUAGES)}")
    folder = files(__name__) / language
    story, text = ((folder / f"{name}.txt").read_text("utf-8") for name in ("story", summary))
    return Document.of(story, title=f"story ({language})"), Document.of(text, title=summary)


def demo_summary(language: str) -> str:
    """The flawed summary with two sentences more: a reading of the story on which judges may differ, and a fact that
    only a saved page bears out."""
    more = (files(__name__) / language / "beyond.txt").read_text("utf-8")
    return f"{example(language)[1].text.rstrip()}\n{more}"


def pages(name: str) -> Path:
    """The folder of saved web pages that the demo consults, by its language, or of those for `small` data sets."""
    return Path(__file__).parent / name / "pages"


def recording(language: str) -> Path:
    """The file of the demo's recorded answers."""
    return Path(__file__).parent / language / "recorded.gz"


def demo_settings(language: str, path: Path | None = None) -> dict[str, Any]:
    """The settings that answer the demo from its recording, or from this one: judges, arbiter, pages, the recording.

    Raises BadInput where it can't be read, or is of something else.
    """
    from longproof.agent.models.ledger import Replay

    replay = Replay.open(path or recording(language))
    run = replay.header.run
    judges, arbiter = run.get("judges"), run.get("arbiter")
    if run.get("demo") != language or not isinstance(judges, list) or not isinstance(arbiter, str):
        raise BadInput(f"{replay.path} is no recording of the demo in {language!r}")
    named = {"judges": list(map(str, judges)), "arbiter": arbiter}
    return {**named, "recording": replay, "pages": str(pages(language))}


def hits(report: Report, language: str) -> str:
    """The line on how many planted errors the findings touch, and how many sentences were flagged without one."""
    planted = json.loads((files(__name__) / language / "planted.json").read_text("utf-8"))
    flagged = [sentence for sentence in report.sentences if sentence.label in WRONG]
    touched, right = set[int](), set[int]()
    for sentence in flagged:
        for error in planted:
            if sentence.start < error["end"] and error["start"] < sentence.end:
                touched.add(error["start"])
                right.add(sentence.start)
    say = words("zh" if language == "zh" else "en", "demo")
    line = say["hits"].format(touched=len(touched), planted=len(planted), wrongly=len(flagged) - len(right))
    if unseen := [say[error["kind"]] for error in planted if error["start"] not in touched]:
        line += say["hits_unseen"].format(kinds=say["list_comma"].join(unseen))
        line += say["hits_by_model"] if report.triage else ""
    return line

"""What labels, kinds, rounds and failures are called where people read them: `words.json`, in English and Chinese.

Labels are VeriGray's (seed 002), kinds LongNovel's eight (seed 004, Appendix A). The data keep the
English keys; only what is shown is translated. Does not know: where a word is shown.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from longproof.retrieval.text.tokens import is_chinese

Language = Literal["en", "zh"]
Section = Literal["report", "serve", "demo"]
"""Of the file: the report's words, those of the local pages, and those of the demo."""

SIGNS: dict[str, str] = {
    "contradicting": "✗",
    "fabricated": "∅",
    "ambiguous": "≈",
    "no_fact": "·",
    "out_dependent": "↗",
    "implicitly_supported": "✓",
    "explicitly_supported": "✔",
    "not_found": "○",
    "undecided": "?",
    "not_checked": "–",
    "hallucinated": "✗",
    "faithful": "✔",
    "open": "…",
    "running": "▸",
    "stopped": "‖",
    "waiting": "?",
    "failed": "!",
}
"""One sign a label, so that colour never says anything alone; then those of runs without a report."""


def language(text: str) -> Language:
    """The language to speak about this text in."""
    return "zh" if is_chinese(text) else "en"


@cache
def words(spoken: Language, section: Section = "report") -> Mapping[str, str]:
    """The report's words in that language, and those of another section over them.

    Phrases have `{places}` to be filled by `str.format`.
    """
    sections = json.loads(files("longproof.report").joinpath("words.json").read_text(encoding="utf-8"))
    column = ("en", "zh").index(spoken)
    return {key: pair[column] for key, pair in {**sections["report"], **sections[section]}.items()}

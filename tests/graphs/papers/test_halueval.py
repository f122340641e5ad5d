"""HaluEval (seed 003) through the graph: one call a response, yes or no, knowledge only where the row gives it."""

from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from papers import traced, verifier
from reader import Asked, Reader

from longproof.graphs.papers import PAPERS
from longproof.retrieval.types import BadInput

KNOWLEDGE = "The Orla bridge was opened in 1911. It is 340 metres long."
ASKED = "When was the Orla bridge opened?"
RIGHT, MADE_UP = "It was opened in 1911.", "It was opened in 1921. It was built by two brothers."
ROWS = [one.name for one in PAPERS if one.name.startswith("halueval-")]
PATTERNS = {
    "qa": ("Comprehension", "Factualness", "Specificity", "Inference"),
    "dialogue": ("Extrinsic, soft", "Extrinsic, hard", "Extrinsic, grouped"),
    "summary": ("Factual", "Non-factual", "Intrinsic"),
    "general": ("Unverifiable", "Non-factual", "Irrelevant"),
}


def word(asked: Asked) -> str:
    return "yes" if asked.parts("response") == [MADE_UP] else "no"


def contrasted(asked: Asked) -> dict[str, Any]:
    return {"hallucinated": "first" if asked.parts("first") == [MADE_UP] else "second"}


SCRIPT = Reader(
    Recognition=lambda asked: {"answer": word(asked).title()},
    ReasonedRecognition=lambda asked: {"reasoning": "Step by step.", "answer": word(asked)},
    Contrast=contrasted,
)


def checked(protocol: str, response: str, home: Path) -> tuple[Any, list[str], Asked]:
    source = "" if protocol.startswith("halueval-general") else KNOWLEDGE
    other = RIGHT if response == MADE_UP else MADE_UP
    with ChatServer(SCRIPT) as server:
        report, path, _ = traced(
            verifier(server, home, protocol), source, response, context=ASKED, task="answer", reference=other
        )
        (asked,) = server.asked
    return report, path, asked


def test_there_are_the_variants_of_table_9() -> None:
    assert sorted(ROWS) == sorted(
        [f"halueval-{task}" for task in PATTERNS]
        + [f"halueval-{task}-cot" for task in PATTERNS]
        + [f"halueval-{task}-knowledge" for task in ("qa", "dialogue")]
        + [f"halueval-{task}-contrast" for task in ("qa", "dialogue", "summary")]
    )


def test_the_right_text_is_called_so(tmp_path: Path) -> None:
    assert checked("halueval-qa-contrast", RIGHT, tmp_path)[0].verdict == "faithful"


def test_a_contrast_needs_the_right_text(tmp_path: Path) -> None:
    with (
        ChatServer(SCRIPT) as server,
        pytest.raises(BadInput, match="needs the right text beside the response"),
    ):
        verifier(server, tmp_path, "halueval-qa-contrast").verify(KNOWLEDGE, RIGHT)

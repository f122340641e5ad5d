"""The estimate against what real runs of a scripted panel cost."""

from pathlib import Path
from typing import Any

import pytest
from fakes import Asked, ChatServer, findings, taken
from papers import answers, verifier

from longproof.graphs.cost import cost
from longproof.graphs.protocols import PROTOCOLS, protocol

SOLD = "On day {n} the keeper of gate {n} sold lamps to the miller of gate {n}, and they spoke of it."
SOURCE = "\n".join(f"Chapter {n}. {SOLD.format(n=n)}" for n in range(900))
INVENTED = "On that day a dragon of the north ate seven purple kings, and nobody wept over any of them."
RESPONSE = " ".join([*(SOLD.format(n=n) for n in range(0, 400, 50)), INVENTED, INVENTED])


def halves(asked: Asked) -> dict[str, Any]:
    """Two claims a sentence."""
    return {
        "claims": [c for item in asked.items("sentences") for c in taken(item, item["text"].split(", and "))]
    }


SCRIPT = answers(
    Sentences=halves,
    Findings=findings,
    Option={"facts": [], "label": "implicitly_supported"},
    Narrative={"has_hallucination": "无幻觉", "details": []},
    MadeUp={"hallucinated": []},
    Recognition={"answer": "no"},
    Segments=lambda asked: {"thinking": "", "segments": [SOURCE[n * 400 : n * 400 + 150] for n in range(3)]},
    PassFail={"reasoning": "", "verdict": "pass"},
)


@pytest.mark.parametrize(
    ("name", "judges", "within"),
    [
        ("longproof", 3, 2.0),
        ("longnovel-rag", 1, 1.6),
        ("longnovel-zero-shot", 2, 1.1),
        ("probe-direct", 1, 1.1),
        ("verigray", 1, 1.5),
        ("halueval-summary", 1, 1.1),
        ("probe", 2, 2.2),
    ],
)
def test_estimates_are_near_what_runs_cost(name: str, judges: int, within: float, tmp_path: Path) -> None:
    with ChatServer(SCRIPT) as server:
        report = verifier(server, tmp_path, name, judges).verify(SOURCE, RESPONSE)
    expected = cost(protocol(name), len(SOURCE), len(RESPONSE), judges)
    passes = report.usage.prompt_characters / len(SOURCE)
    assert expected.passes / within <= passes <= expected.passes * within, (passes, expected)
    assert expected.calls / within <= report.usage.calls <= expected.calls * within, (
        report.usage.calls,
        expected,
    )


@pytest.mark.parametrize("name", PROTOCOLS)
def test_more_judges_and_longer_responses_cost_more(name: str) -> None:
    row = protocol(name)
    one, three = cost(row, 300_000, 1000, 1), cost(row, 300_000, 1000, 3)
    long = cost(row, 300_000, 20_000, 1)
    assert one.calls < three.calls
    assert one.passes < three.passes
    assert one.passes < long.passes


def test_ours_reads_less_than_once_what_others_read_often() -> None:
    alone = {name: cost(row, 300_000, 1000, 1).passes for name, row in PROTOCOLS.items()}
    costs = {name: cost(row, 300_000, 1000, 3).passes for name, row in PROTOCOLS.items()}
    assert alone["longproof"] < 0.6
    assert costs["longproof"] < 1.5
    assert costs["longnovel-zero-shot"] > 3
    assert costs["verigray"] > 30
    assert costs["probe"] > 60

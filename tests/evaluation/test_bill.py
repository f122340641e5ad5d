"""benchmarks/bill.py: every character of a run is in the bill once, read or written."""

from pathlib import Path
from types import ModuleType

import pytest
from fakes import ChatServer
from papers import answers, verifier
from scripts import benchmark

SOURCE = "The lamp was lit at nine. Ada sold the boat to Tom. Nobody was hurt. " * 30
RESPONSE = "Ada sold the boat to Tom. The lamp was lit at ten."


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benchmark("bill")


@pytest.mark.parametrize("protocol", ["longproof", "probe", "verigray", "plain"])
def test_all_that_was_read_and_written_is_in_the_bill(
    bench: ModuleType, protocol: str, tmp_path: Path
) -> None:
    said = {
        "Option": {"facts": ["it is so"], "label": "fabricated"},
        "Segments": {"thinking": "", "segments": [SOURCE[:25]]},
        "PassFail": {"reasoning": "", "verdict": "pass"},
        "WrongSentences": {"wrong": []},
    }
    with ChatServer(answers(**said)) as server:
        report = verifier(server, tmp_path, protocol, 2).verify(SOURCE, RESPONSE)
    found = bench.bill(tmp_path / "ledger.sqlite", [report])
    assert sum(line["calls"] for line in found.values()) == report.usage.calls
    read = sum(n for line in found.values() for name, n in line.items() if name.startswith("< "))
    wrote = sum(n for line in found.values() for name, n in line.items() if name.startswith("> "))
    assert (read, wrote) == (report.usage.prompt_characters, report.usage.answer_characters)
    for purpose, line in found.items():
        assert line["< template"] > 0, purpose
        assert line["< rest"] > 0, purpose
    assert set(found) == {call.purpose for call in report.calls}


def test_without_reports_the_answers_are_split_alone(bench: ModuleType, tmp_path: Path) -> None:
    with ChatServer(answers(WrongSentences={"wrong": []})) as server:
        report = verifier(server, tmp_path, "plain").verify(SOURCE, RESPONSE)
    (line,) = bench.bill(tmp_path / "ledger.sqlite", []).values()
    assert line["calls"] == 1
    assert sum(n for name, n in line.items() if name.startswith("> ")) == report.usage.answer_characters


def test_fields_take_their_names_with_them(bench: ModuleType) -> None:
    text = '{"findings": [{"claim": "C1", "reason": "so"}, {"claim": "C2", "reason": "不"}]}'
    found = bench.written("Let me see. " + text)
    assert found["claim"] == 2 * len('"claim": "C1"')
    assert found["reason"] == len('"reason": "so"') + len('"reason": "不"')
    assert found.total() == len(text) + len("Let me see. ")
    assert bench.written("no form at all") == {"layout": 14}


def test_short_answers_are_split_into_what_they_say_and_what_they_cite(bench: ModuleType) -> None:
    claims = '"claims": ["S1 Mara sold it @ sold\u2026boat", "S2 -"]'
    text = '{"short": ["C1 E 12 Ada lit; 15 Tom said", "C2 N"], ' + claims + "}"
    found = bench.written(text)
    assert found["citations"] == len("12 Ada lit; 15 Tom said")
    assert found["segments"] == len(" @ sold\u2026boat")
    assert found["short"] == len('"short": "C1 E ""C2 N"')
    assert found.total() == len(text)

"""Every door opens every method: what `longproof protocols` lists runs in Python, in the terminal, in a batch, in an
evaluation and in Studio. All doors say the same of one case of a bundled set."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import Reader
from terminal import run

from longproof import Verifier, studio
from longproof.evaluation.datasets import examples
from longproof.evaluation.types import Example
from longproof.examples import pages
from longproof.graphs.papers.data_to_text import Steps
from longproof.graphs.state import VerifyInput
from longproof.graphs.verify import protocols

ROOT = Path(__file__).parents[2]
GRAPHS = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
SETS = {
    "halueval-qa": "small_qa",
    "halueval-dialogue": "small_dialogue",
    "halueval-summary": "small_summary",
    "halueval-general": "small_general",
    "verigray-audit": "small_audit",
    "data-to-text": "small_record",
}
"""The bundled set that a method's cases are from, by the beginning of its name; of all others small_claims."""
TRUE = {"has_hallucination": "无幻觉", "details": []}
agreeing = Reader(
    Segments=lambda asked: {"segments": asked.part("evidence").splitlines()[:1]},
    PassFail={"reasoning": "It says so.", "verdict": "pass"},
    Option={"label": "explicitly_supported"},
    Attribution=lambda asked: {
        "answer": "contradictory" if "agreed to" in asked.part("passage") else "attributable"
    },
    Narrative=TRUE,
    AnalysedNarrative={"analysis": "Word for word.", **TRUE},
    Recognition={"answer": "no"},
    ReasonedRecognition={"reasoning": "Word for word.", "answer": "no"},
    Contrast={"hallucinated": "first"},
    Article={"reasoning": dict.fromkeys(Steps.model_fields, "Looked up."), "hallucination_list": []},
    MadeUp={"hallucinated": []},
    WrongSentences={"wrong": []},
)


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(agreeing, delay_s=0.03) as server:
        yield server


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own, and no certificates: reading them takes most of a client's time."""
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setattr("longproof.progress.LINES_S", 0.01)
    return tmp_path


def example_of(protocol: str) -> Example:
    """The first case of the set that has what the method needs."""
    name = next((name for start, name in SETS.items() if protocol.startswith(start)), "small_claims")
    return examples(name)[0]


def options_of(folder: Path, example: Example) -> list[str]:
    """The options of `verify` that name files with the example's texts."""
    options = ["--task", example.task]
    texts = {"response": example.response, "context": example.context, "reference": example.reference}
    texts["labels"] = "\n".join(example.labels or ())
    for source in example.sources:
        texts["source"] = source.raw or source.text
    for name, text in texts.items():
        if text:
            path = folder / f"{name}.{'json' if name == 'source' and example.task == 'article' else 'txt'}"
            path.write_text(text, "utf-8")
            options += [f"--{name}", str(path)]
    return options


def row_of(example: Example) -> str:
    """The example as a line of a case file."""
    row = example.model_dump(include={"id", "task", "response", "context", "reference", "labels"})
    texts = [json.loads(source.raw) if source.raw else source.text for source in example.sources]
    return json.dumps({**row, "source_text": texts[0] if texts else []})


def said(report: dict[str, Any]) -> tuple[str, list[str]]:
    """The method of a report, and the label of each claim."""
    return report["stamp"]["protocol"], [claim["label"] for claim in report["claims"]]


@pytest.mark.parametrize("protocol", protocols())
def test_a_method_runs_through_every_door(protocol, server, folder, monkeypatch, capsys):
    example = example_of(protocol)
    settings: dict[str, Any] = {"protocol": protocol, "judges": [f"openai:m@{server.address}"]}
    if protocol == "verigray-rag":
        settings["pages"] = str(pages("small"))
    case = example.model_dump(include={"task", "context", "reference", "labels"})
    report = Verifier(**settings).verify(list(example.sources), example.response, progress=True, **case)
    labels = [claim.label for claim in report.claims]
    wanted = (protocol, labels)
    assert report.stamp["protocol"] == protocol
    assert labels
    assert None not in labels

    method = ["--protocol", protocol, "--judge", *settings["judges"]]
    method += ["--pages", settings["pages"]] if "pages" in settings else []
    saved = folder / "report.json"
    verify = ["verify", *options_of(folder, example), *method, "--json", saved]
    bar = f"checking claims, {len(labels)} of {len(labels)}"
    for terminal, cache, shown in (("0", "--no-cache", "longproof: after"), ("1", "--cache", bar)):
        monkeypatch.setenv("TTY_COMPATIBLE", terminal)
        assert run(*verify, cache) == 0
        assert shown in capsys.readouterr().err
        assert said(json.loads(saved.read_bytes())) == wanted

    cases = folder / "cases.jsonl"
    cases.write_text(row_of(example), "utf-8")
    for command in ("batch", "evaluate"):
        assert run(command, cases, *method, "--out", folder / command, "--html") == 0
        (saved,) = (folder / command / "reports").glob("*.json")
        assert said(json.loads(saved.read_bytes())) == wanted

    name = "verify" if protocol == "longproof" else protocol.replace("-", "_")
    graph = getattr(studio, GRAPHS[name]["path"].removeprefix("longproof.studio:"))
    texts = "".join(source.raw or source.text for source in example.sources)
    form = VerifyInput(source=texts, response=example.response, **case)
    made = asyncio.run(graph.ainvoke(form, context=settings))
    assert said(made["report"].model_dump()) == wanted

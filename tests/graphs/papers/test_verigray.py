"""VeriGray (seed 002): seven labels on their edges, snippets first, an audit of given labels; rules and graphs."""

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from papers import END, asked_for, traced, verifier
from reader import Asked, Reader
from walked import SAID as WORD
from walked import claim, judgement

from longproof import Verifier
from longproof.agent.specs import Spec
from longproof.agent.types import LABELS as ALL
from longproof.agent.types import Case, Label
from longproof.graphs.papers.paper import Decision, Unit
from longproof.graphs.papers.verigray import AUDIT, by_dispute, disputes

GRAY = files("longproof.examples") / "gray"
ARTICLE, SUMMARY = ((GRAY / f"{name}.txt").read_text("utf-8") for name in ("article", "summary"))
SAID: list[dict[str, Any]] = json.loads((GRAY / "labels.json").read_text("utf-8"))
LABELS: dict[str, Label] = {said["sentence"]: said["label"] for said in SAID}
PAGE_QUOTE = next(said["page_quote"] for said in SAID if "page_quote" in said)


def option(asked: Asked) -> dict[str, Any]:
    (sentence,) = asked.parts("passage")
    label = LABELS[sentence]
    snippets = asked.parts("pages")
    if label == "out_dependent" and not any(PAGE_QUOTE in text for text in snippets):
        label = "fabricated"
    return {"facts": ["a fact"], "label": label.replace("_", "-").title()}


def test_verigray_rag_retrieves_three_snippets_by_the_sentence_before_it_judges(tmp_path: Path) -> None:
    with as_file(GRAY / "pages") as pages, ChatServer(Reader(Option=option)) as server:
        asks = verifier(server, tmp_path, "verigray-rag", pages=str(pages))
        report, path, _ = traced(asks, ARTICLE, SUMMARY)
        asked = asked_for(server, "Option")
    assert path == ["read", "cut", "retrieve", "ask", "vote", *END]
    assert len(server.asked) == len(asked) == len(SAID)
    assert all(len(one.parts("pages")) == 3 and one.body["temperature"] == 0.6 for one in asked)
    assert [claim.label for claim in report.claims] == [said["label"] for said in SAID]
    assert {document.role for document in report.documents} == {"response", "source", "page"}


def test_a_judges_own_temperature_goes_before_the_papers(tmp_path: Path) -> None:
    with ChatServer(Reader(Option=option)) as server:
        spec = Spec(kind="openai", model="m", address=server.address, temperature=0.1)
        asks = Verifier([spec], protocol="verigray", home=str(tmp_path))
        asks.verify(ARTICLE, SAID[0]["sentence"])
    assert [one.body["temperature"] for one in server.asked] == [0.1]


GIVEN: list[Label] = [said["label"] for said in SAID]


RIGHT = {"contradicting": "contradictory", "fabricated": "not_attributable", "no_fact": "not_attributable"}


def audit(wrong: str | None, home: Path) -> tuple[Any, list[Asked]]:
    """Five models of which the last one contradicts the sentence of this label."""

    def said(asked: Asked) -> dict[str, str]:
        label = LABELS[asked.part("passage")]
        disputes = label == wrong and asked.body["model"] == "m4"
        return {"answer": "contradictory" if disputes else RIGHT.get(label, "attributable")}

    with ChatServer(Reader(Attribution=said)) as server:
        report, _, _ = traced(verifier(server, home, "verigray-audit", 5), ARTICLE, SUMMARY, labels=GIVEN)
        return report, list(server.asked)


def test_an_audit_leaves_ambiguous_and_out_dependent_alone_and_asks_five_models_about_the_rest(
    tmp_path: Path,
) -> None:
    report, asked = audit(None, tmp_path)
    assert {LABELS[one.part("passage")] for one in asked} == set(GIVEN) - {"ambiguous", "out_dependent"}
    assert len(asked) == 5 * 5
    assert [claim.label for claim in report.claims] == GIVEN


def test_one_model_that_disputes_a_label_flags_it(tmp_path: Path) -> None:
    report, _ = audit("no_fact", tmp_path)
    (one,) = [claim for claim in report.claims if claim.label is None]
    assert (report.case.labels[one.sentence], one.failure) == ("no_fact", "disputed")
    assert [said.label for said in one.judgements].count("contradicting") == 1
    assert len(one.judgements) == 5


PANEL = st.lists(WORD, min_size=1, max_size=5)


def audited(label: Label, said: list[str]) -> Decision:
    """What comes of a given label when the panel says this."""
    judgements = tuple(judgement("q0", f"j{n}", word) for n, word in enumerate(said))
    case = Case(id="x", response="Ada lit the lamp at ten.", labels=(label,))
    return by_dispute(Unit(claim=claim().claim, judgements=judgements), AUDIT, case, 2 / 3)


@given(st.sampled_from(ALL), PANEL)
def test_one_dispute_flags_and_a_panel_that_only_fails_says_so(label: Label, said: list[str]) -> None:
    made = audited(label, said)
    words: list[Any] = [word for word in said if word in (*ALL, "not_found")]
    if not words:
        assert made.label is None
        assert made.failure in said
    elif any(disputes(label, word) for word in words):
        assert (made.label, made.failure, made.decided_by) == (None, "disputed", "nobody")
    else:
        assert (made.label, made.decided_by) == (label, "vote")

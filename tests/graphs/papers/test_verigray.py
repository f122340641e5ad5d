"""VeriGray (seed 002): seven labels on their edges, snippets first, an audit of given labels; rules and graphs."""

import json
import random
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from papers import END, SPLIT, asked_for, traced, verifier
from reader import Asked, Reader
from scripted import ScriptedArbiter, ScriptedJudge, WholeSentences
from walked import SAID as WORD
from walked import claim, judgement

from longproof import Verifier
from longproof.agent.specs import Spec
from longproof.agent.types import LABELS as ALL
from longproof.agent.types import Case, Claim, Label, Question
from longproof.graphs.papers.paper import Decision, Unit
from longproof.graphs.papers.verigray import AUDIT, by_dispute, disputes, review_list
from longproof.retrieval.types import BadInput

GRAY = files("longproof.examples") / "gray"
ARTICLE, SUMMARY = ((GRAY / f"{name}.txt").read_text("utf-8") for name in ("article", "summary"))
SAID: list[dict[str, Any]] = json.loads((GRAY / "labels.json").read_text("utf-8"))
LABELS: dict[str, Label] = {said["sentence"]: said["label"] for said in SAID}
PAGE_QUOTE = next(said["page_quote"] for said in SAID if "page_quote" in said)


def reader(question: Question, claim: Claim) -> str:
    """Judges the gray example rightly: what isn't in the article is not found until a page shows it."""
    label = LABELS[claim.text]
    if label == "out_dependent":
        shown = any(PAGE_QUOTE in span.text for span in question.shown)
        return label if shown else "not_found"
    return "not_found" if label == "fabricated" else label


def gray(sentence: str, pages: Path | None, home: Path) -> Any:
    judges = [ScriptedJudge(f"j{n}", reader) for n in range(3)]
    asks = Verifier(
        judges,
        arbiter=ScriptedArbiter("ambiguous"),
        decomposer=WholeSentences(),
        pages=str(pages) if pages else None,
        home=str(home),
    )
    report, _, (path,) = traced(asks, ARTICLE, sentence)
    return report.claims[0], " ".join(path)


ONCE = "gather judge vote"
PATHS = {
    "explicitly_supported": f"{ONCE} localise",
    "implicitly_supported": f"{ONCE} localise",
    "no_fact": f"{ONCE} localise",
    "contradicting": f"{ONCE} localise",
    "ambiguous": f"{ONCE} localise",
    "out_dependent": f"{ONCE} consult judge vote localise",
    "fabricated": f"{ONCE} consult judge vote localise",
}
"""The article is shown whole and once, so that nothing is left to look at; what it doesn't have goes to the pages."""


@pytest.mark.parametrize("sentence", LABELS)
def test_each_sentence_of_the_gray_example_goes_its_way(sentence: str, tmp_path: Path) -> None:
    with as_file(GRAY / "pages") as pages:
        claim, path = gray(sentence, pages, tmp_path)
    assert claim.label == LABELS[sentence]
    assert path == PATHS[LABELS[sentence]]
    assert claim.caveat == ""


def test_without_pages_the_out_dependent_sentence_is_fabricated_with_the_caveat(tmp_path: Path) -> None:
    sentence = next(text for text, label in LABELS.items() if label == "out_dependent")
    claim, path = gray(sentence, None, tmp_path)
    assert (claim.label, claim.caveat) == ("fabricated", "outside knowledge not consulted")
    assert path == f"{ONCE} consult localise"


def option(asked: Asked) -> dict[str, Any]:
    (sentence,) = asked.parts("passage")
    label = LABELS[sentence]
    snippets = asked.parts("pages")
    if label == "out_dependent" and not any(PAGE_QUOTE in text for text in snippets):
        label = "fabricated"
    return {"facts": ["a fact"], "label": label.replace("_", "-").title()}


def test_verigray_asks_one_judge_once_a_sentence_at_0_6_with_the_whole_document(tmp_path: Path) -> None:
    with ChatServer(Reader(Option=option)) as server:
        report, path, _ = traced(verifier(server, tmp_path, "verigray"), ARTICLE, SUMMARY)
        asked = asked_for(server, "Option")
    assert len(server.asked) == len(asked) == len(SAID), "one call a sentence, and nothing else"
    for one in asked:
        assert one.body["temperature"] == 0.6
        assert one.parts("evidence") == [ARTICLE]
        assert one.parts("response") == [SUMMARY]
        assert one.parts("pages") == []
    assert path == [*SPLIT, *END]
    labels = [claim.label for claim in report.claims]
    expected = ["fabricated" if said["label"] == "out_dependent" else said["label"] for said in SAID]
    assert labels == expected == [sentence.label for sentence in report.sentences]
    assert report.stamp["coarse"] is False


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
    (index,) = (tmp_path / "pages").iterdir()
    with np.load(index) as arrays:
        assert {"tokens", "starts"} <= set(arrays.files), "rank-bm25 counts tokens, bm25s would hold weights"


def test_verigray_rag_without_pages_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="verigray-rag needs saved web pages"):
        Verifier([ScriptedJudge("j", "fabricated")], protocol="verigray-rag", home=str(tmp_path)).verify(
            ARTICLE, SUMMARY
        )


def test_a_judges_own_temperature_goes_before_the_papers(tmp_path: Path) -> None:
    with ChatServer(Reader(Option=option)) as server:
        spec = Spec(kind="openai", model="m", address=server.address, temperature=0.1)
        asks = Verifier([spec], protocol="verigray", home=str(tmp_path))
        asks.verify(ARTICLE, SAID[0]["sentence"])
    assert [one.body["temperature"] for one in server.asked] == [0.1]


def test_what_is_beside_the_seven_options_is_kept_as_a_failure_and_not_asked_again(tmp_path: Path) -> None:
    with ChatServer(Reader(Option={"facts": [], "label": "mostly fine"})) as server:
        report = verifier(server, tmp_path, "verigray").verify(ARTICLE, SAID[0]["sentence"])
    assert (report.claims[0].label, report.claims[0].failure) == (None, "unparsed")
    assert len(server.asked) == 1


GIVEN: list[Label] = [said["label"] for said in SAID]
RIGHT = {
    "explicitly_supported": "implicitly_supported",
    "implicitly_supported": "implicitly_supported",
    "contradicting": "contradicting",
    "fabricated": "fabricated",
    "no_fact": "fabricated",
}


def audit(wrong: str | None, home: Path, labels: list[Label] = GIVEN) -> tuple[Any, list[ScriptedJudge]]:
    """Five seats of which the last one contradicts the sentence of this label."""

    def seat(n: int) -> Any:
        def says(question: Question, claim: Claim) -> str:
            label = LABELS[claim.text]
            return "contradicting" if label == wrong and n == 4 else RIGHT[label]

        return says

    judges = [ScriptedJudge(f"j{n}", seat(n)) for n in range(5)]
    report, _, _ = traced(
        Verifier(judges, protocol="verigray-audit", home=str(home)), ARTICLE, SUMMARY, labels=labels
    )
    return report, judges


def test_an_audit_leaves_ambiguous_and_out_dependent_alone_and_asks_five_seats_about_the_rest(
    tmp_path: Path,
) -> None:
    report, judges = audit(None, tmp_path)
    asked = {LABELS[c.text] for j in judges for q in j.heard for c in report.claims if c.id in q.claim_ids}
    assert asked == set(GIVEN) - {"ambiguous", "out_dependent"}
    assert all(len(judge.heard) == 5 for judge in judges)
    assert [claim.label for claim in report.claims] == GIVEN
    assert review_list(report) == []


@pytest.mark.parametrize("label", sorted(RIGHT))
def test_one_seat_that_disputes_a_label_flags_it(label: str, tmp_path: Path) -> None:
    report, _ = audit(label, tmp_path)
    flagged = review_list(report)
    if label == "contradicting":
        assert flagged == []
        return
    (one,) = flagged
    assert report.case.labels
    assert (report.case.labels[one.sentence], one.failure) == (label, "disputed")
    assert len(one.judgements) == 5
    assert [said.label for said in one.judgements].count("contradicting") == 1


def test_labels_that_do_not_fit_the_sentences_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="6 labels are given for 7 sentences"):
        audit(None, tmp_path, GIVEN[:6])
    with pytest.raises(BadInput, match="needs a label for each sentence"):
        Verifier([ScriptedJudge("j", "fabricated")], protocol="verigray-audit", home=str(tmp_path)).verify(
            ARTICLE, SUMMARY
        )
    with pytest.raises(BadInput, match="verigray-audit needs judges that read"):
        Verifier(protocol="verigray-audit", home=str(tmp_path)).verify(ARTICLE, SUMMARY, labels=GIVEN)


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


@given(st.sampled_from(ALL), PANEL, st.randoms(use_true_random=False))
def test_the_order_of_an_audits_judges_is_irrelevant(
    label: Label, said: list[str], order: random.Random
) -> None:
    mixed = list(said)
    order.shuffle(mixed)
    assert audited(label, mixed) == audited(label, said)


@given(st.sampled_from(ALL), PANEL)
def test_one_more_judge_who_agrees_changes_no_audit_that_was_decided(label: Label, said: list[str]) -> None:
    made = audited(label, said)
    if made.label is not None or made.failure == "disputed":
        assert audited(label, [*said, label]) == made


def test_a_label_disputes_the_other_sides() -> None:
    assert not disputes("explicitly_supported", "implicitly_supported")
    assert disputes("explicitly_supported", "fabricated")
    assert disputes("fabricated", "contradicting")
    assert not disputes("no_fact", "fabricated")
    assert disputes("no_fact", "contradicting")


def test_faithbench_through_verigray(data: Path, tmp_path: Path) -> None:
    """A few development summaries: every sentence is judged once against its whole passage."""
    from longproof.evaluation.datasets import examples

    chosen = examples("faithbench", data / "faithbench")[:3]
    with ChatServer(Reader(Option=lambda asked: {"facts": [], "label": "implicitly_supported"})) as server:
        for example in chosen:
            report, _, _ = traced(
                verifier(server, tmp_path, "verigray"),
                example.sources[0].text,
                example.response,
                case_id=example.id,
            )
            assert [s.label for s in report.sentences] == ["implicitly_supported"] * len(report.sentences)
            assert report.coverage == 1
            assert len(report.calls) == len(report.sentences) == len(report.claims)
    assert len(server.asked) == len({(a.user, a.system) for a in server.asked})

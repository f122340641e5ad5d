"""PROBE: find with every model, vote on every piece, three of four accept it; the rule, and the graph."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from papers import seats, verifier
from reader import Asked, Reader
from walked import FAILURE, claim, judgement, question

from longproof.agent.types import Case, Decision, Judgement, Search
from longproof.evaluation.run import evaluate_dataset
from longproof.graphs.papers.paper import Unit
from longproof.graphs.papers.probe import PROBE, by_pieces

SOURCE = (
    "The lighthouse at Cape Orla was built in 1874. " + "Rain fell for most of that year. " * 30
    + "It is 31 metres high. Two keepers live there with a dog. " + "The sea was calm in the spring. " * 30
)  # fmt: skip
BUILT, HIGH = "The lighthouse at Cape Orla was built in 1874.", "It is 31 metres high."
KEEPERS = "Two keepers live there with a dog."
SENTENCES = ["The lighthouse was built in 1874.", HIGH, "It was painted by Tom Rell."]
RESPONSE = " ".join(SENTENCES)
NOWHERE = "as the gulls swore by the seven lamps"
FINDS = {SENTENCES[0]: [BUILT], SENTENCES[1]: [HIGH, KEEPERS], SENTENCES[2]: []}
VOTE = st.sampled_from(["explicitly_supported", "fabricated", "timeout"])
PIECES = st.lists(st.lists(VOTE, min_size=4, max_size=4), min_size=1, max_size=4)


def decide(unit: Unit) -> Decision:
    return by_pieces(unit, Case(id="x", response=RESPONSE), PROBE.consensus)


def unit_with_votes(pieces: Sequence[Sequence[str]]) -> Unit:
    """A claim with these votes on each of its pieces."""
    said: list[Judgement] = []
    for n, votes in enumerate(pieces):
        said += [judgement(f"q{n}", f"j{seat}", word) for seat, word in enumerate(votes)]
    asked = tuple(question(f"q{n}") for n in range(len(pieces)))
    return Unit(claim=claim().claim, asked=asked, judgements=tuple(said))


@given(PIECES)
def test_a_piece_is_accepted_from_three_of_four_on_and_one_is_enough(pieces: list[list[str]]) -> None:
    made = decide(unit_with_votes(pieces))
    passes = [votes.count("explicitly_supported") for votes in pieces]
    failures = [votes.count("timeout") for votes in pieces]
    if max(passes) >= 3:
        assert (made.label, made.decided_by) == ("explicitly_supported", "vote")
    elif any(failed and count + failed >= 3 for count, failed in zip(passes, failures, strict=True)):
        assert made == Decision()
    else:
        assert (made.label, made.decided_by) == ("fabricated", "vote")


@given(PIECES, st.randoms(use_true_random=False))
def test_the_order_of_pieces_and_judges_is_irrelevant(pieces: list[list[str]], order: random.Random) -> None:
    unit = unit_with_votes(pieces)
    asked, judgements = list(unit.asked), list(unit.judgements)
    order.shuffle(asked)
    order.shuffle(judgements)
    mixed = unit.model_copy(update={"asked": tuple(asked), "judgements": tuple(judgements)})
    assert decide(mixed) == decide(unit)


@given(st.lists(st.none() | FAILURE, min_size=1, max_size=5))
def test_a_claim_without_pieces_is_hallucinated_only_where_enough_looked(failures: list[Any]) -> None:
    searches = tuple(
        Search(claim_id="c0", judge=f"j{n}", found=() if failure is None else None, failure=failure)
        for n, failure in enumerate(failures)
    )
    made = decide(Unit(claim=claim().claim, searches=searches))
    if failures.count(None) / len(failures) >= 0.75:
        assert (made.label, made.decided_by) == ("fabricated", "rule")
    else:
        assert (made.label, made.decided_by) == (None, "nobody")
        assert made.failure in failures


def find(asked: Asked) -> dict[str, Any]:
    """Each model finds one piece, a different one where there are two; all invent one that stands nowhere."""
    (claim,) = asked.parts("passage")
    pieces = FINDS[claim]
    own = pieces[int(asked.body["model"][1:]) % len(pieces)] if pieces else ""
    return {"thinking": "It must stand somewhere.", "segments": [own, NOWHERE] if own else []}


def passes(asked: Asked) -> dict[str, Any]:
    """The piece that holds the claim passes."""
    (claim,), (piece,) = asked.parts("passage"), asked.parts("piece")
    held = piece == FINDS[claim][0]
    return {"reasoning": "It says so.", "verdict": "PASS" if held else "FAIL"}


def test_a_search_that_names_only_what_stands_nowhere_is_ungrounded(tmp_path: Path) -> None:
    with ChatServer(Reader(Segments={"thinking": "", "segments": [NOWHERE]})) as server:
        report = verifier(server, tmp_path, "probe", 4).verify(SOURCE, RESPONSE)
    assert {search.failure for search in report.searches} == {"ungrounded"}
    assert {claim.failure for claim in report.claims} == {"ungrounded"}


def test_the_harness_scores_the_steps_of_its_trace(tmp_path: Path) -> None:
    claims = []
    for text, evidence in FINDS.items():
        claims.append({"text": text, "segment": text, "hallucinated": not evidence, "evidence": evidence})
    row = {"id": "1", "task": "summary", "source_text": SOURCE, "response": RESPONSE, "claims": claims}
    cases, out = tmp_path / "probe.jsonl", tmp_path / "out"
    cases.write_text(json.dumps(row), "utf-8")
    with ChatServer(Reader(Segments=find, PassFail=passes)) as server:
        done = evaluate_dataset(
            str(cases), protocol="probe", judges=seats(server, 4), out=out, home=str(tmp_path)
        )
    scores = {score.name: score.value for section in done.sections for score in section.scores}
    assert scores["evidence: partial"] == 1
    assert scores["evidence: complete"] == 0.5
    assert scores["localisation: F1"] == 1

"""What a dry run says a check would cost, against what checks cost that go well, and as badly as they can."""

from pathlib import Path
from typing import Any

import pytest
from fakes import Asked, ChatServer, choice, findings, taken
from papers import answers, verifier

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import Report
from longproof.cli.verify import estimate
from longproof.graphs.cost import Between, between, total

SOLD = "On day {n} the keeper of gate {n} sold lamps to the miller of gate {n}, and they spoke of it."
SOURCE = "\n".join(f"Chapter {n}. {SOLD.format(n=n)}" for n in range(900))
INVENTED = "On that day a dragon of the north ate seven purple kings, and nobody wept over any of them."
RESPONSE = " ".join([*(SOLD.format(n=n) for n in range(0, 400, 50)), INVENTED, INVENTED])


def parts(separator: str) -> Any:
    """Each sentence as the claims between these words."""

    def sentences(asked: Asked) -> dict[str, Any]:
        return {
            "claims": [
                claim
                for item in asked.items("sentences")
                for claim in taken(item, item["text"].split(separator))
            ]
        }

    return sentences


def nowhere(asked: Asked) -> dict[str, Any]:
    """Nobody finds anything, wherever they look."""
    return findings(asked, quotes=[], label="not_found")


def disputed(asked: Asked) -> dict[str, Any]:
    """Every judge says something else of every claim, and nobody says where it is wrong."""
    if not asked.parts("evidence"):
        return nowhere(asked)
    evidence = asked.said("evidence")[0].split("\n")[0].strip()
    said = {"m0": "not_found", "m1": "contradicting", "m2": "explicitly_supported"}[asked.body["model"]]
    if asked.parts("opinions"):
        said = "contradicting"
    return findings(asked, quotes=[evidence], label=said)


def restless(asked: Asked) -> dict[str, Any]:
    """A searcher that is never done and always asks for something else."""
    claims = [text.split("|")[0] for text in asked.parts("claims")[0].splitlines() if text.startswith("C")]
    n = len(asked.user) % 97
    return {
        "claims": [f"{claim} open" for claim in claims],
        "find": [f"{claim} keeper of gate {n + 13 * k}" for claim in claims for k in range(3)],
        "read": [f"{claim} {n * 7 + k * 50}" for claim in claims for k in range(2)],
    }


OTHER = {
    "Option": {"facts": [], "label": "implicitly_supported"},
    "Narrative": {"has_hallucination": "无幻觉", "details": []},
    "MadeUp": {"hallucinated": []},
    "Segments": lambda asked: {
        "thinking": "",
        "segments": [SOURCE[n * 400 : n * 400 + 150] for n in range(3)],
    },
    "PassFail": {"reasoning": "", "verdict": "pass"},
}


def paid(server: ChatServer) -> tuple[int, int]:
    """The calls that came and the tokens of their prompts, as we count them."""
    return len(server.asked), sum(estimate_tokens(a.system) + estimate_tokens(a.user) for a in server.asked)


@pytest.mark.parametrize(
    ("name", "judges", "script"),
    [
        ("longproof", 3, {"Sentences": parts("\n")}),
        ("longproof", 3, {"Sentences": parts(", and ")}),
        ("longproof", 1, {"Sentences": parts(", and ")}),
        ("longproof", 3, {"Findings": nowhere}),
        ("longproof", 3, {"Findings": nowhere, "Sentences": parts(", and ")}),
        ("longproof", 3, {"Findings": disputed}),
        ("longproof", 1, {"Findings": nowhere, "SearchTurn": restless}),
        ("longproof", 3, {"Findings": disputed, "Sentences": parts(", and ")}),
        ("longnovel-rag", 1, {}),
        ("longnovel-zero-shot", 2, {}),
        ("verigray", 1, {}),
        ("probe", 2, {"Sentences": parts(", and ")}),
        ("probe-direct", 1, {}),
    ],
)
def test_what_a_check_costs_lies_between(
    name: str, judges: int, script: dict[str, Any], tmp_path: Path
) -> None:
    lies_between(name, judges, script, "known", tmp_path)


@pytest.mark.parametrize(
    ("name", "judges", "script"),
    [
        ("longproof", 3, {"Findings": disputed}),
        ("longnovel-zero-shot", 2, {}),
        ("probe", 2, {"Sentences": parts(", and ")}),
    ],
)
def test_with_servers_that_know_no_schema_too(
    name: str, judges: int, script: dict[str, Any], tmp_path: Path
) -> None:
    lies_between(name, judges, script, "rejected", tmp_path)


def lies_between(name: str, judges: int, script: dict[str, Any], schema: Any, tmp_path: Path) -> None:
    with ChatServer(answers(**{"Findings": findings, **OTHER, **script}), schema=schema) as server:
        dry = verifier(server, tmp_path / "dry", name, judges, max_calls=0).verify(SOURCE, RESPONSE)
        assert server.asked == []
        verifier(server, tmp_path / "paid", name, judges).verify(SOURCE, RESPONSE)
        calls, tokens = paid(server)
    least, most = price(dry)
    refused = 1 + len(dry.stamp["judges"]) if schema == "rejected" else 0
    assert least.calls <= calls <= most.calls + refused
    assert least.tokens <= tokens <= most.tokens * (1 + refused / max(calls, 1))


def test_confirming_every_conviction_lies_between_too(tmp_path: Path) -> None:
    script = answers(Findings=nowhere, Sentences=parts(", and "), StatementChoice=choice)
    with ChatServer(script) as server:
        dry = verifier(server, tmp_path / "dry", "longproof", 3, max_calls=0, confirm=True).verify(
            SOURCE, RESPONSE
        )
        verifier(server, tmp_path / "paid", "longproof", 3, confirm=True).verify(SOURCE, RESPONSE)
        calls, tokens = paid(server)
        confirmed = sum(asked.form == "StatementChoice" for asked in server.asked)
    least, most = price(dry)
    assert 0 < confirmed <= between(dry, [SOURCE])["confirm"].most.calls
    assert least.calls <= calls <= most.calls
    assert least.tokens <= tokens <= most.tokens


def price(dry: Report) -> Between:
    return total(between(dry, [SOURCE]))


def dry_run(server: ChatServer, home: Path, **settings: Any) -> Report:
    return verifier(server, home, "longproof", 3, max_calls=0, **settings).verify(SOURCE, RESPONSE)


def test_what_is_there_already_is_not_paid_again(tmp_path: Path) -> None:
    with ChatServer(answers(Findings=findings)) as server:
        before = price(dry_run(server, tmp_path))
        verifier(server, tmp_path, "longproof", 3).verify(SOURCE, RESPONSE)
        after = price(dry_run(server, tmp_path))
    assert before.least.calls > 0
    assert after.least == (0, 0)


def test_taken_apart_already_the_claims_are_known_and_the_most_is_less(tmp_path: Path) -> None:
    with ChatServer(answers(Findings=findings)) as server:
        before = price(dry_run(server, tmp_path))
        verifier(server, tmp_path, "longproof", 3, max_calls=1).verify(SOURCE, RESPONSE)
        after = price(dry_run(server, tmp_path))
    assert after.most.calls < before.most.calls / 2


def test_an_estimate_names_every_step_and_what_it_rests_on(tmp_path: Path) -> None:
    with ChatServer(answers(Findings=findings)) as server:
        text = "\n".join(estimate(dry_run(server, tmp_path), [SOURCE]))
    for word in (
        "at least",
        "at most",
        "decompose",
        "judge",
        "search",
        "scan",
        "arbitrate",
        "localise",
        "place, window, search, scan",
    ):
        assert word in text


def test_looks_that_are_not_allowed_are_not_in_the_estimate(tmp_path: Path) -> None:
    with ChatServer(answers(Findings=findings)) as server:
        priced = {
            reach: between(dry_run(server, tmp_path, reach=reach), [SOURCE])
            for reach in ("place", "search", "scan")
        }
    assert set(priced["scan"]) - set(priced["search"]) == {"scan"}
    assert set(priced["search"]) - set(priced["place"]) == {"search"}
    most = [total(priced[reach]).most.tokens for reach in ("place", "search", "scan")]
    assert most == sorted(most)


def test_who_costs_nothing_is_said_to_cost_nothing(tmp_path: Path) -> None:
    from longproof import Verifier

    dry = Verifier(home=str(tmp_path), max_calls=0).verify(SOURCE, RESPONSE)
    assert price(dry) == ((0, 0), (0, 0))
    assert list(estimate(dry, [SOURCE])) == ["nothing would be paid"]

"""What a dry run says: the first round as it will be asked, and a bound that no run passes."""

import re
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from papers import verifier
from reader import Asked, Item, Reader, by_words, taken, well

from longproof import Verifier
from longproof.agent.models.limits import estimate_tokens
from longproof.graphs.reporting import BOUND, Estimate, estimate, estimate_lines

SOLD = "On day {n} the keeper of gate {n} sold lamps to the miller of gate {n}, and they spoke of it."
SOURCE = "\n".join(f"Chapter {n}. {SOLD.format(n=n)}" for n in range(200))
INVENTED = "On that day a dragon of the north ate seven purple kings, and nobody wept over any of them."
RESPONSE = " ".join([SOLD.format(n=0), SOLD.format(n=150), INVENTED])


def in_two(asked: Asked) -> dict[str, Any]:
    """Two claims a sentence."""
    return {
        "claims": [c for item in asked.items("sentences") for c in taken(item, item["text"].split(", and "))]
    }


def nowhere(asked: Asked, item: Item) -> dict[str, Any]:
    """Nobody finds anything, wherever they look; what confirms reads it plainly."""
    found = {"quotes": [], "label": "not_found"} if item["claim"] else {}
    return {**by_words(asked, item), **found}


def disputed(asked: Asked, item: Item) -> dict[str, Any]:
    """Every judge says something else of every claim, and the arbiter finds nothing."""
    finding = nowhere(asked, item)
    if asked.parts("opinions") or not asked.parts("evidence") or not item["claim"]:
        return finding
    said = {"m0": "not_found", "m1": "contradicting", "m2": "explicitly_supported"}[asked.model]
    return {**finding, "quotes": [asked.first_line], "label": said}


def dry_run(server: ChatServer, home: Path, protocol: str = "longproof", **settings: Any) -> Estimate:
    report = verifier(server, home, protocol, 3, max_calls=0, **settings).verify(SOURCE, RESPONSE)
    return estimate([report])


def test_the_first_round_is_what_is_asked_where_nothing_more_is_needed(tmp_path):
    response = " ".join(SOLD.format(n=n) for n in range(3))
    with ChatServer(well) as server:
        dry = verifier(server, tmp_path, "longproof", 3, max_calls=0).verify(SOURCE[:9000], response)
        assert server.asked == []
        verifier(server, tmp_path, "longproof", 3).verify(SOURCE[:9000], response)
        tokens = sum(estimate_tokens(one.system) + estimate_tokens(one.user) for one in server.asked)
        first = estimate([dry])
        assert (sum(first.calls.values()), first.tokens) == (len(server.asked), tokens)
        kept = verifier(server, tmp_path, "longproof", 3, max_calls=0).verify(SOURCE[:9000], response)
    assert list(estimate_lines(estimate([kept]))) == ["nothing would be paid"]


@pytest.mark.parametrize("script", [Reader(nowhere), Reader(disputed), Reader(disputed, Sentences=in_two)])
def test_no_run_passes_the_bound(script, tmp_path):
    with ChatServer(script) as server:
        told = dry_run(server, tmp_path, confirm="all")
        assert server.asked == []
        verifier(server, tmp_path, "longproof", 3, confirm="all").verify(SOURCE, RESPONSE)
        calls = len(server.asked)
    assert told.most is not None
    assert sum(told.calls.values()) < calls <= told.most


def test_the_bound_counts_the_arbiter_that_a_single_judge_may_appeal_to(tmp_path):
    with ChatServer(well) as server:
        dry = verifier(server, tmp_path, "longproof", 1, max_calls=0).verify(SOURCE, RESPONSE)
    alone = dry.model_copy(update={"stamp": {**dry.stamp, "arbiter": None}})
    assert dry.stamp["arbiter"]
    assert estimate([dry]).most > estimate([alone]).most


def test_looks_that_are_not_taken_are_not_counted(tmp_path):
    with ChatServer(well) as server:
        ways = [("place", "off"), ("search", "off"), ("scan", "off"), ("scan", "all")]
        most = [dry_run(server, tmp_path, reach=reach, confirm=confirm).most for reach, confirm in ways]
    assert most == sorted({*most}), "each look, and each confirming question, is counted where it is taken"


def test_it_is_said_in_a_few_lines(tmp_path):
    with ChatServer(well) as server:
        first, bound, why = estimate_lines(dry_run(server, tmp_path))
        paper = list(estimate_lines(dry_run(server, tmp_path, "verigray")))
    assert re.match(r"first round: .*\(judge 2\)", first)
    assert (bound.partition(": ")[0], why) == ("at most", BOUND)
    assert paper[1] == "what comes after it is not told for papers' methods. Cap it with --max-calls."
    offline = estimate([Verifier(home=str(tmp_path), max_calls=0).verify(SOURCE, RESPONSE)])
    assert (offline, list(estimate_lines(offline))) == (Estimate({}, 0, 0), ["nothing would be paid"])

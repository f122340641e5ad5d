"""What a dry run says: the first round as it will be asked."""

from pathlib import Path
from typing import Any

from fakes import ChatServer
from papers import verifier
from reader import well

from longproof import Verifier
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import Report
from longproof.graphs.cost import Estimate, estimate, estimate_lines

SOLD = "On day {n} the keeper of gate {n} sold lamps to the miller of gate {n}, and they spoke of it."
SOURCE = "\n".join(f"Chapter {n}. {SOLD.format(n=n)}" for n in range(200))
INVENTED = "On that day a dragon of the north ate seven purple kings, and nobody wept over any of them."
RESPONSE = " ".join([SOLD.format(n=0), SOLD.format(n=150), INVENTED])


def dry_run(server: ChatServer, home: Path, protocol: str = "longproof", **settings: Any) -> Report:
    return verifier(server, home, protocol, 3, max_calls=0, **settings).verify(SOURCE, RESPONSE)


def test_the_first_round_is_what_is_asked_where_nothing_more_is_needed(tmp_path: Path) -> None:
    response = " ".join(SOLD.format(n=n) for n in range(3))
    with ChatServer(well) as server:
        dry = verifier(server, tmp_path, "longproof", 3, max_calls=0).verify(SOURCE[:9000], response)
        assert server.asked == []
        verifier(server, tmp_path, "longproof", 3).verify(SOURCE[:9000], response)
        tokens = sum(estimate_tokens(one.system) + estimate_tokens(one.user) for one in server.asked)
        again = verifier(server, tmp_path, "longproof", 3, max_calls=0).verify(SOURCE[:9000], response)
        assert estimate([dry]).first_round == (len(server.asked), tokens)
    assert list(estimate_lines(estimate([again]))) == ["nothing would be paid"], (
        "what is kept is not paid again"
    )


def test_it_is_said_in_a_few_lines(tmp_path: Path) -> None:
    with ChatServer(well) as server:
        first, after = estimate_lines(estimate([dry_run(server, tmp_path)]))
    assert first.startswith("first round: ")
    assert "(judge 3)" in first
    assert after.endswith("Cap it with --max-calls.")


def test_who_costs_nothing_is_said_to_cost_nothing(tmp_path: Path) -> None:
    dry = Verifier(home=str(tmp_path), max_calls=0).verify(SOURCE, RESPONSE)
    assert estimate([dry]) == Estimate({})
    assert list(estimate_lines(estimate([dry]))) == ["nothing would be paid"]

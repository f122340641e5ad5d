"""What settings allow for a case: how far is looked, who decides, what is asked about once more."""

from typing import Any

import pytest

from longproof.graphs.run import plan_of
from longproof.graphs.settings import Settings
from longproof.indexes.documents import DocumentRef

TWO = ["openai:a", "openai:b"]
SEARCHED = ("place", "words", "window", "search")


@pytest.mark.parametrize(
    ("settings", "characters", "allowed"),
    [
        ({"judges": ["offline"]}, 9, {"looks": ("source",), "arbiter": "nobody", "decompose": "nothing"}),
        ({"judges": TWO}, 3_000_000, {"looks": (*SEARCHED, "scan"), "arbiter": "model", "cascade": False}),
        ({"judges": TWO}, 3_000_001, {"looks": SEARCHED}),
        ({"judges": TWO, "reach": "scan"}, 3_000_001, {"looks": (*SEARCHED, "scan")}),
        ({"judges": TWO, "reach": "search"}, 9, {"looks": SEARCHED}),
        ({"judges": TWO, "reach": "place"}, 9, {"looks": SEARCHED[:3]}),
        ({"judges": TWO, "arbiter": "person"}, 9, {"arbiter": "person"}),
        ({"judges": TWO, "cascade": True}, 9, {"cascade": True}),
        ({"judges": TWO[:1], "cascade": True}, 9, {"cascade": False}),
        ({"judges": TWO}, 16_000, {"confirms": "nothing"}),
        ({"judges": TWO}, 16_001, {"confirms": "contradictions"}),
        ({"judges": TWO, "confirm": "off"}, 16_001, {"confirms": "nothing"}),
        ({"judges": TWO, "confirm": "all"}, 9, {"confirms": "all"}),
    ],
)
def test_a_plan_is_what_settings_allow(settings: Any, characters: int, allowed: dict[str, Any]) -> None:
    plan = plan_of(Settings(**settings), None, [DocumentRef(id="x", characters=characters)])
    assert {name: getattr(plan, name) for name in allowed} == allowed

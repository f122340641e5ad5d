"""What settings allow for a case: how far is looked, who decides, what is asked about once more."""

from types import MappingProxyType
from typing import Any

import pytest

from longproof.agent.specs import Spec
from longproof.graphs.run import plan_of, roles_named
from longproof.graphs.settings import Settings, settings_of
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.types import BadInput

TWO = ["openai:a", "openai:b"]
THRICE = Spec(kind="openai", model="a", samples=3)
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
        ({"judges": [THRICE], "cascade": True}, 9, {"cascade": True}),
        ({"judges": TWO, "decomposer": "offline"}, 9, {"decompose": "nothing"}),
        ({"judges": ["nli:x"]}, 9, {"arbiter": "nobody", "decompose": "nothing"}),
        ({"judges": ["nli:x"], "arbiter": "openai:a"}, 9, {"arbiter": "model"}),
        ({"judges": ["nli:x"], "decomposer": "openai:a"}, 9, {"decompose": "doubted"}),
        ({"judges": TWO}, 16_000, {"confirms": "nothing"}),
        ({"judges": TWO}, 16_001, {"confirms": "contradictions"}),
        ({"judges": TWO, "confirm": "off"}, 16_001, {"confirms": "nothing"}),
        ({"judges": TWO, "confirm": "all"}, 9, {"confirms": "all"}),
    ],
)
def test_a_plan_is_what_settings_allow(settings: Any, characters: int, allowed: dict[str, Any]) -> None:
    named = Settings(**settings)
    plan = plan_of(named, roles_named(named), [DocumentRef(id="x", characters=characters)])
    assert {name: getattr(plan, name) for name in allowed} == allowed


def test_settings_are_read_from_any_mapping() -> None:
    assert settings_of(MappingProxyType({"judges": TWO})).judges == TWO
    with pytest.raises(BadInput, match="setting jugdes"):
        settings_of(MappingProxyType({"jugdes": TWO}))


def test_a_hosts_own_context_says_nothing_of_them() -> None:
    assert settings_of(object()) == Settings()

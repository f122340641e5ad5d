"""SPECs and the `[panel]` table: what is meant is taken, anything else is told in one line."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from reader import well
from scripted import ScanningJudge, ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof.agent.decompose import ModelDecomposer
from longproof.agent.judge import Findings
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Model
from longproof.agent.models.openai_chat import OpenAIChat
from longproof.agent.offline import OfflineDecomposer, OfflineJudge
from longproof.agent.specs import Panel, Roles, Spec, as_spec, connect, panel_from, read_panel, roles_of
from longproof.prompts import Prompt
from longproof.retrieval.types import BadInput


@pytest.mark.parametrize(
    ("text", "kind", "model", "address"),
    [
        ("offline", "offline", "", None),
        ("openai:gpt-4.1", "openai", "gpt-4.1", None),
        ("openai:qwen3:8b@https://host/v1", "openai", "qwen3:8b", "https://host/v1"),
        ("openai:org@team/model@http://h:1/v1", "openai", "org@team/model", "http://h:1/v1"),
        ("nli:./models/my nli", "nli", "./models/my nli", None),
        ("nli:cross-encoder/nli-deberta-v3-small", "nli", "cross-encoder/nli-deberta-v3-small", None),
    ],
)
def test_a_spec_is_read_and_written_back(text: str, kind: str, model: str, address: str | None) -> None:
    spec = as_spec(f" {text} ")
    assert (spec.kind, spec.model, spec.address, spec.text) == (kind, model, address, text)


@pytest.mark.parametrize(
    "text", ["", "gpt-4.1", "openai:", "openai", "nli:", "offline:x", "openai:@http://h/v1", "openai:a b"]
)
def test_anything_else_is_bad_input_that_names_the_forms(text: str) -> None:
    with pytest.raises(BadInput, match="openai:MODEL@") as caught:
        as_spec(text)
    assert "\n" not in str(caught.value)


def table(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "longproof.toml"
    path.write_text(text, encoding="utf-8")
    return read_panel(path)


def test_a_panel_table_is_read(tmp_path: Path) -> None:
    read = table(
        tmp_path,
        """[panel]
consensus = 0.75
arbiter = "openai:big@http://h:1/v1"
judges = ["offline", { spec = "openai:small@http://h:2/v1", temperature = 0.6, samples = 3 }]""",
    )
    assert (read.consensus, read.arbiter.model) == (0.75, "big")
    offline, small = read.judges
    assert (offline.kind, small.kind, small.temperature, small.samples) == ("offline", "openai", 0.6, 3)
    assert table(tmp_path, '[panel]\narbiter = "person"').arbiter == "person"
    assert table(tmp_path, "[prices]").judges == ()


def test_an_address_in_a_file_is_not_the_owners_word(tmp_path: Path) -> None:
    said = "'openai:m@http://h:1/v1'"
    read = table(
        tmp_path, f"[panel]\njudges = [{said}, {{spec = {said}}}]\narbiter = {said}\ndecomposer = {said}"
    )
    named = [*read.judges, read.arbiter, read.decomposer]
    assert [spec.by_owner for spec in named] == [False] * 4
    assert [spec.keyless for spec in named] == [True] * 4
    assert as_spec(said.strip("'")).by_owner
    assert not table(tmp_path, "[panel]\njudges = ['openai:m@https://api.openai.com/v1']").judges[0].keyless


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[panel", "can't read"),
        ("[panell]\njudges = ['offline']", r"no \[panell\] \(did you mean panel\?\): known are \[panel\]"),
        ("consensus = 0.5", r"no \[consensus\] \(write it under \[panel\]\)"),
        ("[panel]\njudges = 'offline'", "judges: Input should be a valid tuple"),
        ("[panel]\njudges = ['gpt-4.1']", "there is no judge"),
        ("[panel]\njudges = [{spec = 'offline', api_key = 'x'}]", "keys to servers come from the env"),
        ("[panel]\napi_key = 'x'", "keys to servers come from the environment"),
        ("[panel]\njudge = ['offline']", r"judge: there is no such key \(did you mean judges\?\): known"),
        ("[panel]\njudges = [{spec = 'offline', by_owner = true}]", "no 'by_owner'"),
        ('[panel]\njudges = ["openai:m\\u001b]0;x@http://h/v1"]', "don't print"),
    ],
)
def test_a_wrong_table_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told) as caught:
        table(tmp_path, text)
    assert "longproof.toml" in str(caught.value)
    assert "'x'" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "secret", "told"),
    [
        ("openai:m@http://user:hunter2@127.0.0.1:1/v1", "hunter2", None),
        ("opneai:m@http://user:hunter2@host/v1", "hunter2", None),
        ("openai:m@http://127.0.0.1:0/v1?key=hunter2", "hunter2", None),
        *(
            (f"openai:{key}{at}", key, "looks like a key")
            for key in ("sk-proj-4f8Ab2kQ9xYz71LmNpRs", "hf_AbCdEfGhIjKlMnOpQrStUv", "my-own-s3cret")
            for at in ("", "@http://127.0.0.1:9/v1")
        ),
    ],
)
def test_a_password_or_a_key_in_a_spec_is_refused_without_telling_it(
    spec: str, secret: str, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "my-own-s3cret")
    with pytest.raises(BadInput, match=told) as refused:
        as_spec(spec)
    assert secret not in str(refused.value)
    assert as_spec("openai:gpt-4.1-mini-2025-04-14").model == "gpt-4.1-mini-2025-04-14"


@pytest.mark.parametrize(("of_spec", "given"), [(True, True), (True, False), (False, True)])
def test_a_key_goes_where_its_owner_says(of_spec: bool, given: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-secret")
    chosen = Spec(kind="openai", model="m", address="http://127.0.0.1:9/v1", by_owner=of_spec)
    client = connect(chosen, by_owner=given)
    assert isinstance(client, OpenAIChat)
    assert client._key == ("lp-secret" if of_spec and given else "none")


def panel(judges: list[Any], open_client: Any = connect, ask: bool = False, **how: Any) -> Panel:
    """The panel of these judges, closed; with `ask`, after its first model was asked."""

    async def run() -> Panel:
        ledger = await Ledger.open(None)
        made = panel_from(judges, lambda chosen: Model(open_client(chosen), ledger, Limits()), **how)
        if ask:
            await made.models[0].ask(Prompt("s", "u", "0" * 16, "en", ""), Findings, purpose="test")
        await ledger.close()
        await made.close()
        return made

    return asyncio.run(run())


A = Spec(kind="openai", model="a", address="http://127.0.0.1:9/v1")


def test_all_seats_of_a_spec_share_one_client_that_is_closed_once() -> None:
    transport = ChatServer(well).transport()
    thrice = A.model_copy(update={"samples": 3})
    client = partial(OpenAIChat, "a", key="none", transport=transport)
    made = panel([A, A, thrice], lambda spec: client(spec.address), ask=True, arbiter=A, searcher=A)
    assert [judge.name for judge in made.judges] == [A.text, *(f"{A.text}#{n}" for n in range(2, 6))]
    assert made.searcher is made.localiser is made.models[0]
    assert (len(made.models), transport.closed) == (1, 1)


def test_without_a_model_nobody_arbitrates_and_the_offline_rules_decompose_but_who_is_named() -> None:
    made = panel([Spec(kind="offline")])
    assert [judge.name for judge in made.judges] == ["offline"]
    assert (made.arbiter, made.localiser, made.models) == (None, None, [])
    assert not isinstance(made.decomposer, ModelDecomposer)
    made = panel([Spec(kind="offline")], arbiter=A)
    assert made.arbiter.name == f"arbiter:{A.text}"
    assert not isinstance(made.decomposer, ModelDecomposer)
    for arbiter in (Spec(kind="offline"), Spec(kind="nli", model="x")):
        with pytest.raises(BadInput, match=f"{arbiter.text} can't arbitrate"):
            panel([A], arbiter=arbiter)
    with pytest.raises(BadInput, match="can't decompose"):
        panel([A], decomposer=Spec(kind="nli", model="x"))


OFFLINE = Spec(kind="offline")
PANELS: list[list[Any]] = [
    [OFFLINE],
    [A],
    [A.model_copy(update={"samples": 3})],
    [ScriptedJudge("j", "no_fact")],
    [ScanningJudge("j", "no_fact"), ScriptedJudge("k", "no_fact")],
]


@pytest.mark.parametrize("judges", PANELS, ids=["offline", "model", "samples", "object", "scanner"])
@pytest.mark.parametrize("arbiter", [None, A, ScriptedArbiter("no_fact")], ids=["none", "model", "object"])
@pytest.mark.parametrize(
    "decomposer", [None, OFFLINE, A, WholeSentences()], ids=["none", "offline", "model", "object"]
)
@pytest.mark.parametrize("searcher", [None, A], ids=["none", "model"])
def test_the_abilities_of_a_panel_are_known_from_its_names(
    judges: Any, arbiter: Any, decomposer: Any, searcher: Any
) -> None:
    roles = {"arbiter": arbiter, "decomposer": decomposer, "searcher": searcher}
    built = panel(judges, **roles)
    assert roles_of(judges, **roles) == Roles(
        seats=len(built.judges),
        offline=isinstance(built.judges[0], OfflineJudge),
        reads=built.searcher is not None or built.scanner is not None,
        arbitrates=built.arbiter is not None,
        confirms=built.confirmer is not None,
        decomposes=not isinstance(built.decomposer, OfflineDecomposer),
    )


def test_a_model_of_entailment_reads_and_decides_nothing_else() -> None:
    nothing = Roles(1, offline=False, reads=True, arbitrates=False, confirms=False, decomposes=False)
    assert roles_of([Spec(kind="nli", model="x")]) == nothing


def test_a_langchain_model_may_sit_on_the_panel() -> None:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    fake = FakeListChatModel(responses=["x"])
    name = panel([fake]).judges[0].name
    assert name.startswith("FakeListChatModel:")
    arbiters = [made.arbiter.name for made in (panel([fake]), panel([A], arbiter=fake), panel([A]))]
    assert arbiters == [f"arbiter:{name}", f"arbiter:{name}", f"arbiter:{A.text}"]

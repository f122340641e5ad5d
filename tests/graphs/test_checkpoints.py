"""What the graphs keep comes back as itself from strict checkpoints: interrupted, killed, inside a host's graph."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from langgraph.checkpoint.serde import _msgpack
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from papers import seats
from reader import Asked, Reader
from scripted import ScanningJudge, ScriptedArbiter, ScriptedJudge, WholeSentences
from typing_extensions import TypedDict

from longproof import Verifier
from longproof.adapters.langgraph import node
from longproof.agent.types import Case, Judgement, Question, Report, Sentence
from longproof.graphs.papers.paper import Unit
from longproof.graphs.run import Given, Pool
from longproof.graphs.settings import Settings
from longproof.graphs.state import ClaimState, Reviewed
from longproof.graphs.verify import method
from longproof.indexes.documents import DocumentRef

LINES = "\n".join(f"Chapter {n}. The {n}th day passed and rain fell on the {n} hills." for n in range(600))
SOURCE = f"{LINES[:16000]}\nThe lamp was lit at nine. Ada sold the boat to Tom.\n{LINES[16000:]}"
RESPONSE = "The lamp was lit at ten. Ada sold the boat to Ben. The bridge fell in March."
GIVEN: Any = {"source": SOURCE, "response": RESPONSE}
WORDS = ["contradicting", "explicitly_supported", "not_found"]
THREAD: Any = {"configurable": {"thread_id": "1"}}
MODELS = {
    "case": Case,
    "sources": DocumentRef,
    "sentences": Sentence,
    "claims": ClaimState,
    "checked": ClaimState,
    "decided": ClaimState,
    "reviews": Reviewed,
    "report": Report,
}
"""What each channel holds, or holds a list of."""


class Dying(ScriptedJudge):
    """Breaks at its second question, once."""

    broke = False

    async def judge(self, question: Any, claims: Any, case: Any) -> Any:
        if self.heard and not self.broke:
            self.broke = True
            raise ConnectionError("the machine is gone")
        return await super().judge(question, claims, case)


def panel() -> list[ScriptedJudge]:
    return [ScriptedJudge(f"j{n}", word) for n, word in enumerate(WORDS)]


def answer(asked: Any) -> Command[Any]:
    """A person who finds everything contradicted."""
    decisions = [{"claim_id": one["claim_id"], "label": "contradicting"} for one in asked.value]
    return Command(resume={"name": "Ines", "decisions": decisions})


def kept_as_themselves(values: Any) -> set[str]:
    """The channels that were held against `MODELS`; fails where a model came back as anything else."""
    for name, value in values.items():
        if name in MODELS:
            for one in value if isinstance(value, list) else [value]:
                assert type(one) is MODELS[name], (name, type(one), str(one)[:80])
    for claim in [*values.get("claims", []), *values.get("checked", [])]:
        assert {type(question) for question in claim.asked} <= {Question}
        assert {type(said) for said in claim.judgements} <= {Judgement}
    assert SOURCE not in str(values), "a checkpoint holds no source"
    return set(values) & set(MODELS)


def saved(home: Path, work: Callable[[AsyncSqliteSaver], Awaitable[Any]]) -> Any:
    """Work over the file's checkpoints, opened anew and let go again, as by a process of its own."""

    async def go() -> Any:
        async with AsyncSqliteSaver.from_conn_string(str(home / "threads.sqlite")) as saver:
            return await work(saver)

    return asyncio.run(go())


def test_the_tests_run_under_strict_checkpoints() -> None:
    assert _msgpack.STRICT_MSGPACK_ENABLED


def test_an_interrupted_run_goes_on_in_another_process(tmp_path: Path) -> None:
    settings = Settings(arbiter="person", home=str(tmp_path), consensus=1.0)
    row, build = method("longproof")

    def graph(saver: AsyncSqliteSaver) -> Any:
        given = Given(panel(), ScriptedArbiter("ambiguous"), WholeSentences())
        return build(Pool(given, row), saver)

    async def start(saver: AsyncSqliteSaver) -> Any:
        stopped = await graph(saver).ainvoke(GIVEN, THREAD, context=settings)
        return stopped["__interrupt__"][0]

    async def resume(saver: AsyncSqliteSaver) -> Any:
        made = graph(saver)
        before = (await made.aget_state(THREAD)).values
        ended = await made.ainvoke(answer(asked), THREAD, context=settings)
        return before, ended, (await made.aget_state(THREAD)).values

    asked = saved(tmp_path, start)
    before, ended, after = saved(tmp_path, resume)
    assert {"case", "sources", "sentences", "claims"} <= kept_as_themselves(before)
    assert {"reviews", "report", "decided"} <= kept_as_themselves(after)
    assert kept_as_themselves(ended) == {"report"}
    assert {claim.decided_by for claim in ended["report"].claims} == {"person"}


def test_a_papers_run_that_stopped_goes_on_with_its_units_as_they_were(tmp_path: Path) -> None:
    row, build = method("verigray")

    def option(asked: Asked) -> dict[str, Any]:
        labels = ["contradicting", "no_fact", "fabricated"]
        return {"facts": [], "label": labels[int(asked.body["model"][1:])]}

    with ChatServer(Reader(Option=option)) as server:
        *judges, arbiter = seats(server, 3)
        settings = Settings(judges=judges, arbiter=arbiter, home=str(tmp_path))

        async def start(saver: AsyncSqliteSaver) -> None:
            graph = build(Pool(protocol=row), saver)
            await graph.ainvoke(GIVEN, THREAD, context=settings, interrupt_before=["arbitrate"])

        async def resume(saver: AsyncSqliteSaver) -> Any:
            graph = build(Pool(protocol=row), saver)
            return (await graph.aget_state(THREAD)).values, await graph.ainvoke(
                None, THREAD, context=settings
            )

        saved(tmp_path, start)
        before, ended = saved(tmp_path, resume)
    assert len(server.asked) == 3 * 3, "nothing is asked again"
    assert {type(unit) for unit in before["units"]} == {Unit}
    assert {type(judgement) for unit in before["units"] for judgement in unit.judgements} == {Judgement}
    assert SOURCE not in str(before), "a checkpoint holds no source"
    assert {claim.decided_by for claim in ended["report"].claims} == {"arbiter"}


def test_a_run_that_died_in_a_claim_group_goes_on_with_what_the_nodes_had_done(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path))
    dying = Dying("j0", "contradicting")
    judges = [dying, *panel()[1:]]

    def graph(saver: AsyncSqliteSaver) -> Any:
        given = Given(judges, ScriptedArbiter("contradicting"), WholeSentences())
        return method("longproof").graph(Pool(given), saver)

    async def start(saver: AsyncSqliteSaver) -> None:
        with pytest.raises(ConnectionError):
            await graph(saver).ainvoke(GIVEN, THREAD, context=settings)

    async def resume(saver: AsyncSqliteSaver) -> Any:
        made = graph(saver)
        snapshot = await made.aget_state(THREAD, subgraphs=True)
        inside = [task.state.values for task in snapshot.tasks if getattr(task.state, "values", None)]
        ended = await made.ainvoke(None, THREAD, context=settings)
        return snapshot.values, inside, ended

    saved(tmp_path, start)
    before, inside, ended = saved(tmp_path, resume)
    kept_as_themselves(before)
    for values in inside:
        kept_as_themselves(values)
    assert {claim.decided_by for claim in ended["report"].claims} == {"arbiter"}
    asked = Counter(question.id for question in judges[1].heard)
    assert asked[judges[1].heard[0].id] == 1, "what was answered before the end is not asked again"
    assert asked.total() <= len(asked) + 1, "what was under way then is asked once more"


class Interrupted(ScanningJudge):
    """Breaks in the middle of its first reading."""

    async def scan(self, claims: Any, pieces: Any, case: Any) -> Any:
        if not self.scanned:
            self.scanned.append(([], 0))
            raise ConnectionError("the machine is gone")
        return await super().scan(claims, pieces, case)


def test_a_run_that_died_in_the_scan_goes_on_with_all_that_was_asked_and_searched(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path))
    judge = Interrupted("j", "not_found")

    def graph(saver: AsyncSqliteSaver) -> Any:
        given = Given([judge], ScriptedArbiter("contradicting"), WholeSentences())
        return method("longproof").graph(Pool(given), saver)

    async def start(saver: AsyncSqliteSaver) -> None:
        with pytest.raises(ConnectionError):
            await graph(saver).ainvoke(GIVEN, THREAD, context=settings)

    async def resume(saver: AsyncSqliteSaver) -> Any:
        made = graph(saver)
        before = (await made.aget_state(THREAD)).values
        return before, await made.ainvoke(None, THREAD, context=settings)

    saved(tmp_path, start)
    heard = [question.id for question in judge.heard]
    before, ended = saved(tmp_path, resume)
    kept_as_themselves(before)
    assert [question.id for question in judge.heard][: len(heard)] == heard
    told = judge.heard[len(heard) :]
    assert {one.prompt for one in told} == {"judge_scanned"}, "that all was read is new"
    assert len({one.id for one in judge.heard}) == len(judge.heard), "nothing is asked twice"
    assert len(judge.scanned) == 2
    assert {claim.label for claim in ended["report"].claims} == {"fabricated"}


class HostState(TypedDict, total=False):
    """A state that knows nothing of ours."""

    book: str
    answer: str
    check: dict[str, Any]


def test_inside_a_hosts_graph_models_come_back_from_the_hosts_checkpoints(tmp_path: Path) -> None:
    judges = panel()

    def host(saver: AsyncSqliteSaver) -> Any:
        verifier = Verifier(judges, arbiter="person", decomposer=WholeSentences(), home=str(tmp_path))
        builder = StateGraph(HostState)
        builder.add_node("verify", node(verifier, source="book", response="answer", report="check"))
        builder.add_edge(START, "verify")
        builder.add_edge("verify", END)
        return builder.compile(checkpointer=saver)

    async def start(saver: AsyncSqliteSaver) -> Any:
        given: Any = {"book": SOURCE, "answer": RESPONSE}
        stopped = await host(saver).ainvoke(given, THREAD)
        return stopped["__interrupt__"][0]

    async def resume(saver: AsyncSqliteSaver) -> Any:
        return await host(saver).ainvoke(answer(asked), THREAD)

    asked = saved(tmp_path, start)
    heard = [len(judge.heard) for judge in judges]
    ended = saved(tmp_path, resume)
    assert {claim["decided_by"] for claim in ended["check"]["claims"]} == {"person"}
    assert [len(judge.heard) for judge in judges] == heard, "nothing is asked again"

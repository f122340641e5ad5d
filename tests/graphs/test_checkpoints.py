"""What the graphs keep comes back as itself from strict checkpoints: interrupted, killed."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fakes import ChatServer
from langgraph.checkpoint.serde import _msgpack
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from papers import seats
from reader import Asked, Reader
from scripted import ScanningJudge, ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof.agent.types import Case, Judgement, Question, Report
from longproof.graphs.papers.paper import Unit
from longproof.graphs.run import Pool
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
MODELS: dict[str, type] = {"case": Case, "sources": DocumentRef, "reviews": Reviewed, "report": Report}
MODELS |= dict.fromkeys(("claims", "checked", "decided"), ClaimState)
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


def answer(stopped: Any) -> Command[Any]:
    """A person who finds everything contradicted."""
    (asked,) = stopped["__interrupt__"]
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


def run_twice(
    home: Path,
    graph: Callable[[AsyncSqliteSaver], Any],
    given: Any = GIVEN,
    goes_on: Callable[[Any], Any] = lambda stopped: None,
    context: Settings | None = None,
    **stops: Any,
) -> tuple[Any, Any, Any]:
    """Run a graph until it stops or breaks, then let another process go on over the file's checkpoints: what was kept
    in between, what the graph gave, what was kept then. `goes_on`: the input that follows from what it gave first."""

    async def work(given: Any, **stops: Any) -> tuple[Any, Any, Any]:
        async with AsyncSqliteSaver.from_conn_string(str(home / "threads.sqlite")) as saver:
            made, gave = graph(saver), None
            before = await made.aget_state(THREAD, subgraphs=True)
            with suppress(ConnectionError):
                gave = await made.ainvoke(given, THREAD, context=context, **stops)
            return before, gave, (await made.aget_state(THREAD)).values

    _, stopped, _ = asyncio.run(work(given, **stops))
    return asyncio.run(work(goes_on(stopped)))


def ours(judges: list[Any], arbiter: str = "contradicting") -> Callable[[AsyncSqliteSaver], Any]:
    """Our own graph over these judges."""
    row, build = method("longproof")
    given = (judges, ScriptedArbiter(arbiter), WholeSentences())
    return lambda saver: build(Pool(*given, protocol=row), saver)


def test_the_tests_run_under_strict_checkpoints() -> None:
    assert _msgpack.STRICT_MSGPACK_ENABLED


def test_an_interrupted_run_goes_on_in_another_process(tmp_path: Path) -> None:
    settings = Settings(arbiter="person", home=str(tmp_path), consensus=1.0)
    before, ended, after = run_twice(tmp_path, ours(panel()), goes_on=answer, context=settings)
    assert {"case", "sources", "claims"} <= kept_as_themselves(before.values)
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
        graph = lambda saver: build(Pool(protocol=row), saver)  # noqa: E731
        before, ended, _ = run_twice(tmp_path, graph, context=settings, interrupt_before=["arbitrate"])
    assert len(server.asked) == 3 * 3, "nothing is asked again"
    units = before.values["units"]
    assert {type(unit) for unit in units} == {Unit}
    assert {type(judgement) for unit in units for judgement in unit.judgements} == {Judgement}
    assert SOURCE not in str(before.values), "a checkpoint holds no source"
    assert {claim.decided_by for claim in ended["report"].claims} == {"arbiter"}


def test_a_run_that_died_in_a_claim_group_goes_on_with_what_the_nodes_had_done(tmp_path: Path) -> None:
    judges = [Dying("j0", "contradicting"), *panel()[1:]]
    before, ended, _ = run_twice(tmp_path, ours(judges), context=Settings(home=str(tmp_path)))
    inside = [task.state.values for task in before.tasks if getattr(task.state, "values", None)]
    assert before.next == ("check",)
    for values in (before.values, *inside):
        kept_as_themselves(values)
    assert {claim.decided_by for claim in ended["report"].claims} == {"arbiter"}
    asked = Counter(question.id for question in judges[1].heard)
    assert asked[judges[1].heard[0].id] == 1, "what was answered before the end is not asked again"
    assert asked.total() <= len(asked) + 1, "what was under way then is asked once more"


class Interrupted(ScanningJudge):
    """Breaks in the middle of its first reading."""

    async def scan(self, claims: Any, pieces: Any, case: Any) -> Any:
        if not self.scanned:
            self.scanned.append(([], len(self.heard)))
            raise ConnectionError("the machine is gone")
        return await super().scan(claims, pieces, case)


def test_a_run_that_died_in_the_scan_goes_on_with_all_that_was_asked_and_searched(tmp_path: Path) -> None:
    judge = Interrupted("j", "not_found")
    before, ended, _ = run_twice(tmp_path, ours([judge]), context=Settings(home=str(tmp_path)))
    assert before.next == ("scan",)
    kept_as_themselves(before.values)
    told = judge.heard[judge.scanned[0][1] :]
    assert {one.prompt for one in told} == {"judge_scanned"}, "that all was read is new"
    assert len({one.id for one in judge.heard}) == len(judge.heard), "nothing is asked twice"
    assert len(judge.scanned) == 2
    assert {claim.label for claim in ended["report"].claims} == {"fabricated"}

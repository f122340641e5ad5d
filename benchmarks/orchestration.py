"""The cost of the graph itself: many claim groups, four judges that answer from a script at once, no model, no disk.

Two shapes in one run, each in a process of its own. `check`: the real subgraph, every step a node. `node`: one
LangGraph node a claim group that asks the four judges and does nothing else. The judges decide in the first round, or
only in the third, before which the source is searched.

    PYTHONPATH=tests python benchmarks/orchestration.py --groups 1000 --rounds 1 3

Prints a line of JSON a measurement: seconds of wall and of CPU, peak memory, and the ratio of CPU to `node`.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from operator import add
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from scripted import ScriptedArbiter, ScriptedJudge
from typing_extensions import TypedDict

from longproof.agent.types import Case, Claim, Question
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.run import Pool, Run
from longproof.graphs.settings import Settings
from longproof.graphs.state import Checked, CheckState, ClaimState
from longproof.graphs.verify import check_step
from longproof.indexes.documents import DocumentStore
from longproof.retrieval.files import home
from longproof.retrieval.types import Document

SHAPES = ("node", "check")
BLOCK = "The lamp-keeper {n} walked down to harbour {n} and sold boat {n} to nobody. " * 12


Added = Annotated[list[Any], add]


class All(TypedDict, total=False):
    """The outer graph: what the claim groups hand back."""

    checked: Added
    calls: Added
    pages: Added


def states(groups: int, folder: str) -> list[CheckState]:
    """A state for each claim group: one claim, a place of its own in a source of ten blocks."""
    store = DocumentStore(home(folder) / "documents")
    source = Document.of("".join(BLOCK.format(n=n) for n in range(10)))
    response = Document.of("".join(f"The keeper sold boat {n}. " for n in range(groups)))
    kept = [store.put(source), store.put(response)]
    lines = Sources([source]).number_of_lines
    case = Case(id="case", response="", source_ids=(source.id,))
    made: list[CheckState] = []
    at = 0
    for n in range(groups):
        text = f"The keeper sold boat {n}."
        claim = Claim(id=f"c{n}", index=n, sentence=n, text=text, origin=response.span(at, at + len(text)))
        at += len(text) + 1
        part = lines // 10
        place = tuple(range(part * (n % 10), part * (n % 10 + 1)))
        held = ClaimState(claim=claim, place=place, around=place)
        made.append({"case": case, "sources": kept[:1], "claims": [held]})
    return made


async def ask_judges(state: CheckState, run: Run) -> Checked:
    """Ask the four judges about a claim and hand their words back: one node a claim group."""
    (one,) = state["claims"]
    question = Question(id="q", claim_ids=(one.claim.id,), look="source", prompt="judge")
    judges = run.panel.judges
    answers = await asyncio.gather(*(judge.judge(question, [one.claim], run.case) for judge in judges))
    return {"checked": [one.with_judgements(j for answer in answers for j in answer.judgements)]}


def graph(shape: str, pool: Pool, sent: list[CheckState]) -> Any:
    """The outer graph: a `Send` a claim group to the shape."""
    builder = StateGraph(All, context_schema=Settings)
    step = check_step(pool) if shape == "check" else ask_judges
    builder.add_node("check", pool.bind(step), input_schema=CheckState)
    builder.add_conditional_edges(START, lambda _: [Send("check", state) for state in sent], ["check"])
    builder.add_edge("check", END)
    return builder.compile()


async def measure(shape: str, groups: int, rounds: int, folder: str) -> dict[str, Any]:
    """One measurement; the first run of ten groups is not counted."""

    def support(question: Question, claim: Claim) -> str:
        """Support at once, or when the whole source was searched."""
        return "explicitly_supported" if rounds == 1 or question.look == "source" else "not_found"

    judges = [ScriptedJudge(f"judge {n}", support) for n in range(4)]
    pool = Pool(judges, ScriptedArbiter("fabricated"))
    settings = Settings(home=folder, cache=False)
    sent = states(groups, folder)
    await graph(shape, pool, sent[:10]).ainvoke({}, context=settings)
    wall, cpu = time.perf_counter(), time.process_time()
    found = await graph(shape, pool, sent).ainvoke({}, context=settings)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await pool.close()
    if len(found["checked"]) != groups:
        raise SystemExit(f"{len(found['checked'])} verdicts instead of {groups}")
    about = {"shape": shape, "groups": groups, "rounds": rounds}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {**about, "wall_s": round(wall, 3), "cpu_s": round(cpu, 3), "peak_mb": peak}


def alone(shape: str, groups: int, rounds: int) -> dict[str, Any]:
    """The measurement in this process."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measure(shape, groups, rounds, folder))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--rounds", type=int, nargs="+", choices=(1, 3), default=[1, 3])
    told = parser.parse_args()
    for rounds in told.rounds:
        base = 0.0
        for shape in SHAPES:
            with multiprocessing.get_context("spawn").Pool(1) as process:
                found = process.apply(alone, (shape, told.groups, rounds))
            base = base or found["cpu_s"]
            print(json.dumps(found | {"of_node": round(found["cpu_s"] / base, 1)}), flush=True)


if __name__ == "__main__":
    main()

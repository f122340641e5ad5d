"""The price of proof: what is read and written for a check, beside plain readings of the same source.

    LONGPROOF_DATA=... PYTHONPATH=tests python benchmarks/price.py [--bill]

The judges are a scripted chat server that reads perfectly: it takes a sentence apart into 2.2 claims, finds for a
claim when a passage that decides its sentence stands in the prompt, cites two of the lines shown by their beginnings,
and says where the planted errors are. A supported claim costs it about 30 characters of answer, as it costs real
readers. Price is (characters read + 5 x written) by the characters of the source. Cached: what a prompt repeats of
one that the same model had answered before counts a tenth, in blocks of 128 tokens, 1,024 at least; simulated from
the prompts in the order in which they came. Every answer takes 0.2 s; only the wall time depends on the machine.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from bisect import bisect, insort
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alignment import EVENTS, titled
from bill import bill, table
from cost import lines, sentences, summary_and_truth
from fakes import Asked, ChatServer, Reply
from knowing import Reader, Task

from longproof import Verifier
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.report import price
from longproof.agent.types import Case, Report, Usage

DATA = Path(os.environ.get("LONGPROOF_DATA", ""))
SECONDS, LEAST, BLOCK, REPEATED = 0.2, 1024, 128, 0.1
"""What an answer takes; the tokens that a server's cache holds at least, and in blocks of; what they cost there."""
THREE = ("one", "two", "three")
HOLMES, GATSBY = "the_adventures_of_sherlock_holmes_arthur_conan_doyle", "the_great_gatsby"
EN_CLAIMS, TEN, WILDFELL = 30, 10, 400_000


class Way(NamedTuple):
    """How a task is checked: the judges' models and other settings."""

    models: Sequence[str]
    settings: Mapping[str, Any] = {}


class Watched(ChatServer):
    """A server that keeps for each call what had been answered when it came, and the length of the answer."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader, delay_s=SECONDS)
        self.known: list[int] = []
        self.wrote = 0

    def _reply(self, asked: Asked) -> Reply:
        self.known.append(len(self.answered))
        reply = super()._reply(asked)
        self.wrote += len(reply.text or "")
        return reply

    def repeated(self) -> float:
        """Characters that the models' caches held when they were asked for."""
        found, done, held = 0.0, 0, dict[str, list[str]]()
        for asked, known in zip(self.asked, self.known, strict=True):
            for before in self.answered[done:known]:
                insort(held.setdefault(before.body["model"], []), whole(before))
            done = max(done, known)
            found += cached(whole(asked), held.get(asked.body["model"], []))
        return found


def whole(asked: Asked) -> str:
    """All that a call asks."""
    return asked.system + "\0" + asked.user


def cached(prompt: str, held: Sequence[str]) -> float:
    """The characters of the longest beginning that one of the prompts held (sorted) shares, in whole blocks."""
    at = bisect(held, prompt)
    common = max(
        (shared(prompt, other) for other in held[max(at - 1, 0) : at + 1]),
        key=len,
        default="",
    )
    tokens = estimate_tokens(common)
    return 0 if tokens < LEAST else len(common) * (tokens // BLOCK * BLOCK) / tokens


def shared(one: str, other: str) -> str:
    """What two texts begin with."""
    differ = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return one[: next(differ, min(len(one), len(other)))]


def xxl(planted: bool) -> Task:
    """The dense summary of 148,704 characters, perhaps with three planted errors."""
    folder = DATA / "longnovel_mini_zh"
    novel = (folder / "novel.txt").read_text("utf-8")
    units = lines(folder / "annotations.jsonl")
    found, truth, errors = summary_and_truth(units, novel)
    told = found if planted else [sentences(unit["summary"]) for unit in units]
    return Task([(novel, ["\n".join("".join(unit) for unit in told)])], truth, frozenset(errors))


def short() -> Task:
    """Summaries of 5,000 characters, half of them with an error. The source is shown whole, so all is decided."""
    folder = DATA / "longnovel_mini_zh"
    novel = (folder / "novel.txt").read_text("utf-8")
    rows = [row for row in lines(folder / "cases.jsonl") if row["scale"] == "S"]
    cases = [(novel[row["source_start"] : row["source_end"]], [row["summary"]]) for row in rows]
    truth = dict[str, list[str]]({sentence: [] for row in rows for sentence in sentences(row["summary"])})
    wrong = (row["error_sentence"] for row in rows if row["label"] == "hallucinated")
    return Task(cases, truth, frozenset(filter(None, wrong)))


def told(file: str, source: str, most: int) -> dict[str, list[str]]:
    """So many events of a novel, evenly from all that it holds, and the passages that decide each."""
    events = [event for event in lines(EVENTS / f"{file}.jsonl") if event["end"] <= len(source)]
    even = [events[n * len(events) // most] for n in range(most)]
    return {event["plain"]: [source[event["start"] : event["end"]]] for event in even}


def ten() -> Task:
    """Ten true sentences about the first 400,000 characters of a novel."""
    path = DATA / "novels_en" / "a_bronte_the_tenant_of_wildfell_hall.txt"
    source = path.read_text("utf-8")[:WILDFELL]
    truth = told("tenant_of_wildfell_hall", source, TEN)
    return Task([(source, [" ".join(truth)])], truth)


def thirty(absent: int) -> Task:
    """Thirty claims about one novel, each a response; so many are of another novel."""
    source = titled(DATA, HOLMES)
    truth = told("the_adventures_of_sherlock_holmes", source, EN_CLAIMS - absent)
    others = [event["plain"] for event in lines(EVENTS / f"{GATSBY}.jsonl")[5 : 5 + absent]]
    return Task([(source, [*truth, *others])], truth, grouped=True)


def checked(task: Task, way: Way, server: Watched, home: str) -> list[Report]:
    """The reports on all cases of a task."""
    panel = [f"openai:{name}@{server.address}" for name in way.models]
    open_ = Verifier(judges=panel, home=home, concurrency=64, **way.settings)

    async def all_of() -> list[Report]:
        reports = []
        for source, responses in task.cases:
            if task.grouped and "protocol" not in way.settings:
                cases = [Case(id=f"r{n}", response=text, source_ids=()) for n, text in enumerate(responses)]
                reports += await open_.averify_group(source, cases)
            else:
                reports.append(await open_.averify(source, "\n".join(responses)))
        await open_.close()
        return reports

    return asyncio.run(all_of())


def row(task: Task, way: Way, *, with_bill: bool) -> tuple[list[str], list[str]]:
    """The cells of one check, and the lines of its bill."""
    with Watched(Reader(task)) as server, tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        reports = checked(task, way, server, home)
        took = time.perf_counter() - began
        billed = list(table(bill(Path(home) / "ledger.sqlite", reports))) if with_bill else []
    size = sum(len(source) for source, _ in task.cases)
    read = sum(len(whole(asked)) - 1 for asked in server.asked)
    spent = Usage(prompt_characters=read, answer_characters=server.wrote, calls=len(server.asked))
    paid = price(spent, size) or 0
    saved = (1 - REPEATED) * server.repeated() / size
    claims = [claim for report in reports for claim in report.claims]
    looked = {
        name: sum(bool(c.looked and name in c.looked.rounds) for c in claims) for name in ("search", "scan")
    }
    cells = [
        f"{paid:.2f}",
        f"{paid - saved:.2f}",
        f"{read / size:.2f}",
        f"{server.wrote:,}",
        f"{len(server.asked):,}",
    ]
    cells += [
        f"{took / len(task.cases):.1f}",
        f"{len(claims):,}",
        ", ".join(f"{n} {k}" for k, n in looked.items()),
    ]
    return cells, billed


ONE, PANEL = Way(["one"]), Way(THREE)
READINGS = {
    "one plain reading": Way(["one"], {"protocol": "plain"}),
    "three plain readings": Way(THREE, {"protocol": "plain"}),
    "LongNovel-RAG": Way(["one"], {"protocol": "longnovel-rag"}),
}
PANELS = {"one judge": ONE, "three judges": PANEL, "three of one model": Way(["one"] * 3)}
CASCADE = {"three judges, cascade": Way(THREE, {"cascade": True})}
TASKS = {
    "S, 36 summaries of 5,000": (short, {**PANELS, **READINGS}),
    "XXL, dense": (lambda: xxl(planted=False), {**PANELS, **CASCADE, **READINGS}),
    "XXL, three errors": (lambda: xxl(planted=True), {**PANELS, **CASCADE, **READINGS}),
    "ten sentences, 400,000": (ten, {**PANELS, **READINGS}),
    "30 claims, one novel": (lambda: thirty(0), {**PANELS, **READINGS}),
    "30 claims, two absent": (lambda: thirty(2), PANELS),
}
BILLED = ("S, 36 summaries of 5,000", "XXL, three errors")
COLUMNS = (
    "task",
    "way",
    "price",
    "cached",
    "passes read",
    "written",
    "calls",
    "wall s",
    "claims",
    "looked further",
)


def main() -> None:
    """Print the table; the bills of one judge behind it."""
    parser = argparse.ArgumentParser(description="The price of proof, with a scripted panel.")
    parser.add_argument("--bill", action="store_true", help="where every character goes, for S and XXL")
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    given = parser.parse_args()
    if not (DATA / "longnovel_mini_zh").is_dir():
        sys.exit("LONGPROOF_DATA is not set: the development data are not here")
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    bills = []
    for name, (made, ways) in TASKS.items():
        task = made() if given.only in name else None
        for called, way in ways.items() if task else ():
            wanted = given.bill and name in BILLED and called == "one judge"
            cells, billed = row(task, way, with_bill=wanted)
            print("| " + " | ".join([name, called, *cells]) + " |", flush=True)
            bills += [f"\n{name}, {called}\n", *billed] if billed else []
    print("\n".join(bills))


if __name__ == "__main__":
    main()

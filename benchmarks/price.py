"""The price of proof: what is read and written for a check, beside plain readings of the same source.

    LONGPROOF_DATA=... PYTHONPATH=tests python benchmarks/price.py [--only TASK]

The judges are a scripted chat server that reads perfectly: it takes a sentence apart into 2.2 claims, finds for a
claim when a passage that decides its sentence stands in the prompt, cites two of the lines shown by their beginnings,
and says where the planted errors are. A supported claim costs it about 30 characters of answer, as it costs real
readers. Price is (characters read + 5 x written) by the characters of the source, nothing cached. Every answer takes
0.2 s; only the wall time depends on the machine.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alignment import EVENTS, book_text
from fakes import ChatServer
from knowing import Knowing, Task
from reader import Asked, Reply

from longproof import Verifier
from longproof.agent.report import price
from longproof.agent.types import Case, Report, Usage
from longproof.retrieval.types import Document

DATA = Path(os.environ.get("LONGPROOF_DATA", ""))
GOLD = EVENTS / "longnovel_mini_gold.jsonl"
"""The passages that decide each sentence of the dense summary, marked by hand."""
PLANTED = (1, 13, 27)
"""Units near which an error is planted in the dense summary."""
SECONDS = 0.2
"""The time that an answer takes."""
THREE = ("one", "two", "three")
HOLMES, GATSBY = "the_adventures_of_sherlock_holmes_arthur_conan_doyle", "the_great_gatsby"
EN_CLAIMS, TEN, WILDFELL = 30, 10, 400_000


class Way(NamedTuple):
    """A way to check a task: the judges' models and other settings."""

    models: Sequence[str]
    settings: Mapping[str, Any] = {}


class Watched(ChatServer):
    """A server that counts the characters that it wrote."""

    def __init__(self, reader: Knowing) -> None:
        super().__init__(reader, delay_s=SECONDS)
        self.wrote = 0

    def _reply(self, asked: Asked) -> Reply:
        reply = super()._reply(asked)
        self.wrote += len(reply.text or "")
        return reply


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def sentences(text: str) -> list[str]:
    return re.findall(r"[^。！？]*[。！？]+[”’」』]*", text)


def xxl(planted: bool) -> Task:
    """The dense summary of 148,704 characters, perhaps with three planted errors."""
    folder = DATA / "longnovel_mini_zh"
    novel, units = (folder / "novel.txt").read_text("utf-8"), lines(folder / "annotations.jsonl")
    told = [sentences(unit["summary"]) for unit in units]
    truth = {
        units[row["unit"]]["summary"][row["start"] : row["end"]]: [novel[a:b] for a, b in row["passages"]]
        for row in lines(GOLD)
    }
    errors = set[str]()
    able = [unit for unit in units if unit["hallucinated"] and unit["corrected"] in truth]
    for near in PLANTED if planted else ():
        unit = min(able, key=lambda one: abs(one["unit"] - near))
        place = told[unit["unit"]].index(unit["corrected"])
        told[unit["unit"]][place] = unit["error_sentence"]
        truth[unit["error_sentence"]] = truth[unit["corrected"]]
        errors.add(unit["error_sentence"])
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


def events_told(file: str, source: str, most: int) -> dict[str, list[str]]:
    """So many events of a novel, evenly from all that it holds, and the passages that decide each."""
    events = [event for event in lines(EVENTS / f"{file}.jsonl") if event["end"] <= len(source)]
    even = [events[n * len(events) // most] for n in range(most)]
    return {event["plain"]: [source[event["start"] : event["end"]]] for event in even}


def ten() -> Task:
    """Ten true sentences about the first 400,000 characters of a novel."""
    path = DATA / "novels_en" / "a_bronte_the_tenant_of_wildfell_hall.txt"
    source = path.read_text("utf-8")[:WILDFELL]
    truth = events_told("tenant_of_wildfell_hall", source, TEN)
    return Task([(source, [" ".join(truth)])], truth)


def thirty(absent: int) -> Task:
    """Thirty claims about one novel, each a response; so many are of another novel."""
    source = book_text(DATA, HOLMES)
    truth = events_told("the_adventures_of_sherlock_holmes", source, EN_CLAIMS - absent)
    others = [event["plain"] for event in lines(EVENTS / f"{GATSBY}.jsonl")[5 : 5 + absent]]
    return Task([(source, [*truth, *others])], truth, grouped=True)


def check_task(task: Task, way: Way, server: Watched, home: str) -> list[Report]:
    """The reports on all cases of a task."""
    panel = [f"openai:{name}@{server.address}" for name in way.models]
    open_ = Verifier(judges=panel, home=home, concurrency=64, **way.settings)

    async def all_of() -> list[Report]:
        reports = []
        for source, responses in task.cases:
            if task.grouped and "protocol" not in way.settings:
                cases = [Case(id=f"r{n}", response=text, source_ids=()) for n, text in enumerate(responses)]
                reports += await open_.check_group([Document.of(source)], cases)
            else:
                reports.append(await open_.averify(source, "\n".join(responses)))
        await open_.close()
        return reports

    return asyncio.run(all_of())


def row(task: Task, way: Way) -> list[str]:
    """The cells of one check."""
    with Watched(Knowing(task)) as server, tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        reports = check_task(task, way, server, home)
        took = time.perf_counter() - began
    size = sum(len(source) for source, _ in task.cases)
    read = sum(
        len(asked.system) + len(asked.user) + len(json.dumps(asked.schema, separators=(",", ":")))
        for asked in server.asked
    )
    spent = Usage(prompt_characters=read, answer_characters=server.wrote, calls=len(server.asked))
    claims = [claim for report in reports for claim in report.claims]
    cells = [f"{price(spent, size) or 0:.2f}", f"{read / size:.2f}", f"{server.wrote:,}"]
    return [*cells, f"{len(server.asked):,}", f"{took / len(task.cases):.1f}", f"{len(claims):,}"]


WAYS = {
    "one judge": Way(["one"]),
    "three judges": Way(THREE),
    "one plain reading": Way(["one"], {"protocol": "plain"}),
}
TASKS = {
    "S, 36 summaries of 5,000": short,
    "XXL, three errors": lambda: xxl(planted=True),
    "ten sentences, 400,000": ten,
    "30 claims, one novel": lambda: thirty(0),
    "30 claims, two absent": lambda: thirty(2),
}
COLUMNS = ("task", "way", "price", "passes read", "written", "calls", "wall s", "claims")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The price of proof, with a scripted panel.")
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    given = parser.parse_args()
    if not (DATA / "longnovel_mini_zh").is_dir():
        sys.exit("LONGPROOF_DATA is not set: the development data are not here")
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for name, made in TASKS.items():
        if given.only in name:
            task = made()
            for called, way in WAYS.items():
                print("| " + " | ".join([name, called, *row(task, way)]) + " |", flush=True)


if __name__ == "__main__":
    main()

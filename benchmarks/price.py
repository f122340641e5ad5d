"""The price of proof: what is read and written for a check, beside plain readings of the same source.

    LONGPROOF_DATA=... PYTHONPATH=tests python benchmarks/price.py [--only TASK]

The judges are a scripted chat server that reads perfectly: it takes a sentence apart into 2.2 claims, finds for a
claim when a passage that decides its sentence stands in the prompt, cites two of the lines shown, and says where the
planted errors are. Price is (characters read + 5 x written) by the characters of the source, nothing cached.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from alignment import EVENTS, NOVELS, book_text, lines
from fakes import ChatServer
from reader import Asked, Reader, Reply, answer_of, placed, taken

from longproof import Verifier
from longproof.agent.report import price
from longproof.agent.types import Case, Report, Usage
from longproof.evaluation.scores import table_row
from longproof.retrieval.text.normalise import is_chinese
from longproof.retrieval.types import Document

DATA = Path(os.environ.get("LONGPROOF_DATA", ""))


class Task(NamedTuple):
    """Responses to one source each, checked together. `truth`: the passages that decide a sentence; none where the
    source is shown whole. `errors`: sentences that are wrong."""

    cases: Sequence[tuple[str, Sequence[str]]]
    truth: Mapping[str, Sequence[str]]
    errors: frozenset[str] = frozenset()


class Knowing(Reader):
    """Answers as a judge, decomposer, searcher and reader of everything who know what decides each sentence."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._from: dict[str, str] = {}
        super().__init__(
            Sentences=self._sentences,
            Findings=self._findings,
            SearchTurn=self._search,
            ScanNotes=self._notes,
            Places=self._places,
            WrongSentences=self._plain,
        )

    def _sentences(self, asked: Asked) -> dict[str, Any]:
        found = []
        for item in asked.items("sentences"):
            claims = list(split(item["text"], 3 if int(item["sentence"][1:]) % 5 == 0 else 2))
            self._from |= {claim.partition(" @ ")[0]: item["text"] for claim in claims}
            found += taken(item, claims)
        return {"claims": found}

    def _findings(self, asked: Asked) -> dict[str, Any]:
        shown = asked.lines()
        told, found = set[str](), list[dict[str, Any]]()
        for item in asked.items("claims"):
            text, claim = item["text"], {"claim": item["claim"]}
            sentence = self._from.get(text, text if text in self._task.truth else item["passage"])
            passages = self._task.truth.get(sentence)
            wrong = sentence in self._task.errors and sentence not in told
            told.add(sentence)
            if passages is None or (passages and not is_shown(passages, shown)):
                found.append({**claim, "label": "not_found", "quotes": [], "reason": "-"})
                continue
            pairs = {text[n : n + 2] for n in range(len(text) - 1)}
            nearest = sorted(shown, key=lambda number: -sum(pair in shown[number] for pair in pairs))
            quotes = cite(nearest, shown)
            if wrong:
                reason = "The lines cited tell it otherwise: " + "; ".join(quotes)[:100]
                claim |= {"reason": reason, "kind": "event", "wrong": text[-8:-2]}
                claim |= {"correction": text[-8:-2][::-1]}
            label = "contradicting" if wrong else "explicitly_supported"
            found.append({**claim, "quotes": quotes, "label": label})
        return answer_of(asked, found) if shown else {"short": [], "rest": []}

    def _search(self, asked: Asked) -> dict[str, Any]:
        shown, claims, find = asked.numbered("passages"), [], []
        turn = int(re.findall(r"[0-9]+", asked.parts("claims")[0])[0])
        for name, claim in asked.numbered("claims").items():
            passages = self._passages(claim)
            if cited := cite_bearing(passages, shown):
                claims.append(f"{name} done {'; '.join(cited)}")
            elif turn > 3:
                claims.append(f"{name} done")
            else:
                middle = passages[len(passages) // 2] if passages else claim[turn * 7 :]
                claims.append(f"{name} open the scene itself")
                find += [
                    f"{name} {middle[len(middle) // 2 + 60 * turn :][:60].strip()}",
                    f"{name} {claim[turn * 5 :][:60]}",
                ]
        return {"claims": claims, "find": find, "read": []}

    def _notes(self, asked: Asked) -> dict[str, Any]:
        piece, notes = asked.numbered("piece"), list[str]()
        for name, claim in asked.numbered("claims").items():
            if cited := cite_bearing(self._passages(claim), piece):
                notes.append(f"{name} {'; '.join(cited)}")
        number, last = list(piece.items())[-1]
        return {"notes": notes, "last": f"{number} {last[:12]}"}

    def _places(self, asked: Asked) -> dict[str, Any]:
        about = {"reason": "The source has nothing of it.", "kind": "fabrication", "correction": ""}
        return {"places": [placed(item, item["sentence"][:40], **about) for item in asked.items("claims")]}

    def _passages(self, claim: str) -> Sequence[str]:
        return self._task.truth.get(self._from.get(claim, claim), ())

    def _plain(self, asked: Asked) -> dict[str, Any]:
        about, wrong = {"reason": "The source tells it otherwise.", "label": "contradicting"}, []
        for item in asked.items("sentences"):
            text = item["text"].strip()
            if text in self._task.errors:
                wrong.append({"sentence": item["sentence"], **about, "words": text[:6]})
        return {"wrong": wrong}


def bare(text: str) -> str:
    """A text without blanks, as lines may break it anywhere."""
    return "".join(text.split())


def split(sentence: str, most: int) -> Iterator[str]:
    """A sentence in so many claims, cut where clauses or words end; the name is put in front of all but the first."""
    chinese = is_chinese(sentence)
    cuts = [m.end() for m in re.finditer("[，；、：]" if chinese else r"[,;:]? ", sentence[:-1])]
    wanted = [min(cuts, key=lambda at: abs(at - len(sentence) * n / most), default=0) for n in range(1, most)]
    ends = [0, *sorted({at for at in wanted if at}), len(sentence)]
    name, sign = (sentence[:2], "") if chinese else (sentence.split()[0], " ")
    for n, (start, end) in enumerate(pairwise(ends)):
        piece = sentence[start:end].strip(" ，；、：,;:")
        bounds = f"{piece[:2]}…{piece[-2:]}" if chinese else f"{piece.split()[0]}…{piece.split()[-1]}"
        yield piece if n == 0 else f"{name}{sign}{piece} @ {bounds}"


def is_shown(passages: Sequence[str], shown: Mapping[str, str]) -> bool:
    """True if one of the passages is shown, or a line of it that says more than a few words."""
    held = list(map(bare, shown.values()))
    text, long = "".join(held), [line for line in held if len(line) >= 20]
    return any(passage in text or any(line in passage for line in long) for passage in map(bare, passages))


def cite_bearing(passages: Iterable[str], shown: Mapping[str, str]) -> list[str]:
    """Two of the lines shown that stand in one of the passages, or hold one, by number and beginning."""
    wanted, hits = list(map(bare, passages)), list[str]()
    for number, line in shown.items():
        text = bare(line)
        if text and any(text in passage or passage in text for passage in wanted):
            hits.append(number)
    return cite(hits, shown)


def cite(numbers: Sequence[str], shown: Mapping[str, str]) -> list[str]:
    """Two of these lines by number and beginning, of as many characters as readers give."""
    return [f"{n} {shown[n][: 4 if is_chinese(shown[n]) else 12]}" for n in numbers[:2]]


def sentences(text: str) -> list[str]:
    return re.findall(r"[^。！？]*[。！？]+[”’」』]*", text)


def xxl() -> Task:
    """The dense summary of 148,704 characters, with an error planted near each of three units."""
    folder = DATA / "longnovel_mini_zh"
    novel, units = (folder / "novel.txt").read_text("utf-8"), lines(folder / "annotations.jsonl")
    told, truth, errors = [sentences(unit["summary"]) for unit in units], dict[str, list[str]](), set[str]()
    # The passages that decide each sentence, marked by hand.
    for row in lines(EVENTS / "longnovel_mini_gold.jsonl"):
        sentence = units[row["unit"]]["summary"][row["start"] : row["end"]]
        truth[sentence] = [novel[start:end] for start, end in row["passages"]]
    able = [unit for unit in units if unit["hallucinated"] and unit["corrected"] in truth]
    for near in (1, 13, 27):
        unit = min(able, key=lambda one: abs(one["unit"] - near))
        place = told[unit["unit"]].index(unit["corrected"])
        told[unit["unit"]][place] = unit["error_sentence"]
        truth[unit["error_sentence"]] = truth[unit["corrected"]]
        errors.add(unit["error_sentence"])
    return Task([(novel, ["\n".join(map("".join, told))])], truth, frozenset(errors))


def short() -> Task:
    """Summaries of 5,000 characters, half of them with an error. The source is shown whole, so all is decided."""
    folder = DATA / "longnovel_mini_zh"
    novel = (folder / "novel.txt").read_text("utf-8")
    cases, truth, wrong = list[tuple[str, list[str]]](), dict[str, Sequence[str]](), set[str]()
    for row in lines(folder / "cases.jsonl"):
        if row["scale"] == "S":
            cases.append((novel[row["source_start"] : row["source_end"]], [row["summary"]]))
            truth.update(dict.fromkeys(sentences(row["summary"]), ()))
            wrong.update({row["error_sentence"]} if row["label"] == "hallucinated" else ())
    return Task(cases, truth, frozenset(wrong))


def events_told(name: str, source: str, most: int) -> dict[str, list[str]]:
    """So many events of a novel, evenly from all that it holds, and the passages that decide each."""
    events = [event for event in lines(EVENTS / f"{NOVELS[name][1]}.jsonl") if event["end"] <= len(source)]
    even = [events[n * len(events) // most] for n in range(most)]
    return {event["plain"]: [source[event["start"] : event["end"]]] for event in even}


def ten() -> Task:
    """Ten true sentences about the first 400,000 characters of a novel."""
    source = (DATA / NOVELS["Wildfell Hall"][0]).read_text("utf-8")[:400_000]
    truth = events_told("Wildfell Hall", source, 10)
    return Task([(source, [" ".join(truth)])], truth)


def thirty(absent: int) -> Task:
    """Thirty claims about one novel, each a response; so many are of another novel."""
    source = book_text(DATA, NOVELS["Sherlock Holmes"][0])
    truth = events_told("Sherlock Holmes", source, 30 - absent)
    others = [event["plain"] for event in lines(EVENTS / "the_great_gatsby.jsonl")[5 : 5 + absent]]
    return Task([(source, [*truth, *others])], truth)


async def check_task(task: Task, protocol: str, judges: Sequence[str], home: str) -> list[Report]:
    """The reports on all cases of a task; the plain question is asked about all responses at once."""
    open_, reports = Verifier(judges=judges, protocol=protocol, home=home, concurrency=64), list[Report]()
    for source, responses in task.cases:
        if protocol == "plain" or len(responses) == 1:
            reports.append(await open_.averify(source, "\n".join(responses)))
        else:
            cases = [Case(id=f"r{n}", response=text, source_ids=()) for n, text in enumerate(responses)]
            reports += await open_.check_group([Document.of(source)], cases)
    await open_.close()
    return reports


def row(task: Task, protocol: str, models: Sequence[str]) -> list[str]:
    """The cells of one check."""
    reader, written = Knowing(task), list[int]()

    def answer(asked: Asked) -> Reply:
        reply = reader(asked)
        written.append(len(reply.text or ""))
        return reply

    with ChatServer(answer, delay_s=0.2) as server, tempfile.TemporaryDirectory() as home:
        judges = [f"openai:{name}@{server.address}" for name in models]
        reports = asyncio.run(check_task(task, protocol, judges, home))
    size, read = sum(len(source) for source, _ in task.cases), 0
    for asked in server.asked:
        read += len(asked.system) + len(asked.user) + len(json.dumps(asked.schema, separators=(",", ":")))
    n_claims = sum(len(report.claims) for report in reports)
    spent = Usage(prompt_characters=read, answer_characters=sum(written), calls=len(written))
    cells = [f"{price(spent, size) or 0:.2f}", f"{read / size:.2f}", f"{spent.answer_characters:,}"]
    return [*cells, f"{len(written):,}", f"{n_claims:,}"]


WAYS = {
    "one judge": ("longproof", ["one"]),
    "three judges": ("longproof", ["one", "two", "three"]),
    "one plain reading": ("plain", ["one"]),
}
TASKS = {
    "S, 36 summaries of 5,000": short,
    "XXL, three errors": xxl,
    "ten sentences, 400,000": ten,
    "30 claims, one novel": lambda: thirty(0),
    "30 claims, two absent": lambda: thirty(2),
}
COLUMNS = ("task", "way", "price", "passes read", "written", "calls", "claims")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The price of proof, with a scripted panel.")
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    given = parser.parse_args()
    if not (DATA / "longnovel_mini_zh").is_dir():
        sys.exit("LONGPROOF_DATA is not set: the development data are not here")
    print(table_row(COLUMNS) + "\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for name, task_of in TASKS.items():
        if given.only in name:
            task = task_of()
            for called, way in WAYS.items():
                print(table_row([name, called, *row(task, *way)]), flush=True)


if __name__ == "__main__":
    main()

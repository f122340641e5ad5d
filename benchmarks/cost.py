"""What a check costs in passes, with a panel that supports a sentence only when it was shown what decides it.

    LONGPROOF_DATA=... PYTHONPATH=tests python benchmarks/cost.py

The panel is a scripted chat server: three judges, one claim a sentence. A judge finds for a sentence when any, or
all, of its gold passages (`data/longnovel_mini_gold.jsonl`, marked by hand) stand in the prompt, contradicts a
planted error when it sees the passages of the true sentence, and else says not_found. Passes are prompt characters
of all calls, templates, decomposition and forms included, by the characters of the source.
"""

import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from fakes import FORMS, Asked, ChatServer, Reply, answer_of

from longproof import Verifier
from longproof.agent.types import Report

DATA = Path(os.environ.get("LONGPROOF_DATA", "")) / "longnovel_mini_zh"
GOLD = Path(__file__).parent / "data" / "longnovel_mini_gold.jsonl"
PLANTED = (1, 13, 27)
"""Units whose hallucinated version stands in the summary, where they have one."""


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def sentences(text: str) -> list[str]:
    return re.findall(r"[^。！？]*[。！？]+[”’」』]*", text)


def summary_and_truth(
    units: list[dict], novel: str
) -> tuple[list[list[str]], dict[str, list[str]], set[str]]:
    """The sentences of each unit, the passages that decide each, and the planted errors among them."""
    found = [sentences(unit["summary"]) for unit in units]
    truth = {
        units[row["unit"]]["summary"][row["start"] : row["end"]]: [novel[a:b] for a, b in row["passages"]]
        for row in lines(GOLD)
    }
    errors = set[str]()
    planted = [unit for unit in units if unit["hallucinated"] and unit["corrected"] in truth]
    for unit in [min(planted, key=lambda u: abs(u["unit"] - near)) for near in PLANTED]:
        place = found[unit["unit"]].index(unit["corrected"])
        found[unit["unit"]][place] = unit["error_sentence"]
        truth[unit["error_sentence"]] = truth[unit["corrected"]]
        errors.add(unit["error_sentence"])
    return found, truth, errors


def bare(text: str) -> str:
    """A text without blanks, as lines may break it anywhere."""
    return "".join(text.split())


def nearest(claim: str, shown: Mapping[str, str]) -> list[str]:
    """The numbers of the two lines that share most with a claim."""
    pairs = {claim[n : n + 2] for n in range(len(claim) - 1)}
    return sorted(shown, key=lambda n: -sum(pair in shown[n] for pair in pairs))[:2]


def reader(
    truth: dict[str, list[str]], errors: set[str], enough: Callable[..., bool]
) -> Callable[[Asked], Reply]:
    """The script of a panel that reads correctly and knows the truth."""

    def finding(item: dict, shown: dict[str, str], text: str) -> dict:
        passages = truth[item["text"].strip()]
        seen = enough(bare(passage) in text for passage in passages)
        label = (
            "not_found" if not seen else "contradicting" if item["text"] in errors else "explicitly_supported"
        )
        wrong = item["text"][:-1] if label == "contradicting" else ""
        return {
            "claim": item["claim"],
            "quotes": [shown[number] for number in nearest(item["text"], shown)] if seen else [],
            "reason": "It says so.",
            "label": label,
            "wrong": wrong,
            "correction": "otherwise" if wrong else "",
        }

    def script(asked: Asked) -> Reply:
        if asked.form != "Findings":
            return Reply(json.dumps(FORMS[asked.form](asked), ensure_ascii=False))
        shown = asked.lines()
        text = bare("".join(shown.values()))
        said = answer_of(asked, [finding(item, shown, text) for item in asked.items("claims")])
        return Reply(json.dumps(said, ensure_ascii=False))

    return script


def measured(
    source: str, response: str, truth: dict[str, list[str]], errors: set[str], enough: Callable[..., bool]
) -> Report:
    with ChatServer(reader(truth, errors, enough)) as server, tempfile.TemporaryDirectory() as home:
        panel = [f"openai:reader@{server.address}"] * 3
        return Verifier(judges=panel, home=home).verify(source, response)


def row(name: str, source: str, report: Report, errors: set[str]) -> str:
    rounds = Counter(claim.judgements[-1].round for claim in report.claims)
    purposes = Counter[str]()
    for call in report.calls:
        purposes[call.purpose] += call.prompt_characters
    right = sum(
        claim.label == ("contradicting" if claim.text in errors else "explicitly_supported")
        for claim in report.claims
    )
    spent = report.usage.prompt_characters
    cells = [
        name,
        f"{len(report.claims)}",
        f"{report.usage.calls}",
        f"{spent / len(source):.2f}",
        *(
            f"{purposes[purpose] / len(source):.2f}"
            for purpose in ("decompose", "judge", "arbitrate", "localise")
        ),
        ", ".join(f"{name} {n}" for name, n in rounds.items()),
        f"{right} of {len(report.claims)}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    if not DATA.is_dir():
        sys.exit("LONGPROOF_DATA is not set: the development data are not here")
    novel = (DATA / "novel.txt").read_text("utf-8")
    units = lines(DATA / "annotations.jsonl")
    found, truth, errors = summary_and_truth(units, novel)
    other = next((DATA.parent / "novels_zh").glob("sanguo*")).read_text("utf-8")
    wide = other[:130_000] + novel + other[130_000:251_296]
    dense = "\n".join("".join(unit) for unit in found)
    ten = "\n".join(unit[len(unit) // 2] for unit in found[::3])
    print(
        "| check | claims | calls | passes | decompose | judge | arbitrate | localise | decided in | right |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, source, response in (
        ("dense, 148,704 characters", novel, dense),
        (f"ten sentences, {len(wide):,} characters", wide, ten),
    ):
        for enough in (any, all):
            report = measured(source, response, truth, errors, enough)
            print(row(f"{name}; {enough.__name__} of the passages", source, report, errors), flush=True)


if __name__ == "__main__":
    main()

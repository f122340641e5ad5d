"""Where every character of a run goes: a bill by purpose, from the ledger that holds its answers and its reports.

    python benchmarks/bill.py DATA_FOLDER [REPORT.json ...]

The ledger keeps answers and no prompts; a report says of each call what it was for and how long its prompt was.
What was read is split into the template (known by the hash of its wording), the claims (with their sentences) and the
rest: evidence, and what else was shown. What was written is split by the answers' fields, with their names; `layout`
is what stands outside of them. Without reports the answers alone are split.
"""

import argparse
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import reduce
from hashlib import sha256
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, get_args

from longproof.agent import forms
from longproof.agent.models.answers import Form, Raw, Truncated, last_object, schema
from longproof.agent.prompting import in_sentences
from longproof.agent.recipes import RECIPES
from longproof.agent.report import price
from longproof.agent.types import Call, Case, Claim, Report, Usage
from longproof.prompts import Language, Prompt, template
from longproof.retrieval.types import Span

FORMS: dict[str, type[Form]] = {
    "decompose": forms.Sentences,
    "localise": forms.Places,
    "find": forms.Segments,
    "search": forms.SearchTurn,
    "scan": forms.ScanNotes,
}
"""The forms of prompts that no judge answers."""
PARTS = {
    "short": ("citations", re.compile(r"(?<=[A-Z] )\S")),
    "claims": ("segments", re.compile(r" @ (?!.* @ )", re.DOTALL)),
}
"""Fields whose texts have two parts: what the second is called, and where it begins."""


def answers_of(ledger: Path) -> dict[str, str]:
    """The text of every answer in a ledger, by its call."""
    with closing(sqlite3.connect(f"{ledger.absolute().as_uri()}?mode=ro", uri=True)) as db:
        kept = db.execute("SELECT key, answer FROM calls ORDER BY key").fetchall()
    raws = {key: Raw.model_validate(json.loads(answer)) for key, answer in kept}
    return {key: raw.text or raw.refusal or "" for key, raw in raws.items()}


def wordings() -> dict[str, int]:
    """The characters of every wording that a prompt may have, by its hash."""
    names = {
        file.name.split(".")[0] for file in files("longproof.prompts").iterdir() if file.name.endswith(".md")
    }
    told: dict[tuple[str, ...], type[Form] | None] = {(name,): FORMS.get(name) for name in names}
    told |= {recipe.parts: recipe.form for recipe in RECIPES.values()}
    endings = product(("", "arbitrate"), ("", "again"), ("", "form"), get_args(Language))
    found = {}
    for (parts, form), (*ending, language) in product(told.items(), list(endings)):
        texts = [template(part, language) for part in (*parts, *filter(None, ending))]
        asked = [Prompt("", text, sha256(text.encode()).hexdigest()[:16], language) for text in texts]
        prompt = reduce(Prompt.then, asked)
        found[prompt.hash] = prompt.characters + (len(json.dumps(schema(form))) if ending[-1] and form else 0)
    return found


def asked_about(reports: Iterable[Report]) -> Counter[str]:
    """The characters of the claims that each call asks about and of their sentences, listed as judges see them."""
    found = Counter[str]()
    for report in reports:
        case, asked = _case(report), dict[str, dict[int, Claim]]()
        for n, claim in enumerate(report.claims, start=1):
            origin = Span(source_id="", **claim.origin.model_dump())
            made = Claim(id=claim.id, index=n, sentence=claim.sentence, text=claim.text, origin=origin)
            for call in {one.call_id for one in claim.judgements if one.call_id}:
                asked.setdefault(call, {})[len(asked.get(call, {})) + 1] = made
        found.update({call: len(in_sentences(numbered, case)) for call, numbered in asked.items()})
    return found


def _case(report: Report) -> Case:
    return Case(id=report.case.id, response=report.case.response)


def fields(value: Any, name: str = "layout") -> Iterator[tuple[str, int]]:
    """The characters of each field, its name included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, len(json.dumps(key, ensure_ascii=False)) + 2
            yield from fields(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner, name)
    else:
        size = len(json.dumps(value, ensure_ascii=False))
        second, begins = PARTS.get(name, ("", None))
        cut = begins.search(value) if begins and isinstance(value, str) else None
        more = len(json.dumps(value[cut.start() :], ensure_ascii=False)) - 2 if cut else 0
        yield name, size - more
        if more:
            yield second, more


def written(text: str) -> Counter[str]:
    """The characters of an answer by field; an answer without the form is all `layout`."""
    try:
        found = Counter[str]()
        for name, size in fields(last_object(text) or {}):
            found[name] += size
    except Truncated:
        found = Counter()
    found["layout"] += len(text) - found.total()
    return found


def bill(ledger: Path, reports: Sequence[Report]) -> dict[str, Counter[str]]:
    """By purpose: calls, what was read (`< template` and so on), what was written (`> field`)."""
    answers, known, claims = answers_of(ledger), wordings(), asked_about(reports)
    calls: dict[str, Call] = {call.id: call for report in reports for call in report.calls}
    found: dict[str, Counter[str]] = {}
    for key in calls or answers:
        call, text = calls.get(key), answers.get(key, "")
        line = found.setdefault(call.purpose if call else "unknown", Counter())
        line["calls"] += 1
        line.update({f"> {name}": size for name, size in written(text).items()})
        if call:
            read = {"template": known.get(call.prompt_hash, 0), "claims": claims[key]}
            read["rest"] = call.prompt_characters - sum(read.values())
            line.update({f"< {name}": size for name, size in read.items()})
    return found


def table(found: dict[str, Counter[str]]) -> Iterator[str]:
    """The bill as a Markdown table: what was read first, then what was written, the longest field first."""
    every = sum(found.values(), Counter[str]())
    wrote = [name for name, _ in every.most_common() if name.startswith("> ")]
    columns = ["calls", "< template", "< claims", "< rest", *wrote]
    yield "| purpose | " + " | ".join(columns) + " |"
    yield "| --- |" + " --- |" * len(columns)
    for purpose, line in [*sorted(found.items()), ("all", every)]:
        yield f"| {purpose} | " + " | ".join(f"{line[name]:,}" for name in columns) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Where every character of a run goes.")
    parser.add_argument("home", type=Path, help="the data folder, with ledger.sqlite")
    parser.add_argument("reports", type=Path, nargs="*", help="reports of the run as JSON")
    given = parser.parse_args()
    reports = [Report.model_validate_json(path.read_text("utf-8")) for path in given.reports]
    found = bill(given.home / "ledger.sqlite", reports)
    print("\n".join(table(found)))
    every = sum(found.values(), Counter[str]())
    read, wrote = (sum(n for name, n in every.items() if name[0] == sign) for sign in "<>")
    sources = {d.id: d.characters for report in reports for d in report.documents if d.role == "source"}
    spent = price(Usage(prompt_characters=read, answer_characters=wrote), sum(sources.values()))
    print(
        f"\nread {read:,}, written {wrote:,}"
        + (f"; price {spent:.2f}, each source counted once" if spent else "")
    )


if __name__ == "__main__":
    main()

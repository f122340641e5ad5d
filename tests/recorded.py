"""What every protocol does, written down: scripted cases in English and Chinese, run through the front door.

`CASES` says for each protocol what is checked. `recorded` runs a case in a data folder of its own and returns what
may not change: the report, what the ledger keeps, and a mark for each prompt that was sent. The models stand at an
address that never changes (requests reach the scripted server as their proxy), because the address is part of a
ledger's keys.

`kept` alone knows what of a report is compared: fields that it doesn't name may come, go and move.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from disputing import disputing, roll
from fakes import ChatServer
from reader import Asked, Reply

from longproof import Verifier
from longproof.graphs.verify import protocols

EXAMPLES, GRAY = files("longproof.examples"), Path(__file__).parent / "gray"
ADDRESS = "http://models.test/v1"
GOLDEN = Path(__file__).parent / "golden" / "protocols"
ALIGNING = ("longproof", "longnovel-rag")
"""The protocols that align the response with its source; no other paper does."""
SHORT = 12
"""Characters of a hash that are written down."""
LONGEST = 24
"""Characters of a text that are written down; its hash stands for the rest."""
PROTOCOLS = tuple(protocols())
USED = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens", "prompt_characters")
LABELS = ("explicitly_supported", "fabricated", "no_fact", "contradicting", "implicitly_supported")
THREE, TWO = ("m0", "m1", "m2"), ("m0", "m1")


class Recorded(NamedTuple):
    """A case: what is given to `Verifier`, and what to `Verifier.verify`. `pages` are texts by file name."""

    source: Any
    response: str
    models: tuple[str, ...] = THREE
    pages: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}
    more: Mapping[str, Any] = {}


def cases(protocol: str) -> dict[str, Recorded]:
    """The cases of a protocol, by name."""
    if protocol == "longproof":
        return _ours()
    made: dict[str, Recorded] = {}
    for language, asked in (("en", "What happened at the weir?"), ("zh", "秤是怎么回事？")):
        more: dict[str, Any] = {"context": asked}
        source, response = _source(language), _response(language, 6)
        if protocol.endswith("-contrast"):
            more["reference"] = _read(f"{language}/faithful.txt")[: len(response)]
        if protocol == "verigray-audit":
            more["labels"] = [LABELS[n % len(LABELS)] for n in range(len(_sentences(response)))]
        if protocol == "data-to-text":
            source, response = RECORDS[language], ARTICLES[language]
        pages = {"verigray-rag": _pages(language)}.get(protocol, {})
        made[language] = Recorded(source, response, THREE if language == "en" else TWO, pages, {}, more)
    return made


def recorded(protocol: str, case: Recorded, home: Path, script: Callable[[Asked], Reply] = disputing) -> Any:
    """All that may not change of a case's run in this data folder."""
    with ChatServer(script) as server, at(server):
        report = checked(protocol, case, home)
    return {
        "report": kept(report),
        "asked": sorted(Counter(map(_mark, server.asked)).items()),
        "ledger": _ledger(home, {call["id"]: call["purpose"] for call in report["calls"]}),
    }


def checked(protocol: str, case: Recorded, home: Path) -> dict[str, Any]:
    """The report of a case, as JSON would hold it."""
    folder = home / "pages"
    for name, text in case.pages.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    seats = [f"openai:{name}@{ADDRESS}" for name in case.models]
    settings = {"judges": seats, "arbiter": f"openai:m9@{ADDRESS}", **case.settings}
    asks = Verifier(
        **settings, protocol=protocol, pages=str(folder) if case.pages else None, home=str(home), timeout_s=20
    )
    report: dict[str, Any] = asks.verify(case.source, case.response, **case.more).model_dump(mode="json")
    return report


@contextmanager
def at(server: ChatServer) -> Iterator[None]:
    """While this is open, what is sent to `ADDRESS` reaches this server.

    No certificate is needed for that, and reading them would take most of the time, so none is named.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "all_proxy", "no_proxy"):
            patch.delenv(name, raising=False)
            patch.delenv(name.upper(), raising=False)
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(Path(__file__).parent))
        patch.setenv("http_proxy", server.address.removesuffix("/v1"))
        yield


def kept(report: Mapping[str, Any]) -> dict[str, Any]:
    """All of a report that says what was found, and how.

    Left out on purpose, because these may change: the report's schema version, times, what was paid in this run,
    versions, paths and settings, how judges' names are built round the model's name, and fields that this function
    doesn't name. A paper that doesn't align has no windows. Document ids become short names: R the response, S0 a
    source, P0 a page.
    """
    names = _names(report["documents"])
    place = _places(names)
    aligns = report["stamp"]["protocol"] in ALIGNING

    def judgement(one: Mapping[str, Any]) -> list[Any]:
        """One judge's word on a line."""
        said = [one["round"], one["judge"].removesuffix(f"@{ADDRESS}"), one["label"] or f"!{one['failure']}"]
        about = [*map(place, one["quotes"]), *map(error, one["errors"]), *map(reading, one["readings"])]
        return [*said, one["question_id"], (one["call_id"] or "")[:SHORT], one["prompt_hash"],
                one["quotes_dropped"], _brief(one["reason"]), *about]  # fmt: skip

    def error(one: Mapping[str, Any]) -> str:
        return f"error {place(one['span'])} {one['kind']} -> {one['correction']!r}: {_brief(one['reason'])}"

    def reading(one: Mapping[str, Any]) -> str:
        return f"reading {one['label']}: {_brief(one['text'])}"

    def search(one: Mapping[str, Any]) -> list[Any]:
        judge = one["judge"].removesuffix(f"@{ADDRESS}")
        return [one["claim_id"], judge, one["failure"], *map(place, one["found"] or ())]

    def claim(one: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "claim": f"{one['id']} of sentence {one['sentence']}: {one['text']}",
            "origin": f"{one['origin']['start']}-{one['origin']['end']}",
            **({"window": one["window"] and place(one["window"])} if aligns else {}),
            **{name: one[name] for name in ("label", "failure", "decided_by", "caveat")},
            "evidence": [place(span) for span in one["evidence"]],
            "errors": [error(e) for e in one["errors"]],
            "readings": [reading(r) for r in one["readings"]],
            "judgements": [judgement(j) for j in one["judgements"]],
        }

    return {
        "verdict": report["verdict"],
        "counts": {label: n for label, n in report["counts"].items() if n},
        "coverage": report["coverage"],
        "documents": [
            f"{names[d['id']]} {d['id'][7:][:SHORT]} {d['role']} {d['kind']} {d['characters']}"
            for d in report["documents"]
        ],
        "sentences": [f"{s['start']}-{s['end']} {s['label']}" for s in report["sentences"]],
        "claims": [claim(one) for one in report["claims"]],
        "searches": [search(one) for one in report["searches"]],
        "usage": {name: report["usage"][name] for name in USED},
        "stamp": {name: report["stamp"].get(name, False) for name in ("protocol", "coarse", "refused")},
    }


def written(record: Any) -> str:
    """A record as it stands in a file: a line for each small thing."""
    return _lines(record) + "\n"


def _ours() -> dict[str, Recorded]:
    pages = {f.name: f.read_text("utf-8") for f in (GRAY / "pages").iterdir()}
    wordy = {"decomposer": f"openai:wordy@{ADDRESS}"}
    article, summary = ((GRAY / f"{name}.txt").read_text("utf-8").strip() for name in ("article", "summary"))
    gray = Recorded(article, summary, THREE, pages, wordy)
    return {
        "en": Recorded(_source("en"), _response("en", 4), pages=_pages("en")),
        "zh": Recorded(_source("zh"), _response("zh", 3), TWO, _pages("zh")),
        "gray": gray,
        "open": Recorded([], _response("en", 5), TWO, _pages("en"), {}, {"task": "open"}),
        "record": Recorded(RECORDS["en"], ARTICLES["en"], TWO, {}, {}, {"task": "article"}),
        "person": gray._replace(pages={}, settings={"arbiter": "person"}, more={"decide": _person}),
    }


async def _person(disputes: list[dict[str, Any]]) -> dict[str, Any]:
    """Decides all disputes but one in three, by the claims' words."""
    decisions = []
    for n, one in enumerate(disputes):
        if n % 3 != 2:
            label = LABELS[roll(one["claim"]) % len(LABELS)]
            decisions.append({"claim_id": one["claim_id"], "label": label, "reason": "I read it."})
    return {"name": "Ada", "decisions": decisions}


@cache
def _read(name: str) -> str:
    return (EXAMPLES / name).read_text("utf-8").strip()


def _source(language: str) -> str:
    """The story but for its end, which stands in the saved pages."""
    text = _read(f"{language}/story.txt")
    return text[: len(text) * 3 // 4]


def _pages(language: str) -> dict[str, str]:
    text = _read(f"{language}/story.txt")
    end = text[len(text) * 3 // 4 :]
    half = len(end) // 2
    return {"third.txt": end[:half], "fourth.md": f"# The end\n\n{end[half:]}"}


def _response(language: str, step: int) -> str:
    """Every so many sentences of the flawed summary."""
    return "".join(_sentences(_read(f"{language}/hallucinated.txt"))[::step]).strip()


def _sentences(text: str) -> list[str]:
    return [part for part in re.findall(r"[^.。?？]*[.。?？]\s*", text) if part.strip()]


@cache
def _hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:SHORT]


def _mark(asked: Asked) -> str:
    """A request by model, form and the hash of its messages."""
    messages = json.dumps(asked.body["messages"], sort_keys=True)
    return f"{_hashed(messages)} {asked.body['model']} {asked.form}"


def _ledger(home: Path, purposes: Mapping[str, str]) -> list[str]:
    """The rows of the ledger: the key of each answer, its purpose in the report, the model, the failure."""
    found = []
    for file in home.rglob("*"):
        if file.is_file() and file.read_bytes()[:15] == b"SQLite format 3":
            with closing(sqlite3.connect(file)) as db:
                if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'calls'").fetchone():
                    found += db.execute("SELECT key, endpoint, model, failure FROM calls").fetchall()
    assert all(endpoint == ADDRESS for _, endpoint, _, _ in found)
    return sorted(
        f"{key[: 2 * SHORT]} {purposes.get(key)} {model} {failure}" for key, _, model, failure in found
    )


def _names(documents: list[dict[str, Any]]) -> dict[str, str]:
    counted: Counter[str] = Counter()
    names = {}
    for document in documents:
        role = {"response": "R", "source": "S", "page": "P"}[document["role"]]
        names[document["id"]] = role if role == "R" else f"{role}{counted[role]}"
        counted[role] += 1
    return names


def _places(names: Mapping[str, str]) -> Callable[[Mapping[str, Any]], str]:
    def place(span: Mapping[str, Any]) -> str:
        text = f" {_brief(span['text'])}" if "text" in span else ""
        return f"{names[span['source_id']]}[{span['start']}:{span['end']}]{text}"

    return place


def _brief(text: str) -> str:
    """A short text as it is; a long one by its beginning and its hash."""
    return text if len(text) <= LONGEST + SHORT else f"{text[:LONGEST]}…{_hashed(text)}"


def _lines(value: Any, indent: str = "") -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) <= 110 or not isinstance(value, dict | list) or _plain(value):
        return flat
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(k)}: {_lines(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{inner}{_lines(v, inner)}" for v in value) + f"\n{indent}]"


def _plain(value: Any) -> bool:
    """True for a line of a judge or a search: a list that holds no lists and begins with a short word."""
    if not isinstance(value, list) or any(isinstance(v, dict | list) for v in value):
        return False
    return len({type(v) for v in value}) > 1


RECORDS: dict[str, Any] = {
    "en": {
        "team": {"home": "Harbour Kings", "away": "Northgate Owls"},
        "score": {"home": 4, "away": 2, "periods": ["1:0", "1:2", "2:0"]},
        "goals": [{"player": "Orrin Dale", "minute": 7}, {"player": "Tam Beck", "minute": 31}],
        "spectators": 5120,
    },
    "zh": {
        "手机": {"型号": "青石 3", "屏幕": "6.1 英寸", "电池": "4200 毫安时", "重量": "172 克", "价格": 2399}
    },
}
ARTICLES = {
    "en": "The Harbour Kings beat the Northgate Owls 4 to 2 before 6120 spectators. Orrin Dale opened the score "
    "after 7 minutes. Tam Beck, the captain, added a goal in minute 31. The Owls never led.",
    "zh": "青石 3 采用 6.1 英寸屏幕，电池为 4500 毫安时。机身重 172 克，售价 2399 元。它还支持无线充电。",
}

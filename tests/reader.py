"""One scripted model: it answers every form that it is asked for, from the prompt alone.

`Reader(rule, Form=…)` answers the product's forms by one rule, which says of each claim what a judge would find, and
any form that is named in its own way. `well` reads correctly in the plainest sense; the others below are the ways in
which models and servers fail.
"""

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

NUMBERED = re.compile(r"^P?\d+\| ", re.MULTILINE)
FENCED = re.compile(r"<<<([0-9a-f]{8}) (\w+)\n(.*?)\n\1>>>", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """One request as the server got it. `number` counts from 0; `headers` are known of requests in process."""

    number: int
    body: dict[str, Any]
    key: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def schema(self) -> dict[str, Any] | None:
        form = self.body.get("response_format")
        return form["json_schema"]["schema"] if form else None

    def parts(self, name: str) -> list[str]:
        """The fenced texts of this name."""
        return [text for _, called, text in FENCED.findall(self.user) if called == name]

    def part(self, name: str) -> str:
        """The fenced texts of this name as one."""
        return "\n".join(self.parts(name))

    def items(self, name: str) -> list[dict[str, Any]]:
        """The JSON lines of the fenced part of this name; claims listed under their sentence as one item each."""
        rows = [row for part in self.parts(name) for row in part.splitlines()]
        if rows and re.match(r"(S|C\d+)\| ", rows[0]):
            return list(_claims(rows))
        return [json.loads(row) for row in rows]

    def numbered(self, name: str) -> dict[str, str]:
        """The lines `123| text`, `P1| text`, `C1| text` of the parts of this name, by their numbers."""
        return dict(re.findall(r"^([CP]?\d+)\| (.*)$", self.part(name), re.MULTILINE))

    def lines(self) -> dict[str, str]:
        """The numbered lines of evidence and pages."""
        return self.numbered("evidence") | self.numbered("pages")

    def said(self, name: str) -> list[str]:
        """The fenced texts of this name without the numbers of their lines."""
        return [NUMBERED.sub("", text) for text in self.parts(name)]

    @property
    def first_line(self) -> str:
        """The first line of the evidence, without its number."""
        return self.said("evidence")[0].strip().split("\n")[0]

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def form(self) -> str:
        """The title of the form asked for, by schema or in the prompt."""
        wanted = self.schema or json.loads(self.parts("schema")[-1])
        return str(wanted["title"])


@dataclass(frozen=True)
class Reply:
    """One reply of the server. `hang`: never answers. `snap`: breaks the connection inside the body.

    `halfway`: what a stream does in its middle instead of going on.
    """

    text: str | None = ""
    status: int = 200
    finish: str | None = "stop"
    delay_s: float = 0.0
    refusal: str | None = None
    error: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    hang: bool = False
    snap: bool = False
    halfway: Literal["", "ends", "errs"] = ""
    extra: dict[str, Any] = field(default_factory=dict)


def _claims(rows: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The claims of a judge's prompt, each with its sentence."""
    sentence = ""
    for name, text in (row.split("| ", 1) for row in rows):
        if name == "S":
            sentence = text
        else:
            yield {"claim": name, "text": text, "passage": sentence or text}


LETTERS = {"explicitly_supported": "E", "implicitly_supported": "I"}


def answer_of(asked: Asked, findings: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Findings with claim, quotes and label at least in the judge's form: what is supported as short strings, all
    else with words. A quote is cited by the line shown that it stands in, or as it is."""
    shown, answer = asked.lines(), dict[str, Any](short=[], rest=[])
    for finding in findings:
        lines = [cite(quote, shown) for quote in finding["quotes"]]
        if finding["label"] in LETTERS:
            said = f"{finding['claim']} {LETTERS[finding['label']]} {'; '.join(lines)}"
            answer["short"].append(said.strip())
            continue
        kept = {name: finding[name] for name in ("claim", "reason", "label", "readings") if name in finding}
        errors = list(finding.get("errors", ()))
        if wrong := finding.get("wrong"):
            errors.append(f"{finding.get('kind', 'none')}: {wrong} => {finding.get('correction', '')}")
        answer["rest"].append({"reason": "", "readings": [], **kept, "errors": errors, "lines": lines})
    return answer


def cite(quote: str, shown: Mapping[str, str]) -> str:
    """The line that a quote stands in, or that stands in the quote, by number and beginning; else the quote."""
    bare = " ".join(quote.split())
    fits = (n for n, text in shown.items() if bare and (bare in text or (len(text) > 8 and text in bare)))
    number = next(fits, None)
    return quote if number is None else f"{number} {shown[number][:16]}"


Item = dict[str, Any]
"""A claim or sentence as a prompt names it: `claim` or `sentence`, `text`, and what else stands with it."""
Rule = Callable[[Asked, Item], dict[str, Any]]
"""What a judge finds of a claim: `claim`, `label`, `quotes`, and other fields of a finding."""
Said = Reply | dict[str, Any] | str
"""What a script says: a reply, a form filled in, or a text."""
Answer = Said | Callable[[Asked], Said]
"""How a form is answered: always the same, or by what is asked."""


def reply_of(said: Said) -> Reply:
    if isinstance(said, Reply):
        return said
    return Reply(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


def by_words(asked: Asked, item: Item) -> dict[str, Any]:
    """Supported where one piece of what is shown has most of the claim's words, else not found."""
    words = _words(item["text"])
    shown = asked.said("evidence") + asked.said("pages")
    pieces = [piece for text in shown for piece in re.split(r"(?<=[.!?。！？])\s*", text) if piece]
    best = max(pieces, key=lambda piece: len(words & _words(piece)), default="")
    held = bool(words) and len(words & _words(best)) >= 0.8 * len(words)
    return {
        "claim": item["claim"],
        "quotes": [best.strip()] if held else [],
        "reason": "The quote says so." if held else "Nothing shown deals with it.",
        "label": "explicitly_supported" if held else "not_found",
    }


class Reader:
    """A script that answers each form; the product's by a rule, if they are not named."""

    def __init__(self, rule: Rule = by_words, /, **forms: Answer) -> None:
        self._rule = rule
        self._forms: dict[str, Answer] = {
            "StatementChoice": self._choice,
            "Findings": self.findings,
            "Sentences": sentences,
            "Places": places,
            "SearchTurn": searching,
            "ScanNotes": notes,
            **forms,
        }

    def __call__(self, asked: Asked) -> Reply:
        """The reply to any form."""
        answer = self._forms[asked.form]
        return reply_of(answer(asked) if callable(answer) else answer)

    def findings(self, asked: Asked) -> dict[str, Any]:
        """A finding for each claim, in the judge's form."""
        return answer_of(asked, [self._rule(asked, item) for item in asked.items("claims")])

    def _choice(self, asked: Asked) -> dict[str, Any]:
        """The statement that denies nothing, where the rule finds it borne out; its opposite, where it doesn't."""
        plain = min(asked.parts("statements"), key=len)
        finding = self._rule(asked, {"claim": "", "text": plain, "passage": plain})
        first = (asked.parts("statements").index(plain) == 0) == (finding["label"] != "contradicting")
        return {
            "lines": [cite(quote, asked.lines()) for quote in finding["quotes"]],
            "reason": finding["reason"],
            "answer": "neither" if not finding["quotes"] else "first" if first else "second",
        }


def sentences(asked: Asked) -> dict[str, Any]:
    """Each sentence as one claim; questions state no fact."""
    found = []
    for item in asked.items("sentences"):
        fact = not item["text"].rstrip().endswith(("?", "？"))
        found += taken(item, [item["text"]] if fact else [])
    return {"claims": found}


def taken(item: Item, claims: Sequence[str]) -> list[str]:
    """The form's strings for a sentence's claims, each perhaps with ` @ ` and the words that it comes from."""
    return [f"{item['sentence']} {claim}" for claim in claims or ["-"]]


def places(asked: Asked) -> dict[str, Any]:
    """The first word of each claim's part of its sentence is wrong."""
    found = []
    for item in asked.items("claims"):
        about = {"reason": "It is not so.", "kind": "event", "correction": "nothing"}
        found.append(entry_of(item, item.get("words", item["sentence"]).split()[0], **about))
    return {"places": found}


def entry_of(item: Item, wrong: str, **about: str) -> dict[str, Any]:
    """The form's entry for a claim with these wrong words in its sentence."""
    return {"claim": item["claim"], "where": "here", "wrong": wrong, **about}


def searching(asked: Asked) -> dict[str, Any]:
    """Each claim is done with the new passages' lines that have most of its words; the others are searched for in
    their own words."""
    shown, claims = asked.numbered("passages"), asked.numbered("claims")
    bearing = {name: _bearing(text, shown) for name, text in claims.items()}
    return {
        "claims": [f"{name} done {'; '.join(lines)}" for name, lines in bearing.items() if lines],
        "find": [f"{name} {text}" for name, text in claims.items() if not bearing[name]],
        "read": [],
    }


def notes(asked: Asked) -> dict[str, Any]:
    """The lines of the piece that have most of a claim's words, and its last line."""
    shown = asked.numbered("piece")
    bearing = {name: _bearing(text, shown) for name, text in asked.numbered("claims").items()}
    number, last = list(shown.items())[-1]
    return {
        "notes": [f"{name} {'; '.join(lines)}" for name, lines in bearing.items() if lines],
        "last": f"{number} {last[:12]}",
    }


def _bearing(text: str, shown: Mapping[str, str]) -> list[str]:
    words = _words(text)
    return [
        f"{number} {line.split(';')[0][:12]}"
        for number, line in shown.items()
        if words and len(words & _words(line)) >= 0.8 * len(words)
    ]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower()))


well = Reader()
"""A correct answer to any prompt of the product."""
PROSE = Reply("The claims look fine to me. All in all this is INCORRECT only in its tone, otherwise CORRECT.")
REFUSAL = Reply(None, refusal="I'm sorry, but I can't help with that.")
EMPTY = Reply("")
BUSY = Reply(status=429, headers={"retry-after": "0"}, error={"message": "slow down"})
ILL = Reply(status=500, error={"message": "internal error"})
DOWN = Reply(status=503, error={"message": "overloaded"})
HANGS = Reply(hang=True)
SNAPS = Reply("{}", snap=True)
REPEATS = Reply("The story goes on and on. " * 200, finish="length")
PAGE = Reply(raw=b"<html><body>502 Bad Gateway</body></html>")


def denying(word: str, correction: str = "") -> Reader:
    """Answers well, but what holds this word contradicts the first line of the evidence, and should say that."""

    def rule(asked: Asked, item: Item) -> dict[str, Any]:
        finding = by_words(asked, item)
        if word in item["text"] and "passage" in item:
            wrong = {"wrong": word, "correction": correction}
            finding |= {"label": "contradicting", "quotes": [asked.first_line], **wrong}
        return finding

    return Reader(rule)


INVENTED = {"quotes": ["as the old ferryman swore by the seven lamps"], "label": "explicitly_supported"}
inventing = Reader(lambda asked, item: {**by_words(asked, item), **INVENTED})
"""Every claim supported, by quotes that nobody wrote."""


def cut(asked: Asked) -> Reply:
    """A good answer, cut off in the middle by the token limit."""
    text = well(asked).text or ""
    return Reply(text[: len(text) // 2], finish="length")


def cut_unsaid(asked: Asked) -> Reply:
    """A good answer, cut off by a server that doesn't say so."""
    return Reply((well(asked).text or "")[:-12])


def stingy(asked: Asked) -> Reply:
    """All items but the last."""
    answer = json.loads(well(asked).text or "")
    last = max((name for name in answer if answer[name]), key=list(answer).index, default=None)
    return Reply(json.dumps({name: items[:-1] if name == last else items for name, items in answer.items()}))


def always(said: Said) -> Callable[[Asked], Reply]:
    """The same reply to everything."""
    return lambda asked: reply_of(said)


def faulty(share: float, *, seed: int = 0) -> Callable[[Asked], Reply]:
    """Answers well, but for this share of calls, which fail in all ways in turn."""
    kinds = [cut, cut_unsaid, inventing, stingy]
    kinds += map(always, (PROSE, REPEATS, REFUSAL, EMPTY, BUSY, ILL, DOWN, HANGS, SNAPS, PAGE))
    draw = random.Random(seed)

    def script(asked: Asked) -> Reply:
        return draw.choice(kinds)(asked) if draw.random() < share else well(asked)

    return script

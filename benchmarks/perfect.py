"""A log of a lighthouse, responses to it, and a server that reads perfectly, but only what it is sent.

Knows: the entries, the sentences that restate them, an error planted in one (a wrong number), how this project and
its peers ask, and in which form each wants its answer. An entry that is not in the prompt is not found. Lists end
where an answer of 8,192 tokens ends, as real ones do; a prompt may be of any length.
Does not know: what is measured, or how long an answer should take.
"""

import io
import json
import re
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ENTRY = re.compile(r"On day (\d+) keeper (\w+) sold (\d+) lamps at (\w+)\.")
CLAIM = re.compile(r"Sales on day (\d+) by keeper (\w+) came to (\d+) lamps, [^.]*\.")
TRIPLET = '("Sales on day {} by keeper {}", "came to", "{} lamps")'
TRIPLETS = re.compile(re.escape(TRIPLET).replace(r"\{\}", r"(\w+)"))
KEEPERS = ("Alder", "Pell", "Marsh", "Quill", "Thorne", "Vane", "Wick", "Yarrow")
PORTS = ("Dunmore", "Harrow", "Selby", "Tarn", "Wexcombe")
FILLER = "The {word} wind came from the {side} and the lamp was trimmed {times} before the tide turned. "
TAIL = "which the book of the house sets down with care and in a plain hand"
"""Makes a sentence of the response about 120 characters long, as those of summaries are."""
ANSWER_CHARACTERS = 8192 * 4
OURS = re.compile("<<<[0-9a-f]{8} (claims|sentences|schema)\n")
"""What a prompt of this project is known by: a fence of such a part."""


class Planted(NamedTuple):
    """A source and a response, in which an error may be planted."""

    source: str
    response: str


def planted_case(characters: int, sentences: int, *, planted: bool) -> Planted:
    """A log of about so many characters, and a response whose sentences restate entries in order."""
    draw, source, entries, told = Random(7), io.StringIO(), [], list[str]()
    while source.tell() < characters:
        day = len(entries) + 1
        keeper, lamps, port = draw.choice(KEEPERS), draw.randrange(100, 1000), draw.choice(PORTS)
        entries.append((day, keeper, lamps))
        word, side = draw.choice(("cold", "warm", "salt", "dry")), draw.choice(("north", "south", "west"))
        filler = FILLER.format(word=word, side=side, times=draw.choice(("once", "twice")))
        source.write(f"On day {day} keeper {keeper} sold {lamps} lamps at {port}. {filler}\n")
    for number in range(sentences):
        day, keeper, lamps = entries[(2 * number + 1) * len(entries) // (2 * sentences)]
        lamps += 37 if planted and number == sentences * 2 // 3 else 0
        told.append(f"Sales on day {day} by keeper {keeper} came to {lamps} lamps, {TAIL}.")
    return Planted(source.getvalue(), " ".join(told))


@lru_cache(maxsize=4)
def entries(text: str) -> dict[str, str]:
    """The lamps of each day in a text; kept, since some peers send the whole source with each sentence."""
    return {day: lamps for day, _, lamps, _ in ENTRY.findall(text)}


def read(source: str, told: str) -> dict[str, str]:
    """Each claim that is told and what the entries make of it: yes, no or borderline (not there)."""
    held = entries(source)
    return {
        match[0]: "borderline" if match[1] not in held else "yes" if held[match[1]] == match[3] else "no"
        for match in CLAIM.finditer(told)
    }


def json_list(name: str, items: list[str]) -> str:
    """A JSON list of as many items as an answer holds."""
    kept, size = [], 0
    for item in items:
        size += len(item) + 4
        if size > ANSWER_CHARACTERS:
            break
        kept.append(item)
    return json.dumps({name: kept})


def answer_peer(prompt: str) -> str:
    """A perfect reader's answer to a peer's prompt."""
    for mark, answer in PEERS.items():
        if mark in prompt:
            return answer(prompt)
    supported = all(verdict == "yes" for verdict in read(prompt, prompt).values())
    if "YES" in prompt:
        already = "existing YES/NO answer: YES" in prompt
        return "YES" if supported or already else "NO"
    return json.dumps({"reasoning": "Each sentence was looked up.", "score": supported})


def _verdicts(prompt: str) -> str:
    found = read(prompt, prompt.rsplit("Claims:", 1)[-1])
    return json.dumps({"verdicts": [{"verdict": v, "reason": "The log says so."} for v in found.values()]})


def _overlap(prompt: str) -> str:
    source, _, told = prompt.rpartition("STATEMENT:")
    ((claim, verdict),) = read(source, told).items()
    said = "The log says so." if verdict == "yes" else "NOTHING FOUND"
    return json.dumps({"criteria": claim, "supporting_evidence": said, "score": 3 if verdict == "yes" else 0})


def _labels(prompt: str) -> str:
    source, _, told = prompt.rpartition("### Claims:")
    held, labels = entries(source), list[str]()
    for day, _, lamps in TRIPLETS.findall(told):
        found = "Entailment" if held.get(day) == lamps else "Contradiction"
        labels.append(found if day in held else "Neutral")
    return "\n".join(labels)


PEERS = {
    '"truths" key': lambda prompt: json_list("truths", [match[0] for match in ENTRY.finditer(prompt)]),
    '"claims" key': lambda prompt: json_list("claims", [found[0] for found in CLAIM.finditer(prompt)]),
    "'verdicts' key": _verdicts,
    "'reason' key": lambda prompt: json.dumps({"reason": "As listed."}),
    "Split the following statement": lambda prompt: "\n".join([found[0] for found in CLAIM.finditer(prompt)]),
    "ALL STATEMENTS:": lambda prompt: json.dumps([found[0] for found in CLAIM.finditer(prompt)]),
    "INFORMATION OVERLAP classifier": _overlap,
    "extract a KG": lambda prompt: "\n".join(TRIPLET.format(*found) for found in CLAIM.findall(prompt)),
    "each of the claims is represented as a triplet": _labels,
}
"""What a peer's prompt is known by, and the answer that it wants: deepeval's, TruLens', RefChecker's."""


def find(asked: Any, item: dict[str, Any]) -> dict[str, Any]:
    """One claim, held against the entries shown."""
    held = {match[1]: match for text in asked.said("evidence") for match in ENTRY.finditer(text)}
    claim = CLAIM.search(item["text"])
    entry = held.get(claim[1]) if claim else None
    right = bool(claim and entry and claim[3] == entry[3])
    return {
        "claim": item["claim"],
        "quotes": [entry[0]] if entry else [],
        "reason": "The log says so." if entry else "The log says nothing of it here.",
        "label": "explicitly_supported" if right else "contradicting" if entry else "not_found",
        "kind": "none" if right or not entry else "numerical",
        "wrong": claim[3] if claim and entry and not right else "",
        "correction": entry[3] if entry and not right else "",
    }


def response(number: int, model: str, text: str) -> dict[str, Any]:
    """An answer as OpenAI's responses endpoint gives it, as far as clients read it."""
    said = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": f"msg-{number}", "role": "assistant", "status": "completed"}
    about = {"id": f"resp-{number}", "object": "response", "created_at": 0, "status": "completed"}
    options = {"model": model, "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
    return {**about, **options, "output": [{**message, "content": [said]}]}


def open_server(log: Path) -> Any:
    """A server, still to be entered, that writes the characters of each prompt into a file, a line a request.

    Answers at both of OpenAI's endpoints, chat completions and responses, after .2 s.
    """
    from fakes import ChatServer
    from reader import Asked, Reader, Reply

    ours = Reader(find)

    class Server(ChatServer):
        def _reply(self, asked: Asked) -> Reply:
            texts = [str(message["content"]) for message in asked.body.get("messages") or asked.body["input"]]
            with log.open("a") as file:
                file.write(f"{sum(map(len, texts))}\n")
            prompt = " ".join(texts)
            return ours(asked) if re.search(OURS, prompt) else Reply(answer_peer(prompt))

        def _content(self, asked: Asked, reply: Reply) -> dict[str, Any]:
            if "input" in asked.body:
                content = response(asked.number, asked.body["model"], reply.text or "")
            else:
                content = super()._content(asked, reply)
            asked.body.clear()  # prompts of millions of characters: the server would keep them all
            return content

    return Server(lambda asked: Reply(), delay_s=0.2)

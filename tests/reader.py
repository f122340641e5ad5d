"""A scripted reader that counts words: an answer to every form of this project, from the prompt alone.

Its rule. Words are English words of four letters or more, and single Han characters. A sentence is contradicted if
one of its numbers occurs nowhere in the text shown (thousands' commas and rounding to whole numbers don't matter);
made up if the best 2,000 characters shown hold less than a share of its words; else it holds, outright if they hold
all of them. The share is in the model's name: `reader-65` asks for 65 %. Where a prompt shows no source, there is
nothing to look words up in: then only a number that does not stand in the question or history is wrong. Against a
record, prose is not looked up either: numbers, and capitalised words inside a sentence. Of two texts the one with
the smaller share of its words in what is shown is called made up.
It is a stand-in for a model, to see protocols run: it never sees gold, and no label was looked at in choosing its
shares, only how often it objects.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from fakes import Asked, Reply, answer_of, choice, notes, placed, searching, sentences

from longproof.agent.forms import KIND_NAMES, NO, YES, Steps
from longproof.retrieval.text.sentences import sentences as sentences_of

PASSAGE = 2000
PIECES = 3
"""How many pieces of evidence the reader names at most."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}")
WORD = re.compile(r"[a-z]{4,}")
HAN = re.compile(r"[\u4e00-\u9fff]")
Label = Literal["contradicting", "fabricated", "no_fact", "implicitly_supported", "explicitly_supported"]
WRONG = ("contradicting", "fabricated")


class Shown(NamedTuple):
    """What a prompt shows: its passages with their words, all of its numbers. `looked_up`: whether words are."""

    passages: tuple[tuple[str, frozenset[str]], ...]
    numbers: frozenset[float]
    looked_up: bool


class Reading(NamedTuple):
    """What the reader makes of a sentence: the label, the numbers that occur nowhere, the sentence it rests on."""

    label: Label
    missing: tuple[str, ...]
    quote: str


def reader(asked: Asked) -> Reply:
    """The reader's answer to a prompt."""
    return Reply(json.dumps(FORMS[asked.form](asked), ensure_ascii=False))


def words(text: str) -> frozenset[str]:
    """The words that are counted."""
    return frozenset(WORD.findall(text.lower())) | frozenset(HAN.findall(text))


def shown(asked: Asked) -> Shown:
    """The evidence and pages of a prompt; where it has none, what the response was written for."""
    texts = asked.said("evidence") + asked.said("pages")
    return _shown(tuple(texts or asked.parts("context")), bool(texts))


@lru_cache(maxsize=32)
def _shown(texts: tuple[str, ...], looked_up: bool) -> Shown:
    cut = [text[at : at + PASSAGE] for text in texts for at in range(0, len(text), PASSAGE // 2)]
    found = frozenset(_value(number) for text in texts for number in NUMBER.findall(text))
    return Shown(
        tuple((passage, words(passage)) for passage in cut),
        found | {float(round(value)) for value in found},
        looked_up,
    )


def read(text: str, given: Shown, share: float) -> Reading:
    """One sentence by the rule."""
    wanted = words(text)
    numbers = NUMBER.findall(text)
    missing = tuple(number for number in numbers if _value(number) not in given.numbers)
    passage, held = max(given.passages, key=lambda one: len(wanted & one[1]), default=("", frozenset()))
    quote = _best(passage, wanted) if given.looked_up else ""
    reached = len(wanted & held) / len(wanted) if wanted else 1.0
    if not wanted and not numbers:
        return Reading("no_fact", (), "")
    if missing:
        return Reading("contradicting", missing, quote)
    if given.looked_up and reached < share:
        return Reading("fabricated", (), quote)
    return Reading("explicitly_supported" if reached == 1 else "implicitly_supported", (), quote)


def share_of(asked: Asked) -> float:
    """The share that the model's name asks for."""
    return int(str(asked.body["model"]).rsplit("-", 1)[1]) / 100


def wrong_sentences(asked: Asked, text: str) -> list[tuple[str, Reading]]:
    """The sentences of a text that are wrong by the rule."""
    given, share = shown(asked), share_of(asked)
    found = [(text[a:b], read(text[a:b], given, share)) for a, b in sentences_of(text)]
    return [(sentence, reading) for sentence, reading in found if reading.label in WRONG]


def findings(asked: Asked) -> dict[str, Any]:
    """A finding for each claim."""
    given, share = shown(asked), share_of(asked)
    return answer_of(
        asked, [_finding(item, read(item["text"], given, share)) for item in asked.items("claims")]
    )


def places(asked: Asked) -> dict[str, Any]:
    """The first number that occurs nowhere, else all of the claim's part of its sentence."""
    given, share = shown(asked), share_of(asked)
    found = []
    for item in asked.items("claims"):
        passage = item.get("words", item["sentence"])
        missing = read(passage, given, share).missing
        kind = "numerical" if missing else "fabrication"
        about = {"reason": "It stands nowhere.", "kind": kind, "correction": ""}
        found.append(placed(item, missing[0] if missing else passage, **about))
    return {"places": found}


def segments(asked: Asked) -> dict[str, Any]:
    """The sentences of the source with the most of the claim's words, at least a third of them."""
    wanted = words(asked.parts("passage")[0])
    ranked = [
        (len(wanted & words(text[a:b])), text[a:b])
        for text in asked.parts("evidence")
        for a, b in sentences_of(text)
    ]
    ranked.sort(key=lambda one: -one[0])
    return {
        "thinking": "Words in common.",
        "segments": [piece for common, piece in ranked[:PIECES] if 3 * common >= len(wanted) > 0],
    }


def pass_fail(asked: Asked) -> dict[str, Any]:
    """The rule, with the piece alone as the text shown."""
    given = _shown(tuple(asked.parts("piece")), True)
    wrong = read(asked.parts("passage")[0], given, share_of(asked)).label in WRONG
    return {"reasoning": "Words and numbers in common.", "verdict": "fail" if wrong else "pass"}


def option(asked: Asked) -> dict[str, Any]:
    """One of VeriGray's labels."""
    return {"facts": [], "label": read(asked.parts("passage")[0], shown(asked), share_of(asked)).label}


def attribution(asked: Asked) -> dict[str, Any]:
    """An auditing seat's word."""
    said = read(asked.parts("passage")[0], shown(asked), share_of(asked)).label
    answers = {"contradicting": "contradictory", "fabricated": "not_attributable"}
    return {"reason": "Words and numbers in common.", "answer": answers.get(said, "attributable")}


def narrative(asked: Asked) -> dict[str, Any]:
    """LongNovel's answer, a detail for each wrong sentence."""
    details = [
        {
            "hallucination_type": KIND_NAMES["numerical" if reading.missing else "fabrication"],
            "hallucinated_sentence": sentence,
            "corrected_content": "",
            "reason": "",
        }
        for sentence, reading in wrong_sentences(asked, asked.parts("passage")[0])
    ]
    return {"has_hallucination": YES if details else NO, "details": details}


def recognition(asked: Asked) -> dict[str, Any]:
    """HaluEval's yes or no: yes if any sentence is wrong."""
    return {"answer": "yes" if wrong_sentences(asked, asked.parts("response")[0]) else "no"}


def contrast(asked: Asked) -> dict[str, Any]:
    """The text with the smaller share of its words in what is shown."""
    held = frozenset[str]().union(*(found for _, found in shown(asked).passages))
    first, second = (words(asked.parts(name)[0]) for name in ("first", "second"))
    less = len(first & held) / max(1, len(first)) <= len(second & held) / max(1, len(second))
    return {"hallucinated": "first" if less else "second"}


def article(asked: Asked) -> dict[str, Any]:
    """Numbers, and capitalised words inside a sentence, that the record does not have."""
    (text,), record = asked.parts("response"), " ".join(asked.parts("evidence")).lower()
    missing = [n for n in NUMBER.findall(text) if _value(n) not in shown(asked).numbers]
    named = [name for name in NAME.findall(text) if name.lower() not in record]
    listed = [piece for piece in dict.fromkeys([*missing, *named]) if piece != text]
    steps = dict.fromkeys(Steps.model_fields, "Looked up in the record.")
    return {"reasoning": steps, "hallucination_list": listed}


def made_up(asked: Asked) -> dict[str, Any]:
    """The wrong sentences."""
    return {"hallucinated": [s for s, _ in wrong_sentences(asked, asked.parts("response")[0])]}


def unborne(asked: Asked) -> dict[str, Any]:
    """The numbered sentences that are wrong by the rule, marked as `places` marks them."""
    given, share = shown(asked), share_of(asked)
    read_ = [(item, read(item["text"], given, share)) for item in asked.items("sentences")]
    return {
        "wrong": [
            {
                "sentence": item["sentence"],
                "reason": "It stands nowhere.",
                "label": reading.label,
                "words": reading.missing[0] if reading.missing else item["text"],
            }
            for item, reading in read_
            if reading.label in WRONG
        ]
    }


FORMS: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "Sentences": sentences,
    "Findings": findings,
    "Places": places,
    "SearchTurn": searching,
    "ScanNotes": notes,
    "StatementChoice": choice,
    "Segments": segments,
    "PassFail": pass_fail,
    "Option": option,
    "Attribution": attribution,
    "Narrative": narrative,
    "AnalysedNarrative": lambda asked: {"analysis": "Sentence by sentence.", **narrative(asked)},
    "Recognition": recognition,
    "ReasonedRecognition": lambda asked: {"reasoning": "Sentence by sentence.", **recognition(asked)},
    "Contrast": contrast,
    "Article": article,
    "MadeUp": made_up,
    "WrongSentences": unborne,
}


def _finding(item: dict[str, Any], reading: Reading) -> dict[str, Any]:
    wrong = reading.label in WRONG
    label = "not_found" if reading.label == "fabricated" else reading.label
    quoted = label not in ("not_found", "no_fact") and reading.quote
    return {
        "claim": item["claim"],
        "quotes": [reading.quote] if quoted else [],
        "reason": "Words and numbers in common.",
        "label": label,
        "kind": "numerical" if reading.missing else "fabrication" if wrong else "none",
        "wrong": reading.missing[0] if reading.missing else "",
        "correction": "",
    }


def _best(passage: str, wanted: frozenset[str]) -> str:
    """The sentence of a passage with the most of these words."""
    cut: Sequence[str] = [passage[a:b] for a, b in sentences_of(passage)]
    return max(cut, key=lambda sentence: len(wanted & words(sentence)), default="")


def _value(number: str) -> float:
    plain = re.sub(r",(?=\d{3}\b)", "", number)
    return float(re.sub(r"[.,](?=.*[.,])|,", "", plain))

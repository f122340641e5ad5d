"""Scripted models that disagree: an answer to every form, from the prompt and the model's name alone.

What a model says of a text follows from the words that the text shares with what is shown, and from a hash of the
model's name and the text: so the same prompt always gets the same answer, in whatever order prompts come, and two
models often differ. Now and then an answer is off the menu, quotes what nobody wrote, contradicts itself, is cut off
or is a refusal. A model whose name begins with `wordy` answers a JSON schema with prose; others never do, because
what is asked after such an answer depends on which came first. Nothing of the product is imported: prompts are read
as they are sent.
"""

import re
from functools import lru_cache
from hashlib import sha256
from typing import Any

from reader import PROSE, REFUSAL, Asked, Item, Reader, Reply, entry_of, taken

KINDS = ("entity", "numerical", "relation", "inversion", "event", "temporal", "causal", "fabrication")
KIND_NAMES = [
    "实体幻觉",
    "数字幻觉",
    "关系幻觉",
    "反向陈述",
    "事件幻觉",
    "时间线乱序",
    "因果链伪造",
    "虚构事件",
]
LABELS = (
    "contradicting", "fabricated", "ambiguous", "no_fact",
    "out_dependent", "implicitly_supported", "explicitly_supported",
)  # fmt: skip
INVENTED = "as the old ferryman swore by the seven lamps"
STEPS = (
    "content_analysis", "reference_comparison", "hallucination_identification", "span_extraction", "final_verdict",
)  # fmt: skip
_WORD, _HAN = re.compile(r"[a-z]{4,}|\d+"), re.compile("[\u4e00-\u9fff]{2}")
_END = re.compile(r"(?<=[.!?。！？])\s*")


def disputing(asked: Asked) -> Reply:
    """The answer of the model that is named in the request."""
    if asked.schema is not None and asked.model.startswith("wordy"):
        return PROSE
    text = DISPUTING(asked).text or ""
    fault = roll(asked.model, asked.user) % 40
    if fault == 0:
        return REFUSAL
    if fault == 1:
        return Reply(text[: len(text) // 2], finish="length")
    return Reply(text)


def roll(*parts: str) -> int:
    """A number that follows from these words."""
    return int(sha256("\0".join(parts).encode()).hexdigest()[:8], 16)


def drawn(asked: Asked, *answers: str) -> str:
    """One of these answers."""
    return answers[roll(asked.model, asked.user) % len(answers)]


@lru_cache(maxsize=256)
def pieces(text: str) -> tuple[str, ...]:
    """A text's sentences, roughly."""
    return tuple(piece.strip() for piece in _END.split(text) if piece.strip())


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """English words of four letters and more, numbers, and pairs of Han characters."""
    pairs = (text[at : at + 2] for at in range(len(text) - 1))
    return frozenset(_WORD.findall(text.lower())) | frozenset(filter(_HAN.fullmatch, pairs))


def best(text: str, shown: list[str]) -> tuple[str, float]:
    """The sentence shown that shares the most words with this text, and their share."""
    wanted = words(text)
    found = max(
        (piece for part in shown for piece in pieces(part)), key=lambda p: len(wanted & words(p)), default=""
    )
    return found, len(wanted & words(found)) / max(1, len(wanted))


def some_words(text: str, *salt: str) -> str:
    """A few words that stand in the text."""
    spaced = text.split()
    if len(spaced) > 2:
        return spaced[roll(text, *salt) % (len(spaced) - 1)].strip(".,;:") or text
    start = roll(text, *salt) % max(1, len(text) - 4)
    return text[start : start + 3] or text


def segments(asked: Asked) -> dict[str, Any]:
    """One or two sentences of the source, sometimes one that nobody wrote."""
    (claim,) = asked.parts("passage")
    said = roll(asked.model, claim)
    wanted = words(claim)
    found = sorted(
        (p for part in asked.parts("evidence") for p in pieces(part)), key=lambda p: -len(wanted & words(p))
    )
    chosen = found[said % 2 : said % 2 + 1 + said % 3]
    return {"thinking": "It must stand somewhere.", "segments": chosen + [INVENTED] * (said % 5 == 0)}


def pass_fail(asked: Asked) -> dict[str, Any]:
    """Passes where the piece shares words with the claim, or does not."""
    (claim,), (piece,) = asked.parts("passage"), asked.parts("piece")
    passes = (best(claim, [piece])[1] >= 0.3) != (roll(asked.model, claim, piece) % 6 == 0)
    return {"reasoning": "Words in common.", "verdict": "PASS" if passes else "fail"}


def option(asked: Asked) -> dict[str, Any]:
    """One of seven labels."""
    (text,) = asked.parts("passage")
    return {"facts": [text[:20]], "label": _label(asked, text, list(LABELS))}


def attribution(asked: Asked) -> dict[str, Any]:
    """An auditing seat's word."""
    (text,) = asked.parts("passage")
    word = {"contradicting": "contradictory", "fabricated": "not attributable", "unsure": "unsure"}
    said = word.get(_label(asked, text, list(LABELS)), "attributable")
    return {"reason": "Words in common.", "answer": said}


def narrative(asked: Asked) -> dict[str, Any]:
    """LongNovel's answer with a detail for each sentence that is thought wrong."""
    (passage,) = asked.parts("passage")
    details = []
    for piece in pieces(passage):
        said = roll(asked.model, piece)
        if said % 5 == 0:
            about = {"hallucination_type": KIND_NAMES[said % 8], "hallucinated_sentence": piece}
            reason = f"{asked.model} finds it nowhere."
            details.append({**about, "corrected_content": "改", "reason": reason})
    return {"has_hallucination": "有幻觉" if details else "无幻觉", "details": details}


def article(asked: Asked) -> dict[str, Any]:
    """Numbers of the article that the record doesn't have; sometimes words that the article doesn't have."""
    (text,), record = asked.parts("response"), " ".join(asked.parts("evidence"))
    listed = [number for number in re.findall(r"\d+", text) if number not in record]
    listed += [some_words(text, asked.model)] + [INVENTED] * (roll(asked.model, text) % 2)
    return {"reasoning": dict.fromkeys(STEPS, "Looked up."), "hallucination_list": listed}


def made_up(asked: Asked) -> dict[str, Any]:
    """Every third sentence or so."""
    (text,) = asked.parts("response")
    return {"hallucinated": [p for p in pieces(text) if roll(asked.model, p) % 3 == 0]}


def wrong_sentences(asked: Asked) -> dict[str, Any]:
    """The sentences with which the source has little in common."""
    found = []
    for item in asked.items("sentences"):
        label = _label(asked, item["text"], ["implicitly_supported", "contradicting", "fabricated"])
        if label != "implicitly_supported":
            said = {"reason": "Compared.", "label": label, "words": some_words(item["text"], asked.model)}
            found.append({"sentence": item["sentence"], **said})
    return {"wrong": found}


def _taken(item: dict[str, Any]) -> list[str]:
    text = item["text"]
    fact = not text.rstrip().endswith(("?", "？"))
    middle = re.search(r", and |，", text)
    halves = [text[: middle.start()], text[middle.end() :]] if middle and len(text) > 30 else [text]
    return taken(item, halves if fact else [])


def finding(asked: Asked, item: Item) -> dict[str, Any]:
    """A label by the words in common, and what goes with it."""
    text = item["text"]
    label = _label(asked, text, [*LABELS, "not_found"])
    said = roll(asked.model, text, label)
    quote = best(text, asked.said("pages" if label == "out_dependent" else "evidence"))[0]
    wrong = label in ("contradicting", "fabricated", "not_found")
    readings = [{"text": text, "label": LABELS[(said + n) % 7]} for n in (0, 1)]
    return {
        "claim": item["claim"],
        "quotes": [] if label in ("not_found", "no_fact") else [INVENTED if said % 12 == 0 else quote],
        "reason": "Compared.",
        "readings": readings if label == "ambiguous" else [],
        "label": label,
        "kind": KINDS[said % 8] if wrong else "none",
        "wrong": some_words(item.get("passage", text), asked.model) if wrong and roll(text) % 3 else "",
        "correction": ("else" if said % 15 else text) if wrong else "",
    }


def _label(asked: Asked, text: str, menu: list[str]) -> str:
    """By the words in common; one time in three by the hash alone."""
    evidence, pages = asked.said("evidence"), asked.said("pages")
    mood = roll(asked.model, text, str(sum(map(len, evidence)))) % 30
    if mood < 9:
        return "unsure" if mood == 8 else menu[mood % len(menu)]
    common = best(text, evidence)[1]
    if common >= 0.5:
        return "explicitly_supported" if common >= 0.7 else "implicitly_supported"
    if common >= 0.35:
        return "contradicting" if roll(text) % 2 else "fabricated"
    return "out_dependent" if best(text, pages)[1] >= 0.35 else menu[-1]


def _place(asked: Asked, item: dict[str, Any]) -> dict[str, Any]:
    wrong = some_words(item.get("words", item["sentence"]), "place")
    about = {"reason": "It is not so.", "kind": KINDS[roll(wrong) % 8], "correction": "else"}
    return entry_of(item, wrong, **about)


DISPUTING = Reader(
    finding,
    Sentences=lambda asked: {
        "claims": [claim for item in asked.items("sentences") for claim in _taken(item)]
    },
    Places=lambda asked: {"places": [_place(asked, item) for item in asked.items("claims")]},
    Segments=segments,
    PassFail=pass_fail,
    Option=option,
    Attribution=attribution,
    Narrative=narrative,
    AnalysedNarrative=lambda asked: {"analysis": "Sentence by sentence.", **narrative(asked)},
    Recognition=lambda asked: {"answer": drawn(asked, "yes", "no", "No.")},
    ReasonedRecognition=lambda asked: {
        "reasoning": "Word by word.",
        "answer": drawn(asked, "yes", "no", "No."),
    },
    Contrast=lambda asked: {"hallucinated": drawn(asked, "first", "second")},
    Article=article,
    MadeUp=made_up,
    WrongSentences=wrong_sentences,
)

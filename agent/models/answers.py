"""Parsing a model's answer into a form, or naming why it can't be.

Knows: a form's JSON schema; the last whole JSON object that fits it is the answer, reasoning, fences and prose round
it are not, nor is an object that stands in what the model was shown: whoever wrote that is not asked. An answer that
was cut off or repeats itself is `truncated`, a refusal `refused`, anything else `unparsed`. Prose is never searched
for a label.
Does not know: what the fields mean, or who answered.
"""

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar
from urllib.parse import unquote

from pydantic import ConfigDict, ValidationError

from longproof.agent.types import Failure
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import Frozen

LONGEST = 400_000
"""Longer answers are `unparsed`: nothing that we ask for comes near."""
MOST_TOKENS = 10**9
"""A count of tokens beyond this is none."""
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL)
_THINKING = re.compile(r"\s*<(think|thinking|thought|reasoning)>")
_REFUSED = ("content_filter", "refusal")
_CUT = ("length", "max_tokens", "error", "abort", "aborted", "cancelled", "canceled")
"""Servers' names for an answer that was not finished, in lower case."""
OVER_LIMIT = "length"
"""The name of an answer that ran into its limit."""
_FINISHES = frozenset(
    {*_REFUSED, *_CUT, "stop", "end_turn", "stop_sequence", "eos", "tool_calls", "function_call"}
)
"""Servers' names for the end of an answer, in lower case. No other is kept: it might be anything, a key too."""
_REFUSALS = (
    "i can't", "i can’t", "i cannot", "i'm sorry", "i’m sorry", "i am sorry", "sorry, ", "i'm unable", "i’m unable",
    "i am unable", "i won't", "i won’t", "抱歉", "很抱歉", "对不起", "我不能", "我无法", "无法提供", "作为一个",
)  # fmt: skip
_LONGEST_REFUSAL = 600
_BEGUN = re.compile(r'\{(?=\s*(?:["}]|\Z))')
_NO_LETTERS = re.compile(r"[\W_]+")
LEAST_OBJECT, LEAST_FINDING = 20, 6
"""Letters and digits from which on an object, or a short finding in it, is compared with what was shown."""
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_LINE_NAME = re.compile(r"^(?:[CPS]?[0-9]+|S)\| ", re.MULTILINE)
"""The beginning of a line that is shown: an object that a source breaks off goes on after the next one."""
MOST_BROKEN = 1000
"""Parsing gives up after so many places that look like the start of an object and are none."""
MOST_QUOTED = 100
"""Of an answer's objects the last so many are looked at: it may quote others before and after its own."""
TAIL, _UNIT, _TIMES = 4000, 400, 6
"""A tail that is one unit of at most `_UNIT` characters, `_TIMES` times over, repeats itself."""


class Form(Frozen):
    """The fields that a model fills in. Fields that we did not ask for are dropped."""

    model_config = ConfigDict(frozen=True, extra="ignore")


F = TypeVar("F", bound=Form)


class Raw(Frozen):
    """A server's answer before it is parsed. Token counts are the server's own; None where it sent none."""

    text: str | None = None
    refusal: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


class Truncated(ValueError):
    """The text ends inside a JSON object."""


@cache
def schema(form: type[Form]) -> dict[str, Any]:
    """The form's JSON schema as strict servers want it: every field required, nothing extra, no defaults."""
    written: dict[str, Any] = form.model_json_schema()
    for part in [written, *written.get("$defs", {}).values()]:
        part.pop("description", None)
        part["additionalProperties"] = False
        part["required"] = list(part["properties"])
        for field in part["properties"].values():
            field.pop("default", None)
            field.pop("title", None)
    return written


def known_finish(finish: object) -> str | None:
    """The reason that a server gives for the end of its answer, if it is a known word."""
    word = finish.lower() if isinstance(finish, str) else None
    return word if word in _FINISHES else None


def token_count(tokens: object) -> int | None:
    """A number of tokens; None if it is none."""
    return tokens if type(tokens) is int and 0 <= tokens <= MOST_TOKENS else None


def parse(raw: Raw, form: type[F], shown: str = "") -> F | Failure:
    """The filled form, or why there is none. `shown` is the foreign text that the model was shown."""
    text, finish = raw.text or "", (raw.finish or "").lower()
    if raw.refusal or finish in _REFUSED:
        return "refused"
    if finish in _CUT:
        return "truncated"
    if not text.strip() or len(text) > LONGEST:
        return "unparsed"
    if _THINKING.match(text) and not _THOUGHT.match(text):
        return "truncated"
    failure: Failure = "unparsed"
    for part in _without_reasoning(text):
        try:
            for filled in json_objects(part, shown):
                with suppress(ValidationError):
                    return form.model_validate(filled)
            failure = "unparsed"
        except Truncated:
            failure = "truncated"
    if repeats(text):
        return "truncated"
    return "refused" if failure == "unparsed" and "{" not in text and _refuses(text) else failure


def json_objects(text: str, shown: str = "") -> Iterator[dict[str, Any]]:
    """The top-level JSON objects of a text that don't stand in `shown`, whatever stands round them, the last first.

    Raises Truncated where the text ends inside one. An object with one key twice, or with NaN, is none.
    """
    try:
        places = _objects(text)[-MOST_QUOTED:]
    except Truncated:
        raise
    except (ValueError, RecursionError):
        return
    letters = _letters_shown(shown) if places and shown else []
    for place in reversed(places):
        with suppress(ValueError, RecursionError):
            value = _strict(text[place])
            if not _stands_in(value, letters):
                yield value


def _objects(text: str) -> list[slice]:
    """The places of the top-level JSON objects of a text. Raises Truncated where it ends inside one."""
    decoder = json.JSONDecoder()
    places: list[slice] = []
    broken, begun = 0, _BEGUN.search(text)
    while begun and broken <= MOST_BROKEN:
        try:
            _, end = decoder.raw_decode(text, begun.start())
            places.append(slice(begun.start(), end))
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated string") or text.rfind("}") < error.pos:
                raise Truncated from error
            end, broken = max(error.pos, begun.start() + 1), broken + 1
        begun = _BEGUN.search(text, end)
    return places


def _stands_in(value: dict[str, Any], shown: Sequence[str]) -> bool:
    """True if an object, or one of its short findings, stands in these texts of letters and digits."""
    short = value.get("short")
    findings = [_letters(part) for part in short if isinstance(part, str)] if isinstance(short, list) else []
    pieces = [letters for letters in findings if len(letters) >= LEAST_FINDING]
    whole = _letters(json.dumps(value, ensure_ascii=False))
    if len(whole) >= LEAST_OBJECT:
        pieces.append(whole)
    return any(piece in text for piece in pieces for text in shown)


def _letters_shown(shown: str) -> list[str]:
    """The letters of what was shown: as it is and with escapes undone, with the names of its lines and without."""
    plain = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), shown)
    plain = html.unescape(unquote(plain))
    texts = (shown, _LINE_NAME.sub("", shown), plain, _LINE_NAME.sub("", plain))
    return [_letters(text) for text in dict.fromkeys(texts)]


def _letters(text: str) -> str:
    """The letters and digits of a text alone, whatever their case and width."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def repeats(text: str) -> bool:
    """True if the end of the text is one short piece over and over."""
    tail = text.rstrip()[-TAIL:]
    for unit in range(1, _UNIT + 1):
        length = max(unit * _TIMES, 60)
        if length + unit <= len(tail) and tail[-length:] == tail[-length - unit : -unit]:
            return True
    return False


def runs_away(tail: str) -> bool:
    """True if the end of a text that is still coming is one short piece over and over, blanks included.

    Stricter than `repeats`: a ruled line or a refrain that ends is not enough.
    """
    return len(tail) >= TAIL and any(tail[unit:] == tail[:-unit] for unit in range(1, _UNIT + 1))


def _strict(text: str) -> dict[str, Any]:
    return {
        key: without_surrogates(value, "?")
        for key, value in json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_constant).items()
    }


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _without_reasoning(text: str) -> Iterator[str]:
    """The text without the model's reasoning; where only its end is marked, what follows that comes second."""
    thought = _THOUGHT.match(text)
    yield text[thought.end() :] if thought else text
    _, tag, after = text.partition("</think>")
    if tag and thought is None:
        yield after


def _refuses(text: str) -> bool:
    return len(text) <= _LONGEST_REFUSAL and text.lstrip().lower().startswith(_REFUSALS)

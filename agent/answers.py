"""From what a model sent back to a form, or to the name of what is wrong with it.

Knows: the last whole JSON object is the answer; thoughts, fences and prose round it are not; what was cut off or
repeats itself is `truncated`, a refusal `refused`, anything else `unparsed`. Never searches prose for a label.
Does not know: what the fields mean, or who answered.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from longproof.agent.types import Failure
from longproof.retrieval.types import Frozen

F = TypeVar("F", bound=BaseModel)

LONGEST = 400_000
"""Longer answers are not read: nothing that we ask for comes near."""
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL)
_THINKING = re.compile(r"\s*<(think|thinking|thought|reasoning)>")
_REFUSALS = (
    "i can't", "i can’t", "i cannot", "i'm sorry", "i’m sorry", "i am sorry", "sorry, ", "i'm unable", "i’m unable",
    "i am unable", "i won't", "i won’t", "抱歉", "很抱歉", "对不起", "我不能", "我无法", "无法提供", "作为一个",
)  # fmt: skip
_LONGEST_REFUSAL = 600
_BEGUN = re.compile(r'\{(?=\s*(?:["}]|\Z))')
MOST_BROKEN = 1000
"""So many things that begin like an object and are none; then an answer is not looked through any further."""
TAIL, _UNIT, _TIMES = 4000, 400, 6
"""A tail that is one unit of at most `_UNIT` characters, `_TIMES` times over, repeats itself."""


class Raw(Frozen):
    """What a server sent back, before it is read. Token counts are the server's own; None where it sent none."""

    text: str | None = None
    refusal: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


class Cut(ValueError):
    """The text ends inside a JSON object."""


def read(raw: Raw, form: type[F]) -> F | Failure:
    """The filled form, or why there is none."""
    text = raw.text or ""
    if raw.refusal or raw.finish in ("content_filter", "refusal"):
        return "refused"
    if (raw.finish or "").lower() in ("length", "max_tokens"):
        return "truncated"
    if not text.strip() or len(text) > LONGEST:
        return "unparsed"
    if _THINKING.match(text) and not _THOUGHT.match(text):
        return "truncated"
    failure: Failure = "unparsed"
    for part in _spoken(text):
        try:
            found = last_object(part)
            if found is not None:
                return form.model_validate(found)
        except Cut:
            failure = "truncated"
        except ValidationError:
            failure = "unparsed"
    if repeats(text):
        return "truncated"
    return "refused" if failure == "unparsed" and "{" not in text and _refuses(text) else failure


def last_object(text: str) -> dict[str, Any] | None:
    """The last top-level JSON object in a text, whatever stands round it; None where there is none.

    Raises Cut where the text ends inside one. An object with one key twice, or with NaN, is none.
    """
    decoder = json.JSONDecoder()
    last, broken, begun = (0, 0), 0, _BEGUN.search(text)
    try:
        while begun and broken <= MOST_BROKEN:
            try:
                _, end = decoder.raw_decode(text, begun.start())
                last = (begun.start(), end)
            except json.JSONDecodeError as error:
                if error.msg.startswith("Unterminated string") or text.rfind("}") < error.pos:
                    raise Cut from error
                end, broken = max(error.pos, begun.start() + 1), broken + 1
            begun = _BEGUN.search(text, end)
        return _strictly(text[slice(*last)]) if last[1] else None
    except Cut:
        raise
    except (ValueError, RecursionError):
        return None


def repeats(text: str) -> bool:
    """Whether the end of the text is one short piece over and over."""
    tail = text.rstrip()[-TAIL:]
    for unit in range(1, _UNIT + 1):
        length = max(unit * _TIMES, 60)
        if length + unit <= len(tail) and tail[-length:] == tail[-length - unit : -unit]:
            return True
    return False


def runs_away(tail: str) -> bool:
    """Whether this end of a text that is still coming is one short piece over and over, blanks included.

    Surer than `repeats`: a ruled line or a refrain that goes on to something else is none.
    """
    return len(tail) >= TAIL and any(tail[unit:] == tail[:-unit] for unit in range(1, _UNIT + 1))


def _strictly(text: str) -> dict[str, Any]:
    return {
        key: _whole(value)
        for key, value in json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_constant).items()
    }


def _whole(value: Any) -> Any:
    """The value with question marks for lone surrogates, which nobody could write to a file."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _spoken(text: str) -> Iterator[str]:
    """The text without the model's thoughts; where only their end is marked, what follows it comes second."""
    thought = _THOUGHT.match(text)
    yield text[thought.end() :] if thought else text
    _, tag, after = text.partition("</think>")
    if tag and thought is None:
        yield after


def _refuses(text: str) -> bool:
    return len(text) <= _LONGEST_REFUSAL and text.lstrip().lower().startswith(_REFUSALS)

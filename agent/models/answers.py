"""A request to a model, its answer as it came, and the answer read into a form, or why it can't be.

Knows: a form's JSON schema; the last whole JSON object that fits it is the answer, reasoning, fences and prose round
it are not, nor is an object that stands in what the model was shown. Prose is never searched for a label.
Does not know: how a server is spoken to, retries, limits, the ledger, or what the fields mean.
"""

import html
import json
import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar
from urllib.parse import unquote

from pydantic import BeforeValidator, ConfigDict, ValidationError

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import Call, Failure
from longproof.prompts import Prompt
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import Frozen

LONGEST = 400_000
"""Longer answers are `unparsed`: nothing that we ask for comes near."""
_TOO_LONG = re.compile(
    r"(?<!schema )(?:is|are) too long|(?:prompt|inputs?|messages|request) too long|input tokens exceed"
    r"|context[ _](?:length|limit|size|window)|(?:input|prompt|maximum model) length"
    r"|(?:maximum number of|too many) tokens",
    re.IGNORECASE,
)
"""Servers' words for a prompt that is."""
_OF_THE_ANSWER = re.compile(
    r"max_\w*tokens\W+(?:exceeds|is|must)\b(?![^.]*\b(?:prompt|inputs?|messages)\b)[^.]*", re.IGNORECASE
)
"""A sentence about the answer's limit, which is not about the prompt."""
MOST_TOKENS = 10**9
"""A count of tokens beyond this is none."""
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>(.*?(</\1>)|)", re.DOTALL)
_REFUSED = ("content_filter", "refusal")
_CUT = ("length", "max_tokens", "error", "abort", "aborted", "cancelled", "canceled")
"""Servers' names for an answer that was not finished, in lower case."""
_BEGUN = re.compile(r'\{(?=\s*(?:["}]|\Z))')
_NO_LETTERS = re.compile(r"[\W_]+")
LEAST_OBJECT, LEAST_FINDING = 20, 6
"""Letters and digits from which on an object, or a short finding in it, is compared with what was shown."""
_HEX = "[0-9a-fA-F]"
_ESCAPED = re.compile(rf"(?:\\+|%)(?:u({_HEX}{{4}})|U({_HEX}{{8}})|u\{{({_HEX}{{1,6}})\}}|x({_HEX}{{2}}))")
"""A character written as JSON, JavaScript, Python or an old address escapes it."""
_LINE_NAME = re.compile(r"^(?:[CPS]?[0-9]+|S)\| ", re.MULTILINE)
"""The beginning of a line that is shown: an object that a source breaks off goes on after the next one."""
MOST_BROKEN = 1000
"""Parsing gives up after so many places that look like the start of an object and are none."""
MOST_QUOTED = 100
"""Of an answer's objects the last so many are looked at: it may quote others before and after its own."""


class Form(Frozen):
    """The fields that a model fills in. Fields that we did not ask for are dropped."""

    model_config = ConfigDict(frozen=True, extra="ignore")


F = TypeVar("F", bound=Form)


def _telling_finish(finish: object) -> str | None:
    """The end of an answer in lower case, if it tells something: any other word might be a key."""
    word = str(finish).lower()
    return word if word in _REFUSED or word in _CUT else None


Count = Annotated[
    int | None, BeforeValidator(lambda n: n if type(n) is int and 0 <= n <= MOST_TOKENS else None)
]


class Raw(Frozen):
    """A server's answer before it is parsed, with its own counts of tokens, and its end if that tells something."""

    text: str | None = None
    refusal: str | None = None
    finish: Annotated[str | None, BeforeValidator(_telling_finish)] = None
    prompt_tokens: Count = None
    completion_tokens: Count = None
    cached_tokens: Count = None


class Message(NamedTuple):
    """One request, by its key in the ledger. Without `schema` the prompt describes the form."""

    prompt: Prompt
    sampling: Mapping[str, float]
    """`temperature`, `max_tokens`, and `top_p` where it is sent."""
    schema: dict[str, Any] | None = None
    endpoint: str = ""
    model: str = ""
    purpose: str = ""
    key: str = ""

    @property
    def texts(self) -> tuple[str, str]:
        """The prompt's system and user part, as they can be sent."""
        return without_surrogates(self.prompt.system, "?"), without_surrogates(self.prompt.user, "?")

    @property
    def tokens(self) -> int:
        """About how many tokens the prompt has."""
        return estimate_tokens(self.prompt.system) + estimate_tokens(self.prompt.user)

    def call(self, raw: Raw, failure: Failure | None, *, bought: bool) -> Call:
        """The call that this request became."""
        # Most servers count a schema, which is sent beside the prompt, as read.
        beside = json.dumps(self.schema, separators=(",", ":")) if self.schema else ""
        return Call(
            id=self.key,
            purpose=self.purpose,
            endpoint=self.endpoint,
            model=self.model,
            prompt_hash=self.prompt.hash,
            prompt_characters=len(self.prompt.system + self.prompt.user + beside),
            prompt_tokens=raw.prompt_tokens,
            completion_tokens=raw.completion_tokens,
            cached_tokens=raw.cached_tokens,
            answer_characters=len(raw.text or raw.refusal or ""),
            failure=failure,
            bought=bought,
        )


@dataclass(eq=False)
class Unanswered(Exception):
    """No answer came back. `status`: the server's HTTP status; None: there was no connection, or it broke.

    `wait_s`: how long the server asks to wait; `final`: asking again is no use; `malformed`: what came is no model's
    answer; `billed`: an answer had begun.
    """

    detail: str
    failure: Failure = "unavailable"
    status: int | None = None
    wait_s: float | None = None
    final: bool = False
    malformed: bool = False
    billed: bool = False

    def __str__(self) -> str:
        return self.detail[:300]


class Chat(Protocol):
    """One model at one endpoint. `has_schema` is false where only the prompt can describe the form."""

    endpoint: str
    model: str
    has_schema: bool

    async def send(self, message: Message) -> Raw:
        """The answer as it came. Raises Unanswered."""
        ...

    async def close(self) -> None:
        """Close the connections, if there are any."""
        return


def refused_request(
    detail: str, status: int | None, headers: Mapping[str, str], words: str, *, final: bool = False
) -> Unanswered:
    """The outcome of a request that a server refused in these words. `final`: asking again is no use."""
    full = status in (400, 413) and _TOO_LONG.search(_OF_THE_ANSWER.sub("", words)) is not None
    try:
        wait_s = max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        wait_s = None
    failure: Failure = "too_long" if full else "unavailable"
    return Unanswered(detail, failure=failure, status=status, wait_s=wait_s, final=final)


class Truncated(ValueError):
    """The text ends inside a JSON object."""


@cache
def schema(form: type[Form]) -> dict[str, Any]:
    """The form's JSON schema as strict servers want it: every field required, nothing extra, no defaults.

    It is paid for with every request, so it is short: it alone has a title, and a part stands where it is used.
    """
    written = form.model_json_schema()
    strict: dict[str, Any] = _strict(written, written.pop("$defs", {}))
    return strict


def _strict(part: Any, parts: Mapping[str, Any]) -> Any:
    """The part of a schema with what it names in its place."""
    if isinstance(part, list):
        return [_strict(one, parts) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = parts[part["$ref"].removeprefix("#/$defs/")]
        part.pop("title", None)
    if "properties" in part:
        part.pop("description", None)
        part |= {"additionalProperties": False, "required": list(part["properties"])}
        for field in part["properties"].values():
            field.pop("default", None)
            field.pop("title", None)
    return {name: _strict(value, parts) for name, value in part.items()}


def parse(raw: Raw, form: type[F], shown: str = "") -> F | Failure:
    """The filled form, or why there is none. `shown` is the foreign text that the model was shown."""
    text = raw.text or ""
    if raw.refusal or raw.finish in _REFUSED:
        return "refused"
    if raw.finish in _CUT:
        return "truncated"
    if not text.strip() or len(text) > LONGEST:
        return "unparsed"
    thought = _THOUGHT.match(text)
    if thought and not thought[3]:
        return "truncated"
    # Where only the end of the reasoning is marked, what follows that comes second.
    parts = [text[thought.end() :]] if thought else [text, *text.split("</think>", 1)[1:]]
    for part in parts:
        failure: Failure = "unparsed"
        try:
            for filled in json_objects(part, shown):
                with suppress(ValidationError):
                    return form.model_validate(filled)
        except Truncated:
            failure = "truncated"
    return failure


def json_objects(text: str, shown: str = "") -> Iterator[dict[str, Any]]:
    """The top-level JSON objects of a text that don't stand in `shown`, whatever stands round them, the last first.

    Raises Truncated where the text ends inside one.
    """
    objects = _objects(text)[-MOST_QUOTED:]
    letters: set[str] = set()
    if objects and shown:
        plain = html.unescape(unquote(_ESCAPED.sub(_unescape, shown)))
        for written in (shown, plain):
            letters |= {_letters(written), _letters(_LINE_NAME.sub("", written))}
    for value in reversed(objects):
        with suppress(ValueError, RecursionError):
            if not _stands_in(value, letters):
                yield without_surrogates(value, "?")


def _objects(text: str) -> list[dict[str, Any]]:
    """The top-level JSON objects of a text. Raises Truncated where it ends inside one."""
    decoder = json.JSONDecoder()
    objects: list[dict[str, Any]] = []
    broken, begun = 0, _BEGUN.search(text)
    while begun and broken <= MOST_BROKEN:
        try:
            value, end = decoder.raw_decode(text, begun.start())
            objects.append(value)
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated string") or text.rfind("}") < error.pos:
                raise Truncated from error
            end, broken = max(error.pos, begun.start() + 1), broken + 1
        except (ValueError, RecursionError):
            # A number of thousands of digits, or brackets without end.
            return []
        begun = _BEGUN.search(text, end)
    return objects


def _stands_in(value: dict[str, Any], shown: Collection[str]) -> bool:
    """True if an object, or one of its short findings, stands in these texts of letters and digits."""
    short = value.get("short")
    findings = [_letters(part) for part in short if isinstance(part, str)] if isinstance(short, list) else []
    pieces = [letters for letters in findings if len(letters) >= LEAST_FINDING]
    whole = _letters(json.dumps(value, ensure_ascii=False))
    if len(whole) >= LEAST_OBJECT:
        pieces.append(whole)
    return any(piece in text for piece in pieces for text in shown)


def _unescape(escaped: re.Match[str]) -> str:
    code = int(escaped[escaped.lastindex or 0], 16)
    return chr(code) if code <= sys.maxunicode else ""


def _letters(text: str) -> str:
    """The letters and digits of a text alone, whatever their case, width and accents."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKD", text).casefold())

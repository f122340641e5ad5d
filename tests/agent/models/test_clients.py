"""What is kept of what a server sends, whole or as a stream, and what its errors mean. No key gets out."""

import json
import re
from typing import Any
from urllib.parse import unquote

import pytest
from fakes import ChatServer
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from reader import Reply, always
from seam import ADDRESS, GOOD, Colour, answer, answers, ask, raw, using

from longproof.agent.models import openai_chat
from longproof.agent.models.addresses import place_and_key
from longproof.agent.models.answers import refused_request
from longproof.agent.models.langchain_chat import LangChainChat, ProviderChat
from longproof.agent.models.model import Answer, Model
from longproof.prompts import Prompt
from longproof.retrieval.types import BadInput

LINES = json.dumps({"reason": "a\u2028b\x85c\x0bd", "colour": "蓝 🌊"}, ensure_ascii=False)
SECRET = "sk-SECRET-0123456789"


def body(usage: str = "null", finish: str = '"stop"', more: str = "") -> Reply:
    """A completion with metadata written by hand, so that it need not be sound."""
    message = json.dumps({"role": "assistant", "content": GOOD})
    whole = f'{{"choices": [{{"message": {message}, "finish_reason": {finish}}}], "usage": {usage}{more}}}'
    return Reply(raw=whole.encode())


@pytest.mark.parametrize(
    "reply",
    [Reply(GOOD), Reply(LINES), Reply(None), Reply(""), Reply(None, refusal="I won't."),
     Reply(GOOD, finish="content_filter"), Reply(GOOD[:20], finish="length"),
     Reply(GOOD, extra={"reasoning_content": "Let me see. The sky is not red."})],
)  # fmt: skip
@pytest.mark.parametrize("usage", [True, False])
def test_a_streamed_answer_is_the_whole_one(reply: Reply, usage: bool) -> None:
    server = ChatServer(always(reply), usage=usage)
    assert raw(server, stream=True) == raw(server, stream=False)
    sent = [(asked.body.get("stream", False), asked.body.get("stream_options")) for asked in server.asked]
    assert sent == [(True, {"include_usage": True}), (False, None)]


COUNTS = ["100.5", "NaN", '"many"', "-5", "[]", "1e400", "9" * 30]
FINISHES = ["0", "true", "[]", f'"{SECRET}"', '"done"', "null", '""']


@pytest.mark.parametrize(("number", "finish"), list(zip(COUNTS, FINISHES, strict=True)))
def test_an_answer_with_odd_counts_or_an_odd_finish_is_kept_without_them(number: str, finish: str) -> None:
    about = f'{{"cached_tokens": {number}}}'
    usage = f'{{"prompt_tokens": {number}, "completion_tokens": {number}, "prompt_tokens_details": {about}}}'
    kept = raw(ChatServer(always(body(usage, finish))))
    assert (kept.text, kept.prompt_tokens, kept.completion_tokens, kept.cached_tokens) == (GOOD, *[None] * 3)
    assert kept.finish is None


def test_an_error_beside_an_answer_is_a_failure_that_may_pass() -> None:
    wrong = ', "error": {"message": "upstream is gone", "code": 400}'
    got = answer(always(body(more=wrong)))
    assert (got.value, got.failure, "upstream is gone" in got.detail) == (None, "unavailable", True)
    assert answer([body(more=wrong.replace("400", "503")), Reply(GOOD)]).value is not None


def test_an_error_inside_a_stream_is_named() -> None:
    (got,), server = answers(always(Reply(GOOD, halfway="errs", error={"code": 401})), stream=True)
    assert (got.failure, len(server.asked), "out of memory" in got.detail) == ("unavailable", 1, True)


@pytest.mark.parametrize(
    ("stream", "asked"), [("known", 2), ("uncounted", 3), ("rejected", 3), ("ignored", 2)]
)
def test_what_a_server_does_not_know_of_streams_is_found_out_once(stream: Any, asked: int) -> None:
    async def use(model: Model) -> list[bool]:
        return [(await ask(model, sample=n)).value is not None for n in range(2)]

    server = ChatServer(always(Reply(GOOD)), stream=stream)
    assert using(server, use, stream=True) == [True, True]
    assert len(server.asked) == asked
    assert server.asked[-1].body["stream"] is (stream != "rejected")
    assert ("stream_options" in server.asked[-1].body) is (stream not in ("rejected", "uncounted"))


@pytest.mark.parametrize("stream", [False, True])
def test_of_a_response_no_more_is_read_than_the_limit(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_chat, "MOST_BYTES", 100_000)
    long = Reply("".join(f"{n} " for n in range(50_000)))
    (got,), server = answers(always(long), stream=stream)
    assert (got.failure, len(server.asked), server.sent < 10_000) == ("unavailable", 1, True)
    assert "longer than 100,000 bytes" in got.detail


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_named(status: int) -> None:
    to = Reply(status=status, headers={"location": "http://other.test/v1/chat/completions"})
    (got,), server = answers(always(to))
    assert (got.failure, len(server.asked)) == ("unavailable", 1)
    assert f"HTTP {status}, a redirect to http://other.test" in got.detail


def test_keys_go_only_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "LONGPROOF_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    server = ChatServer(always(Reply(GOOD)))
    for name, value in {
        "OPENAI_API_KEY": "sk-openai", "LONGPROOF_API_KEY": " lp-secret\n", "OPENAI_BASE_URL": ADDRESS
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
        raw(server)
    assert [asked.key for asked in server.asked] == ["none", "lp-secret", "sk-openai"]
    assert place_and_key(None)[0] == ADDRESS


def test_headers_of_the_environment_for_openai_go_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    custom = f"Authorization: Bearer {SECRET}\nX-Api-Key: {SECRET}"
    for name, value in {"CUSTOM_HEADERS": custom, "ORG_ID": SECRET, "PROJECT_ID": SECRET}.items():
        monkeypatch.setenv(f"OPENAI_{name}", value)
    monkeypatch.delenv("LONGPROOF_API_KEY", raising=False)
    server = ChatServer(always(Reply(GOOD)))
    raw(server)
    monkeypatch.setenv("OPENAI_BASE_URL", ADDRESS)
    raw(server)
    foreign, own = (asked.headers for asked in server.asked)
    assert (SECRET in str(foreign), foreign["authorization"]) == (False, "Bearer none")
    assert (own["x-api-key"], own["openai-organization"], own["openai-project"]) == (SECRET,) * 3


@pytest.mark.parametrize("inside", ["\n", "\r", "\x1b[31m", "\x7f", " ", "é", "\u2028", "\udcff"])
def test_a_key_that_is_none_is_refused_unprinted(monkeypatch: pytest.MonkeyPatch, inside: str) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY", f"sk-{inside}SECRET")
    with pytest.raises(BadInput, match="LONGPROOF_API_KEY") as refused:
        place_and_key("http://127.0.0.1:9/v1")
    assert "SECRET" not in f"{refused.value} {refused.value.__cause__!r}"


QUOTING: list[Any] = [
    lambda key: Reply(status=401, error={"message": f"bad key {key}"}),
    lambda key: Reply(status=401, error={"message": f"bad key {key.upper()} {key.lower()}"}),
    lambda key: Reply(status=401, error={"message": {"said": key}}),
    lambda key: Reply(status=401, error={"message": f"bad key {key[:5]}\n{key[5:9]} {key[9:]}"}),
    lambda key: Reply(status=401, error={"message": "bad key " + "\u200b".join(key)}),
    lambda key: Reply(status=401, error={"message": "".join(f"%{ord(c):02X}" for c in key)}),
    lambda key: Reply(status=401, raw="".join(f"\\u{ord(c):04x}" for c in key).encode()),
    lambda key: Reply(status=400, raw=f"Authorization: Bearer {key}".encode()),
    lambda key: Reply(raw=json.dumps({"choices": key * 3}).encode()),
    lambda key: Reply(raw=json.dumps({"choices": [{"message": {"content": {"x": key}}}]}).encode()),
    lambda key: Reply(raw=json.dumps({"choices": [], "error": key}).encode()),
    lambda key: Reply(raw=f"no JSON: {key}".encode()),
    lambda key: Reply(status=307, headers={"location": f"http://127.0.0.1:9/?key={key}"}),
    lambda key: Reply(GOOD, halfway="errs", error={"message": f"key {key}", "code": 401}),
]


@pytest.mark.parametrize("number", range(len(QUOTING)))
@pytest.mark.parametrize("key", [SECRET, "sk-\\back'quote\"SECRET"])
def test_no_error_holds_the_key(monkeypatch: pytest.MonkeyPatch, number: int, key: str) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY", key)
    got = answer(always(QUOTING[number](key)), stream=number == len(QUOTING) - 1)
    assert got.failure in ("unavailable", "unparsed")
    shown = re.sub(r"[^A-Z]", "", unquote(re.sub(r"\\+u00(..)", r"%\1", got.detail)).upper())
    assert "SECR" not in shown


TOO_LONG = [
    "Input too long", "prompt is too long: 214850 tokens > 200000 maximum", "maximum context length is 8192 tokens",
    "The prompt (9000 tokens) is too long", "messages are too long", "the sequence is too long",
    "max_tokens is 4096 and the prompt 5000 tokens: together above the context length",
    "Input is too long for requested model.", "The request exceeds the available context size.",
    "The input token count (317740) exceeds the maximum number of tokens allowed (131072).",
    "Input tokens exceed the configured limit of 272000 tokens.", "Your input exceeds the context window.",
    "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000", "too many tokens",
    "max_tokens is too large: 2000. This model's maximum context length is 4096 tokens.",
    "The decoder prompt (length 9) is longer than the maximum model length of 8.", "context_length_exceeded",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
]  # fmt: skip
OF_SOMETHING_ELSE = [
    "Schema is too long", "The name of the schema is too long.", "max_tokens exceeds the context window",
    "`max_tokens` must be at most the maximum number of tokens of the answer", "no such model",
    "'max_completion_tokens' is beyond the context length",
]  # fmt: skip


class Refusal(Exception):
    """A provider's, of HTTP 400."""

    status_code = 400


class Refusing(ProviderChat):
    """A provider's client that is refused with these words, whatever temperature it sends."""

    def __init__(self, words: str) -> None:
        super().__init__("groq", "m", needs_key=False)
        self.words, self.sent = words, list[float | None]()

    def _make_model(self, **sampling: Any) -> Any:
        self.sent.append(sampling.get("temperature"))
        raise Refusal(self.words)


def test_a_temperature_that_a_provider_refuses_is_left_out_from_then_on() -> None:
    chat = Refusing("no temperature here")
    assert using(chat, ask).failure == "unavailable"
    assert chat.sent == [0.0, None, None], "the schema with it and without, then words"


@pytest.mark.parametrize("words", [*TOO_LONG, *OF_SOMETHING_ELSE])
def test_a_prompt_that_is_too_long_is_known_by_either_client(words: str) -> None:
    expected, requests = ("too_long", 1) if words in TOO_LONG else ("unavailable", 2)
    (got,), server = answers(always(Reply(status=400, error={"message": words})))
    assert (got.failure, len(server.asked)) == (expected, requests), "in words it is as long"
    assert using(Refusing(words), ask).failure == expected
    assert of_langchain(Refusal(words)).failure == expected


@pytest.mark.parametrize("wait", ["Mon, 01 Jan 2024 00:00:00 GMT", "²", "nan", "-3"])
def test_a_wait_that_is_none_is_not_waited_for(wait: str) -> None:
    assert not refused_request("", 429, {"retry-after": wait}, "").wait_s


def test_lone_surrogates_are_sent_as_question_marks() -> None:
    async def use(model: Model) -> Answer[Colour]:
        return await model.ask(Prompt("", "sky \ud800", "0" * 16, "en", ""), Colour, purpose="test")

    server = ChatServer([Reply(GOOD)])
    assert (using(server, use).failure, server.asked[0].user) == (None, "sky ?")


def of_langchain(says: Any, asked: list[Any] | None = None) -> Answer[Colour]:
    """The answer of a LangChain model that returns this message, or raises this error; `asked` gets all calls."""

    class Fake(FakeMessagesListChatModel):
        async def ainvoke(self, *given: Any, **__: Any) -> Any:
            if asked is not None:
                asked.append(given)
            if isinstance(says, Exception):
                raise says
            return says

    answered: Answer[Colour] = using(LangChainChat(Fake(responses=[])), ask)
    return answered


@pytest.mark.parametrize(("refusal", "failure"), [(None, None), (False, None), (True, "refused")])
def test_a_langchain_model_takes_the_same_place_however_it_refuses(refusal: Any, failure: Any) -> None:
    usage: Any = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    content: Any = [{"type": "text", "text": GOOD}]
    says = AIMessage(content=content, usage_metadata=usage, additional_kwargs={"refusal": refusal})
    got = of_langchain(says)
    (call,) = got.calls
    assert (got.failure, call.prompt_tokens, call.completion_tokens) == (failure, 9, 3)


def test_a_model_that_a_program_made_is_sent_no_temperature_and_not_asked_again_for_one() -> None:
    asked: list[Any] = []
    got = of_langchain(Refusal("temperature must be 1 for this model"), asked)
    assert (got.failure, len(asked)) == ("unavailable", 1)


def test_what_is_no_message_is_a_failure_and_no_text_of_an_error_reaches_its_detail() -> None:
    for odd in (None, {"content": GOOD}, IndexError()):
        assert of_langchain(odd).failure == "unavailable"
    got = of_langchain(Refusal(f"Illegal header value b'Bearer {SECRET}'"))
    assert (got.failure, got.detail) == ("unavailable", "Refusal (HTTP 400)")

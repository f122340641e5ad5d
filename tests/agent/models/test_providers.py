"""Any provider through LangChain: each one's HTTP form is faked, and everything else is as for an `openai:` judge."""

import json
import sys
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from seam import PROMPT, Colour, ask, using

from longproof.agent.models.ledger import RecordedChat, Recorder, Replay
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Answer, Model
from longproof.agent.specs import as_spec, connect
from longproof.retrieval.types import BadInput

pytest.importorskip("langchain", reason="needs the extra: pip install 'longproof[providers]'")
FIELDS = {"reason": "It is day.", "colour": "blue"}
SECRET = "sk-SECRET-0123456789"


def by_anthropic(asked: dict[str, Any], text: str) -> dict[str, Any]:
    said: dict[str, Any] = {"type": "text", "text": text}
    if tools := asked.get("tools"):
        said = {"type": "tool_use", "id": "t", "name": tools[0]["name"], "input": FIELDS}
    usage = {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 4}
    about = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use"}
    return {**about, "content": [said], "usage": usage}


def by_google(_: dict[str, Any], text: str) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    return {"candidates": [candidate], "usageMetadata": {**counts, "cachedContentTokenCount": 4}}


def by_ollama(_: dict[str, Any], text: str) -> dict[str, Any]:
    about = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop"}
    message = {"role": "assistant", "content": text}
    return {**about, "message": message, "prompt_eval_count": 9, "eval_count": 3}


def by_bedrock(asked: dict[str, Any], text: str) -> dict[str, Any]:
    said: dict[str, Any] = {"text": text}
    if "toolConfig" in asked:
        name = asked["toolConfig"]["tools"][0]["toolSpec"]["name"]
        said = {"toolUse": {"toolUseId": "t", "name": name, "input": FIELDS}}
    usage = {"inputTokens": 5, "outputTokens": 3, "totalTokens": 12, "cacheReadInputTokens": 4}
    about = {"stopReason": "tool_use", "metrics": {"latencyMs": 1}, "usage": usage}
    return {**about, "output": {"message": {"role": "assistant", "content": [said]}}}


PROVIDERS = {
    "anthropic": (by_anthropic, "claude-haiku-4-5"),
    "google_genai": (by_google, "gemini-2.5-flash"),
    "ollama": (by_ollama, "qwen3:8b"),
    "bedrock_converse": (by_bedrock, "anthropic.claude-haiku-4-5-v1:0"),
}


def spec_of(name: str) -> str:
    return f"{name}:{PROVIDERS[name][1]}"


class Provider(ThreadingHTTPServer):
    """A provider's server: answers in its form, or refuses with the statuses that are left, quoting the key."""

    def __init__(self, name: str, statuses: Sequence[int] = ()) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.name, self.statuses = name, list(statuses)
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(asked)
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        said: dict[str, Any] = {"error": {"message": f"no {SECRET}", "status": "NO", "code": status}}
        if status == 200:
            said = PROVIDERS[self.server.name][0](asked, json.dumps(FIELDS))
        data = json.dumps(said).encode()
        self.send_response(status)
        for header, value in {"type": "application/json", "length": str(len(data))}.items():
            self.send_header(f"content-{header}", value)
        self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture(params=[*list(PROVIDERS)[:3], pytest.param("bedrock_converse", marks=pytest.mark.heavy)])
def name(request: pytest.FixtureRequest) -> str:
    needs = {"bedrock_converse": "langchain_aws"}.get(request.param, f"langchain_{request.param}")
    pytest.importorskip(needs, reason="needs the extra `providers`")
    return str(request.param)


@pytest.fixture
def provider(name: str, request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    server = Provider(name, getattr(request, "param", ()))
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    for variable in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{server.server_port}")
    for variable in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield server
    server.shutdown()
    server.server_close()


def answer(spec: str, **how: Any) -> Answer[Colour]:
    """The answer of the judge that this SPEC names."""
    answered: Answer[Colour] = using(connect(as_spec(spec)), ask, **how)
    return answered


def test_an_answer_is_counted_kept_and_recorded(name: str, provider: Provider, tmp_path: Path) -> None:
    recorder, path = Recorder(), tmp_path / "ledger.sqlite"
    first = answer(spec_of(name), path=path, recorder=recorder)
    assert first.value == Colour(**FIELDS)
    (call,) = first.calls
    cached = None if name == "ollama" else 4
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens) == (9, 3, cached)
    assert (call.endpoint, call.model) == (f"provider:{name}", PROVIDERS[name][1])
    sent = json.dumps(provider.asked[0])
    assert all(part in sent for part in (PROMPT.system, PROMPT.user, "colour", "8192", '"temperature": 0.0'))
    assert ('"num_ctx": 32768' in sent) is (name == "ollama")
    again = answer(spec_of(name), path=path)
    assert (again.value, again.calls[0].bought) == (first.value, False)
    recorder.write(tmp_path / "run.gz", {})
    replay, spec = Replay.open(tmp_path / "run.gz"), as_spec(spec_of(name))

    async def replayed(model: Model) -> Answer[Colour]:
        await model._ledger.fill(replay.lines.values())
        return await ask(model)

    assert using(RecordedChat(replay, spec.model, spec.endpoint), replayed).value == first.value
    assert len(provider.asked) == 1


@pytest.mark.parametrize("provider", [(429, 503)], indirect=True)
def test_trouble_that_passes_is_waited_out_by_us_alone(name: str, provider: Provider) -> None:
    limits = Limits()
    assert len(answer(spec_of(name), limits=limits).calls) == 1
    assert (len(provider.asked), limits.retries, limits.calls) == (3, 2, 1)


@pytest.mark.parametrize("provider", [(401,) * 5], indirect=True)
def test_who_refuses_is_asked_once_and_named_without_the_key(name: str, provider: Provider) -> None:
    got = answer(spec_of(name))
    assert (got.failure, len(provider.asked)) == ("unavailable", 1)
    assert (f"{name} answered HTTP 401" in got.detail, "SECRET" in got.detail) == (True, False)


@pytest.mark.parametrize("provider", [(400,)], indirect=True)
def test_a_schema_that_a_provider_refuses_is_put_into_words(name: str, provider: Provider) -> None:
    assert answer(spec_of(name)).value == Colour(**FIELDS)
    words = "Answer with one JSON object"
    assert [words in json.dumps(asked) for asked in provider.asked] == [False, True]


@pytest.mark.parametrize(
    ("spec", "told"),
    [("groq:llama", "pip install langchain-groq"), ("opneai:gpt-4.1", "Unsupported provider")],
)
def test_a_package_that_is_missing_and_a_provider_that_is_none_are_named(spec: str, told: str) -> None:
    with pytest.raises(BadInput, match=told) as refused:
        connect(as_spec(spec))
    assert "\n" not in str(refused.value)


def test_without_langchain_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(BadInput, match=r"pip install 'longproof\[providers\]'"):
        connect(as_spec("anthropic:claude"))
    assert connect(as_spec("anthropic:claude"), needs_key=False).model == "claude"


@pytest.mark.parametrize(("model", "bound"), [("sonnet-5-5", "output_config"), ("fable-5-x", "tools")])
@pytest.mark.parametrize("name", ["anthropic"])
def test_who_takes_no_temperature_gets_none(name: str, model: str, bound: str, provider: Provider) -> None:
    """LangChain knows the one's abilities; the other's are found out."""
    assert answer(f"{name}:claude-{model}").value == Colour(**FIELDS)
    (asked,) = provider.asked
    assert ("temperature" in asked, bound in asked) == (False, True)


def test_a_model_without_structured_output_is_asked_in_words() -> None:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    from longproof.agent.models.langchain_chat import ProviderChat

    class Faked(ProviderChat):
        def _make_model(self, **sampling: Any) -> FakeListChatModel:
            return FakeListChatModel(responses=[json.dumps(FIELDS)])

    got = using(Faked("fake", "m"), ask)
    assert (got.value, len(got.calls)) == (Colour(**FIELDS), 1)

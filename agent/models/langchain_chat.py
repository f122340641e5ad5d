"""LangChain's chat models as clients: one that a program made, or one that a SPEC names by its provider.

Knows: `init_chat_model` finds a provider's package, which reads its own key, and makes its model; the form goes as
structured output where the model has that; what is kept of an answer.
Does not know: retries, limits, the ledger, or what an answer means.
"""

import json
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from pydantic import ValidationError

from longproof.agent.models.addresses import PROVIDER, without_keys
from longproof.agent.models.answers import Chat, Message, Raw, Unanswered, refused_request
from longproof.retrieval.text.redact import one_line
from longproof.retrieval.types import BadInput, first_fault

OLLAMA_CONTEXT = 32_768
"""Ollama cuts a prompt beyond its context, by default of 4,096 tokens or so, and says nothing."""


class ProviderChat(Chat):
    """One model of a provider, by the provider's name in LangChain."""

    has_schema = True

    def __init__(self, provider: str, model: str, *, needs_key: bool = True) -> None:
        """Without `needs_key` nothing is sent. Raises BadInput where provider, package or key is missing."""
        self.endpoint, self.model = PROVIDER + provider, model
        self._provider = provider
        self._model_with = cache(self._make_model)
        self._takes_temperature = True
        if needs_key:
            self._model_with()

    async def send(self, message: Message) -> Raw:
        """Send one request. A temperature that the model refuses is left out from then on. Raises Unanswered."""
        sampling = dict(message.sampling)
        if not self._takes_temperature:
            del sampling["temperature"]
        if self._provider == "ollama":
            sampling["num_predict"] = sampling.pop("max_tokens")
        try:
            model = self._model_with(**sampling)
            return await _ask(_with_schema(model, message.schema) if message.schema else model, message)
        except Unanswered:
            raise
        except Exception as error:
            if "temperature" in sampling and "temperature" in str(error):
                self._takes_temperature = False
                return await self.send(message)
            status = _status(error)
            headers = getattr(getattr(error, "response", None), "headers", None) or {}
            raise refused_request(self._describe(error, status), status, headers, _words_of(error)) from error

    def _describe(self, error: Exception, status: int | None) -> str:
        named = f"{self._provider} answered HTTP {status}" if status else f"no answer by {self._provider}"
        return f"{named}: {_words_of(error)}"

    def _make_model(self, **sampling: Any) -> BaseChatModel:
        """The model with these parameters. Its own retries are off: ours keep to budget and deadline."""
        try:
            from langchain.chat_models import init_chat_model
        except ImportError as error:
            raise BadInput(
                f"{self._provider}:{self.model} is asked through LangChain: pip install 'longproof[providers]', and "
                f"the provider's own package, as langchain-{self._provider.partition('_')[0]}; openai: needs neither"
            ) from error
        if self._provider == "ollama":
            sampling["num_ctx"] = OLLAMA_CONTEXT
        try:
            made: BaseChatModel = init_chat_model(
                self.model, model_provider=self._provider, max_retries=0, **sampling
            )
        except (ImportError, ValueError, TypeError, OSError) as error:
            raise BadInput(f"no judge {self._provider}:{self.model}: {_words_of(error)}") from error
        return made


class LangChainChat(ProviderChat):
    """A chat model as a program configured it: no schema, and our temperature and limits are not sent."""

    has_schema = False

    def __init__(self, model: BaseChatModel) -> None:
        # What LangChain's own cache goes by: names and parameters, no keys.
        configured = sha256(model._get_llm_string().encode()).hexdigest()[:16]
        super().__init__(model._llm_type, f"{type(model).__name__}:{configured}", needs_key=False)
        self.endpoint, self._model = f"langchain:{model._llm_type}", model
        self._takes_temperature = False

    def _make_model(self, **_: Any) -> BaseChatModel:
        return self._model

    def _describe(self, error: Exception, status: int | None) -> str:
        # Its text may hold a key that we don't know.
        return one_line(type(error).__name__ + (f" (HTTP {status})" if status else ""))


def _with_schema(model: BaseChatModel, schema: dict[str, Any]) -> Any:
    """The model, bound to a schema that its provider checks where it does so, else to a tool. Raises Unanswered."""
    # LangChain's notes on what a model can do; for many there are none.
    checks = (getattr(model, "profile", None) or {}).get("structured_output")
    way = {"method": "json_schema"} if checks else {}
    try:
        return model.with_structured_output(schema, include_raw=True, **way)
    except (NotImplementedError, ValueError, TypeError) as error:
        # As a server that refuses a schema.
        raise Unanswered("no structured output", status=501) from error


async def _ask(model: Any, message: Message) -> Raw:
    """Call the model once. What is kept of its answer, structured or not, whatever its metadata are."""
    system, user = message.texts
    answer = await model.ainvoke([("system", system), ("human", user)])
    structured = answer if isinstance(answer, dict) else {}
    said: AIMessage = structured.get("raw", answer)
    filled = structured.get("parsed")
    usage: Any = said.usage_metadata or {}
    about = said.response_metadata
    ends = (about.get(name) for name in ("finish_reason", "stop_reason", "stopReason", "done_reason"))
    refusal = said.additional_kwargs.get("refusal")
    return Raw(
        text=str(said.text) if filled is None else json.dumps(filled, ensure_ascii=False),
        refusal=str(refusal) if refusal else None,
        finish=next(filter(None, ends), None),
        prompt_tokens=usage.get("input_tokens"),
        completion_tokens=usage.get("output_tokens"),
        cached_tokens=(usage.get("input_token_details") or {}).get("cache_read"),
    )


def _status(error: BaseException) -> int | None:
    """The HTTP status that an error, or what caused it, tells in one of the ways of providers' packages."""
    for one in _causes(error):
        response = getattr(one, "response", None)
        amazon = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        statuses = getattr(one, "status_code", None), getattr(one, "code", None), amazon.get("HTTPStatusCode")
        for status in statuses:
            if isinstance(status, int) and 300 <= status < 600:
                return status
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what caused it."""
    while error is not None:
        yield error
        error = error.__cause__


def _words_of_one(error: BaseException) -> str:
    """The words of an error; of one that quotes the answer, only what doesn't."""
    if isinstance(error, ValidationError):
        return first_fault(error)[1]
    if isinstance(error, OutputParserException):
        return type(error).__name__
    return str(error) or type(error).__name__


def _words_of(error: Exception) -> str:
    """The words of an error and of what caused it, on one line, without what the environment keeps secret."""
    text = "; ".join(dict.fromkeys(_words_of_one(cause) for cause in _causes(error)))
    return one_line(without_keys(text))

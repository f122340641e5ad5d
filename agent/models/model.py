"""The one seam to language models: a prompt and a form in, the filled form or a named failure out.

Knows: the ledger is looked into first; a paid call keeps to limits and budget, has a deadline, and is sent again
where the server was busy. The form goes as JSON schema unless the server refuses a schema, then as words in the
prompt. Retries are ours, not the `openai` client's, so that each keeps to the rate limits.
Does not know: what is asked or why, or whether an answer is sensible (guards).
"""

import asyncio
import json
import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from longproof.agent.models.answers import Form, Raw, parse, schema
from longproof.agent.models.clients import Chat, Message, Unanswered
from longproof.agent.models.ledger import Entry, Ledger, content_key
from longproof.agent.models.limits import Limits, estimate_tokens
from longproof.agent.models.recording import Recorder
from longproof.agent.types import Call, Failure
from longproof.prompts import Prompt, render
from longproof.retrieval.types import BadInput

F = TypeVar("F", bound=Form)
UNASKED: frozenset[Failure | None] = frozenset({"unavailable", "over_budget", "too_long"})
"""Failures of calls that were not answered and not paid."""
UNANSWERED: frozenset[Failure | None] = frozenset({"unavailable", "over_budget", "timeout"})
"""Failures of calls that another run may well get answered."""
RETRIES = 5
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 60.0
TIMEOUT_S = 300.0
SLOW_S = 30.0
"""Seconds after which it is told, once, that an answer is waited for."""
MAX_TOKENS = 8192
NO_SCHEMA = frozenset({400, 415, 422, 501})
"""HTTP statuses by which a server may refuse a JSON schema."""
BUSY = frozenset({408, 409, 425, 429})
"""HTTP statuses that pass, beside those of 500 and more."""
NOT_HERE = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404})
"""HTTP statuses of a server that will answer nothing: its address, the key or the model's name is wrong."""
KEPT = "the answer is kept and will be given again; --retry-failed asks anew"

_LOG = logging.getLogger(__name__)


class Refused(BadInput):
    """A server's first answer was that it answers nothing: its address, the key or the model's name is wrong."""


class Answer(NamedTuple, Generic[F]):
    """Exactly one of value and failure. `detail` says more about a failure; `calls` are the answers it rests on."""

    value: F | None
    failure: Failure | None
    detail: str
    calls: tuple[Call, ...]

    @property
    def call_id(self) -> str | None:
        """The call that this answer came from; None where none was made."""
        return self.calls[-1].id if self.calls and self.failure not in UNASKED else None


class Model:
    """One model at one endpoint, over the ledger and within the limits. One instance an event loop."""

    def __init__(
        self,
        chat: Chat,
        ledger: Ledger,
        limits: Limits,
        *,
        timeout_s: float = TIMEOUT_S,
        max_tokens: int = MAX_TOKENS,
        first_wait_s: float = FIRST_WAIT_S,
        slow_s: float = SLOW_S,
        first_sample: int = 0,
        recorder: Recorder | None = None,
    ) -> None:
        self._chat, self._ledger, self._limits, self._recorder = chat, ledger, limits, recorder
        self._limiter = limits.of(chat.endpoint)
        self._timeout_s, self._max_tokens, self._first_wait_s = timeout_s, max_tokens, first_wait_s
        self._slow_s, self._first_sample = slow_s, first_sample
        self._in_words: set[type[Form]] = set()
        """Forms whose JSON schema the server refused."""
        self._answered = False
        self._down = False
        """True if a call was sent in vain as often as may be: each is sent once, until one is answered."""
        self._warned: set[int | str | None] = set()
        """Warnings that were given: HTTP statuses (None: no connection) that are waited out, and `slow`."""
        self.refused = ""
        """The server's word that it answers nothing, if that came before any answer; nothing more is asked then."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.model

    @property
    def endpoint(self) -> str:
        """The address that its answers come from."""
        return self._chat.endpoint

    async def ask(
        self,
        prompt: Prompt,
        form: type[F],
        *,
        purpose: str,
        sample: int = 0,
        temperature: float = 0.0,
        in_words: bool = False,
        top_p: float | None = None,
        max_tokens: int | None = None,
    ) -> Answer[F]:
        """The filled form, or a named failure. Raises BadInput only where the ledger can't be used.

        `sample` numbers independent answers to the same prompt; `in_words` describes the form in the prompt alone,
        and so never sends a second request. `top_p` is sent where it is given; `max_tokens` None: the model's own.
        """
        sampling = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens or self._max_tokens}
        messages = [self._message(prompt, form, purpose, sample, sampling, by_schema=False)]
        if self._chat.has_schema and not in_words:
            messages.insert(0, self._message(prompt, form, purpose, sample, sampling, by_schema=True))
        if form in self._in_words or await self._ledger.get(messages[-1].key):
            # What was asked in words before needs no schema, unless an answer to that came first.
            messages = [m for m in messages if m is messages[-1] or await self._ledger.get(m.key)]
        calls: list[Call] = []
        for message in messages:
            last = message is messages[-1]
            try:
                entry = await self._ledger.get(message.key) or await self._buy(message)
            except Unanswered as error:
                if not last and error.status in NO_SCHEMA and error.failure != "too_long":
                    continue
                return self._name_failure(message, error, calls)
            if last and len(messages) > 1 and not calls:
                self._in_words.add(form)
            answer = self._read(message, entry, form, calls)
            if last or answer.failure != "unparsed":
                return answer
        raise AssertionError("the last message always gives an answer")

    def refuse(self) -> None:
        """Raises Refused where the server's first answer was that it answers nothing; the next call asks it anew."""
        if self.refused:
            why, self.refused = self.refused, ""
            raise Refused(f"{why}; check the key, the address and the model's name {self.name!r}")

    async def mark(self, call_id: str | None, failure: Failure) -> None:
        """Note in the ledger that this call's answer was of no use, for `retry_failed`."""
        if call_id is not None:
            await self._ledger.mark(call_id, failure)

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    async def _buy(self, message: Message) -> Entry:
        """Buy the answer, unless it lies in the ledger by now. Raises Unanswered."""
        slots, ask = self._limiter.slots, partial(self._send, message)
        return await self._ledger.buy(message.key, ask, slots, endpoint=self.endpoint, model=self.name)

    async def _send(self, message: Message) -> Raw:
        """Send the message, paid from the budget, and again after trouble that passes. Raises Unanswered."""
        for attempt in range(RETRIES + 1):
            if self.refused:
                raise Unanswered(self.refused, final=True)
            try:
                with self._reserve(message):
                    await self._limiter.wait(message.tokens)
                    with self._limits.asking(again=attempt > 0), self._tell_if_slow():
                        async with asyncio.timeout(self._timeout_s):
                            raw = await self._chat.send(message)
            except Unanswered as error:
                if self._gives_up(error, attempt):
                    raise
                await self._wait(error, attempt)
                continue
            self._answered = True
            more = _tokens(raw, message) - message.tokens
            self._limits.budget.settle(more)
            self._limiter.settle(more)
            return raw
        raise AssertionError("the last attempt gives up")

    @contextmanager
    def _reserve(self, message: Message) -> Iterator[None]:
        """Take one call from the budget; give it back if it is not answered and can't have been billed."""
        budget = self._limits.budget
        if not budget.take(message.tokens, message.purpose, message.key):
            raise Unanswered("the budget of this run is spent", failure="over_budget", final=True)
        try:
            yield
        except TimeoutError as error:
            # The server may well have worked on it, and billed it: the reservation stays.
            detail = f"no answer within {self._timeout_s:g} s"
            raise Unanswered(detail, failure="timeout", final=True) from error
        except BaseException as error:
            if not (isinstance(error, Unanswered) and error.billed):
                budget.give_back(message.tokens)
            raise

    def _gives_up(self, error: Unanswered, attempt: int) -> bool:
        """True if asking again is no use. Notes a server that answers nothing."""
        if error.failure != "unavailable":
            return True
        if (error.final or error.status in NOT_HERE) and not self._answered:
            self.refused = str(error)
        passes = error.status is None or error.status in BUSY or (error.status >= 500 and error.status != 501)
        too_long = (error.wait_s or 0) > LONGEST_WAIT_S
        in_vain = attempt == RETRIES or (self._down and not self._answered)
        if error.final or not passes or too_long or in_vain:
            self._down = passes
            return True
        return False

    async def _wait(self, error: Unanswered, attempt: int) -> None:
        """Wait before the next attempt: as long as the server asks for, else twice as long as before."""
        waits = [min(LONGEST_WAIT_S, self._first_wait_s * 2**n) for n in range(RETRIES)]
        if error.status not in self._warned:
            self._warned.add(error.status)
            within = error.wait_s or sum(waits)
            _LOG.warning("%s; asking again, %d times within %.0f s", error, RETRIES, within)
        if error.wait_s is not None:
            self._limiter.pause(error.wait_s)
            await asyncio.sleep(error.wait_s + random.uniform(0, self._first_wait_s))
        else:
            await asyncio.sleep(random.uniform(0.5, 1) * waits[attempt])

    @contextmanager
    def _tell_if_slow(self) -> Iterator[None]:
        """Tell, once a model, that an answer has been waited for a while, and how long it will be."""

        def tell() -> None:
            if "slow" not in self._warned:
                self._warned.add("slow")
                text = "%s has not answered for %g s; a call is given up after %g s"
                _LOG.warning(text, self.endpoint, self._slow_s, self._timeout_s)

        slow = asyncio.get_running_loop().call_later(self._slow_s, tell)
        try:
            yield
        finally:
            slow.cancel()

    def _message(
        self,
        prompt: Prompt,
        form: type[Form],
        purpose: str,
        sample: int,
        sampling: dict[str, Any],
        *,
        by_schema: bool,
    ) -> Message:
        wanted = schema(form)
        if not by_schema:
            prompt = prompt.then(render("form", prompt.language, schema=json.dumps(wanted)))
        key = content_key(
            {
                "endpoint": self.endpoint,
                "model": self.name,
                "mode": "schema" if by_schema else "prompt",
                "form": wanted,
                "system": prompt.system,
                "user": prompt.user,
                "parameters": {name: value for name, value in sampling.items() if value is not None},
                "sample": self._first_sample + sample,
            }
        )
        return Message(prompt, schema=wanted if by_schema else None, purpose=purpose, key=key, **sampling)

    def _read(self, message: Message, entry: Entry, form: type[F], calls: list[Call]) -> Answer[F]:
        """Read the ledger's entry into the form; its call is appended to `calls`."""
        if self._recorder:
            self._recorder.keep(message, self.name, entry.raw)
        filled = parse(entry.raw, form, message.prompt.foreign)
        failure, value = (filled, None) if isinstance(filled, str) else (None, filled)
        calls.append(self._call(message, entry.raw, failure, bought=entry.bought))
        return Answer(value, failure, KEPT if failure else "", tuple(calls))

    def _name_failure(self, message: Message, error: Unanswered, calls: list[Call]) -> Answer[F]:
        """The failure of a request that was not answered. One that timed out counts as paid: it may be billed."""
        if self._recorder:
            self._recorder.lose(message, self.name, error.failure)
        if error.failure == "timeout":
            calls.append(self._call(message, Raw(), error.failure, bought=True))
        return Answer(None, error.failure, str(error), tuple(calls))

    def _call(self, message: Message, raw: Raw, failure: Failure | None, *, bought: bool) -> Call:
        return Call(
            id=message.key,
            purpose=message.purpose,
            endpoint=self.endpoint,
            model=self.name,
            prompt_hash=message.prompt.hash,
            prompt_characters=message.prompt.characters,
            prompt_tokens=raw.prompt_tokens,
            completion_tokens=raw.completion_tokens,
            cached_tokens=raw.cached_tokens,
            answer_characters=len(raw.text or raw.refusal or ""),
            failure=failure,
            bought=bought,
        )


def _tokens(raw: Raw, message: Message) -> int:
    """The tokens that a call cost, by the server's own count, else by ours."""
    prompt = message.tokens if raw.prompt_tokens is None else raw.prompt_tokens
    answered = estimate_tokens(raw.text or "") if raw.completion_tokens is None else raw.completion_tokens
    return prompt + answered

"""The one seam to language models: a prompt and a form in, the filled form or a named failure out.

Knows: the ledger is looked into first; a paid call keeps to limits and budget, has a deadline, and is retried where
the server was busy; answers are kept for a recording, or come from one. The form goes as JSON schema where the server
takes one (found out by trying), else as words in the prompt. Retries are ours, not the `openai` client's, so that
each keeps to the rate limits.
Does not know: what is asked or why, or whether an answer is sensible (guards).
"""

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Sequence
from typing import Generic, NamedTuple, TypeVar

from longproof.agent.models.answers import Form, Raw, parse, schema
from longproof.agent.models.clients import Chat, Message, Unanswered
from longproof.agent.models.ledger import Entry, Ledger, content_key
from longproof.agent.models.limits import FirstAlone, Limits, estimate_tokens
from longproof.agent.models.recording import Recorder, Replay
from longproof.agent.models.requests import Mode, Request, Sampling
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
BUSY = frozenset({408, 409, 425, 429})
NOT_ABOUT_FORM = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404})
"""HTTP statuses that say nothing about whether the server takes JSON schema."""

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


class _Lost(Exception):
    """There is no answer, and asking again in this run is no use."""

    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(detail)
        self.failure: Failure = failure


class _Rejected(Exception):
    """The server refused the request, perhaps because of its JSON schema."""


class Learned:
    """What was found out about how a model at an endpoint takes forms; kept from run to run."""

    def __init__(self) -> None:
        self.given_up: set[Mode] = set()
        self.schemas: set[str] = set()
        """Schemas that it has filled in: a later refusal of one of them has another cause."""
        self.answered = False


class Model:
    """One model at one endpoint, over the ledger and within the limits. One instance an event loop.

    The first request is sent alone, unless `learned` says that there were answers before. A `Recorder` keeps what is
    answered; a `Replay` answers what is not in the ledger, and nothing is sent.
    """

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
        learned: Learned | None = None,
        recording: Recorder | Replay | None = None,
    ) -> None:
        self._first_sample = first_sample
        self._chat, self._ledger, self._limits = chat, ledger, limits
        self._limiter = limits.of(chat.endpoint)
        self._timeout_s, self._max_tokens, self._first_wait_s = timeout_s, max_tokens, first_wait_s
        self._modes: tuple[Mode, ...] = ("schema", "prompt") if chat.has_schema else ("prompt",)
        self._learned = learned if learned is not None else Learned()
        self._first = FirstAlone()
        self.refused = ""
        """Why the server answers nothing, where that was the first that it said; nothing more is asked then."""
        self._down = False
        """Whether the server was asked in vain as often as may be: each call is sent once, until one is answered."""
        self._slow_s, self._said_slow = slow_s, False
        self._said: set[int | None] = set()
        """The HTTP statuses (None: no connection) after which it was told that the server is asked again."""
        self._recorder = recording if isinstance(recording, Recorder) else None
        self._replay = recording if isinstance(recording, Replay) else None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.model

    @property
    def endpoint(self) -> str:
        """Where its answers come from."""
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
        number = self._first_sample + sample
        modes = self._modes[-1:] if in_words else self._modes
        sampling = Sampling(temperature, top_p, max_tokens or self._max_tokens)
        requests = [self._request(m, prompt, form, purpose, number, sampling) for m in modes]
        known = await self._from_ledger(requests, form)
        if known.value is not None or known.failure:
            return known
        if self._learned.answered:
            return await self._from_server(requests, form)
        async with self._first:
            if not self.refused:
                return await self._from_server(requests, form)
        return Answer(None, "unavailable", self.refused, ())

    def refuse(self) -> None:
        """Raises Refused where the server's first answer was that it answers nothing; the next call asks it anew."""
        if self.refused:
            said, self.refused = self.refused, ""
            raise Refused(f"{said}; check the key, the address and the model's name {self.name!r}")

    async def mark(self, call_id: str | None, failure: Failure) -> None:
        """Note in the ledger that this call's answer was of no use, for `retry_failed`."""
        if call_id is not None:
            await self._ledger.mark(call_id, failure)

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    async def _from_ledger(self, requests: Sequence[Request], form: type[F]) -> Answer[F]:
        """The ledger's answer to the first mode that fits; neither value nor failure: the server must be asked."""
        calls: list[Call] = []
        answer: Answer[F] = Answer(None, None, "", ())
        for request in requests:
            entry = await self._ledger.get(request.key)
            if entry is None:
                continue
            answer = self._answer(request, entry, form, calls)
            if not _breaks_form(answer) or request is requests[-1]:
                return answer
            self._learned.given_up.add(request.mode)
        return Answer(None, None, "", tuple(calls))

    async def _from_server(self, requests: Sequence[Request], form: type[F]) -> Answer[F]:
        calls: list[Call] = []
        rejected: list[Mode] = []
        for request in requests:
            last = request is requests[-1]
            if (
                not last
                and request.mode in self._learned.given_up
                and not await self._ledger.get(request.key)
            ):
                continue
            try:
                entry = await self._entry(request)
            except _Rejected as error:
                if last:
                    return Answer(None, "unavailable", str(error), tuple(calls))
                rejected.append(request.mode)
                continue
            except _Lost as error:
                if self._recorder:
                    self._recorder.lose(request.key, request.purpose, self._chat.model, error.failure)
                return Answer(None, error.failure, str(error), (*calls, *self._unpaid(request, error)))
            self._learned.given_up.update(rejected)
            self._learned.answered = True
            answer = self._answer(request, entry, form, calls)
            if last or not _breaks_form(answer):
                self._learned.schemas.add(request.schema)
                return answer
            self._learned.given_up.add(request.mode)
        raise AssertionError("the last request always returns")

    async def _entry(self, request: Request) -> Entry:
        ask = self._replayed if self._replay else self._send
        return await self._ledger.get(request.key) or await self._ledger.buy(
            request.key,
            lambda: ask(request),
            self._limiter.slots,
            endpoint=self._chat.endpoint,
            model=self._chat.model,
        )

    async def _send(self, request: Request) -> Raw:
        """One paid answer, within the budget. Raises _Lost or _Rejected."""
        self._reserve(request)
        reserved = True
        try:
            for attempt in range(RETRIES + 1):
                await self._limiter.wait(request.tokens)
                try:
                    with self._limits.asking(again=attempt > 0):
                        async with asyncio.timeout(self._timeout_s):
                            raw = await self._told_if_slow(self._chat.send(request.message))
                    break
                except Unanswered as error:
                    reserved = not error.begun
                    await self._wait_or_give_up(error, request, attempt)
                    if not reserved:
                        self._reserve(request)
                        reserved = True
        except TimeoutError as error:
            # The server may well have worked on it, and billed it: the reservation stays.
            raise _Lost("timeout", f"no answer within {self._timeout_s:g} s") from error
        except BaseException:
            if reserved:
                self._limits.budget.give_back(request.tokens)
            raise
        more = _tokens(raw, request) - request.tokens
        self._limits.budget.settle(more)
        self._limiter.settle(more)
        return raw

    async def _replayed(self, request: Request) -> Raw:
        """What a recording has for a request. Raises _Lost, or _Rejected where it may have another mode of it."""
        assert self._replay is not None
        said = self._replay.said(request.key)
        if isinstance(said, Raw):
            return said
        if said is None and request.mode != self._modes[-1]:
            raise _Rejected("not in the recording")
        if said is None:
            self._replay.miss(request.purpose)
        raise _Lost(said or "unavailable", "so it was recorded" if said else "not in the recording")

    def _reserve(self, request: Request) -> None:
        """Take one call from the budget. An answer that broke off is paid: the next attempt takes another."""
        if not self._limits.budget.take(request.tokens, request.purpose, request.key):
            raise _Lost("over_budget", "the budget of this run is spent")

    async def _wait_or_give_up(self, error: Unanswered, request: Request, attempt: int) -> None:
        """Wait before the next attempt, or raise: _Rejected where the form may be at fault, else _Lost."""
        if error.too_long:
            raise _Lost("too_long", str(error)) from error
        about_form = (
            request.mode == "schema"
            and request.schema not in self._learned.schemas
            and error.status is not None
            and error.status not in BUSY | NOT_ABOUT_FORM
        )
        if about_form and error.status not in (502, 503, 504):
            raise _Rejected(str(error)) from error
        passing = error.status is None or error.status in BUSY or error.status >= 500
        too_long = (error.wait_s or 0) > LONGEST_WAIT_S
        if (error.final or error.status in NOT_ABOUT_FORM) and not self._learned.answered:
            self.refused = str(error)
        in_vain = attempt == RETRIES or (self._down and not self._learned.answered)
        if error.final or not passing or too_long or in_vain:
            self._down = passing
            raise _Rejected(str(error)) if about_form else _Lost("unavailable", str(error))
        self._say(error)
        if error.wait_s is not None:
            self._limiter.pause(error.wait_s)
            await asyncio.sleep(error.wait_s + random.uniform(0, self._first_wait_s))
        else:
            await asyncio.sleep(random.uniform(0.5, 1) * min(LONGEST_WAIT_S, self._first_wait_s * 2**attempt))

    def _say(self, error: Unanswered) -> None:
        """Tell what is asked again and for how long, once for each kind of error."""
        if error.status not in self._said:
            self._said.add(error.status)
            waits = [min(LONGEST_WAIT_S, self._first_wait_s * 2**n) for n in range(RETRIES)]
            _LOG.warning(
                "%s; asking again, %d times within %.0f s", error, RETRIES, error.wait_s or sum(waits)
            )

    async def _told_if_slow(self, answer: Awaitable[Raw]) -> Raw:
        """The answer; once a model, that one has been waited for a while, and how long it will be."""
        slow = asyncio.get_running_loop().call_later(self._slow_s, self._say_slow)
        try:
            return await answer
        finally:
            slow.cancel()

    def _say_slow(self) -> None:
        if not self._said_slow:
            self._said_slow = True
            told = "%s has not answered for %g s; a call is given up after %g s"
            _LOG.warning(told, self._chat.endpoint, self._slow_s, self._timeout_s)

    def _request(
        self, mode: Mode, prompt: Prompt, form: type[F], purpose: str, sample: int, sampling: Sampling
    ) -> Request:
        wanted = schema(form)
        if mode == "prompt":
            prompt = prompt.then(render("form", prompt.language, schema=json.dumps(wanted)))
        wanted_by_server = wanted if mode == "schema" else None
        message = Message(
            prompt.system,
            prompt.user,
            sampling.temperature,
            sampling.max_tokens,
            wanted_by_server,
            sampling.top_p,
        )
        key = content_key(
            {
                "endpoint": self._chat.endpoint,
                "model": self._chat.model,
                "mode": mode,
                "form": wanted,
                "system": prompt.system,
                "user": prompt.user,
                "parameters": sampling.key,
                "sample": sample,
            }
        )
        return Request(mode, key, message, prompt, purpose)

    def _answer(self, request: Request, entry: Entry, form: type[F], calls: list[Call]) -> Answer[F]:
        """The entry read into the form; its call is appended to `calls`."""
        if self._recorder:
            self._recorder.keep(request.key, request.purpose, self._chat.model, entry.raw)
        filled = parse(entry.raw, form, request.prompt.foreign)
        failure, value = (filled, None) if isinstance(filled, str) else (None, filled)
        calls.append(self._call(request, entry.raw, failure, bought=entry.bought))
        return Answer(value, failure, "", tuple(calls))

    def _unpaid(self, request: Request, error: _Lost) -> list[Call]:
        """The call of a request that timed out: it may have been billed."""
        return [self._call(request, Raw(), error.failure, bought=True)] if error.failure == "timeout" else []

    def _call(self, request: Request, raw: Raw, failure: Failure | None, *, bought: bool) -> Call:
        return Call(
            id=request.key,
            purpose=request.purpose,
            endpoint=self._chat.endpoint,
            model=self._chat.model,
            prompt_hash=request.prompt.hash,
            prompt_characters=request.prompt.characters,
            prompt_tokens=raw.prompt_tokens,
            completion_tokens=raw.completion_tokens,
            cached_tokens=raw.cached_tokens,
            answer_characters=len(raw.text or raw.refusal or ""),
            failure=failure,
            bought=bought,
        )


def _breaks_form(answer: Answer[F]) -> bool:
    return answer.failure == "unparsed"


def _tokens(raw: Raw, request: Request) -> int:
    """What a call cost by the server's own count, else by ours."""
    prompt = request.tokens if raw.prompt_tokens is None else raw.prompt_tokens
    answered = estimate_tokens(raw.text or "") if raw.completion_tokens is None else raw.completion_tokens
    return prompt + answered

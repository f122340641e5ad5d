"""The one seam to language models: a prompt and a form in, the filled form or a named failure out.

Knows: the ledger is looked into first; a paid call keeps to limits and budget, has a deadline, and is sent again
where the server was busy. The form goes as JSON schema unless the server refuses a schema, then as words in the
prompt. Several items are asked about at once, by their numbers in the prompt (`C3`, `S12`).
Does not know: what is asked or why, or whether an answer is sensible (guards).
"""

import asyncio
import json
import logging
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from itertools import count
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from longproof.agent.models.addresses import without_keys
from longproof.agent.models.answers import Chat, Form, Message, Raw, Unanswered, parse, schema
from longproof.agent.models.ledger import Ledger, Recorder
from longproof.agent.models.limits import Limits, estimate_tokens
from longproof.agent.types import Call, Failure
from longproof.prompts import Prompt, render
from longproof.retrieval.types import BadInput

UNANSWERED: frozenset[Failure | None] = frozenset({"unavailable", "over_budget", "timeout"})
"""Failures of calls that another run may well get answered."""
ASKED_AGAIN: frozenset[Failure] = frozenset(
    {"ungrounded", "self_contradicted", "off_menu", "truncated", "unparsed", "refused", "timeout"}
)
"""Failures that a second request may mend; the others are not the model's."""
LONGEST_ANSWER = 8192
"""Tokens of an answer, unless another limit is given."""
RETRIES = 5
LONGEST_WAIT_S = 60.0
NO_SCHEMA = frozenset({400, 415, 422, 501})
"""HTTP statuses by which a server may refuse a JSON schema."""
BUSY = frozenset({408, 409, 425, 429})
"""HTTP statuses that pass, beside those of 500 and more."""
NOT_HERE = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404})
"""HTTP statuses of a server that will answer nothing: its address, the key or the model's name is wrong."""
ANSWER_KEPT = "the answer is kept and will be given again; --retry-failed asks anew"
_NUMBER = re.compile(r"\W*[CS]?\s*(\d{1,4})\W*", re.IGNORECASE | re.ASCII)
_LOG = logging.getLogger(__name__)


class MayFail(Protocol):
    """The outcome for one item: read, or a failure."""

    @property
    def failure(self) -> Failure | None: ...


Item = TypeVar("Item")
F = TypeVar("F", bound=Form)
T = TypeVar("T", bound=MayFail)


class Refused(BadInput):
    """A server's first answer was that it answers nothing: its address, the key or the model's name is wrong."""


class Answer(NamedTuple, Generic[F]):
    """Exactly one of value and failure, which `detail` tells more of, and the calls that it rests on."""

    value: F | None
    failure: Failure | None
    detail: str
    calls: tuple[Call, ...]

    @property
    def call_id(self) -> str | None:
        """The call that this answer came from; None where none was made."""
        return self.calls[-1].id if self.calls else None


class Model:
    """One model at one endpoint, over the ledger and within the limits. One instance an event loop."""

    def __init__(
        self,
        chat: Chat,
        ledger: Ledger,
        limits: Limits,
        *,
        timeout_s: float = 300.0,
        first_wait_s: float = 0.5,
        first_sample: int = 0,
        recorder: Recorder | None = None,
    ) -> None:
        self.name, self.endpoint = chat.model, chat.endpoint
        self._chat, self._ledger, self._limits, self._recorder = chat, ledger, limits, recorder
        self._limiter = limits.of(chat.endpoint)
        self._timeout_s, self._first_wait_s, self._first_sample = timeout_s, first_wait_s, first_sample
        self._in_words: set[type[Form]] = set()
        """Forms whose JSON schema the server refused."""
        self._answered = self._warned = self._down = False
        self._malformed = 0
        """Answers that were no chat completion: one may be a gateway's slip, a second one is a wrong address."""
        """`_down`: a call was sent in vain as often as may be; each is sent once, until one is answered."""
        self.refused = ""
        """The server's word that it answers nothing, if that came before any answer; nothing more is asked then."""

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
        max_tokens: int = LONGEST_ANSWER,
    ) -> Answer[F]:
        """The filled form, or a named failure. Raises BadInput only where the ledger can't be used.

        `sample` numbers independent answers to the same prompt; `in_words` describes the form in the prompt alone,
        and so never sends a second request. `top_p` is sent where it is given.
        """
        sampling = {"max_tokens": max_tokens, "temperature": temperature}
        if top_p is not None:
            sampling["top_p"] = top_p
        ways = await self._ways(prompt, form, purpose, sample, sampling, in_words=in_words)
        calls: list[Call] = []
        for message in ways:
            last = message is ways[-1]
            try:
                raw, bought = await self._ledger.answer(message, self._send, self._limiter.slots)
            except Unanswered as error:
                if not last and error.status in NO_SCHEMA and error.failure != "too_long":
                    continue
                if self._recorder:
                    self._recorder.note(message, failure=error.failure)
                if error.failure == "timeout":
                    # It may be billed.
                    calls.append(message.call(Raw(), error.failure, bought=True))
                return Answer(None, error.failure, str(error), tuple(calls))
            if self._recorder:
                self._recorder.note(message, raw)
            filled = parse(raw, form, message.prompt.foreign)
            failure = filled if isinstance(filled, str) else None
            calls.append(message.call(raw, failure, bought=bought))
            if last and len(calls) < len(ways):
                # The schema was refused.
                self._in_words.add(form)
            if failure != "unparsed":
                break
        if isinstance(filled, str):
            return Answer(None, filled, ANSWER_KEPT, tuple(calls))
        return Answer(filled, None, "", tuple(calls))

    async def can_pay(self, prompts: Iterable[Prompt], form: type[Form], purpose: str) -> bool:
        """True if the budget holds all of these requests. Answers that the ledger holds cost nothing."""
        sampling = {"max_tokens": LONGEST_ANSWER, "temperature": 0.0}
        calls = tokens = 0
        for prompt in prompts:
            ways = await self._ways(prompt, form, purpose, 0, sampling, in_words=False)
            if not any([await self._ledger.get(message.key) for message in ways]):
                calls += 1
                tokens += ways[0].tokens
        return self._limits.hold(calls, tokens)

    def refuse(self) -> None:
        """Raises Refused where the server's first answer was that it answers nothing; the next call asks it anew."""
        if self.refused:
            why, self.refused = self.refused, ""
            raise Refused(f"{why}; check the key, the address and the model's name {self.name!r}")

    async def mark(self, call_id: str, failure: Failure) -> None:
        """Note in the ledger that this call's answer was of no use, for `retry_failed`."""
        await self._ledger.mark(call_id, failure)

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    async def _send(self, message: Message) -> Raw:
        """Send the message, and again after trouble that passes. Raises Unanswered."""
        for attempt in count():
            if self.refused:
                break
            try:
                return await self._send_once(message)
            except Unanswered as error:
                await self._wait(error, attempt)
        raise Unanswered(self.refused)

    async def _send_once(self, message: Message) -> Raw:
        """Send the message, paid from the budget, which gets back what can't have been billed. Raises Unanswered."""
        limits = self._limits
        if not limits.take(message.tokens, message.purpose, message.key):
            raise Unanswered("the budget of this run is spent", failure="over_budget")
        limits.waiting += 1
        try:
            await self._limiter.wait()
            async with asyncio.timeout(self._timeout_s):
                raw = await self._chat.send(message)
        except TimeoutError as error:
            # The server may well have worked on it, and billed it: the reservation stays.
            raise Unanswered(f"no answer within {self._timeout_s:g} s", failure="timeout") from error
        except BaseException as error:
            if not (isinstance(error, Unanswered) and error.billed):
                limits.give_back(message.tokens)
            raise
        finally:
            limits.waiting -= 1
        self._answered = True
        # A server knows the key, and may say it.
        said = {
            name: without_keys(text, by_chance=True)
            for name in ("text", "refusal")
            if (text := getattr(raw, name))
        }
        raw = raw.model_copy(update=said)
        if raw.prompt_tokens is not None:
            limits.tokens += raw.prompt_tokens - message.tokens
        written = raw.completion_tokens
        limits.tokens += estimate_tokens(raw.text or "") if written is None else written
        return raw

    async def _wait(self, error: Unanswered, attempt: int) -> None:
        """Wait before the next attempt. Raises the error where there is no use in it, which may be noted for all."""
        if error.failure != "unavailable":
            raise error
        self._malformed += error.malformed
        refuses = error.status in NOT_HERE or (error.final and not error.malformed) or self._malformed > 1
        if refuses and not self._answered:
            self.refused = str(error)
        passes = error.status is None or error.status in BUSY or (error.status >= 500 and error.status != 501)
        too_long = (error.wait_s or 0) > LONGEST_WAIT_S
        in_vain = attempt == RETRIES or (self._down and not self._answered)
        if error.final or not passes or too_long or in_vain:
            self._down = passes
            raise error
        self._limits.retries += 1
        if not self._warned:
            self._warned = True
            _LOG.warning("%s; asking again, up to %d times", error, RETRIES)
        self._limiter.pause(error.wait_s or 0)
        doublings = attempt if error.wait_s is None else 0
        backoff = random.uniform(0.5, 1) * self._first_wait_s * 2**doublings
        await asyncio.sleep((error.wait_s or 0) + backoff)

    async def _ways(
        self,
        prompt: Prompt,
        form: type[Form],
        purpose: str,
        sample: int,
        sampling: Mapping[str, float],
        *,
        in_words: bool,
    ) -> list[Message]:
        """The request by schema, and for where that brings nothing in words; or the one of them that is needed."""
        wanted = schema(form)
        worded = prompt.then(render("form", prompt.language, schema=json.dumps(wanted)))
        messages: list[Message] = []
        for mode, said, sent in (("schema", prompt, wanted), ("prompt", worded, None)):
            shaping = {
                "endpoint": self.endpoint,
                "model": self.name,
                "mode": mode,
                "form": wanted,
                "system": said.system,
                "user": said.user,
                "parameters": sampling,
                "sample": self._first_sample + sample,
            }
            key = sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()
            messages.append(Message(said, sampling, sent, self.endpoint, self.name, purpose, key))
        by_schema, by_words = messages
        if in_words or not self._chat.has_schema:
            return [by_words]
        # What was asked in words before needs no schema, unless an answer to that came first.
        if form in self._in_words or await self._ledger.get(by_words.key):
            return messages if await self._ledger.get(by_schema.key) else [by_words]
        return messages


class Asker(NamedTuple):
    """A model and how its answers are drawn. `once`: no second request, the form in words alone, as papers ask."""

    model: Model
    temperature: float = 0.0
    sample: int = 0
    once: bool = False

    async def ask(self, prompt: Prompt, form: type[F], purpose: str) -> Answer[F]:
        """Send one request, whatever comes of it."""
        drawing: dict[str, Any] = {"sample": self.sample, "temperature": self.temperature}
        return await self.model.ask(prompt, form, purpose=purpose, in_words=self.once, **drawing)

    async def ask_about(
        self,
        items: Mapping[int, Item],
        *,
        letter: str,
        purpose: str,
        form: type[F],
        prompt_of: Callable[[Mapping[int, Item]], Prompt],
        read: Callable[[Answer[F], Mapping[int, Item], Prompt], dict[int, T]],
    ) -> tuple[dict[int, T], list[Call]]:
        """One outcome for each item, in the order of the items, and the calls made.

        In the prompt each item goes by `letter` and its number. `prompt_of` words the request for all items or some.
        """
        prompt = prompt_of(items)
        answer = await self.ask(prompt, form, purpose)
        outcomes, calls = read(answer, items, prompt), list(answer.calls)
        failed = {n: why for n, outcome in outcomes.items() if (why := outcome.failure) in ASKED_AGAIN}
        if failed and not self.once:
            left = {n: items[n] for n in failed}
            prompt = prompt_of(left)
            # A timeout says nothing about the answer.
            reasons = [f"{letter}{n}: {why}" for n, why in failed.items() if why != "timeout"]
            if reasons:
                prompt = prompt.then(render("again", prompt.language, reasons="\n".join(reasons)))
            answer = await self.ask(prompt, form, purpose)
            outcomes |= read(answer, left, prompt)
            calls += answer.calls
        for outcome in outcomes.values():
            await self.mark(answer.call_id, outcome.failure)
        return outcomes, calls

    async def mark(self, call_id: str | None, failure: Failure | None) -> None:
        """Note in the ledger that this call's answer was of no use, where asking again may help."""
        if call_id is not None and failure in ASKED_AGAIN:
            await self.model.mark(call_id, failure)


def by_number(named: Iterable[tuple[str, Item]]) -> dict[int, list[Item]]:
    """Group things by the number that their names hold (`C3`, `3`, `[C3]`); what names none is left out."""
    numbered: dict[int, list[Item]] = defaultdict(list)
    for name, thing in named:
        if number := _NUMBER.fullmatch(name):
            numbered[int(number[1])].append(thing)
    return numbered

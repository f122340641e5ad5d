"""Asking one model about several numbered items at once, and once more about those whose answers failed.

Knows: items are numbered as in the prompt (`C3`, `S12`); the second prompt says of each failed item why; what fails
twice is marked in the ledger, for `retry_failed`.
Does not know: what the items are, how their prompts are worded, or what an answer means.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from longproof.agent.models.answers import Form
from longproof.agent.models.model import Answer, Model
from longproof.agent.types import Call, Failure
from longproof.prompts import Prompt, render

ASKED_AGAIN: frozenset[Failure] = frozenset(
    {"ungrounded", "self_contradicted", "off_menu", "truncated", "unparsed", "refused", "timeout"}
)
"""Failures that a second request may mend; the others are not the model's."""
_NUMBER = re.compile(r"\W*[CS]?\s*(\d{1,4})\W*", re.IGNORECASE | re.ASCII)


class MayFail(Protocol):
    """The outcome for one item."""

    @property
    def failure(self) -> Failure | None:
        """The reason why nothing could be read; None: something was."""
        ...


Item = TypeVar("Item")
S = TypeVar("S")
F = TypeVar("F", bound=Form)
T = TypeVar("T", bound=MayFail)


class Asker(NamedTuple):
    """A model and how its answers are drawn.

    `once`, for the papers' protocols: no second request, and the form is described in the prompt alone.
    """

    model: Model
    temperature: float = 0.0
    sample: int = 0
    once: bool = False

    async def ask(self, prompt: Prompt, form: type[F], purpose: str) -> Answer[F]:
        """Send one request, whatever comes of it."""
        return await self.model.ask(
            prompt,
            form,
            purpose=purpose,
            sample=self.sample,
            temperature=self.temperature,
            in_words=self.once,
        )

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

        In the prompt each item goes by `letter` and its number. `prompt_of` words the request for all of the items
        or for some; `read` gives one outcome for each item asked about.
        """
        prompt = prompt_of(items)
        answer = await self.ask(prompt, form, purpose)
        found, calls = read(answer, items, prompt), list(answer.calls)
        failed = {n: why for n, outcome in found.items() if (why := outcome.failure) in ASKED_AGAIN}
        if failed and not self.once:
            left = {n: items[n] for n in failed}
            prompt = _with_reasons(prompt_of(left), letter, failed)
            answer = await self.ask(prompt, form, purpose)
            found |= read(answer, left, prompt)
            calls += answer.calls
        for outcome in found.values():
            await self.mark(answer.call_id, outcome.failure)
        return found, calls

    async def mark(self, call_id: str | None, failure: Failure | None) -> None:
        """Note in the ledger that nothing could be read from this call's answer, where asking again may help."""
        if failure in ASKED_AGAIN:
            await self.model.mark(call_id, failure)


def by_number(said: Iterable[tuple[str, S]]) -> dict[int, list[S]]:
    """Group what was said by the number that it names (`C3`, `3`, `[C3]`); what names none is left out."""
    found: dict[int, list[S]] = defaultdict(list)
    for name, what in said:
        if number := _NUMBER.fullmatch(name):
            found[int(number[1])].append(what)
    return found


def _with_reasons(prompt: Prompt, letter: str, failed: Mapping[int, Failure | None]) -> Prompt:
    """The prompt with why each item is asked about again. A timeout says nothing about the answer."""
    reasons = [f"{letter}{n}: {failure}" for n, failure in failed.items() if failure != "timeout"]
    return prompt.then(render("again", prompt.language, reasons="\n".join(reasons))) if reasons else prompt

"""Asking about several items: what failed is asked about once more, with its reason, and marked if it fails again."""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from longproof.agent.models.answers import Form, Message, Raw
from longproof.agent.models.ledger import Ledger
from longproof.agent.models.limits import Limits
from longproof.agent.models.model import Answer, Asker, Model, by_number
from longproof.agent.types import Call, Failure
from longproof.prompts import Prompt

ITEMS = {1: "red", 2: "blue", 3: "green"}


class Colours(Form):
    """The colours that an answer names."""

    named: list[str]


class Outcome(NamedTuple):
    """Whether one colour was named."""

    failure: Failure | None


class Naming:
    """A client whose n-th answer names the n-th group of colours; None: an answer that is no form."""

    has_schema, endpoint, model = True, "http://naming/v1", "m"

    def __init__(self, *groups: str | None) -> None:
        self._groups = list(groups)
        self.sent: list[Message] = []

    async def send(self, message: Message) -> Raw:
        self.sent.append(message)
        named = self._groups.pop(0)
        text = "no form" if named is None else Colours(named=named.split()).model_dump_json()
        return Raw(text=text, finish="stop")

    async def close(self) -> None:
        """Nothing to close."""


def prompt(items: Mapping[int, str]) -> Prompt:
    return Prompt("Name the colours.", " ".join(items.values()), "hash", "en")


def read(answer: Answer[Colours], items: Mapping[int, str], _: Prompt) -> dict[int, Outcome]:
    named = answer.value.named if answer.value else []
    return {
        n: Outcome(answer.failure or (None if item in named else "ungrounded")) for n, item in items.items()
    }


Found = tuple[dict[int, Outcome], list[Call], list[str | None]]


def asked(naming: Naming, asker: Callable[[Model], Asker] = Asker) -> Found:
    """Outcomes, calls, and the failure that the ledger keeps of each call."""

    async def run() -> Found:
        ledger = await Ledger.open(None)
        found, calls = await asker(Model(naming, ledger, Limits())).ask_about(
            ITEMS, letter="C", purpose="test", form=Colours, prompt_of=prompt, read=read
        )
        marks = [(await ledger._in_thread(ledger._select, call.id))[1] for call in calls]
        await ledger.close()
        return found, calls, marks

    return asyncio.run(run())


def test_only_what_failed_is_asked_about_again_and_told_why() -> None:
    naming = Naming("red green", "blue")
    found, calls, marks = asked(naming)
    assert list(found.items()) == [(n, Outcome(None)) for n in ITEMS]
    assert [message.user.split("\n")[0] for message in naming.sent] == ["red blue green", "blue"]
    assert "C2: ungrounded" in naming.sent[1].user
    assert "C1" not in naming.sent[1].user
    assert (len(calls), marks) == (2, [None, None])


def test_what_fails_twice_is_marked_at_its_last_call() -> None:
    found, _, marks = asked(Naming("red", "green"))
    assert found == {1: Outcome(None), 2: Outcome("ungrounded"), 3: Outcome(None)}
    assert marks == [None, "ungrounded"]


def test_an_asker_of_one_request_puts_the_form_into_words_and_marks_what_failed() -> None:
    naming = Naming("red green")
    found, _, marks = asked(naming, lambda model: Asker(model, once=True))
    assert found[2] == Outcome("ungrounded")
    assert (len(naming.sent), naming.sent[0].schema, marks) == (1, None, ["ungrounded"])


@pytest.mark.parametrize(
    ("said", "number"),
    [("C3", 3), ("3", 3), ("[c3]", 3), ("S 12.", 12), ("D3", None), ("three", None), ("３", None)],
)
def test_what_is_said_goes_by_its_number(said: str, number: int | None) -> None:
    assert by_number([(said, "x")]) == ({number: ["x"]} if number else {})

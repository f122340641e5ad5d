"""A claim of a response beside a source, as the offline judges see it."""

from collections.abc import Callable

import pytest

from longproof.agent.offline.view import View, Viewer
from longproof.agent.types import Case, Claim, Question, Task
from longproof.retrieval.types import Document

See = Callable[..., View]


@pytest.fixture
def see() -> See:
    """`see(source, response, claim)`: the view of `claim` (default: the whole response) with all of the source."""

    def view(source: str, response: str, claim: str = "", *, task: Task = "summary") -> View:
        text, given = Document.of(source), Document.of(response)
        start = response.index(claim)
        origin = given.span(start, start + len(claim or response))
        made = Claim(id="c0", index=0, sentence=0, text=origin.text, origin=origin)
        shown = (text.span(0, len(source)),) if source else ()
        question = Question(id="q", claim_ids=("c0",), shown=shown, round="source", prompt="judge")
        return Viewer().view(question, made, Case(id="case", task=task, response=response))

    return view

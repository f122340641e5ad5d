"""In LangChain: a step of a chain and a tool, each with the terminal's report."""

import asyncio
import json

import pytest
from embedded import RESPONSE, SOURCE, by_terminal, plain
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from longproof import BadInput, Verifier
from longproof.adapters.langchain import runnable, tool
from longproof.inputs import documents_of

ASKED = {"source": SOURCE, "response": RESPONSE}


def test_a_chain_gets_the_terminals_report_and_is_told_which_key_is_not_known(tmp_path):
    chain = RunnableLambda(lambda question: {**ASKED, "response": question}) | runnable(Verifier())
    assert plain(chain.invoke(RESPONSE)) == by_terminal(tmp_path)
    with pytest.raises(BadInput, match="text"):
        runnable(Verifier()).invoke({**ASKED, "text": SOURCE})


def test_a_langchain_document_is_a_source():
    source = Document(page_content=SOURCE, metadata={"source": "lamps.txt", "title": "Lamps"})
    (document,) = documents_of(source)
    assert (document.text, document.title, document.uri) == (SOURCE, "Lamps", "lamps.txt")
    assert plain(Verifier().verify([source], RESPONSE)) == plain(Verifier().verify(SOURCE, RESPONSE))


def test_stations_and_judges_are_events_of_the_stream():
    verifier = Verifier()

    async def names():
        events = runnable(verifier).astream_events(ASKED, version="v2")
        found = {event["name"] async for event in events}
        await verifier.close()
        return found

    assert {"longproof", "align", "judge", "vote", "offline", "report"} <= asyncio.run(names())


def test_a_tool_tells_what_is_wrong_and_keeps_the_report_as_its_artifact(tmp_path):
    made = tool(Verifier(), source=SOURCE)
    call = {"name": "longproof", "id": "1", "type": "tool_call", "args": {"response": RESPONSE}}
    message = made.invoke(call)
    said = json.loads(message.content)
    assert said["verdict"] == message.artifact.verdict != "faithful"
    assert said["triage"]
    assert said["undecided"] == message.artifact.counts["undecided"] > 0
    assert all(problem["passage"] in RESPONSE for problem in said["problems"])
    assert plain(message.artifact) == by_terminal(tmp_path)
    assert set(made.args) == {"response", "task", "context"}, "the source is fixed"
    assert set(tool(Verifier()).args) == {"response", "source", "task", "context"}

"""As an MCP server: the official client, over stdio, against the real command."""

import asyncio
import os
import sys

import pytest
from embedded import RESPONSE, SOURCE, by_terminal, plain

pytest.importorskip("mcp", reason="needs the extra `mcp`")
from mcp import Client, StdioServerParameters

from longproof import Verifier
from longproof.adapters import Brief
from longproof.adapters.mcp import server
from longproof.agent.types import Report

pytestmark = pytest.mark.heavy


def talk(work, *arguments):
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "longproof", "mcp", *arguments], env=dict(os.environ)
    )

    async def go():
        async with Client(command) as client:
            return await work(client)

    return asyncio.run(go())


async def in_memory(work):
    """The same without a process: the server in memory."""
    async with Client(server(Verifier())) as client:
        return await work(client)


def test_the_tools_have_schemas_for_what_goes_in_and_out():
    async def work(client):
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = talk(work)
    assert set(tools) == {"verify", "explain"}
    assert tools["verify"].output_schema["title"] == "Report"
    assert tools["explain"].output_schema["title"] == "Brief"
    assert all(field["description"] for field in tools["verify"].input_schema["properties"].values())


def test_verify_gives_the_terminals_report_and_explain_what_is_wrong(tmp_path):
    async def work(client):
        asked = {"source": SOURCE, "response": RESPONSE}
        return [await client.call_tool(name, asked) for name in ("verify", "explain")]

    whole, short = talk(work)
    assert plain(Report.model_validate(whole.structured_content)) == by_terminal(tmp_path)
    said = Brief.model_validate(short.structured_content)
    assert (said.verdict, said.triage) == (by_terminal(tmp_path)["verdict"], True)
    assert said.verdict != "faithful"
    assert said.undecided > 0
    assert all(problem.passage in RESPONSE for problem in said.problems)


def test_sources_are_read_from_the_given_folder_alone(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "book.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "secret.txt").write_text(SOURCE, "utf-8")

    async def work(client):
        names = ("book.txt", "../secret.txt", str(tmp_path / "secret.txt"))
        return [await client.call_tool("explain", {"source_file": n, "response": RESPONSE}) for n in names]

    inside, *outside = talk(work, "--folder", str(tmp_path / "in"))
    assert not inside.is_error
    assert all(answer.is_error and "outside" in str(answer.content) for answer in outside)


def test_a_file_that_cannot_be_read_is_named_as_it_was_asked_for(tmp_path):
    (tmp_path / "loop").symlink_to("loop")

    async def work(client):
        names = ("loop", "a\0b", "none.txt")
        return [await client.call_tool("explain", {"source_file": n, "response": RESPONSE}) for n in names]

    told = [str(answer.content) for answer in talk(work, "--folder", str(tmp_path))]
    assert all("no file's name" in one for one in told[:2])
    assert "none.txt: there is no such file" in told[2]
    assert str(tmp_path) not in "".join(told)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, "no source text"),
        ({"source_file": "book.txt"}, "--folder"),
        ({"source": SOURCE, "cotnext": "Who?"}, "cotnext"),
        ({"source": SOURCE, "task": "poem"}, "poem"),
    ],
)
def test_what_cannot_be_checked_is_said(more, says):
    async def work(client):
        return [
            await client.call_tool(name, {"response": RESPONSE, **more}) for name in ("verify", "explain")
        ]

    for answer in asyncio.run(in_memory(work)):
        assert answer.is_error
        assert says in str(answer.content)

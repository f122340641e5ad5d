"""As an MCP server: the official client, over stdio against the real command, and in memory."""

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


def answers(made, *asked):
    """The answers of a server, in memory or a command, to calls of its tools."""

    async def go():
        async with Client(made) as client:
            return [await client.call_tool(name, given) for name, given in asked]

    return asyncio.run(go())


def test_the_tools_have_schemas_for_what_goes_in_and_out():
    async def listed():
        async with Client(server(Verifier())) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = asyncio.run(listed())
    titles = {name: tool.output_schema["title"] for name, tool in tools.items()}
    assert titles == {"verify": "Report", "explain": "Brief"}
    assert tools["verify"].description.startswith("The whole report")
    assert all(field["description"] for field in tools["verify"].input_schema["properties"].values())


def test_verify_gives_the_terminals_report_and_explain_what_is_wrong(tmp_path):
    command = ["-m", "longproof", "mcp", "--folder", str(tmp_path)]
    stdio = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    expected = by_terminal(tmp_path)
    given = {"source_file": "source.txt", "response": RESPONSE}
    whole, short = answers(stdio, ("verify", given), ("explain", given))
    assert plain(Report.model_validate(whole.structured_content)) == expected
    said = Brief.model_validate(short.structured_content)
    assert (said.verdict, said.triage) == (expected["verdict"], True)


def test_sources_are_read_from_the_given_folder_alone_and_named_as_they_were_asked_for(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for path in (folder / "book.txt", tmp_path / "secret.txt"):
        path.write_text(SOURCE, "utf-8")
    (folder / "loop").symlink_to("loop")
    names = ("book.txt", "../secret.txt", str(tmp_path / "secret.txt"), "loop", "a\0b", "none.txt")
    asked = [("explain", {"source_file": name, "response": RESPONSE}) for name in names]
    inside, *refused = answers(server(Verifier(), folder), *asked)
    assert not inside.is_error
    assert all(answer.is_error for answer in refused)
    told = [str(answer.content) for answer in refused]
    assert all("outside" in one for one in told[:2])
    assert all("no file's name" in one for one in told[2:4])
    assert "none.txt: there is no such file" in told[4]
    assert str(folder) not in "".join(told)


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
    given = {"response": RESPONSE, **more}
    for answer in answers(server(Verifier()), ("verify", given), ("explain", given)):
        assert answer.is_error
        assert says in str(answer.content)

"""Longproof as an MCP server on stdio: two tools that answer in JSON with a schema.

Knows: the tools' names and words; that files are read from one folder alone, and only if the server was given one.
Does not know: who asks, or how anything is checked. Stdout belongs to the protocol.
"""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from longproof import __version__
from longproof.adapters import Brief, brief_of
from longproof.agent.types import Report, Task
from longproof.retrieval.contents import printable
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput, Document
from longproof.verifier import Verifier

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


def server(verifier: Verifier, folder: Path | None = None) -> "MCPServer[None]":
    """The server, not yet running. Raises BadInput where the `mcp` package is missing."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.tools import Tool
    except ImportError as error:
        raise BadInput("MCP is not installed: pip install 'longproof[mcp]'") from error
    about = "Checks, claim by claim, whether a text is faithful to a long source, and shows where to look in both."
    tools = []
    for work in _tools(verifier, folder):
        tool = Tool.from_function(work)
        # An argument that the tool doesn't have is refused: a misspelt one would be passed over in silence.
        asked = tool.fn_metadata.arg_model
        asked.model_config["extra"] = "forbid"
        asked.model_rebuild(force=True)
        tools.append(tool.model_copy(update={"parameters": asked.model_json_schema(by_alias=True)}))
    return MCPServer("longproof", version=__version__, instructions=about, tools=tools)


def serve(verifier: Verifier, folder: Path | None = None) -> None:
    """Serve on stdin and stdout until the client goes. Raises BadInput where the `mcp` package is missing."""
    made = server(verifier, folder)

    async def serve_stdio() -> None:
        try:
            await made.run_stdio_async()
        finally:
            await verifier.close()

    asyncio.run(serve_stdio())


def _tools(verifier: Verifier, folder: Path | None) -> list[Callable[..., Awaitable[Report | Brief]]]:
    """The tools, over one verifier and the one folder that may be read. Both take the same; clients read their
    docstrings."""

    async def verify(
        response: Annotated[str, Field(description="The text to check.")],
        source: Annotated[
            str, Field(description="The text to be faithful to; or leave it empty and name a file.")
        ] = "",
        source_file: Annotated[
            str, Field(description="A file in the server's folder that holds the source.")
        ] = "",
        task: Annotated[Task, Field(description="What the text is.")] = "summary",
        context: Annotated[str, Field(description="The question or the turns before, if any.")] = "",
    ) -> Report:
        """The whole report on a text: every claim with its label and evidence."""
        from mcp.server.mcpserver.exceptions import ToolError

        try:
            text = await asyncio.to_thread(_source, source, source_file, folder)
            return await verifier.averify(text, response, task=task, context=context)
        except BadInput as error:
            raise ToolError(str(error)) from error

    async def explain(**asked: Any) -> Brief:
        """Tell in short what does not hold in a text or is undecided, and why; what holds is left out."""
        return brief_of(await verify(**asked))

    explain.__signature__ = signature(verify).replace(return_annotation=Brief)  # type: ignore[attr-defined]
    return [verify, explain]


def _source(source: str, file: str, folder: Path | None) -> str | Document:
    """The source as a text, or read from a file in the folder. Raises BadInput for any other file."""
    if not file:
        return source
    if folder is None:
        raise BadInput("this server reads no files: start it with --folder DIR, or send the text")
    try:
        path = (folder / file).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise BadInput(f"{file!r} is no file's name, or a link to itself") from error
    if not path.is_relative_to(folder.resolve()):
        raise BadInput(f"{file!r} lies outside the server's folder")
    try:
        return read_source(path)
    except BadInput as error:
        raise BadInput(str(error).replace(printable(str(path)), printable(file))) from error

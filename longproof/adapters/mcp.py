"""Longproof as an MCP server on stdio: two tools that answer in JSON with a schema.

Knows: the tools' names and words; that files are read from one folder alone, and only if the server was given one.
Does not know: who asks, or how anything is checked. Stdout belongs to the protocol.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from longproof import __version__
from longproof.adapters.brief import Brief, brief_of
from longproof.agent.types import Report
from longproof.graphs.verifier import Verifier
from longproof.retrieval.encoding import printable
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput, Document

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

ABOUT = (
    "Checks, claim by claim, whether a text is faithful to a long source, and shows where to look in both."
)
Response = Annotated[str, Field(description="The text to check.")]
Source = Annotated[str, Field(description="The text to be faithful to; or leave it empty and name a file.")]
File = Annotated[str, Field(description="A file in the server's folder that holds the source.")]
Task = Annotated[str, Field(description="summary, answer, turn, article, rewrite or open.")]
Context = Annotated[str, Field(description="The question or the turns before, if any.")]


def server(verifier: Verifier, folder: Path | None = None) -> "MCPServer[None]":
    """The server, not yet running. Raises BadInput where the `mcp` package is missing."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise BadInput("MCP is not installed: pip install 'longproof[mcp]'") from error
    tools = _Tools(verifier, folder)
    made: MCPServer[None] = MCPServer("longproof", version=__version__, instructions=ABOUT)
    made.add_tool(
        tools.verify, description="The whole report on a text: every claim with its label and evidence."
    )
    made.add_tool(
        tools.explain,
        description="What does not hold in a text or is undecided, and why, in short; what holds is left out.",
    )
    return made


def serve(verifier: Verifier, folder: Path | None = None) -> None:
    """Serve on stdin and stdout until the client goes. Raises BadInput where the `mcp` package is missing."""
    made = server(verifier, folder)

    async def served() -> None:
        try:
            await made.run_stdio_async()
        finally:
            await verifier.close()

    asyncio.run(served())


class _Tools:
    """The tools, over one verifier and the one folder that may be read."""

    def __init__(self, verifier: Verifier, folder: Path | None) -> None:
        self._verifier, self._folder = verifier, folder

    async def verify(
        self,
        response: Response,
        source: Source = "",
        source_file: File = "",
        task: Task = "summary",
        context: Context = "",
    ) -> Report:
        """The report on a text."""
        from mcp.server.mcpserver.exceptions import ToolError

        try:
            text = await asyncio.to_thread(_source, source, source_file, self._folder)
            return await self._verifier.averify(text, response, task=task, context=context)
        except BadInput as error:
            raise ToolError(str(error)) from error

    async def explain(
        self,
        response: Response,
        source: Source = "",
        source_file: File = "",
        task: Task = "summary",
        context: Context = "",
    ) -> Brief:
        """What does not hold, in short."""
        return brief_of(await self.verify(response, source, source_file, task, context))


def _source(source: str, file: str, folder: Path | None) -> str | Document:
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

"""`longproof mcp`: the server for clients of the Model Context Protocol.

Knows: options. Does not know: what the server answers.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from longproof.cli.options import SettingOptions


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """What the server may read."""

    folder: Annotated[Path | None, typer.Option(help="Where sources may be read from; nowhere else.")] = None


def mcp_command(server: ServerOptions, asked: SettingOptions) -> None:
    """Serve a client of the Model Context Protocol, on stdio."""
    from longproof.adapters.mcp import serve
    from longproof.verifier import Verifier

    serve(Verifier(**asked.settings()), server.folder)

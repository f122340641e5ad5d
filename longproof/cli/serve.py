"""`longproof serve` and `longproof mcp`: the local page, and the server for clients of the Model Context Protocol.

Knows: options, and the token of the page's address. Does not know: what a server answers.
"""

import logging
import webbrowser
from pathlib import Path
from secrets import token_urlsafe
from socket import AF_INET, AF_INET6, create_server, socket
from typing import Annotated

import typer

from longproof.cli.options import SettingOptions
from longproof.retrieval.types import BadInput

PORT = 8378
"""The same every day: what a browser keeps for a page, it keeps for its port."""


def serve_command(
    asked: SettingOptions,
    host: Annotated[
        str, typer.Option(help="The address to listen at: this machine's own, unless told otherwise.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help=f"Else {PORT}, or any that is free where that is taken. 0: any."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Check texts in the browser: a page on this machine."""
    try:
        import uvicorn

        from longproof.serve.app import application
        from longproof.serve.offer import Offer
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette"):
            raise
        raise BadInput(f"{error.name} is not installed: pip install 'longproof[serve]'") from error
    offer = Offer(asked.settings())
    token = token_urlsafe(24)
    bound = _listen(host, port)
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/{token}/"
    typer.echo(address)
    if not host.startswith("127.") and host != "::1":
        typer.echo(
            f"longproof: others reach {shown}:{port}; who has the address may use it, unencrypted", err=True
        )
    if open_page:
        webbrowser.open(address)
    # A second interrupt cancels what the first one waits for: no fault of anybody.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "CancelledError" not in record.getMessage())
    config = uvicorn.Config(
        application(offer, token), log_level="warning", access_log=False, timeout_graceful_shutdown=3
    )
    uvicorn.Server(config).run([bound])


def _listen(host: str, port: int | None) -> socket:
    """A socket that listens there already: who asks before the server is up waits. Raises BadInput where it can't."""
    try:
        family = AF_INET6 if ":" in host else AF_INET
        return create_server((host, PORT if port is None else port), family=family)
    except OSError as error:
        if port is None:
            return _listen(host, 0)
        why = f"can't listen at {host}:{port}: {error.strerror}"
        raise BadInput(f"{why}; give another --host or --port") from error


def mcp_command(
    asked: SettingOptions,
    folder: Annotated[Path | None, typer.Option(help="Where sources may be read from; nowhere else.")] = None,
) -> None:
    """Serve a client of the Model Context Protocol, on stdio."""
    from longproof.adapters.mcp import serve
    from longproof.verifier import Verifier

    serve(Verifier(**asked.settings()), folder)

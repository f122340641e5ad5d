"""Who may ask the local server: whoever knows the address, from this server's own pages, in requests of limited size.

Knows: the token is the first part of every path; a browser names the page that asks (`Origin`, `Sec-Fetch-Site`) and
the host that it was pointed at. Does not know: what is served.
"""

from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longproof.retrieval.loaders import FILE_BYTES
from longproof.serve import is_here

TOO_LONG = f"longer than {FILE_BYTES:,} bytes"
HEADERS = {
    "content-security-policy": "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""On every answer. The pages bring the rest of their policy with them."""


def guard_app(app: ASGIApp, token: str) -> ASGIApp:
    """The application behind the token: all else is refused before it hears of it."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        if refusal := _refusal(scope, token):
            await PlainTextResponse(*refusal, HEADERS)(scope, receive, send)
            return
        taken = 0

        async def receive_part() -> Message:
            """Pass on the body until it is longer than any may be: its length may not be told, or told wrongly."""
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > FILE_BYTES:
                raise HTTPException(413, TOO_LONG)
            return message

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await app({**scope, "root_path": f"/{token}"}, receive_part, send_with_headers)

    return guard


def _refusal(scope: Scope, token: str) -> tuple[str, int] | None:
    """The reason of a refusal, and its status; None where there is none."""
    headers = Headers(scope=scope)
    first = scope["path"].removeprefix("/").partition("/")[0]
    if not compare_digest(first.encode(), token.encode()) or not scope["path"].startswith(f"/{token}/"):
        return "not found: open the address that `longproof serve` printed", 404
    host = headers.get("host", "")
    if not is_here(host):
        return "this server answers to an address or to localhost, to no other name", 403
    origin, site = headers.get("origin", f"http://{host}"), headers.get("sec-fetch-site", "same-origin")
    typed = scope["method"] == "GET" and site == "none"
    if origin != f"http://{host}" or not (site == "same-origin" or typed):
        return "a page of another site may not ask", 403
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > FILE_BYTES:
        return TOO_LONG, 413
    return None

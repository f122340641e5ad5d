"""What `langgraph dev` serves: the graphs, and who may use the server.

Knows: an empty form means the bundled example; a key in `LONGPROOF_STUDIO_KEY` closes every route that touches data
(langgraph.json switches off the two ways around it). Does not know: how the graphs work.
"""

import os
from hmac import compare_digest
from typing import Any

from langgraph_sdk import Auth

from longproof.graphs.construct_halueval import halueval_graph
from longproof.graphs.construct_longnovel import longnovel_graph
from longproof.graphs.construct_probe import probe_graph
from longproof.graphs.resources import Pool
from longproof.graphs.state import VerifyInput
from longproof.graphs.verify import verify_graph


def bundled() -> VerifyInput:
    """The story and the summary with four planted errors, as a filled form."""
    from longproof.examples import example

    story, summary = example("en")
    return VerifyInput(source=story.text, response=summary.text, case_id="example")


pool = Pool()
graph = verify_graph(pool, example=bundled)
"""No checkpointer of its own: the server brings one."""
construct_longnovel = longnovel_graph(pool)
construct_probe = probe_graph(pool)
construct_halueval = halueval_graph(pool)
auth = Auth()


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> Auth.types.MinimalUserDict:
    """Whoever has the key, as `Authorization: Bearer KEY` or `x-api-key: KEY`; everybody where none is set."""
    key = os.environ.get("LONGPROOF_STUDIO_KEY", "").encode()
    if key and not any(compare_digest(given, key) for given in _given(headers)):
        raise Auth.exceptions.HTTPException(
            status_code=401, detail="give the key that the server was started with: x-api-key: KEY"
        )
    return {"identity": "studio"}


def _given(headers: dict[Any, Any]) -> list[bytes]:
    """The keys in a request's headers."""
    plain = {_bytes(name).lower(): _bytes(value) for name, value in headers.items()}
    bearer = plain.get(b"authorization", b"")
    return [plain.get(b"x-api-key", b""), bearer[7:] if bearer[:7].lower() == b"bearer " else b""]


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text

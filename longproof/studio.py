"""The graphs that `langgraph dev` serves, and who may use the server.

Knows: an empty form means the bundled example; a key in `LONGPROOF_STUDIO_KEY` closes every route that touches data
(langgraph.json switches off the two ways around it); without one, no page of another site gets in, neither by its
own name nor by a name that it points at this machine. Does not know: how the graphs work.
"""

import os
from collections.abc import AsyncIterator, Mapping
from hmac import compare_digest
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph_sdk import Auth

from longproof.graphs.papers import PAPERS
from longproof.graphs.run import Pool
from longproof.graphs.settings import settings_of
from longproof.graphs.state import VerifyInput
from longproof.graphs.verify import method, verify_graph
from longproof.retrieval.types import BadInput
from longproof.serve import is_here


def example_input() -> VerifyInput:
    """The story and the summary with four planted errors, as a filled form."""
    from longproof.examples import example

    story, summary = example("en")
    return VerifyInput(source=story.text, response=summary.text, case_id="example")


class StudioGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A graph whose copies still know the types that its schemas name.

    The server attaches its checkpointer to a copy. LangGraph's own copies (1.2) forget these types, so that under
    `LANGGRAPH_STRICT_MSGPACK` the models of a resumed run would come back as dictionaries.
    """

    def copy(self, update: dict[str, Any] | None = None) -> "StudioGraph":
        """A copy with some of its attributes changed."""
        made = super().copy(update)
        made._serde_allowlist = self._serde_allowlist
        return made

    async def astream(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """As every graph; raises BadInput for an input or a setting that a client can't give. LangGraph drops unknown
        inputs, and what is left of a misspelt one would be the empty form."""
        known = self.builder.schemas[self.builder.input_schema]
        if unknown := [key for key in input if key not in known] if isinstance(input, Mapping) else []:
            raise BadInput(f"there is no input {', '.join(map(repr, unknown))}: known are {', '.join(known)}")
        refuse_settings(context)
        async for part in super().astream(input, config, context=context, **options):
            yield part


def studio_graph(compiled: CompiledStateGraph[Any, Any, Any, Any]) -> StudioGraph:
    """The graph as the server may copy it."""
    made = StudioGraph(**{name: value for name, value in vars(compiled).items() if name != "__orig_class__"})
    made._serde_allowlist = compiled._serde_allowlist
    return made


def refuse_settings(context: Any) -> None:
    """Raises BadInput for settings that a client can't give: unknown ones, and `home`, which could be anywhere."""
    given = context if isinstance(context, Mapping) else {}
    if given.get("home"):
        raise BadInput("setting home: the server's own; leave it out")
    settings_of({name: value for name, value in given.items() if name not in PLATFORM})


PLATFORM = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "__context_provided__")
"""Names that LangGraph's server may put beside a client's settings."""
graph = studio_graph(verify_graph(Pool(by_owner=False), example=example_input))
"""No checkpointer of its own: the server brings one. Settings come from clients: what they name gets no key that the
server's environment doesn't grant."""
for _paper in PAPERS:
    _method = method(_paper.name)
    _graph = _method.graph(Pool(by_owner=False, protocol=_method.protocol), None)
    globals()[_paper.name.replace("-", "_")] = studio_graph(_graph)
STUDIO = (b"https://smith.langchain.com", b"https://eu.smith.langchain.com")
"""The pages that may drive a server without a key; langgraph.json lists the same."""
auth = Auth()


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> Auth.types.MinimalUserDict:
    """Whoever has the key, as `Authorization: Bearer KEY` or `x-api-key: KEY`.

    Where none is set: programs, Studio's page, and this server's own pages. A browser names the page's origin with
    every request that changes something, and sends the host's name as the page wrote it. CORS alone doesn't do: it
    stops no form, and no name that points here.
    """
    key = os.environ.get("LONGPROOF_STUDIO_KEY", "").encode()
    scheme, _, bearer = headers.get(b"authorization", b"").partition(b" ")
    given = (headers.get(b"x-api-key", b""), bearer if scheme.lower() == b"bearer" else b"")
    if key and not any(compare_digest(one, key) for one in given):
        raise Auth.exceptions.HTTPException(
            status_code=401, detail="give the key that the server was started with: x-api-key: KEY"
        )
    origin, host = headers.get(b"origin", b""), headers.get(b"host", b"localhost")
    own = (b"", *STUDIO, b"http://" + host, b"https://" + host)
    if not key and (origin not in own or not is_here(host.decode("latin-1"))):
        raise Auth.exceptions.HTTPException(
            status_code=403,
            detail="without LONGPROOF_STUDIO_KEY only Studio and programs on this machine may ask, by an address "
            "or as localhost",
        )
    return {"identity": "studio"}


@auth.on
async def check_settings(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    """Refuse a run, or an assistant, with settings that a client can't give: the server itself drops unknown ones
    without a word, and what is left of a misspelt one would be a run paid for with other settings."""
    try:
        refuse_settings((value.get("kwargs") or value).get("context"))
    except BadInput as error:
        raise Auth.exceptions.HTTPException(status_code=422, detail=str(error)) from error

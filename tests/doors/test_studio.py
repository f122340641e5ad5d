"""A Studio server that has no key may be driven by few; what the real server does stands in tests/studio."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import pytest
from fakes import ChatServer
from langgraph_sdk import Auth
from reader import well

from longproof import studio
from longproof.graphs.state import VerifyInput
from longproof.retrieval.types import BadInput

CONFIG = json.loads((Path(__file__).parents[2] / "langgraph.json").read_text("utf-8"))
HOST = b"127.0.0.1:2024"


def status(key: str, monkeypatch: pytest.MonkeyPatch, **headers: bytes) -> int:
    """The status with which a request is let in or refused."""
    monkeypatch.setenv("LONGPROOF_STUDIO_KEY", key)
    named = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    try:
        asyncio.run(studio.authenticate(named))
    except Auth.exceptions.HTTPException as refused:
        return refused.status_code
    return 200


def test_langgraph_json_opens_the_server_to_studios_pages_alone():
    cors = CONFIG["http"]["cors"]
    assert [origin.encode() for origin in cors["allow_origins"]] == list(studio.STUDIO)
    assert ("allow_origin_regex" in cors, cors["allow_credentials"]) == (False, False)
    assert (CONFIG["auth"]["disable_studio_auth"], CONFIG["http"]["enable_custom_route_auth"]) == (True, True)
    assert not CONFIG["checkpointer"]["serde"]["pickle_fallback"]


@pytest.mark.parametrize(
    "origin",
    [b"https://evil.example", b"null", b"http://localhost:1", b"http://smith.langchain.com", b"\xff"],
)
def test_a_page_of_another_site_is_refused(origin, monkeypatch):
    assert status("", monkeypatch, host=HOST, origin=origin) == 403
    assert status("k", monkeypatch, host=HOST, origin=origin) == 401
    assert status("k", monkeypatch, host=HOST, origin=origin, x_api_key=b"k") == 200


@pytest.mark.parametrize("host", [b"evil.example:2024", b"127.0.0.1.evil.example", b"", b":"])
def test_a_name_that_points_here_is_refused(host, monkeypatch):
    assert status("", monkeypatch, host=host) == 403
    assert status("", monkeypatch, host=host, origin=b"http://" + host) == 403


@pytest.mark.parametrize("host", [HOST, b"localhost", b"LOCALHOST:2024", b"[::1]:2024", b"192.168.1.5:2024"])
def test_programs_studio_and_the_servers_own_pages_are_let_in(host, monkeypatch):
    for origin in ({}, {"origin": studio.STUDIO[0]}, {"origin": b"http://" + host}):
        assert status("", monkeypatch, host=host, **origin) == 200


@pytest.mark.parametrize("graph", [studio.graph, studio.plain])
def test_a_misspelt_input_is_refused_and_never_taken_for_the_empty_form(graph):
    given = {"text": "Ada sold the boat.", "messages": []}
    for one in (graph, graph.copy()):
        with pytest.raises(BadInput, match="no input 'text', 'messages': known are"):
            asyncio.run(one.ainvoke(given))
    with pytest.raises(BadInput, match="no input 'messages': known"):
        asyncio.run(graph.ainvoke({"source": None, "response": None, "messages": []}))


@pytest.mark.parametrize(
    ("context", "says"),
    [({"judgs": ["offline"]}, "did you mean judges"), ({"home": "/tmp/elsewhere"}, "the server's own")],
)
def test_settings_that_a_client_cannot_give_are_refused(context, says):
    with pytest.raises(Auth.exceptions.HTTPException) as refused:
        asyncio.run(studio.check_settings(None, {"kwargs": {"context": context}}))  # type: ignore[arg-type]
    assert says in refused.value.detail
    with pytest.raises(BadInput, match=says):
        asyncio.run(studio.graph.ainvoke({}, context=context))


@pytest.mark.heavy
def test_no_graph_sends_a_key_to_what_a_client_names(monkeypatch, tmp_path):
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-secret")
    monkeypatch.delenv("LONGPROOF_API_KEY_HOSTS", raising=False)
    with ChatServer(well) as server:
        named = f"openai:m@{server.address}"
        owned = {"kind": "openai", "model": "n", "address": server.address, "by_owner": True}
        monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path))
        given = VerifyInput(source="Ada sold the boat to Tom.", response="Ada sold the boat.")
        for graph in (studio.graph, studio.verigray):
            for more in ({}, {"arbiter": owned, "decomposer": owned}):
                with suppress(Exception):
                    asyncio.run(graph.ainvoke(given, context={"judges": [named, owned], **more}))
    assert len(server.asked) > 4
    assert {asked.key for asked in server.asked} == {"none"}

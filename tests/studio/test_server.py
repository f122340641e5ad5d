"""The real `langgraph dev` server, driven as Studio drives it: forms, runs, history, forks, people, kills, keys."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from disputing import disputing
from fakes import ChatServer
from reader import well

pytest.importorskip("langgraph_api", reason="needs the extra `studio`")
from langgraph_sdk import get_client

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(180)]
CONFIG = Path(__file__).parents[2] / "langgraph.json"
LINES = "\n".join(f"Chapter {n}. The {n}th day passed and rain fell on the {n} hills." for n in range(300))
SOURCE = f"{LINES[:9000]}\nThe lamp was lit at nine. Ada sold the boat to Tom.\n{LINES[9000:]}"
GIVEN = {"source": SOURCE, "response": "The lamp was lit at nine. Ada sold the boat to Tom."}


class Server:
    """`langgraph dev` in a folder of its own; started again, it goes on with what is there."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        shutil.copy(CONFIG, folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        usual = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_STRICT_MSGPACK": "true"}
        self._environment = {**os.environ, **usual, **environment}
        self._environment["LONGPROOF_HOME"] = str(folder / "home")
        self.start()

    def start(self) -> None:
        command = [str(Path(sys.executable).parent / "langgraph"), "dev", "--no-browser", "--no-reload"]
        with (self.folder / "log").open("a") as log:
            how = {"cwd": self.folder, "env": self._environment, "start_new_session": True}
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)], stdout=log, stderr=log, **how
            )
        for _ in range(240):
            if self.ask("/ok", "GET")[0] == 200:
                return
            time.sleep(0.25)
        raise AssertionError(self.log)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8")

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(30)

    def ask(self, path: str, method: str = "POST", **headers: str) -> tuple[int, dict[str, str]]:
        """Status (0 where nobody answers) and headers, in lower case, of a request as a browser would send it."""
        body = b"{}" if method in ("POST", "PUT") else None
        head = {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        asked = urllib.request.Request(self.url + path, data=body, method=method, headers=head)
        try:
            with urllib.request.urlopen(asked, timeout=30) as got:
                return got.status, {name.lower(): value for name, value in got.headers.items()}
        except urllib.error.HTTPError as error:
            return error.code, {name.lower(): value for name, value in error.headers.items()}
        except OSError:
            return 0, {}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("studio"))
    yield running
    running.stop()
    assert "Blocking" not in running.log, "nothing blocks the server's loop"


def drive(server, work):
    """Do this work with a client of the server and a new thread; what it returns."""

    async def go():
        client = get_client(url=server.url)
        return await work(client, (await client.threads.create())["thread_id"])

    return asyncio.run(go())


def panel(models, names, **more):
    return {"judges": [f"openai:{name}@{models.address}" for name in names], **more}


def test_the_forms_explain_themselves_and_an_empty_one_runs_the_example(server):
    async def work(client, thread):
        (assistant,) = await client.assistants.search(graph_id="verify")
        schemas = await client.assistants.get_schemas(assistant["assistant_id"])
        return schemas, await client.runs.wait(thread, "verify", input={})

    schemas, ended = drive(server, work)
    for form in (schemas["input_schema"], schemas["context_schema"]):
        for field in form["properties"].values():
            assert all(field[name] for name in ("title", "description")), field
            assert "default" in field
        assert not form.get("required")
    assert "summary" in schemas["input_schema"]["properties"]["task"]["enum"]
    assert ended["report"]["case"]["id"] == "example"
    assert ended["report"]["claims"]


def test_settings_that_a_client_cannot_give_are_refused_before_anything_runs(server, tmp_path):
    context = {"home": str(tmp_path / "elsewhere")}

    async def run(client, thread):
        await client.runs.wait(thread, "verify", input={}, context=context)

    async def keep(client, thread):
        await client.assistants.create("verify", context=context)

    for work in (run, keep):
        with pytest.raises(Exception, match=r"422|the server's own") as refused:
            drive(server, work)
        told = "".join([str(refused.value), *getattr(refused.value, "__notes__", [])])
        assert "the server's own" in told
    assert not (tmp_path / "elsewhere").exists()


def test_the_nodes_are_streamed_and_every_step_can_be_read_afterwards(server):
    async def work(client, thread):
        asked = {"input": GIVEN, "stream_mode": ["updates", "custom"], "stream_subgraphs": True}
        events = [event async for event in client.runs.stream(thread, "verify", **asked)]
        return events, await client.threads.get_history(thread, limit=50)

    events, history = drive(server, work)
    inside = [name for e in events if e.event.startswith("updates|check:") for name in e.data]
    assert {"gather", "judge", "vote", "localise"} <= set(inside)
    told = [event.data["node"] for event in events if event.event.startswith("custom")]
    assert {"align", "judge", "vote", "checked"} <= set(told)
    assert [step["next"] for step in history][1] == ["report"]
    assert history[0]["values"]["claims"][0]["claim"]["text"]
    assert SOURCE[:200] not in json.dumps(history[2]["values"])


def test_a_fork_before_check_pays_only_for_the_new_judge(server):
    async def work(client, thread):
        first = await client.runs.wait(thread, "verify", input=GIVEN, context=panel(models, "ab"))
        before = Counter(asked.body["model"] for asked in models.asked)
        history = await client.threads.get_history(thread, limit=50)
        *_, step = [step for step in history if step["next"] and set(step["next"]) == {"check"}]
        forked = {"checkpoint": step["checkpoint"], "context": panel(models, "abc", consensus=1.0)}
        second = await client.runs.wait(thread, "verify", input=None, **forked)
        return first["report"], second["report"], before

    with ChatServer(well) as models:
        first, second, before = drive(server, work)
        after = Counter(asked.body["model"] for asked in models.asked)
    judges = {one["judge"].split("@")[0] for claim in second["claims"] for one in claim["judgements"]}
    assert judges == {"openai:a", "openai:b", "openai:c"}
    assert len(first["claims"]) == len(second["claims"])
    assert (after["a"], after["b"]) == (before["a"], before["b"])
    assert after["c"] > before["c"] == 0


def test_a_person_is_asked_once_and_the_run_goes_on_with_the_answer(server):
    async def work(client, thread):
        context = panel(models, "abcd", arbiter="person", consensus=1.0)
        given = {**GIVEN, "response": "The lamp was lit at ten. Ada sold the boat to Ben."}
        await client.runs.wait(thread, "verify", input=given, context=context)
        (asked,) = (await client.threads.get_state(thread))["interrupts"]

        def decide(*decisions):
            command = {"resume": {asked["id"]: {"name": "Ines", "decisions": decisions}}}
            more = {"context": context, "raise_error": False}
            return client.runs.wait(thread, "verify", command=command, **more)

        refused = await decide({"claim_id": "x", "label": "no"})
        read = {"label": "contradicting", "reason": "Read."}
        ended = await decide(*({"claim_id": one["claim_id"], **read} for one in asked["value"]))
        return asked, refused, ended

    with ChatServer(disputing) as models:
        asked, refused, ended = drive(server, work)
    assert asked["value"][0]["said"][0]["judge"]
    assert "claim_id" in json.dumps(asked["response_schema"])
    assert "claim_id" in json.dumps(refused)
    decided = [claim for claim in ended["report"]["claims"] if claim["decided_by"] == "person"]
    assert len(decided) == len(asked["value"])
    assert ended["report"]["stamp"]["reviews"][0]["name"] == "Ines"


def test_a_stopped_server_goes_on_and_pays_for_nothing_twice(tmp_path):
    async def begin(client, thread):
        given = {"input": GIVEN, "context": panel(models, "abc", concurrency=1)}
        run = await client.runs.create(thread, "verify", **given)
        while len(models.answered) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return thread, run["run_id"]

    with ChatServer(well, delay_s=1.0) as models:
        server = Server(tmp_path)
        try:
            thread, run = drive(server, begin)
            server.stop()
            server.start()
            ended = drive(server, lambda client, _: client.runs.join(thread, run))
        finally:
            server.stop()
        times = Counter((a.body["model"], json.dumps(a.body["messages"])) for a in models.answered)
    assert ended["report"]["verdict"] == "faithful"
    assert "Blocking" not in server.log
    assert sum(times.values()) - len(times) <= 1, "more than the one call under way was paid twice"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1"])
def test_a_page_of_another_site_drives_nothing(server, origin):
    asks = {"access_control_request_method": "POST", "access_control_request_headers": "x"}
    for path in ("/threads", "/runs/wait", "/assistants/search"):
        assert "access-control-allow-origin" not in server.ask(path, "OPTIONS", origin=origin, **asks)[1]
        for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
            status, told = server.ask(path, origin=origin, content_type=kind)
            assert status == 403, (path, kind)
            assert "access-control-allow-origin" not in told


def test_studios_page_and_programs_get_through(server):
    studio = "https://smith.langchain.com"
    asks = {"access_control_request_method": "POST", "access_control_request_headers": "content-type"}
    for method, more in (("OPTIONS", asks), ("POST", {})):
        status, told = server.ask("/threads", method, origin=studio, **more)
        assert (status, told["access-control-allow-origin"]) == (200, studio)
    for head in ({}, {"origin": server.url}, {"host": f"localhost:{server.port}"}):
        assert server.ask("/threads", **head)[0] == 200


ROUTES = {
    "GET": ["/assistants/x", "/assistants/verify/schemas", "/threads/x/state", "/threads/x/history"],
    "POST": [
        *("/assistants/search", "/threads", "/threads/search", "/threads/x/runs", "/threads/x/runs/stream"),
        *("/runs/stream", "/runs/wait", "/runs/crons/search", "/store/items/search", "/mcp", "/a2a/verify"),
    ],
    "PUT": ["/store/items"],
}


def test_with_a_key_every_route_that_touches_data_asks_for_it(tmp_path):
    server = Server(tmp_path, LONGPROOF_STUDIO_KEY="a-long-key")
    wrong = ({}, {"x_auth_scheme": "langsmith"}, {"x_api_key": "wrong"}, {"authorization": "Bearer "})
    try:
        for method, paths in ROUTES.items():
            for path, headers in product(paths, wrong):
                assert server.ask(path, method, **headers)[0] == 401, (method, path, headers)
        for headers in ({"x_api_key": "a-long-key"}, {"authorization": "Bearer a-long-key"}):
            assert server.ask("/assistants/search", **headers)[0] == 200
        assert server.ask("/ok", "GET")[0] == 200
        assert "a-long-key" not in server.log
    finally:
        server.stop()

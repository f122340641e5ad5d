"""Who may not ask the local server, and what it doesn't take: each test is a line of the list in docs/serve.md."""

import asyncio
import json
import stat
from collections.abc import Iterator
from typing import Any

import pytest

from longproof.retrieval.loaders import FILE_BYTES

pytestmark = pytest.mark.heavy
PATHS = ("", "runs/20260101-000000-00000000", "runs/20260101-000000-00000000/now", "nothing")


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_everything_is_not_found(serving, path):
    client = serving().raw
    for prefix in ("/", "/t0ke/", "/t0ken2/", "//t0ken/", "/T0KEN/", "/t0ken"):
        answer = client.get(prefix + path if prefix.endswith("/") else prefix)
        assert answer.status_code == 404
        assert "t0ken" not in answer.text


def test_a_name_that_is_pointed_here_is_refused(serving):
    client = serving()
    for host in ("evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example:8000", ""):
        assert client.get("", host=host).status_code == 403
    for host in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000"):
        assert client.get("", host=host).status_code == 200


def test_pages_of_other_sites_are_refused_even_with_the_token(serving):
    client = serving()
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1:8000"):
        assert client.post("runs", origin=origin).status_code == 403
        assert client.get("", origin=origin).status_code == 403
    for site in ("cross-site", "same-site"):
        assert client.get("", **{"sec-fetch-site": site}).status_code == 403
    assert client.post("runs", **{"sec-fetch-site": "none"}).status_code == 403
    assert client.get("", **{"sec-fetch-site": "none"}).status_code == 200
    assert client.post("runs", origin="http://127.0.0.1:8000").status_code == 400


def test_bodies_without_measure_are_cut_off(serving):
    client = serving().raw
    told = client.post("/t0ken/texts", headers={"content-length": str(FILE_BYTES + 1)}, content=b"")
    assert told.status_code == 413

    def endless() -> Iterator[bytes]:
        for _ in range(FILE_BYTES // 1_000_000 + 2):
            yield b"x" * 1_000_000

    assert client.post("/t0ken/texts", content=endless()).status_code == 413
    assert client.post("/t0ken/price", content=b"[" * 100_000).status_code == 400
    assert client.post("/t0ken/price", content=b'{"a":"' + b"x" * 1_000_000 + b'"}').status_code == 400


def test_who_goes_away_while_sending_leaves_no_error(serving):
    scope = {"type": "http", "method": "POST", "path": "/t0ken/texts", "query_string": b""}
    heard = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"Half a", "more_body": True}]

    async def receive() -> Any:
        return heard.pop()

    async def send(message: Any):
        assert message.get("status", 400) == 400

    asyncio.run(serving().raw.app({**scope, "headers": [(b"host", b"127.0.0.1:8000")]}, receive, send))


def test_names_lead_nowhere(serving, home):
    client = serving()
    before = set(home.parent.iterdir())
    for name in ("../../../evil.txt", "..\\evil.txt", "/etc/passwd", "a\0b.txt", "", "x" * 5000, "con.txt"):
        assert client.text(name, b"A word that is kept.")["uri"] == ""
    assert set(home.parent.iterdir()) == before
    assert not list((home / "serve").iterdir())
    for run in ("..", "%2e%2e", "..%2f..", "20260101-000000-00000000", "x" * 300):
        assert client.get(f"runs/{run}").status_code in (400, 404)
    for id_ in ("sha256:../../../etc/passwd", "../x", "sha256:" + "0" * 64):
        choice = client.choice(sources=[{"id": id_, "characters": 1}])
        assert client.post("price", choice).status_code == 400


def test_a_browser_names_no_address_no_key_and_no_folder(serving, monkeypatch):
    client = serving()
    assert client.post("price", client.choice(model="gpt-4.1")).status_code == 400, "without the key"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    for given in (
        *({"judges": [one]} for one in ("openai:m@http://evil.example/v1", 3, -1)),
        *({"model": one} for one in ("m@http://evil.example/v1", "nli:/etc")),
        {"arbiter": "openai:m@http://evil.example/v1"},
        *({name: one} for name, one in (("pages", "/etc"), ("home", "/tmp"), ("prices", {}))),
        {"concurrency": 1000},
        {"max_tokens": 10**30},
    ):
        assert client.post("price", client.choice(**given)).status_code == 400, given
    run = client.begin()
    assert "sk-secret-of-mine" not in client.get("").text + client.get(f"runs/{run}").text


def test_marks_are_of_claims_of_limited_size_and_their_owners_alone(serving, home):
    client = serving()
    run, told = client.done()
    claim = told["report"]["claims"][0]["id"]
    nested: dict[str, Any] = {}
    for _ in range(900):
        nested = {"a": nested}
    for given in (
        {claim: nested},
        {claim: {"mark": {"a": "right"}}},
        {"../../x": {"mark": "right"}},
        {claim: {"mark": "<script>"}},
        {claim: {"note": "x" * 3000}},
        {claim: {"other": 1}},
        {claim: {"accepted": {str(n): True for n in range(1001)}}},
        {claim: {"decision": {"label": "true"}}},
        {claim: {"decision": {"other": "x"}}},
        *({claim: {"decision": {line: "x" * 2001}}} for line in ("reason", "wrong", "correction")),
        {claim: "right"},
    ):
        assert client.post(f"runs/{run}/marks", given).status_code == 400, given
    assert client.post(f"runs/{run}/nothing").status_code == 400
    assert client.post(f"runs/{run}/marks", {claim: {"mark": "right"}}).status_code == 200
    files = {path.name for path in home.rglob("*") if path.is_file()}
    assert {"run.json", "report.json", "marks.json"} <= files
    assert not [path for path in home.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077]
    for name in ("corrected.exe", "a%0d%0ab.txt", "a.txt", "corrected.md", "x" * 3000 + ".txt"):
        assert client.get(f"runs/{run}/{name}").status_code == 400, name


def test_every_answer_keeps_to_itself(serving):
    client = serving()
    for answer in (client.get(""), client.get("nothing"), client.raw.get("/"), client.post("runs")):
        assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
    page = client.get("").text
    assert "default-src 'none'" in page
    assert "connect-src 'self'" in page


def test_a_text_brings_no_address_and_no_half_characters_into_the_report(serving):
    client = serving()
    given = client.choice()
    given["sources"][0] |= {"uri": "https://elsewhere.example/", "title": "an \ud800 article"}
    run = client.raw.post("/t0ken/runs", content=json.dumps(given)).json()["run"]
    client.until(run, "done")
    report = client.report(run)
    assert not any(document["uri"] for document in report["documents"])
    assert "an \ufffd article" in {document["title"] for document in report["documents"]}

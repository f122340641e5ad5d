"""`longproof serve` as a process: the address that it prints, its end, and what it refuses."""

import os
import signal
import subprocess
import sys
import urllib.request
from socket import create_server

import pytest

from longproof.cli import main
from longproof.cli.serve import _listen
from longproof.retrieval.types import BadInput

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
pytestmark = pytest.mark.heavy


def test_the_address_that_it_prints_is_this_machines_own_and_answers(tmp_path):
    command = [sys.executable, "-m", "longproof", "serve", "--no-open"]
    env = {**os.environ, "LONGPROOF_HOME": str(tmp_path), "LONGPROOF_API_KEY": "sk-of-mine"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            assert len(address.split("/")[3]) >= 32
            page = urllib.request.urlopen(address).read().decode()
            assert "give_source" in page
            assert "sk-of-mine" not in page
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) != 0
        finally:
            process.kill()


def test_a_port_that_is_taken_and_a_name_for_the_run_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with create_server(("127.0.0.1", 0)) as taken:
        for more in (["--port", str(taken.getsockname()[1])], ["--run-id", "r"]):
            with pytest.raises(SystemExit) as stop:
                main(["serve", "--no-open", *more])
            assert stop.value.code == 2
    told = capsys.readouterr().err
    assert "give another --host or --port" in told
    assert "No such option: --run-id" in told


def test_without_a_port_it_is_the_same_each_time_unless_it_is_taken(tmp_path, monkeypatch):
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr("longproof.cli.serve.PORT", port)
    with _listen("127.0.0.1", None) as first, _listen("127.0.0.1", None) as second:
        assert first.getsockname()[1] == port != second.getsockname()[1]
    with pytest.raises(BadInput):
        _listen("192.0.2.1", None)

"""The demo replays a recording: the whole graph, no network, the same report; its screen says what it is."""

from pathlib import Path

import pytest
from disputing import disputing
from fakes import ChatServer
from scripts import benchmark
from terminal import run


@pytest.mark.heavy
def test_a_demo_that_was_recorded_is_replayed_by_nobody(tmp_path, capsys, monkeypatch):
    kept = tmp_path / "kept.gz"
    with ChatServer(disputing) as server:
        a, b, c = (f"openai:{name}@{server.address}" for name in ("m0", "m1", "m9"))
        asked = benchmark("record_demo").record_demo("zh", kept, [a, b], c)
        assert asked == len(server.asked)
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--language", "zh", "--replay", kept) == 0
    told = capsys.readouterr().out.splitlines()
    assert "m0, m1" in told[0]
    assert "m9" in told[0]
    assert any("植入的" in line for line in told)
    assert "longproof verify --source" in told[-2]
    assert Path(told[-1]) == tmp_path / "elsewhere" / "demo-zh.html"
    assert "<html" in Path(told[-1]).read_text("utf-8")
    assert not list(tmp_path.glob("*.html"))
    assert run("demo", "--language", "en", "--replay", kept) == 2
    assert "no recording of the demo" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("language", "first", "needs"),
    [
        ("en", "No model is asked: this is the offline check.", "To see those takes a model"),
        ("zh", "不询问任何模型：这是离线检查。", "要发现这些需要模型"),
    ],
)
def test_the_offline_demo_says_what_it_found_and_that_the_rest_needs_a_model(
    files, capsys, language, first, needs
):
    assert run("demo", "--offline-check", "--language", language) == 0
    lines = capsys.readouterr().out.splitlines()
    page = files / "home" / f"demo-{language}-offline.html"
    assert (lines[0], lines[-1]) == (first, str(page))
    assert lines[-3].endswith(needs)
    assert page.exists()

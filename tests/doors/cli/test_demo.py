"""The demo replays a recording: the whole graph, no network, the same report; its screen says what it is."""

from pathlib import Path

import pytest
from disputing import disputing
from fakes import ChatServer

from longproof.cli import main


def demo(*words: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["demo", *map(str, words)])
    return int(stop.value.code or 0)


def shown(screen: list[str]) -> list[str]:
    """The report on a screen, without what it cost and how long it took."""
    end = next(n for n, line in enumerate(screen) if "植入的" in line)
    return [line for line in screen[1 : end + 1] if "tokens" not in line and "· longproof 0" not in line]


def test_a_recorded_demo_is_replayed_by_nobody(tmp_path, capsys, monkeypatch):
    kept = tmp_path / "kept.gz"
    with ChatServer(disputing) as server:
        a, b, c = (f"openai:{name}@{server.address}" for name in ("m0", "m1", "m9"))
        asking = ("--judge", a, "--judge", b, "--arbiter", c, "--record", kept)
        assert demo("--language", "zh", *asking) == 0
    live = capsys.readouterr().out.splitlines()
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.chdir(tmp_path)
    assert demo("--language", "zh", "--replay", kept) == 0
    again = capsys.readouterr().out.splitlines()
    assert "m0, m1" in again[0]
    assert "m9" in again[0]
    assert shown(again) == shown(live)
    assert "longproof verify --source" in again[-2]
    assert Path(again[-1]) == tmp_path / "elsewhere" / "demo-zh.html"
    assert "<html" in Path(again[-1]).read_text("utf-8")
    assert not list(tmp_path.glob("*.html"))
    assert demo("--language", "en", "--replay", kept) == 2
    assert "no recording of the demo" in capsys.readouterr().err


def test_the_demos_options_exclude_each_other(capsys):
    for words in (["--record", "x"], ["--judge", "openai:m"], ["--offline-check", "--replay", "x"]):
        assert demo(*words) == 2
    assert demo("--language", "fr") == 2

"""A recorded run and its replay: the same bytes, nobody asked; what is missing, changed or hostile is refused."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from disputing import disputing
from fakes import ChatServer
from reader import Asked, Reply

from longproof.agent.models import recording
from longproof.agent.models.recording import Replay
from longproof.cli import main
from longproof.evaluation.run import evaluate_dataset, record_dataset, replay_dataset
from longproof.retrieval.types import BadInput

CASES = Path(__file__).parent / "cases.jsonl"
KEPT = ("run.json", "results.jsonl", "scores.json")
PANEL = {"judges": ("m0", "m1"), "arbiter": "m9", "only": "language=en", "sample": 8, "seed": 3}


def record(folder: Path, script: Callable[[Asked], Reply] = disputing, **options: Any) -> int:
    """Record a run into `folder/live` and `folder/kept.gz`; how often the server was asked."""
    with ChatServer(script) as server:
        options["judges"] = [f"openai:{name}@{server.address}" for name in options["judges"]]
        if "arbiter" in options:
            options["arbiter"] = f"openai:{options['arbiter']}@{server.address}"
        record_dataset(str(CASES), folder / "kept.gz", out=folder / "live", **options)
        return len(server.asked)


def replay(folder: Path) -> None:
    replay_dataset(str(CASES), folder / "kept.gz", out=folder / "again")


def same(folder: Path) -> bool:
    return all(
        (folder / "live" / name).read_bytes() == (folder / "again" / name).read_bytes() for name in KEPT
    )


@pytest.fixture
def another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """From its call on: another data folder, another default server, no key."""

    def move() -> None:
        monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    return move


@pytest.mark.parametrize(
    "options",
    [
        PANEL,
        {"judges": ("m0",), "protocol": "plain", "sample": 8},
        {"judges": ("wordy",), "sample": 4, "repeat": 2, "reach": "place"},
    ],
    ids=["panel", "plain", "repeated"],
)
def test_a_replay_gives_the_same_bytes_and_asks_nobody(tmp_path, another_machine, options):
    assert record(tmp_path, **options) > 5
    another_machine()
    for _ in range(2):  # a replay starts anew in its folder
        replay(tmp_path)
        assert same(tmp_path)


def test_a_run_that_is_in_the_ledger_is_recorded_for_nothing(tmp_path):
    with ChatServer(disputing) as server:
        options = {"out": tmp_path / "live", "judges": [f"openai:m0@{server.address}"], "sample": 6}
        evaluate_dataset(str(CASES), **options)
        asked = len(server.asked)
        for name in ("first", "second"):
            record_dataset(str(CASES), tmp_path / name, **options)
    assert len(server.asked) == asked
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_what_nobody_answered_fails_again(tmp_path, another_machine):
    def slow(asked: Asked) -> Reply:
        hangs = len(asked.user) % 3 == 0 and asked.form != "Sentences"
        return Reply(hang=True) if hangs else disputing(asked)

    record(tmp_path, slow, judges=("m0",), sample=8, timeout_s=0.5)
    assert '"lost":' in gzip.decompress((tmp_path / "kept.gz").read_bytes()).decode()
    another_machine()
    replay(tmp_path)
    assert same(tmp_path)


def test_missing_answers_and_other_data_are_refused_and_leave_no_results(tmp_path):
    record(tmp_path, **PANEL)
    other = tmp_path / "other.jsonl"
    other.write_text(CASES.read_text("utf-8").replace('"faithful"', '"hallucinated"'), "utf-8")
    with pytest.raises(BadInput, match="made of other data"):
        replay_dataset(str(other), tmp_path / "kept.gz", out=tmp_path / "again")
    lines = gzip.decompress((tmp_path / "kept.gz").read_bytes()).split(b"\n")
    without = [line for line in lines if b'"purpose":"arbitrate"' not in line]
    (tmp_path / "kept.gz").write_bytes(gzip.compress(b"\n".join(without)))
    with pytest.raises(BadInput, match=r"(\d+) answers are not in .*\(arbitrate \1\): prompts, .* changed"):
        replay(tmp_path)
    assert not (tmp_path / "again" / "results.jsonl").exists()


def test_the_command_records_and_replays_and_takes_no_option_that_the_recording_says(tmp_path, capsys):
    def run(*words: object) -> int:
        with pytest.raises(SystemExit) as stop:
            main(["evaluate", str(CASES), *map(str, words)])
        return int(stop.value.code or 0)

    with ChatServer(disputing) as server:
        judge = ("--judge", f"openai:m0@{server.address}", "--sample", 2)
        assert run(*judge, "--out", tmp_path / "live", "--record", tmp_path / "kept.gz") == 0
    assert run("--out", tmp_path / "again", "--replay", tmp_path / "kept.gz") == 0
    assert same(tmp_path)
    assert run("--out", tmp_path / "again", "--replay", tmp_path / "kept.gz", "--sample", 2) == 2
    assert "leave out --sample" in capsys.readouterr().err
    assert run("--out", tmp_path / "offline", "--record", tmp_path / "none.gz") == 2
    assert "no language model was asked" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"judges": ["nli:/tmp/model"]}, "leave out nli"),
        ({"settings": {"arbiter": "nli:/tmp/model"}}, "leave out nli"),
        ({"settings": {"embedder": "openai:m@http://127.0.0.1:9/v1"}}, "the setting 'embedder'"),
        ({"settings": {"home": "/tmp/elsewhere"}}, "the setting 'home'"),
        ({"settings": {"pages": "/etc"}}, "say with --pages"),
        ({"repeat": 1_000_000}, "more runs than answers"),
    ],
)
def test_a_file_loads_no_model_and_names_no_folder(tmp_path, change, refused):
    record(tmp_path, judges=("m0",), sample=2)
    first, rest = gzip.decompress((tmp_path / "kept.gz").read_bytes()).split(b"\n", 1)
    header = json.loads(first)
    header["run"].update(change)
    (tmp_path / "kept.gz").write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + rest))
    with pytest.raises(BadInput, match=refused):
        replay(tmp_path)


HEADER = '{"format": "longproof.recording", "version": 1, "made": "2026-01-01", "address": "", "run": {}}'
LINE = '{"key": "' + "0" * 64 + '", "purpose": "judge", "model": "m"'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        HEADER.replace("1,", "2,", 1),
        f"{HEADER}\n{LINE}}}",
        f'{HEADER}\n{LINE}, "answer": {{"x": 1}}}}',
        f"{HEADER}\n{'[' * 100_000}",
    ],
)
def test_what_is_no_recording_is_refused(tmp_path, text):
    (tmp_path / "kept.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(BadInput, match="no recording"):
        Replay.open(tmp_path / "kept.gz")


def test_damaged_and_oversized_files_are_not_read(tmp_path, monkeypatch):
    kept = tmp_path / "kept.gz"
    whole = gzip.compress(HEADER.encode())
    for data in (b"", b"PK\x03\x04", whole[:-9], whole[:12] + b"\xff" * 20):
        kept.write_bytes(data)
        with pytest.raises(BadInput, match="recording"):
            Replay.open(kept)
    monkeypatch.setattr(recording, "MOST_BYTES", 1000)
    kept.write_bytes(gzip.compress(b" " * 2000))
    with pytest.raises(BadInput, match="too large"):
        Replay.open(kept)

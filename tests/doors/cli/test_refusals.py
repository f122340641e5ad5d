"""What can't be used: exit code 2, one line that says why, nothing on stdout, nothing asked."""

import os
import re
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import PROSE, Reply, always, inventing, well
from terminal import BATCH, CHECKS, EVALUATE, SOURCE, VERIFY, run

from longproof.retrieval.loaders import FILE_BYTES

BAD = {
    "empty.txt": b"", "blank.txt": b" \n\t\n", "signs.txt": "。。。！！！\u200b".encode(),
    "binary.txt": bytes(range(256)) * 20, "nul.txt": b"some text\0with a hole", "broken.json": b'{"a": [1, 2',
}  # fmt: skip
MADE = {
    **BAD,
    "old.doc": bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600),
    "taken": b"mine",
    "none.jsonl": b"\n \n",
    "prices.toml": b"[prices]\nm = 3\n",
    "unpriced.toml": b"a = 1\n",
    "misspelt.toml": b"[prices]\nm = { input = 1.0, output = 2.0, cachd = 0.1 }\n",
    "others.toml": b"[prices]\nother = { input = 1.0, output = 2.0 }\n",
}
MODEL = ("--judge", "openai:n@http://127.0.0.1:9/v1")


def reading(**roles: str) -> tuple[str, ...]:
    """The command that verifies these files."""
    named = {"source": "source.txt", "response": "response.txt", **roles}
    return ("verify", *(word for role, name in named.items() for word in (f"--{role}", name)))


SETTINGS: list[tuple[tuple[str, ...], str]] = [
    (("--reach", "everywhere"), "everywhere"),
    (("--searcher", "offline"), "offline can't search"),
    (("--confirm", "all"), "needs a language model"),
    (("--protocol", "nope"), "nope"),
    (("--judge", "oracle"), "oracle"),
    (("--pages", "nowhere"), "there is no folder nowhere"),
    (("--max-calls", "-1"), "--max-calls"),
    (("--timeout-s", "0"), "setting timeout_s"),
    (("--run-id", "a\udcffb"), "setting run_id"),
    (("--bogus",), "bogus"),
    (("--judge", "openai:gpt-4.1"), "OPENAI_API_KEY is not set"),
]
"""Options that every command has that checks, with what none of them takes."""
REPLAYED = [("--dry-run",), ("--seed", "1"), ("--repeat", "2"), ("--only", "scale=S"), ("--max-calls", "1")]
"""Options whose values a recording says."""
REFUSED: list[tuple[tuple[str, ...], str]] = [
    *((reading(**{role: name}), name) for name in [*BAD, "missing.txt"] for role in ("source", "response")),
    *((reading(**{role: "/dev/zero"}), "not a file") for role in ("source", "response", "context")),
    *((reading(**{role: "pipe"}), "not a file") for role in ("source", "response", "context")),
    *((reading(**{role: "huge"}), "larger than 64 MB") for role in ("source", "response", "context")),
    (reading(source="."), "a directory"),
    (reading(source="no\x1b[31m\nsuch"), "no such file"),
    (reading(source="old.doc"), "old.doc: an old Word file: save it as .docx"),
    (reading(source="https://example.org/a.html"), "a.html: not a file; save the page first"),
    (reading(source="-", response="-"), "only once"),
    (("verify", "--response", "response.txt"), "give one, or choose the task `open`"),
    (("verify", "source.txt", "response.txt"), "'--response'"),
    ((*VERIFY, "--task", "poem"), "poem"),
    ((*VERIFY, "--encoding", "klingon"), "klingon"),
    ((*VERIFY, "--json", "."), "is a folder"),
    ((*VERIFY, "--html", "response.txt"), "is read: name another file"),
    ((*VERIFY, "--json", "source.txt"), "is read: name another file"),
    ((*VERIFY, "--json", "linked.txt"), "is read: name another file"),
    ((*VERIFY, "--json", "new.txt", "--html", "new.txt"), "is to hold two outputs"),
    *(((*VERIFY, *MODEL, f"--{role}", "person"), "no judge 'person'") for role in ("decomposer", "searcher")),
    ((*VERIFY, *MODEL, "--prices", "prices.toml"), "prices.toml: [prices] m"),
    (
        (*VERIFY, *MODEL, "--prices", "misspelt.toml"),
        "m.cachd: Extra inputs are not permitted (did you mean cached?)",
    ),
    ((*VERIFY, *MODEL, "--prices", "unpriced.toml"), "unpriced.toml names no prices"),
    ((*VERIFY, *MODEL, "--prices", "others.toml"), "others.toml has prices for other, and none for"),
    *(((*CHECKS[n % 3], *more), says) for n, (more, says) in enumerate(SETTINGS)),
    ((*BATCH, "--ray-address", "auto", "--html"), "run `longproof report` there"),
    ((*BATCH, "--workers", "8"), "add --engine ray"),
    ((*BATCH, "--junit", "-"), "name one after --junit"),
    ((*BATCH, "--junit", "cases.jsonl"), "is read: name another file"),
    (("batch", "gone.jsonl", "--out", "out"), "gone.jsonl"),
    (("batch", "none.jsonl", "--out", "out"), "there is no case in"),
    (("batch", "cases.jsonl", "--out", "taken"), "can't make the folder"),
    (("batch", "pipe", "--out", "out"), "a device or a pipe"),
    (("batch", "cases.jsonl", "--out", "piped"), "run.json: a device or a pipe"),
    (("batch", "cases.jsonl", "--out", "looped"), "results.jsonl (not a file"),
    (reading(source="pipe"), "a device or a pipe"),
    (reading(response="loop"), "Too many levels of symbolic links"),
    (("evaluate", "storysumm", "--replay", "pipe", "--out", "out"), "a device or a pipe"),
    (("review", "x", "--answers", "pipe"), "no run 'x'"),
    (("batch", "cases.jsonl", "--out", "earlier"), "of an earlier edition of Longproof"),
    *(((*EVALUATE, "--replay", "x", *more), f"leave out {more[0]}") for more in REPLAYED),
    ((*EVALUATE, *MODEL, "--pages", "gone", "--dry-run"), "there is no folder gone"),
    (("evaluate", "storysumm", "--out", "out"), "https://github.com/melaniesubbiah/storysumm"),
    (("report", "pipe", "--html", "out"), "a device or a pipe"),
    (("report", "20261122-114529-0520"), "not a run's name"),
    (("index",), "there is nothing to index"),
    (("doctor", "--judge", "offline"), "asks no model"),
    (("demo", "--offline-check", "--replay", "x"), "choose one of"),
    (("demo", "--language", "fr"), "fr"),
    (("construct", "poems", "source.txt", "--out", "out"), "no construction"),
    (("construct", "probe", "source.txt", "--out", "out"), "needs a language model"),
    (("review", "nobody"), "no run 'nobody'"),
]


@pytest.fixture
def odd(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with files that nobody can use."""
    monkeypatch.setenv("LONGPROOF_DATA", "")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, data in MADE.items():
        (files / name).write_bytes(data)
    os.mkfifo(files / "pipe")
    (files / "linked.txt").hardlink_to(files / "source.txt")
    with (files / "huge").open("wb") as file:
        file.truncate(FILE_BYTES + 1)
    (files / "loop").symlink_to("loop")
    for name in ("earlier", "piped", "looped"):
        (files / name).mkdir()
    os.mkfifo(files / "piped" / "run.json")
    (files / "looped" / "results.jsonl").symlink_to("results.jsonl")
    (files / "earlier" / "results.jsonl").write_bytes(b"")
    return files


def test_what_cannot_be_used_is_refused_in_one_line(odd, capsys):
    for command, says in REFUSED:
        assert run(*command) == 2, command
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n"), told.err[:11]) == ("", 1, "longproof: "), command
        assert (says in told.err, "\x1b" in told.err) == (True, False), command
    assert (odd / "source.txt").read_text("utf-8") == SOURCE
    assert not {odd / "out", odd / "-"} & {*odd.iterdir()}


def test_a_misspelt_panel_file_is_refused_by_every_command_that_reads_it(files, capsys):
    for toml, says in {
        "[panell]\njudges = ['openai:m']": "there is no [panell] (did you mean panel?)",
        "consensus = 2": "consensus",
        "[panel]\njudgs = ['openai:m']": "judgs: there is no such key (did you mean judges?)",
    }.items():
        (files / "longproof.toml").write_text(toml, "utf-8")
        for command in (*CHECKS, ("doctor",)):
            assert run(*command) == 2
            assert says in capsys.readouterr().err


@pytest.mark.parametrize("command", CHECKS)
def test_a_server_that_refuses_ends_every_command(files, capsys, command):
    with ChatServer(always(Reply(status=401, error={"message": "not you"}))) as server:
        assert run(*command, "--judge", f"openai:m@{server.address}") == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "answered HTTP 401: not you; check the key" in told.err
    assert len(server.asked) <= 4


@pytest.mark.parametrize("command", CHECKS)
@pytest.mark.parametrize("script", [always(PROSE), always(Reply("{}")), inventing, None])
def test_a_judge_that_answers_only_rubbish_or_not_at_all_is_no_judge(files, capsys, command, script):
    with ChatServer(script or well) as server:
        limit = () if script else ("--max-calls", "0")
        asked = (*command, "--judge", f"openai:m@{server.address}", *limit)
        rubbish = r"no usable answer came from .* is it a model that follows instructions\?"
        assert run(*asked) == 2
        assert re.search(rubbish if script else "no judge answered", capsys.readouterr().err)
        assert command == EVALUATE or run(*asked, "--check") == 3

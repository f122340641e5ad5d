"""The terminal: exit codes, one line for what can't be used, stdout that stays clean."""

import errno
import io
import json
import os
import subprocess
from importlib.metadata import metadata
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import Reply, always, denying
from terminal import run

from longproof.agent.types import Report
from longproof.examples import example
from longproof.retrieval.loaders import FILE_BYTES

SOURCE = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.\n" * 3


@pytest.fixture
def files(tmp_path):
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "response.txt").write_text("Ada lit the lamp at nine.", "utf-8")
    return tmp_path


def verify(files, *more, source="source.txt", response="response.txt"):
    return run("verify", "--source", files / source, "--response", files / response, *more)


def test_a_faithful_response_exits_with_zero_and_says_so(files, capsys):
    with ChatServer(denying("ninety")) as server:
        assert verify(files, "--judge", f"openai:m@{server.address}", "--check") == 0
    assert "faithful" in capsys.readouterr().out


def test_a_hallucinated_response_exits_with_one_only_under_check(files):
    (files / "response.txt").write_text("Tom sold the boat to Ada for ninety pounds.", "utf-8")
    with ChatServer(denying("ninety")) as server:
        judge = ("--judge", f"openai:m@{server.address}")
        assert verify(files, *judge) == 0
        assert verify(files, *judge, "--check") == 1


@pytest.mark.parametrize(
    "response", ["Napoleon died.", "What a day! Ada lit the lamp at nine.", "What a day?"]
)
def test_what_no_model_has_read_exits_with_three_under_check(files, capsys, response):
    (files / "response.txt").write_text(response, "utf-8")
    assert verify(files) == 0
    assert verify(files, "--check", "--json", "-") == 3
    report = Report.model_validate_json(capsys.readouterr().out.partition("\n{")[2].join(("{", "")))
    assert (report.verdict, report.triage) == ("undecided", True)


def test_json_on_stdout_is_nothing_but_the_report(files, capsys):
    assert verify(files, "--json", "-") == 0
    report = Report.model_validate_json(capsys.readouterr().out)
    assert report.case.response == "Ada lit the lamp at nine."
    assert report.documents[1].uri.endswith("source.txt")


def test_json_and_html_go_to_files(files):
    assert verify(files, "--json", files / "out" / "r.json", "--html", files / "out" / "r.html") == 0
    assert json.loads((files / "out" / "r.json").read_text("utf-8"))["schema_version"] == 2
    assert "<html" in (files / "out" / "r.html").read_text("utf-8")


BAD = {
    "missing.txt": None,
    "empty.txt": b"",
    "blank.txt": b" \n\t\n",
    "signs.txt": "。。。！！！\u200b".encode(),
    "binary.txt": bytes(range(256)) * 20,
    "nul.txt": b"some text\0with a hole",
    "broken.json": b'{"a": [1, 2',
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("role", ["source", "response"])
def test_bad_files_exit_with_two_and_one_line(files, capsys, name, role):
    if BAD[name] is not None:
        (files / name).write_bytes(BAD[name])
    assert verify(files, **{role: name}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("longproof: ")
    assert name in err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--task", "poem"], "poem"),
        (["--encoding", "klingon"], "klingon"),
        (["--at-least", "nice"], "nice"),
        (["--json", "."], "is a folder"),
    ],
)
def test_what_verify_cannot_take_exits_with_two_and_one_line(files, monkeypatch, capsys, more, says):
    monkeypatch.chdir(files)
    assert verify(files, *more) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert says in err


def test_names_that_arent_utf_8_are_read_and_reported(files):
    for name in ("source.txt", "response.txt"):
        (files / name).rename(files / os.fsdecode(b"caf\xe9 " + name.encode()))
    odd = {"source": os.fsdecode(b"caf\xe9 source.txt"), "response": os.fsdecode(b"caf\xe9 response.txt")}
    assert verify(files, "--json", files / "r.json", "--html", files / "r.html", **odd) == 0
    report = Report.model_validate_json((files / "r.json").read_bytes())
    assert report.case.id == "caf\ufffd response"
    assert report.documents[1].uri.endswith("caf\ufffd source.txt")


@pytest.mark.parametrize("role", ["source", "response", "context"])
@pytest.mark.parametrize("kind", ["/dev/zero", "pipe", "huge"])
def test_what_has_no_end_is_refused_in_one_line(files, capsys, role, kind):
    path = files / kind.strip("/").replace("/", "-") if kind != "/dev/zero" else Path(kind)
    if kind == "pipe":
        os.mkfifo(path)
    if kind == "huge":
        with path.open("wb") as file:
            file.truncate(FILE_BYTES + 1)
    given = {"source": files / "source.txt", "response": files / "response.txt", role: path}
    assert run("verify", *(word for name, at in given.items() for word in (f"--{name}", at))) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert ("larger than 64 MB" if kind == "huge" else "not a file") in err


@pytest.mark.parametrize("command", [["batch", "--out"], ["report", "--html"]])
def test_a_pipe_is_no_case_file_and_no_report(files, capsys, command):
    os.mkfifo(files / "pipe")
    assert run(command[0], files / "pipe", command[1], files / "out") == 2
    assert "a device or a pipe" in capsys.readouterr().err


def test_a_directory_is_no_source(files, capsys):
    assert verify(files, source=".") == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "response",
    [
        "Boat.",
        "👩‍👩‍👧‍👦 Ada lit the lamp. e\u0301",
        "أضاءت آدا المصباح.",
        "Ada\r\nlit\rthe lamp.",
        SOURCE * 3,
    ],
    ids=["one word", "emoji", "right to left", "line ends", "longer than its source"],
)
def test_odd_responses_are_checked_without_complaint(files, response):
    (files / "response.txt").write_bytes(response.encode())
    assert verify(files, "--json", files / "r.json") == 0
    report = Report.model_validate_json((files / "r.json").read_text("utf-8"))
    for claim in report.claims:
        assert report.case.response[claim.origin.start : claim.origin.end] == claim.origin.text


@pytest.mark.heavy
def test_two_megabytes_on_one_line_are_checked(files):
    (files / "source.txt").write_text(SOURCE.replace("\n", " ") * 10_000, "utf-8")
    assert verify(files) == 0


def test_a_file_name_cannot_write_to_the_terminal(files, capsys):
    assert verify(files, source="no\x1b[31m\nsuch") == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert err.count("\n") == 1


def test_a_servers_error_writes_nothing_to_the_terminal_of_doctor(files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    with ChatServer(always(Reply(status=500))) as server:
        judge = f"openai:m\\u001b[31m@{server.address}"
        (files / "longproof.toml").write_text(f'[panel]\njudges = ["{judge}"]\n', "utf-8")
        assert run("doctor") == 2
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err


def test_a_pdfs_warnings_dont_reach_the_terminal(files, capfd):
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(10, 10)
    writer.write(files / "odd.pdf")
    data = (files / "odd.pdf").read_bytes()
    (files / "odd.pdf").write_bytes(b"\x1b[31mjunk\n" + data.replace(b"startxref", b"startxxxx"))
    assert verify(files, source="odd.pdf") == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert "\x1b" not in err


def test_words_need_no_index_and_the_text_is_written_all_the_same(files, capsys):
    assert run("index", files / "source.txt", "--text", files / "text.txt") == 0
    assert (files / "text.txt").read_text("utf-8") == SOURCE
    assert "nothing to build" in capsys.readouterr().out


def test_there_is_nothing_to_index_without_a_source(capsys):
    assert run("index") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_trust_is_counted_from_a_label_on(files, capsys):
    assert verify(files, "--at-least", "implicitly_supported") == 0
    assert "1 of 1 sentences are at least implicitly_supported" in capsys.readouterr().err


def test_protocols_doctor_and_schema_answer(capsys):
    assert run("protocols") == 0
    assert run("doctor") == 0
    told = capsys.readouterr().out
    extras = {*(metadata("longproof").get_all("Provides-Extra") or [])} - {"test", "dev"}
    assert all(f"  extra {extra}: " in told for extra in extras)
    assert all(f"  {name} " in told for name in ("langgraph", "httpx2", "bm25s"))
    assert run("doctor", "--schema") == 0
    assert "verdict" in json.loads(capsys.readouterr().out)["properties"]


def test_an_interrupt_exits_with_130(monkeypatch):
    import longproof.cli.commands

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(longproof.cli.commands, "app", interrupted)
    assert run("demo") == 130


def test_an_unforeseen_error_exits_with_70_one_line_and_a_saved_traceback(monkeypatch, tmp_path, capsys):
    import longproof.cli.commands

    def crashing(*_, **__):
        raise RecursionError("line\x1b[31m\none, sk-SECRET, tok-SECRET")

    monkeypatch.setattr(longproof.cli.commands, "app", crashing)
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LONGPROOF_API_KEY", "sk-SECRET\n")
    monkeypatch.setenv("LONGPROOF_API_KEY_HOSTS", "localhost=MY_TOKEN")
    monkeypatch.setenv("MY_TOKEN", "tok-SECRET")
    assert run("verify", "--check") == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    (saved,) = (tmp_path / "home" / "errors").iterdir()
    assert str(saved) in err
    assert saved.stat().st_mode & 0o077 == 0
    assert "RecursionError" in saved.read_text("utf-8")
    assert "SECRET" not in err + saved.read_text("utf-8")
    monkeypatch.setenv("LONGPROOF_HOME", "/dev/null/nowhere")
    assert run("verify", "--check") == 70
    assert capsys.readouterr().err.count("\n") == 1


class Unwritable(io.StringIO):
    """Standard output that takes nothing."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, _: str) -> int:
        raise self._error

    def fileno(self) -> int:
        return os.open(os.devnull, os.O_WRONLY)


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            2,
            "longproof: can't write: No space left on device\n",
        ),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 141, ""),
    ],
)
@pytest.mark.parametrize("more", [["--html", "r.html"], ["--json", "-"], None])
def test_where_nothing_can_be_written_is_no_verdict(files, capsys, monkeypatch, error, code, says, more):
    monkeypatch.chdir(files)
    monkeypatch.setattr("sys.stdout", Unwritable(error))
    assert (run("protocols") if more is None else verify(files, "--check", *more)) == code
    assert capsys.readouterr().err.endswith(says)
    assert (files / "r.html").exists() == (more == ["--html", "r.html"])


@pytest.mark.heavy
@pytest.mark.parametrize(("target", "code"), [("> /dev/full", 2), ("| true", 141)])
def test_so_it_is_of_a_real_device_and_a_real_pipe(files, target, code):
    asked = "longproof verify --check --source source.txt --response response.txt"
    command = f"{asked} {target}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=files, check=False)
    assert done.returncode == code


@pytest.mark.parametrize(
    ("language", "first", "needs"),
    [
        ("en", "No model is asked: this is the offline check.", "To see those takes a model"),
        ("zh", "不询问任何模型：这是离线检查。", "要发现这些需要模型"),
    ],
)
def test_the_offline_demo_says_what_it_found_and_that_the_rest_needs_a_model(
    tmp_path, capsys, monkeypatch, language, first, needs
):
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path))
    assert run("demo", "--offline-check", "--language", language) == 0
    lines = capsys.readouterr().out.splitlines()
    page = tmp_path / f"demo-{language}-offline.html"
    assert (lines[0], lines[-1]) == (first, str(page))
    assert lines[-3].endswith(needs)
    assert page.exists()


def test_nothing_is_said_of_planted_errors_where_a_user_checks_the_same_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    story, summary = example("en")
    Path("story.txt").write_text(story.text, "utf-8")
    Path("summary.txt").write_text(summary.text, "utf-8")
    run("verify", "--source", "story.txt", "--response", "summary.txt", "--html", "page.html")
    assert "planted" not in "".join(capsys.readouterr()) + Path("page.html").read_text("utf-8")


def test_the_command_is_installed():
    done = subprocess.run(["longproof", "--help"], capture_output=True, text=True, check=True)
    assert "verify" in done.stdout

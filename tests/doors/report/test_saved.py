"""Reports opened again: one that was damaged or altered is refused in one line, never shown."""

import json

import pytest
from fakes import ChatServer
from reader import denying
from terminal import SOURCE, run, verify

from longproof.retrieval.types import text_id

RESPONSE = "Ada lit the lamp at nine. Tom sold the boat to Ada for ninety pounds."


@pytest.fixture
def written(tmp_path, capsys):
    """The JSON of a real report, in a folder with its texts."""
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "response.txt").write_text(RESPONSE, "utf-8")
    files = {"source": tmp_path / "source.txt", "response": tmp_path / "response.txt"}
    with ChatServer(denying("ninety")) as server:
        assert verify("--judge", f"openai:m@{server.address}", "--json", tmp_path / "r.json", **files) == 0
    capsys.readouterr()
    return json.loads((tmp_path / "r.json").read_text("utf-8"))


def test_other_programs_find_these_keys(written) -> None:
    assert " ".join(written) == (
        "schema_version case documents verdict triage sentences claims searches calls counts coverage usage stamp"
    )
    assert " ".join(written["case"]) == "id task response source_ids context reference labels"
    assert " ".join(written["sentences"][0]) == "start end text label judgements"


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("schema_version", 1, "bad.json is a report of another edition: check its text again"),
        ("claims 0 sentence", 77, "claims.0.sentence is 77, of 2 sentences"),
        ("case response", RESPONSE.replace("nine.", "four."), "isn't the text that its hash names"),
        ("claims 0 origin end", 9999, "claims.0.origin lies outside"),
        ("claims 0 origin start", -1, "claims.0.origin lies outside"),
        ("sentences 1 text", "Else.", "sentences.1 quotes what"),
        ("claims 1 evidence 0 text", SOURCE[68::-1], "claims.1.evidence.0 quotes what"),
        ("claims 1 evidence 0 source_id", "sha256:0", "claims.1.evidence.0 points into a document"),
        ("claims 1 errors 0 span text", "twenty", "claims.1.errors.0.span quotes what"),
        ("documents", [], "its first document"),
        ("documents 1 id", "sha256:../../x", "documents.1 has no hash"),
        ("counts", {"no_fact": 5}, "its counts"),
        ("verdict", "faithful", "its verdict"),
        ("stamp judges", 7, "stamp.judges"),
        ("stamp cascade", {"cleared": "many"}, "stamp.cascade"),
        ("stamp money", [1], "stamp.money"),
        ("stamp seconds", float("nan"), "its stamp or usage holds a number"),
        ("usage calls", 10**400, "its stamp or usage holds a number"),
    ],
)
def test_a_damaged_report_is_refused_in_one_line(written, tmp_path, capsys, path, value, says):
    place, (*way, last) = written, (int(step) if step.isdigit() else step for step in path.split())
    for step in way:
        place = place[step]
    place[last] = value[: len(place[last])] if last == "text" else value  # not longer than its place
    (tmp_path / "bad.json").write_text(json.dumps(written), "utf-8")
    assert run("report", tmp_path / "bad.json") == 2
    told = capsys.readouterr()
    assert (says in told.err, told.err.count("\n"), told.out) == (True, 1, ""), told.err


def test_what_is_no_json_report_is_called_so(tmp_path, capsys):
    for text in ("Ada lit the lamp.", "[]", ""):
        (tmp_path / "novel.txt").write_text(text, "utf-8")
        assert run("report", tmp_path / "novel.txt") == 2
        assert "novel.txt is no JSON report: " in capsys.readouterr().err


def test_another_text_is_no_source_of_a_report_whatever_its_hash(written, tmp_path, capsys):
    other = "Ada lit the fire at nine. Tom lent the boat to Ada for twenty pounds.\n" * 3
    (tmp_path / "other.txt").write_text(other, "utf-8")
    assert run("report", tmp_path / "r.json", "--source", tmp_path / "other.txt") == 2
    assert "other.txt is no source of this report" in capsys.readouterr().err
    altered = json.loads(json.dumps(written).replace(text_id(SOURCE), text_id(other)))
    altered["documents"][1]["characters"] = len(other)
    (tmp_path / "bad.json").write_text(json.dumps(altered), "utf-8")
    assert run("report", tmp_path / "bad.json", "--source", tmp_path / "other.txt") == 2
    assert "quotes what doesn't stand at its place" in capsys.readouterr().err


def test_every_form_that_is_asked_for_is_written(written, tmp_path, capsys):
    forms = {"--html": "p.html", "--markdown": "p.md", "--corrected": "better.txt"}
    asked = [part for option, name in forms.items() for part in (option, tmp_path / name)]
    assert run("report", tmp_path / "r.json", *asked) == 0
    assert all((tmp_path / name).stat().st_size for name in forms.values())
    told = capsys.readouterr().out
    assert (told.count("file://"), "1 of 1 wrong places corrected: " in told) == (3, True)
    written["documents"][1]["uri"] = "x" * 9000
    (tmp_path / "r.json").write_text(json.dumps(written), "utf-8")
    for more in ((), ("--markdown", "-")):
        assert run("report", tmp_path / "r.json", "--source", tmp_path / "source.txt", *more) == 0
        assert "ninety" in capsys.readouterr().out


def test_two_outputs_never_share_a_file_and_none_takes_an_inputs_place(written, tmp_path, capsys):
    report, source, x = tmp_path / "r.json", tmp_path / "source.txt", tmp_path / "x"
    before = report.read_bytes()
    for arguments, says in (
        (("report", report, "--html", x, "--markdown", tmp_path / "." / "x"), "two outputs"),
        (("report", report, "--markdown", source), "is read"),
        (("report", report, "--html", report), "is read"),
        (("report", report, "--html", "-"), "--html goes to a file"),
        (("report", report, "--corrected", "-"), "--corrected goes to a file"),
        (("report", report, "--corrected", "better.exe"), ".txt or .docx"),
    ):
        assert run(*arguments) == 2
        assert says in capsys.readouterr().err
    assert (report.read_bytes(), source.read_text("utf-8"), x.exists()) == (before, SOURCE, False)

"""The corrected text: what is changed and what not, in each of its forms; LibreOffice sees the changes as tracked."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from longproof.agent.types import Error
from longproof.cli import main
from longproof.report.control_characters import visible
from longproof.report.corrected import changes, corrected
from longproof.report.saved import open_report
from longproof.retrieval.types import BadInput


def told(report: Any, name: str = "x.txt", accepted: Any = None) -> str:
    return corrected(report, name, accepted).decode()


def with_errors(report: Any, *errors: Error) -> Any:
    """The report with these errors in its first claim, and none in the others."""
    claims = [claim.model_copy(update={"errors": ()}) for claim in report.claims]
    claims[0] = claims[0].model_copy(update={"errors": errors})
    return report.model_copy(update={"claims": tuple(claims)})


def error(report: Any, wrong: str, correction: str | None) -> Error:
    start = report.case.response.index(wrong)
    span = report.claims[0].errors[0].span
    return Error(
        span=span.model_copy(update={"start": start, "end": start + len(wrong), "text": wrong}),
        correction=correction,
    )


def test_known_corrections_are_made_and_nothing_else_changes(english_report: Any) -> None:
    report, _ = english_report
    wanted = report.case.response.replace("thirty years", "thirty-one years").replace(
        "her cousin", "her brother"
    )
    assert told(report) == wanted.replace(" Nobody in", " in")
    assert told(report, accepted={"c2:0"}) == report.case.response.replace("her cousin", "her brother")
    assert told(report, accepted=()) == report.case.response


def test_what_nobody_knows_is_left_and_of_two_overlapping_the_first_is_made(english_report: Any) -> None:
    report, _ = english_report
    unknown = with_errors(report, error(report, "thirty years", None))
    assert told(unknown) == report.case.response
    two = with_errors(report, error(report, "thirty years", "forty"), error(report, "years. His", "x"))
    assert [change.key for change in changes(two)] == ["c0:0"]
    nearby = with_errors(report, error(report, "thirty ", "forty "), error(report, "years", ""))
    assert told(nearby).startswith("Abel Marlock kept the gauge for forty . His")


def test_supported_claims_are_never_corrected(english_report: Any) -> None:
    report, _ = english_report
    calm = with_errors(report, error(report, "thirty years", "forty"))
    claim = calm.claims[0].model_copy(update={"label": "implicitly_supported"})
    assert told(calm.model_copy(update={"claims": (claim, *calm.claims[1:])})) == report.case.response


def test_markdown_marks_changes_and_lets_no_text_be_markup(english_report: Any, hostile_report: Any) -> None:
    marked = told(english_report[0], "x.md")
    assert "<del>thirty years</del><ins>thirty-one years</ins>" in marked
    assert marked.count("\n\n") == english_report[0].case.response.count("\n\n")
    assert {*re.findall(r"</?\w+", told(hostile_report[0], "x.md"))} <= {"<del", "</del", "<ins", "</ins"}


def test_the_command_writes_it_and_says_what_was_left(
    english_report: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "r.json", tmp_path / "better.txt"
    path.write_text(english_report[0].model_dump_json(), "utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["report", str(path), "--corrected", str(out)])
    assert not stop.value.code
    assert out.read_text("utf-8") == told(open_report(path))
    assert re.match(r"3 of \d+ wrong places corrected", capsys.readouterr().out)
    with pytest.raises(BadInput, match=r"\.md, \.txt, \.docx"):
        corrected(english_report[0], "x.exe")


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["english_report", "hostile_report", "chinese_report"])
def test_word_processors_see_tracked_changes(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    pytest.importorskip("docx", reason="python-docx is not installed")
    report, _ = request.getfixturevalue(name)
    path = tmp_path / "better.docx"
    path.write_bytes(corrected(report, path.name))
    body = ElementTree.fromstring(zipfile.ZipFile(path).read("word/document.xml"))
    made = changes(report)
    gone = ["".join(one.itertext()) for one in body.iterfind(".//{*}del")]
    assert len(gone) >= len(made) > 0
    assert len(list(body.iterfind(".//{*}ins"))) == sum(bool(change.new) for change in made)
    words = [report.case.response[change.start : change.end] for change in made]
    assert "".join(gone) == visible("".join(words).replace("\n", ""))
    if not shutil.which("soffice"):
        pytest.skip("LibreOffice is not installed (Debian: apt-get install libreoffice-writer-nogui)")
    home = f"-env:UserInstallation=file://{tmp_path}/office"
    asked = ["soffice", home, "--headless", "--convert-to", "fodt", "--outdir", tmp_path, path]
    subprocess.run(asked, check=True, capture_output=True, timeout=120)
    opened = ElementTree.parse(tmp_path / "better.fodt")
    assert len(list(opened.iterfind(".//{*}changed-region/{*}deletion"))) == len(gone)
    inserted = len(list(opened.iterfind(".//{*}changed-region/{*}insertion")))
    assert inserted == sum(bool(change.new) for change in made)
    creators = {
        one.text for one in opened.iterfind(".//{*}changed-region//{http://purl.org/dc/elements/1.1/}creator")
    }
    assert creators == {"Longproof"}

"""`from longproof import …`: what a Python user gets, and what is refused in one line."""

from pathlib import Path

import pytest
from embedded import RESPONSE, SOURCE, plain
from fakes import ChatServer, Reply, always

import longproof
from longproof import BadInput, Refused, Report, Verifier


@pytest.fixture(scope="module")
def report() -> Report:
    return Verifier().verify(SOURCE, RESPONSE)


def test_the_names_that_a_program_needs_are_public(report):
    assert {"Verifier", "Report", "BadInput", "Refused"} <= set(longproof.__all__)
    assert isinstance(report, Report)
    with pytest.raises(AttributeError, match="Nothing"):
        _ = longproof.Nothing


def test_a_report_is_one_line_in_a_session_and_a_page_on_request(report):
    assert repr(report) == "Report(case='case', verdict='undecided', claims=3, undecided=3)"
    assert "\n" not in str(report)
    page = report.html()
    assert page.startswith("<!doctype html>")
    assert "The bridge fell in March." in page


def test_a_saved_report_finds_its_texts_where_its_verifier_kept_them(tmp_path):
    made = Verifier(home=str(tmp_path)).verify(SOURCE, RESPONSE)
    assert "The bridge fell" in made.html()
    saved = Report.model_validate_json(made.model_dump_json())
    assert plain(saved) == plain(made)
    text = SOURCE.replace("bridge", "steeple")
    other = Report.model_validate_json(
        (Verifier(home=str(tmp_path)).verify(text, "Ada left.")).model_dump_json()
    )
    with pytest.raises(BadInput, match="give it again"):
        other.html()
    assert "The steeple fell" in other.html(source=text)


@pytest.mark.parametrize(
    "name",
    [
        "novel.txt",
        "My novel.epub",
        "/books/the long one.pdf",
        "..\\a.md",
        "https://example.org/a",
        "~/a.HTML\n",
    ],
)
def test_a_name_in_the_place_of_a_text_is_refused(name):
    for source, response in ((name, RESPONSE), ([SOURCE, name], RESPONSE), (SOURCE, name)):
        with pytest.raises(BadInput, match=r"looks like a file's name.*Path"):
            Verifier().verify(source, response)


@pytest.mark.parametrize(
    "text", ["He read a book called ten.txt", "Ada left.", "3.14", "See https://example.org/a"]
)
def test_texts_that_only_mention_a_name_are_texts(text):
    assert Verifier().verify(SOURCE, text).case.response == text


def test_a_server_that_refuses_raises_what_can_be_caught():
    with ChatServer(always(Reply(status=401))) as server, pytest.raises(Refused, match="check the key"):
        Verifier(judges=[f"openai:m@{server.address}"]).verify(SOURCE, RESPONSE)


def test_the_answer_to_a_question_may_be_a_name():
    assert Verifier().verify(SOURCE, "package.json", task="answer", context="Which file?").claims


def test_files_are_given_as_paths(tmp_path: Path):
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "response.md").write_text(RESPONSE, "utf-8")
    read = Verifier().verify(tmp_path / "source.txt", tmp_path / "response.md")
    assert plain(read) == plain(Verifier().verify(SOURCE, RESPONSE))
    with pytest.raises(BadInput, match=r"none\.txt"):
        Verifier().verify(SOURCE, tmp_path / "none.txt")


def test_a_session_is_told_what_there_is_to_import_and_what_a_verifier_asks():
    assert {"Verifier", "Report", "BadInput", "Refused"} <= set(dir(longproof))
    assert repr(Verifier()) == "Verifier(judges=['offline'], protocol='longproof')"
    asked = Verifier(judges=["openai:m@http://127.0.0.1:9/v1", "openai:n"])
    assert (
        repr(asked) == "Verifier(judges=['openai:m@http://127.0.0.1:9/v1', 'openai:n'], protocol='longproof')"
    )

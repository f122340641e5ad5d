"""`from longproof import …`: what a Python user gets, and what is refused in one line."""

import asyncio
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from embedded import RESPONSE, SOURCE, plain
from fakes import ChatServer
from reader import Reply, always, denying, well

import longproof
from longproof import BadInput, Refused, Report, Verifier
from longproof.graphs.joined import SOURCE_CHARACTERS
from longproof.inputs import case_of, documents_of, seem_swapped


def test_the_names_that_a_program_needs_are_public():
    assert {"Verifier", "Report", "BadInput", "Refused"} <= set(longproof.__all__)
    with pytest.raises(AttributeError, match="Nothing"):
        _ = longproof.Nothing


def test_a_report_is_one_line_in_a_session():
    report = Verifier().verify(SOURCE, RESPONSE)
    told = "Report(case='case', verdict='undecided', claims=3, undecided=3)"
    assert (repr(report), "\n" in str(report)) == (told, False)


def test_a_saved_report_finds_its_texts_where_its_verifier_kept_them(tmp_path):
    text = SOURCE.replace("bridge", "steeple")
    made = Verifier(home=str(tmp_path)).verify(text, RESPONSE)
    assert re.match(r"(?s)<!doctype html>.*The steeple fell", made.html())
    saved = Report.model_validate_json(made.model_dump_json())
    assert plain(saved) == plain(made)
    with pytest.raises(BadInput, match="give it again"):
        saved.html()
    assert "The steeple fell" in saved.html(source=text)


@pytest.mark.parametrize(
    "name", ["novel.txt", "/books/the long one.pdf", "..\\a.md", "https://example.org/a", "~/a.HTML\n"]
)
def test_a_name_in_the_place_of_a_text_is_refused(name):
    for source, response in ((name, RESPONSE), ([SOURCE, name], RESPONSE), (SOURCE, name)):
        with pytest.raises(BadInput, match=r"looks like a file's name.*Path"):
            Verifier().verify(source, response)


@pytest.mark.parametrize(
    "text", ["It reads config.json", "See chapter notes.md", "Ada left.", "3.14", "See https://example.org/a"]
)
def test_texts_that_only_mention_a_name_are_texts(text):
    events: list[object] = []
    assert Verifier().verify(SOURCE, text, progress=events.append).case.response == text
    assert events
    assert Verifier().verify(SOURCE, "package.json", task="answer", context="Which file?").claims


def test_files_are_given_as_paths(tmp_path):
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    (tmp_path / "response.md").write_text(RESPONSE, "utf-8")
    read = Verifier().verify(tmp_path / "source.txt", tmp_path / "response.md")
    assert plain(read) == plain(Verifier().verify(SOURCE, RESPONSE))
    with pytest.raises(BadInput, match=r"none\.txt"):
        Verifier().verify(SOURCE, tmp_path / "none.txt")


def test_a_report_says_what_is_wrong_and_what_should_stand_there():
    text = "Ada lit the lamp. Tom sold the boat to Ada for thirty pounds."
    with ChatServer(denying("thirty", "twenty")) as server:
        report = Verifier([f"openai:m@{server.address}"]).verify(SOURCE, text)
    (wrong,) = report.wrong
    assert (wrong.words, wrong.correction, wrong.label) == ("thirty", "twenty", "contradicting")
    assert (text[wrong.start : wrong.end], text[18:]) == (wrong.words, wrong.sentence)
    assert wrong.quotes[0] in SOURCE
    assert report.corrected() == text.replace("thirty", "twenty")
    assert "thirty" in report.markdown()


LONG = "\n".join(f"On day {n} the keeper of gate {n} sold lamps." for n in range(SOURCE_CHARACTERS // 30))
CASES = [
    {"source": LONG, "response": "On day 7 the keeper of gate 7 sold lamps.", "case_id": "true"},
    {"source": LONG, "response": "On day 8 the keeper of gate 8 sold boats.", "case_id": "false"},
    {"source": SOURCE, "response": "Tom sold the boat to Ada for twenty pounds."},
    {"source": LONG, "response": "…"},
    {"source": SOURCE, "respons": "misspelt"},
    {"source": Path("none.txt"), "response": "Ada left."},
]


def test_many_cases_are_checked_in_one_call_and_those_with_one_source_together(tmp_path):
    async def notebook(verifier: Verifier) -> list[tuple[dict[str, Any], Any]]:
        return [*verifier.verify_many(CASES)]

    with ChatServer(denying("boats")) as server:
        verifier = Verifier(judges=[f"openai:m@{server.address}"], home=str(tmp_path))
        ended = asyncio.run(notebook(verifier))
    reports = {CASES.index(case): report for case, report in ended}
    verdicts = [getattr(reports[n], "verdict", type(reports[n])) for n in range(6)]
    assert verdicts == ["faithful", "hallucinated", "faithful", BadInput, BadInput, BadInput]
    assert "source, response" in str(reports[4])
    assert ([wrong.words for wrong in reports[1].wrong], reports[2].case.id) == (["boats"], "case-3")
    assert "sold boats" in reports[1].html()
    together = [one for one in server.asked if "gate 7" in one.user and "gate 8" in one.user]
    assert [one for one in together if one.form == "Findings"]


def test_who_stops_reading_many_reports_stops_the_checks(tmp_path):
    cases = [{"source": f"Ada has {n} lamps.", "response": f"Ada has {n} lamps."} for n in range(20)]

    async def read_one(verifier: Verifier) -> None:
        steps = verifier.averify_many(cases, parallel=1)
        await anext(steps)
        await steps.aclose()
        await verifier.close()

    with ChatServer(well) as server:
        asyncio.run(read_one(Verifier(judges=[f"openai:m@{server.address}"], home=str(tmp_path))))
        assert len(server.asked) < 10


def test_a_server_that_refuses_raises_what_can_be_caught_and_ends_all_cases():
    with ChatServer(always(Reply(status=401))) as server:
        verifier = Verifier(judges=[f"openai:m@{server.address}"])
        with pytest.raises(Refused, match="check the key"):
            verifier.verify(SOURCE, RESPONSE)
        with pytest.raises(Refused, match="check the key"):
            verifier.verify_many(CASES)


GIVEN = {"source": "Ada lit the lamp.", "response": "Ada lit the lamp."}


def test_many_cases_come_back_in_their_order_and_what_is_no_case_has_its_reason():
    cases = [
        {**GIVEN, "id": "a"},
        1,
        {"source": "x"},
        {**GIVEN, "case_id": "d"},
        {**GIVEN, "source": {"d": date(2026, 1, 1)}},
    ]
    done = Verifier().verify_many(cases)
    assert [case for case, _ in done] == cases
    assert [type(report) for _, report in done] == [Report, BadInput, BadInput, Report, BadInput]
    assert [report.case.id for _, report in done if isinstance(report, Report)] == ["a", "d"]


def test_no_case_at_a_time_is_refused():
    with pytest.raises(BadInput, match="parallel is at least 1, not 0"):
        Verifier().verify_many([GIVEN], parallel=0)


@pytest.mark.parametrize("source", [{"d": date(2026, 1, 1)}, [Path("x"), 1], [{"d": {1, 2}}], 7])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(BadInput):
        documents_of(source)


def test_a_record_among_sources_is_a_source_of_its_own():
    lamp, boat = {"lamp": "nine"}, {"boat": "twenty"}
    assert [document.kind for document in documents_of(["Ada lit the lamp.", lamp])] == ["text", "record"]
    assert [document.raw for document in documents_of([lamp, boat])] == [
        '[{"lamp": "nine"}, {"boat": "twenty"}]'
    ]


def test_an_id_is_given_once():
    with pytest.raises(BadInput, match="give one of them"):
        case_of("Ada lit the lamp.", id="a", case_id="b")


def test_the_name_of_a_file_that_is_there_is_no_response(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "summary").write_text("Ada lit the lamp.", "utf-8")
    with pytest.raises(BadInput, match="looks like a file's name"):
        case_of("summary")


@pytest.mark.parametrize(
    ("source", "characters", "swapped"),
    [
        ("x" * 1000, 5000, False),
        ("x" * 1000, 5001, True),
        ("x" * 2000, 9000, False),
        ({"a": 1}, 6000, False),
        ("", 6000, False),
    ],
)
def test_a_response_far_longer_than_its_source_may_be_swapped_with_it(source, characters, swapped):
    assert seem_swapped(documents_of(source), "y" * characters) == swapped

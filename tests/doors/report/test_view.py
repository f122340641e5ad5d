"""What is said of a report before it is drawn: its order, its judges, how far was looked, what files leave out."""

from typing import Any, get_args

import pytest
from scripted import ScriptedJudge

from longproof import Verifier
from longproof.agent.report import WRONG
from longproof.agent.types import DecidedBy, Look
from longproof.report.markdown import to_markdown
from longproof.report.saved import open_report
from longproof.report.totals import judge_names
from longproof.report.view import ClaimView, ReportView, describe_judges, what_would_settle
from longproof.report.words import words
from longproof.retrieval.types import Document, FileNotes

LONG = "openai:deepseek-ai/DeepSeek-R1@http://127.0.0.1:8000/v1"


def test_the_wrong_come_first_and_what_no_model_read_is_apart(english_report, triage_report, standing_report):
    report, texts = english_report
    view = ReportView(report, texts)
    listed = ([claim.id for claim in claims] for claims in (view.wrong, view.unsettled, view.unread))
    assert [*listed] == [["c0", "c2", "c3"], ["c5"], []]
    unproved = report.claims[0].model_copy(update={"proved": False})
    view = ReportView(report.model_copy(update={"claims": (unproved, *report.claims[1:])}), texts)
    assert [claim.id for claim in view.wrong] == ["c2", "c3", "c0"]
    triage = ReportView(*triage_report)
    assert (len(triage.unread), triage.unsettled) == (39, [])
    standing = ReportView(*standing_report)
    assert (standing.report.verdict, standing.outcome) == ("undecided", standing.say["all_stand_unread"])


def test_where_nothing_is_wrong_it_says_so_or_what_could_not_be_decided(english_report):
    report, texts = english_report
    for outcome, change in (
        ("nothing wrong was found in 7 sentences", lambda label: "explicitly_supported"),
        ("4 of 7 sentences could not be decided", lambda label: None if label in WRONG else label),
    ):
        sentences = [one.model_copy(update={"label": change(one.label)}) for one in report.sentences]
        changed = report.model_copy(update={"sentences": tuple(sentences)})
        assert ReportView(changed, texts).outcome == outcome


def lines(built: Any) -> list[str]:
    view = ReportView(*built, words("en"))
    return [ClaimView(view, claim).looked for claim in view.report.claims]


def test_the_steps_the_search_the_share_and_what_would_settle_it_are_told(looked_report, english_report):
    assert [line.removeprefix("looked at: its place, ") for line in lines(looked_report)] == [
        "<1% of the source was read for it",
        "window, search (“Abel sang”, “a song”), 7% of the source was read for it",
        "window, search (“drowned”, “drowned”, “drowned”, “drowned”, + 3 more), all of the source was read",
        "window, search, a reading of all of it, not finished, 99% of the source was read for it",
    ]
    sourceless = looked_report[0].model_copy(update={"documents": looked_report[0].documents[:1]})
    assert not [line for line in lines((sourceless, {})) if "of the source" in line]
    assert set(lines(english_report)) == {""}
    found, searched, read, unpaid = (what_would_settle(one, words("en")) for one in looked_report[0].claims)
    assert (found, "--reach scan" in searched, read, "--max-tokens" in unpaid) == ("", True, "", True)


def test_what_was_searched_for_can_not_pass_for_our_words(hostile_search):
    asked = next(line for line in lines(hostile_search) if "Abel sang" in line)
    assert (len(asked) < 250, "a”)" in asked) == (True, False)
    assert asked.endswith("”), 7% of the source was read for it")


def test_a_model_is_called_by_its_own_name_and_no_two_judges_the_same():
    given = ["openai:gpt-4.1", LONG, f"arbiter:{LONG}", "nli:org/model", "offline", "person:Ines"]
    called = ["gpt-4.1", "DeepSeek-R1", "DeepSeek-R1", "nli:org/model", "offline", "person:Ines"]
    assert list(judge_names(given).values()) == called
    for alike in ([LONG, LONG.replace("8000", "9000")], ["openai:a", "a", "", "openai:"]):
        assert judge_names(alike) == dict(zip(alike, alike, strict=True))


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_every_judge_and_step_is_explained(spoken):
    say = words(spoken)
    assert all(say[f"{step}_is"] for step in (*get_args(Look), *get_args(DecidedBy)))
    names = (LONG, "nli:m", "offline", "person:Ines", "mine")
    described = describe_judges(dict.fromkeys((*names, f"arbiter:{LONG}"), "short"), say)
    assert len({about.partition(say["colon"])[0] for _, about in described.values()}) == len(names)
    assert described[f"arbiter:{LONG}"][1].endswith(LONG)


WHOLE = "Ada lit the lamp at nine. Tom sold the boat to Ada."
GUESSED = FileNotes(left_out=("comments",), guessed_encoding="cp1252")
UNREAD = FileNotes(unread=("charts and diagrams",))


@pytest.mark.parametrize(("notes", "verdict"), [(GUESSED, "faithful"), (UNREAD, "undecided")])
def test_a_response_of_which_not_all_was_read_is_never_faithful(tmp_path, notes, verdict):
    judge, response = ScriptedJudge("j", "explicitly_supported"), Document.of(WHOLE, notes=notes)
    for source in (f"{WHOLE} It rained.", WHOLE):
        report = Verifier([judge], home=str(tmp_path)).verify(source, response)
        assert (report.verdict, report.documents[0].notes) == (verdict, notes)
    (tmp_path / "report.json").write_text(report.model_dump_json(), "utf-8")
    assert open_report(tmp_path / "report.json").model_dump() == report.model_dump()


def test_a_source_only_says_what_is_missing_from_its_text(tmp_path):
    notes = FileNotes(unread=("charts and diagrams",), left_out=("comments", "<b>"), guessed_encoding="big5")
    source = Document.of(WHOLE, title="Lamp", notes=notes)
    report = Verifier(home=str(tmp_path)).verify(source, WHOLE)
    assert report.verdict == "faithful"
    assert [line for line in ReportView(report).totals if line.startswith("Lamp")] == [
        "Lamp: its encoding was guessed: big5",
        "Lamp: its readers see what was not read: charts and diagrams",
        "Lamp: left out on purpose: comments, <b>",
    ]
    assert "<b>" not in to_markdown(report, {})

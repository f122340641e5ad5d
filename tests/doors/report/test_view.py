"""What is said of a report before it is drawn: its order, its texts, its judges, how far was looked."""

from pathlib import Path
from typing import Any, get_args

import pytest

from longproof import Verifier
from longproof.agent.report import WRONG
from longproof.agent.types import DecidedBy, Look
from longproof.report.markdown import to_markdown
from longproof.report.saved import open_report
from longproof.report.totals import judge_names, total_lines
from longproof.report.view import ReportView, describe_judge, look_line, what_would_settle
from longproof.report.words import language, words
from longproof.retrieval.types import Document, FileNotes

LONG = "openai:deepseek-ai/DeepSeek-R1@http://127.0.0.1:8000/v1"


def test_the_wrong_come_first_then_the_unsettled_and_what_no_model_read_is_apart(
    english_report: Any, triage_report: Any
) -> None:
    view = ReportView(*english_report)
    assert [claim.id for claim in view.wrong] == ["c0", "c2", "c3"]
    assert ([claim.id for claim in view.unsettled], view.unread) == (["c5"], [])
    triage = ReportView(*triage_report)
    assert (len(triage.unread), triage.unsettled) == (38, [])


def test_what_stands_there_to_the_last_claim_is_no_verdict(standing_report: Any) -> None:
    view = ReportView(*standing_report)
    assert (view.report.verdict, view.outcome) == ("undecided", view.say["all_stand_unread"])
    assert "--judge openai:" in view.notice


def test_a_faithful_report_says_that_nothing_was_found(english_report: Any) -> None:
    report, texts = english_report
    calm = [one.model_copy(update={"label": "explicitly_supported"}) for one in report.sentences]
    claims = [one.model_copy(update={"label": "explicitly_supported"}) for one in report.claims]
    changed = {"sentences": tuple(calm), "claims": tuple(claims), "verdict": "faithful"}
    view = ReportView(report.model_copy(update=changed), texts)
    assert (view.outcome, view.findings) == ("nothing wrong was found in 7 sentences", [])


def test_what_could_not_be_decided_is_told_where_nothing_is_wrong(english_report: Any) -> None:
    report, texts = english_report
    labels = [None if one.label in WRONG else one.label for one in report.sentences]
    pairs = zip(report.sentences, labels, strict=True)
    sentences = tuple(one.model_copy(update={"label": label}) for one, label in pairs)
    view = ReportView(report.model_copy(update={"sentences": sentences}), texts)
    assert view.outcome == "4 of 7 sentences could not be decided"


def test_a_judge_that_was_there_is_not_said_to_be_silent(english_report: Any) -> None:
    report, _ = english_report
    answered = tuple(
        claim.model_copy(update={"judgements": [said for said in claim.judgements if said.label]})
        for claim in report.claims
    )
    lines = total_lines(report.model_copy(update={"claims": answered}), words("en"))
    assert "gave no answer" not in "\n".join(lines)


def test_a_text_with_another_hash_is_not_believed(english_report: Any) -> None:
    report, texts = english_report
    source = next(d for d in report.documents if d.role == "source")
    assert (ReportView(report, texts).missing, set(ReportView(report, texts).texts)) == ([], set(texts))
    assert ReportView(report, {source.id: texts[source.id] + " "}).missing == ["weir.txt"]
    claim = ReportView(report).claim(report.claims[0])
    assert [(quote.where, quote.text) for quote in claim.quotes] == [("weir.txt (13%)", "thirty-one years")]


def test_language_follows_the_letters() -> None:
    assert language("王冕 went home") == "en"
    assert language("王冕放牛，读书。") == "zh"


def lines(built: Any, spoken: Any) -> list[str]:
    report, _ = built
    return [look_line(report, claim, words(spoken)) for claim in report.claims]


def test_the_steps_the_search_and_the_share_stand_in_one_line(looked_report: Any) -> None:
    assert lines(looked_report, "en") == [
        "looked at: its place, <1% of the source was read for it",
        "looked at: its place, window, search (“Abel sang”, “a song”), 7% of the source was read for it",
        "looked at: its place, window, search (“drowned”, “drowned”, “drowned”, “drowned”, + 3 more), "
        "all of the source was read",
        "looked at: its place, window, search, a reading of all of it, not finished, "
        "99% of the source was read for it",
    ]


def test_what_would_settle_a_claim_depends_on_what_stopped_it(looked_report: Any) -> None:
    settle = [what_would_settle(claim, words("en")) for claim in looked_report[0].claims]
    assert [bool(one) for one in settle] == [False, True, False, True]
    assert "--reach scan" in settle[1]
    assert "--reach" not in settle[3]
    assert "--max-tokens" in settle[3]


def test_without_a_source_no_share_of_it_is_told_nor_of_a_report_that_does_not_say(
    looked_report: Any, english_report: Any
) -> None:
    sourceless = looked_report[0].model_copy(update={"documents": looked_report[0].documents[:1]})
    assert not [line for line in lines((sourceless, {}), "en") if "of the source" in line]
    assert set(lines(english_report, "en")) == {""}


def test_what_was_searched_for_is_cut_and_can_not_pass_for_our_words(hostile_search: Any) -> None:
    asked = next(line for line in lines(hostile_search, "en") if "Abel sang" in line)
    assert not set(asked) & set("\x1b\x07\x01\u202e\u2028")
    assert len(asked) < 250
    assert "a”)" not in asked
    assert asked.endswith("”), 7% of the source was read for it")


def test_a_model_is_called_by_its_own_name() -> None:
    given = ["openai:gpt-4.1", LONG, "nli:org/model", "offline", "person:Ines"]
    called = ["gpt-4.1", "DeepSeek-R1", "nli:org/model", "offline", "person:Ines"]
    assert list(judge_names(given).values()) == called


def test_two_judges_are_never_called_the_same() -> None:
    other = LONG.replace("8000", "9000")
    assert judge_names([LONG, other]) == {LONG: LONG, other: other}
    assert set(judge_names([LONG, f"arbiter:{LONG}"]).values()) == {"DeepSeek-R1"}
    alike = ["openai:a", "a", "", "openai:"]
    assert judge_names(alike) == dict(zip(alike, alike, strict=True))


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_every_judge_and_step_is_explained(spoken: Any) -> None:
    say = words(spoken)
    assert all(say[f"{step}_is"] for step in (*get_args(Look), *get_args(DecidedBy)))
    kinds = {describe_judge(name, say) for name in (LONG, "nli:m", "offline", "person:Ines", "mine")}
    assert len({told.partition(say["colon"])[0] for told in kinds}) == 5
    assert describe_judge(f"arbiter:{LONG}", say).endswith(LONG)


WHOLE = "Ada lit the lamp at nine. Tom sold the boat to Ada."


@pytest.mark.parametrize(
    ("notes", "verdict"),
    [
        (FileNotes(), "faithful"),
        (FileNotes(left_out=("comments",), guessed_encoding="cp1252"), "faithful"),
        (FileNotes(unread=("charts and diagrams",)), "undecided"),
    ],
)
def test_a_response_of_which_not_all_was_read_is_never_faithful(
    tmp_path: Path, notes: FileNotes, verdict: str
) -> None:
    response = Document.of(WHOLE, notes=notes)
    report = Verifier(home=str(tmp_path)).verify(WHOLE, response)
    assert report.verdict == verdict
    assert report.documents[0].notes == notes
    (tmp_path / "report.json").write_text(report.model_dump_json(), "utf-8")
    assert open_report(tmp_path / "report.json").model_dump() == report.model_dump()


def test_a_source_only_says_what_is_missing_from_its_text(tmp_path: Path) -> None:
    notes = FileNotes(unread=("charts and diagrams",), left_out=("comments", "<b>"), guessed_encoding="big5")
    source = Document.of(WHOLE, title="Lamp", notes=notes)
    report = Verifier(home=str(tmp_path)).verify(source, WHOLE)
    assert report.verdict == "faithful"
    view = ReportView(report)
    assert view.file_notes == [
        "Lamp: its encoding was guessed: big5",
        "Lamp: its readers see what was not read: charts and diagrams",
        "Lamp: left out on purpose: comments, <b>",
    ]
    assert [line for line in view.totals if line.startswith("Lamp")] == view.file_notes
    assert "&lt;b&gt;" not in to_markdown(report, {})
    assert "<b>" not in to_markdown(report, {})


def test_a_file_is_a_response_with_its_notes(tmp_path: Path) -> None:
    page = tmp_path / "answer.html"
    page.write_text(f"<p>{WHOLE}</p><iframe src=x></iframe><!-- c -->")
    report = Verifier(home=str(tmp_path)).verify(WHOLE, page)
    assert report.verdict == "undecided"
    assert report.documents[0].notes == FileNotes(left_out=("comments",), unread=("embedded pages",))
    assert ReportView(report).outcome

"""The corrected text: what is changed and what not, in each of its forms."""

import re
import zipfile
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import Error
from longproof.report.corrected import changes, corrected_text, known_changes
from longproof.retrieval.books import read_docx

LEFT = {
    "The lamp, [bright and new,] was lit.": "The lamp, was lit.",
    "Ada, [Tom], and Ben left.": "Ada, and Ben left.",
    "Ada came, [slowly].": "Ada came.",
    "[However], Ada came. [Tom, too, left.] Ben stayed.": "Ada came. Ben stayed.",
    "Ada (a [widow]) came.": "Ada (a) came.",
    "Ada ([a widow]) came.": "Ada came.",
    "Ada came, [late], [tired]. Tom left.": "Ada came. Tom left.",
    "Ada came[ at ]nine.": "Ada came nine.",
    "Ada [quickly] came: [late].": "Ada came.",
    "He said “[Never.]” and left.": "He said and left.",
    "First.\n[Second.]\nThird.": "First.\nThird.",
    "First.\n\n[Second.]\nThird.": "First.\n\nThird.",
    "First.\n\n[Second.]": "First.",
    "- Ada\n- [Tom]\n- Ben": "- Ada\n- Ben",
    "One line [ends\nanother] begins.": "One line begins.",
    "阿达，[点了灯]，走了。": "阿达，走了。",
    "阿达走了，[很慢]。": "阿达走了。",
    "阿达（[寡妇]）走了。": "阿达走了。",
    "他走了——[很慢]。": "他走了。",
    "[阿达]、汤姆、[本]来了。": "汤姆、来了。",
    "他说『[不]』，【[注]】走了。": "他说，走了。",
    "Ada came ‘[late]’ {[x]} in the [early] ’90s.": "Ada came in the ’90s.",
    "Mara, [the keeper] ([then old]), rowed home.": "Mara, rowed home.",
    "马拉，[守灯人]（[老人]），回家了。": "马拉，回家了。",
    "- [He died.] [He lived.]\n- She left.": "\n- She left.",
    "【阿达来了，[很慢]】": "【阿达来了】",
    "Pi is 3.[14], roughly.": "Pi is 3. roughly.",
}
"""Texts with what is taken out in brackets, and what is left: the last two are as good as it gets."""


MARKED = str.maketrans({"\u202e": "⟦RLO⟧", "\u202c": "⟦PDF⟧", "\x1b": "␛", "\x07": "␇", "\x01": "␁"})
"""What XML can't hold, or what turns a text around, and its mark in DOCX."""


def correct(report: Any, name: str = "x.txt", accepted: Any = None) -> str:
    return corrected_text(report, name, accepted).decode()


def with_errors(report: Any, *errors: Error) -> Any:
    """The report with these errors in its first claim, and none in the others."""
    claims = [claim.model_copy(update={"errors": ()}) for claim in report.claims]
    claims[0] = claims[0].model_copy(update={"errors": errors})
    return report.model_copy(update={"claims": tuple(claims)})


def error(report: Any, wrong: str, correction: str | None) -> Error:
    return error_at(report, report.case.response.index(wrong), wrong, correction)


def error_at(report: Any, start: int, wrong: str, correction: str | None) -> Error:
    span = report.claims[0].errors[0].span
    place = {"start": start, "end": start + len(wrong), "text": wrong}
    return Error(span=span.model_copy(update=place), correction=correction)


def test_known_corrections_are_made_and_nothing_else_changes(english_report):
    report, _ = english_report
    brother = report.case.response.replace("her cousin", "her brother")
    assert correct(report) == brother.replace("thirty years", "thirty-one years").replace(" Nobody in", " in")
    assert correct(report, accepted={"c2:0"}) == brother
    assert correct(report, accepted=()) == report.case.response
    claims = [claim.model_copy(update={"label": "implicitly_supported"}) for claim in report.claims]
    assert correct(report.model_copy(update={"claims": tuple(claims)})) == report.case.response


def test_what_nobody_knows_is_left_and_of_two_overlapping_the_first_is_made(english_report):
    report, _ = english_report
    unknown = with_errors(report, error(report, "thirty years", None))
    assert correct(unknown) == report.case.response
    two = with_errors(report, error(report, "thirty years", "forty"), error(report, "years. His", "x"))
    assert [change.key for change in changes(two)] == ["c0:0"]
    twice = with_errors(report, *[error(report, "thirty years", "forty")] * 2)
    assert len(known_changes(twice)) == len(changes(twice)) == 1
    pairs = {"Abel": "", " Marlock": " Marlow", "thirty ": "forty ", "years": ""}
    nearby = with_errors(report, *(error(report, *pair) for pair in pairs.items()))
    assert correct(nearby).startswith(" Marlow kept the gauge for forty . His")
    assert all(one.end <= other.start for one, other in pairwise(changes(nearby)))


def without(report: Any, bracketed: str) -> Any:
    """A report on the text without its brackets: what stands in them is wrong, and nothing comes in its place."""
    parts = re.split(r"\[(.*?)\]", bracketed, flags=re.DOTALL)
    case = report.case.model_copy(update={"response": "".join(parts)})
    places = [(len("".join(parts[:n])), part) for n, part in enumerate(parts) if n % 2]
    errors = [error_at(report, at, part, "") for at, part in places]
    return with_errors(report.model_copy(update={"case": case}), *errors)


@pytest.mark.parametrize("bracketed", LEFT)
def test_a_deletion_leaves_no_debris(english_report, bracketed):
    assert correct(without(english_report[0], bracketed)) == LEFT[bracketed]


@given(st.lists(st.sampled_from([*"ab ,.;()“”\n，。", "[x]", "[x y]", "[x\ny]"]), max_size=12))
def test_a_deletion_takes_marks_and_spaces_along_and_no_word(english_report, parts):
    text = "".join(parts)
    left = correct(without(english_report[0], text))
    assert re.sub(r"\W", "", left) == re.sub(r"\W", "", re.sub(r"\[.*?\]", "", text, flags=re.DOTALL))
    if "[" not in text:
        assert left == text


@pytest.fixture
def broken_report(english_report: Any) -> Any:
    """Deletions and insertions go over the ends of lines."""
    report = without(
        english_report[0],
        "One line שלום\u200f, \u200eA\u061c\u2028b\u3000c [ends\n\nanother] begins.\n\n[Gone.]\n\n"
        "Ada [left] at [ten\nsharp].",
    )
    *deleted, last = report.claims[0].errors
    return with_errors(report, *deleted, last.model_copy(update={"correction": "nine\nor so"})), {}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["english_report", "hostile_report", "chinese_report", "broken_report"])
def test_word_processors_see_tracked_changes(name, request, tmp_path):
    pytest.importorskip("docx", reason="python-docx is not installed")
    report, _ = request.getfixturevalue(name)
    path = tmp_path / "better.docx"
    path.write_bytes(corrected_text(report, path.name))
    made = changes(report)
    body = ElementTree.fromstring(zipfile.ZipFile(path).read("word/document.xml"))
    gone = "".join(report.case.response[change.start : change.end] for change in made)
    new = "".join(change.new for change in made)
    assert gone
    for words, place in ((gone, "del//{*}delText"), (new, "ins//{*}t")):
        marked = "".join(one.text or "" for one in body.iterfind(f".//{{*}}{place}"))
        assert marked == words.replace("\n", "").translate(MARKED)
    read = read_docx(path.read_bytes(), path.name)
    assert "".join(read.text.split()) == "".join(correct(report).translate(MARKED).split())
    assert read.notes.left_out == ("deletions",)

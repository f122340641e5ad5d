"""LongNovel (seed 004) through the graph: windows, one prompt, two judges and a third; malformed is never a label."""

from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from papers import END, SPLIT, asked_for, seats, traced, verifier
from reader import PROSE, Asked, Reader, repeating

from longproof import Verifier
from longproof.graphs.papers.longnovel import NO, YES, paper_answer

SCENES = [
    f"第{n}日，陆遥走到第{n}座桥，桥边住着姓{name}的船夫。" for n, name in enumerate("赵钱孙李周吴郑王冯陈")
]
FILLER = "雨下了整整一夜，河水慢慢涨上来，岸边的芦苇都伏倒了，没有人说话。"
NOVEL = "\n".join(scene + FILLER * 165 for scene in SCENES)
GOOD, WRONG = SCENES[1], "陆遥在第三座桥边杀死了姓李的船夫。"
RESPONSE = "\n".join([SCENES[0], GOOD, WRONG, SCENES[4]])


def narrative(asked: Asked) -> dict[str, Any]:
    """Finds the one planted sentence, wherever it stands in what is to be checked."""
    (passage,) = asked.parts("passage")
    if WRONG not in passage:
        return {"has_hallucination": NO, "details": []}
    detail = {
        "hallucination_type": "事件幻觉",
        "hallucinated_sentence": WRONG,
        "corrected_content": "陆遥在第三座桥边遇见姓李的船夫。",
        "reason": "原文只说船夫住在桥边。",
    }
    return {"has_hallucination": YES, "details": [detail]}


def analysed(asked: Asked) -> dict[str, Any]:
    return {"analysis": "逐句对照。", **narrative(asked)}


PAPER = Reader(Narrative=narrative, AnalysedNarrative=analysed)


def test_rag_shows_each_segment_its_window_and_one_flagged_segment_decides(tmp_path: Path) -> None:
    with ChatServer(PAPER) as server:
        report, path, _ = traced(verifier(server, tmp_path, "longnovel-rag"), NOVEL, RESPONSE)
        asked = asked_for(server, "Narrative")
    assert path == ["read", "cut", "align", "ask", "vote", *END]
    assert len(server.asked) == len(asked) == len(report.claims) == 4, "one call a segment, and nothing else"
    assert all(len(one.parts("passage")[0]) <= 150 and one.body["temperature"] == 0 for one in asked)
    first = next(one for one in asked if one.parts("passage") == [SCENES[0]])
    assert first.parts("evidence") == [NOVEL[: 3 * 5500]], "the first window is blocks 0, 1 and 2"
    for one in asked:
        (window,) = one.parts("evidence")
        start = NOVEL.index(window)
        assert start % 5500 == 0
        assert len(window) <= 7 * 5500
    assert report.verdict == "hallucinated"
    assert [claim.label for claim in report.claims] == [
        "implicitly_supported",
        "implicitly_supported",
        "contradicting",
        "implicitly_supported",
    ]
    (error,) = report.claims[2].errors
    assert (error.span.text, error.kind) == (WRONG, "event")
    assert report.stamp["coarse"] is True


def test_a_novel_of_many_blocks_is_never_shown_whole(tmp_path: Path) -> None:
    with ChatServer(PAPER) as server:
        verifier(server, tmp_path, "longnovel-rag").verify(NOVEL, RESPONSE)
        assert len(NOVEL) > 9 * 5500
        assert all(len(one.parts("evidence")[0]) < len(NOVEL) for one in server.asked)


@pytest.mark.parametrize(
    ("protocol", "form", "first"),
    [
        ("longnovel-zero-shot", "Narrative", "evidence"),
        ("longnovel-zero-shot-beginning", "Narrative", "passage"),
        ("longnovel-zero-shot-cot", "AnalysedNarrative", "evidence"),
    ],
)
def test_zero_shot_is_one_prompt_with_everything_in_the_papers_order(
    protocol: str, form: str, first: str, tmp_path: Path
) -> None:
    with ChatServer(PAPER) as server:
        report, path, _ = traced(verifier(server, tmp_path, protocol), NOVEL, RESPONSE)
        (asked,) = server.asked
    assert path == [*SPLIT, *END]
    assert (asked.form, asked.parts("evidence"), asked.parts("passage")) == (form, [NOVEL], [RESPONSE])
    order = sorted(("evidence", "passage"), key=lambda part: asked.user.index(f" {part}\n"))
    assert order[0] == first
    assert asked.body["temperature"] == 0
    assert report.verdict == "hallucinated"
    assert [s.label for s in report.sentences] == [
        "implicitly_supported",
        "implicitly_supported",
        "contradicting",
        "implicitly_supported",
    ]
    answer = paper_answer(report)
    assert answer["has_hallucination"] == YES
    assert answer["details"] == narrative(asked)["details"]


@pytest.mark.parametrize("reply", [PROSE, None])
def test_malformed_output_is_no_label_and_is_not_asked_again(reply: Any, tmp_path: Path) -> None:
    with ChatServer((lambda asked: reply) if reply else repeating) as server:
        report = verifier(server, tmp_path, "longnovel-zero-shot").verify(NOVEL, RESPONSE)
        assert len(server.asked) == 1
    (claim,) = report.claims
    assert claim.label is None
    assert claim.failure in ("unparsed", "truncated")
    assert (report.verdict, paper_answer(report)["has_hallucination"]) == ("undecided", None)


def says(word: str) -> dict[str, Any]:
    return {"has_hallucination": word, "details": []}


def arbitrated(words: tuple[str, str, str], home: Path) -> tuple[Any, list[str], list[Asked]]:
    """Models m0 and m1 judge, m2 arbitrates; each says its word."""
    script = Reader(Narrative=lambda asked: says(words[int(asked.body["model"][1])]))
    with ChatServer(script) as server:
        first, second, third = seats(server, 3)
        asks = Verifier(
            judges=[first, second], arbiter=third, protocol="longnovel-arbitration", home=str(home)
        )
        report, path, _ = traced(asks, NOVEL, RESPONSE)
        return report, path, list(server.asked)


def test_two_judges_that_agree_need_no_third(tmp_path: Path) -> None:
    report, path, asked = arbitrated((YES, YES, NO), tmp_path)
    assert path == [*SPLIT, *END]
    assert sorted(one.body["model"] for one in asked) == ["m0", "m1"]
    assert (report.verdict, report.claims[0].decided_by) == ("hallucinated", "vote")


@pytest.mark.parametrize(("third", "verdict"), [(YES, "hallucinated"), (NO, "faithful")])
def test_a_third_decides_where_two_differ(third: str, verdict: str, tmp_path: Path) -> None:
    report, path, asked = arbitrated((YES, NO, third), tmp_path)
    assert path == [*SPLIT, "arbitrate", *END]
    assert sorted(one.body["model"] for one in asked) == ["m0", "m1", "m2"]
    assert (report.verdict, report.claims[0].decided_by) == (verdict, "arbiter")


def test_two_that_call_it_wrong_by_different_names_agree(tmp_path: Path) -> None:
    invented = {
        "hallucination_type": "虚构事件",
        "hallucinated_sentence": WRONG,
        "corrected_content": "",
        "reason": "无",
    }
    script = Reader(
        Narrative=lambda asked: {
            "has_hallucination": YES,
            "details": [invented] if asked.body["model"] == "m0" else [],
        }
    )
    with ChatServer(script) as server:
        report, path, _ = traced(verifier(server, tmp_path, "longnovel-arbitration", 2), NOVEL, RESPONSE)
    assert "arbitrate" not in path
    assert report.verdict == "hallucinated"

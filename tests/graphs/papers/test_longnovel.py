"""LongNovel (seed 004) through the graph: windows, one prompt, two judges and a third; malformed is never a label."""

from pathlib import Path
from typing import Any

from fakes import ChatServer
from papers import asked_for, traced, verifier
from reader import Asked, Reader

from longproof.graphs.papers.longnovel import NO, YES

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


def test_rag_shows_each_segment_its_window_and_one_flagged_segment_decides(tmp_path: Path) -> None:
    with ChatServer(Reader(Narrative=narrative)) as server:
        report, path, _ = traced(verifier(server, tmp_path, "longnovel-rag"), NOVEL, RESPONSE)
        asked = asked_for(server, "Narrative")
    assert path == ["read", "cut", "align", "ask", "vote", "report"]
    assert len(server.asked) == len(asked) == len(report.claims) == 4, "one call a segment, and nothing else"
    assert all(len(one.parts("passage")[0]) <= 150 and one.body["temperature"] == 0 for one in asked)
    first = next(one for one in asked if one.parts("passage") == [SCENES[0]])
    assert first.parts("evidence") == [NOVEL[: 3 * 5500]], "the first window is blocks 0, 1 and 2"
    for one in asked:
        (window,) = one.parts("evidence")
        start = NOVEL.index(window)
        assert start % 5500 == 0
        assert len(window) <= 7 * 5500 < len(NOVEL)
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

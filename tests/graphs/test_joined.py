"""Many cases about one source: their groups, the joined response, and the reports that the one report becomes."""

import asyncio
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest
from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from reader import denying, well

from longproof.agent.report import report, reported_claim, usage
from longproof.agent.types import (
    Call,
    Case,
    Claim,
    Error,
    Judgement,
    Label,
    Report,
    ReportDocument,
    Sentence,
    Usage,
)
from longproof.graphs.joined import (
    MOST_CASES,
    case_groups,
    join,
    joinable,
    joins,
    split,
)
from longproof.graphs.settings import Settings
from longproof.graphs.verifier import Verifier
from longproof.report.saved import refuse_damaged
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, text_id

SOURCE = "\n\n".join(
    f"On day {n} of the voyage Ada lit lamp {n} and Tom wrote line {n} into the log of the ship."
    for n in range(300)
)
TEXTS = st.lists(
    st.text("aB .。！\n\"“”(（)'1é\u0301漢", max_size=30).filter(lambda t: any(c.isalnum() for c in t)),
    min_size=1,
    max_size=6,
)


def cases(*responses: str) -> list[Case]:
    return [Case(id=f"case-{n}", response=response) for n, response in enumerate(responses)]


def call(id_: str, characters: int = 100, tokens: int | None = 7) -> Call:
    about = {"purpose": "judge", "endpoint": "e", "model": "m", "prompt_hash": "h"}
    return Call(id=id_, **about, prompt_characters=characters, prompt_tokens=tokens, completion_tokens=3)


def one_report(joined: Case) -> Report:
    """A report on a joined response: each sentence a claim, every other one wrong in its first character."""
    response, source = Document.of(joined.response), Document.of(SOURCE)
    spans = [
        response.span(start + begin, start + end)
        for start, stop in pairwise([*joined.parts, len(joined.response) + 2])
        for begin, end in sentences(joined.response[start : stop - 2])
    ]
    claims = [Claim(id=f"s{n + 1}", index=0, sentence=n, text=s.text, origin=s) for n, s in enumerate(spans)]
    reported = []
    for n, claim in enumerate(claims):
        wrong = [Error(span=response.span(claim.origin.start, claim.origin.start + 1))] if n % 2 else []
        said = Judgement(
            claim_id=claim.id,
            judge="m",
            round="window",
            question_id="q",
            call_id=f"call-{n // 3}",
            label="contradicting" if wrong else "explicitly_supported",
            quotes=(source.span(0, 8),),
            errors=tuple(wrong),
        )
        label: Label = "contradicting" if wrong else "explicitly_supported"
        reported.append(reported_claim(claim, [said], label=label, decided_by="vote", question_id="q"))
    documents = [
        ReportDocument(id=response.id, role="response", kind="text", characters=len(response.text)),
        ReportDocument(id=source.id, role="source", kind="text", characters=len(SOURCE)),
    ]
    calls = [call("decompose", 501, None), *(call(f"call-{n}", 100 + n) for n in range(len(claims) // 3 + 1))]
    return report(
        case=joined.model_copy(update={"source_ids": (source.id,)}),
        documents=documents,
        sentences=[Sentence(index=n, span=span) for n, span in enumerate(spans)],
        claims=reported,
        calls=calls,
        stamp={"paid": usage(calls[:2]).model_dump(mode="json"), "judges": ["m"]},
    )


def added(figures: list[Usage]) -> Usage:
    return Usage(**{name: sum(getattr(one, name) for one in figures) for name in Usage.model_fields})


@given(TEXTS)
def test_the_joined_response_holds_each_response_at_its_place(texts: list[str]) -> None:
    joined = join(cases(*texts))
    assert len(joined.parts) == len(texts)
    for start, text in zip(joined.parts, texts, strict=True):
        assert joined.response[start : start + len(text)] == text


WORDS = st.lists(
    st.sampled_from(["Ada", "lit", "“the", "lamp.", "(", "Mr.", "said", "”", "1.", "阿达。"]), min_size=5
)
WRAPPED = st.lists(
    st.builds(lambda words, width: "\n".join(wrap(" ".join(words), width)), WORDS, st.integers(8, 90)),
    min_size=1,
    max_size=4,
)


@given(TEXTS | WRAPPED)
def test_no_sentence_runs_over_a_blank_line(texts: list[str]) -> None:
    joined = join(cases(*texts))
    apart = [(p + a, p + b) for p, t in zip(joined.parts, texts, strict=True) for a, b in sentences(t)]
    assert sentences(joined.response) == apart


@given(TEXTS)
def test_every_report_of_a_group_is_sound_and_is_the_case_s_own(texts: list[str]) -> None:
    group = cases(*texts)
    whole = one_report(join(group))
    parts = split(whole, group)
    assert [part.case.id for part in parts] == [case.id for case in group]
    for part, case in zip(parts, group, strict=True):
        refuse_damaged(part)
        assert part == Report.model_validate_json(part.model_dump_json())
        assert part.documents[0].id == text_id(case.response)
        assert [claim.id for claim in part.claims] == [f"s{n + 1}" for n in range(len(part.claims))]
        assert [s.text for s in part.sentences] == [case.response[a:b] for a, b in sentences(case.response)]
        for claim in part.claims:
            named = [*claim.errors, *(e for said in claim.judgements for e in said.errors)]
            assert {error.span.source_id for error in named} <= {text_id(case.response)}
            assert {said.claim_id for said in claim.judgements} == {claim.id}
    assert [c.text for part in parts for c in part.claims] == [c.text for c in whole.claims]
    assert added([part.usage for part in parts]) == whole.usage
    assert [part.calls for part in parts] == [whole.calls, *[()] * (len(parts) - 1)]
    assert added([Usage(**part.stamp["paid"]) for part in parts]) == Usage(**whole.stamp["paid"])
    totals = [part.counts for part in parts]
    assert {name: sum(counts[name] for counts in totals) for name in whole.counts} == whole.counts


def test_an_error_in_another_case_s_words_is_not_this_case_s() -> None:
    group = cases("Ada lit the lamp.", "Tom slept.")
    whole = one_report(join(group))
    misplaced = (
        whole.claims[1]
        .errors[0]
        .model_copy(update={"span": Document.of(whole.case.response).span(0, 3), "reason": "no"})
    )
    claims = (whole.claims[0], whole.claims[1].model_copy(update={"errors": (misplaced,)}))
    _, second = split(whole.model_copy(update={"claims": claims}), group)
    refuse_damaged(second)
    (error,) = second.claims[0].errors
    assert (error.span.text, error.reason) == ("Tom slept.", "no")


def test_a_report_on_another_response_is_refused() -> None:
    with pytest.raises(ValueError, match="another response"):
        split(one_report(join(cases("A b.", "C d."))), cases("A b.", "C e."))


def test_a_claim_over_two_responses_is_refused() -> None:
    group = cases("Ada lit the lamp.", "Tom slept.")
    whole = one_report(join(group))
    (first, second), text = whole.sentences, whole.case.response
    both = first.model_copy(update={"end": second.end, "text": text})
    with pytest.raises(ValueError, match="no response of the group"):
        split(whole.model_copy(update={"sentences": (both, second)}), group)


PAIRS = st.lists(st.tuples(st.sampled_from(["", "k", "l"]), st.sampled_from([None, "p", "q", "r"])))


@given(PAIRS)
def test_groups_hold_every_case_once_and_no_two_of_a_pair(given: list[tuple[str, str | None]]) -> None:
    keyed = sorted(((key, pair, n) for n, (key, pair) in enumerate(given)), key=lambda one: one[0])
    groups = list(case_groups(keyed))
    assert sorted(n for group in groups for n in group) == list(range(len(given)))
    for group in groups:
        assert group == sorted(group)
        assert len({given[n][0] for n in group}) == 1
        assert len(group) == 1 or given[group[0]][0]
        pairs = [given[n][1] for n in group if given[n][1] is not None]
        assert len(pairs) == len(set(pairs))


def test_a_group_is_full_at_fifty_and_first_members_of_pairs_are_mixed() -> None:
    alone = list(case_groups(("k", None, n) for n in range(2 * MOST_CASES + 1)))
    assert [len(group) for group in alone] == [MOST_CASES, MOST_CASES, 1]
    pairs = list(case_groups(("k", f"p{n // 2}", n) for n in range(40)))
    assert [len(group) for group in pairs] == [20, 20]
    assert all(4 < sum(n % 2 for n in group) < 16 for group in pairs)


def test_what_may_be_joined() -> None:
    assert joinable(Case(id="a", response="He won."))
    for other in ({"context": "Who?"}, {"reference": ""}, {"labels": ()}, {"response": "x" * 1001}):
        assert not joinable(Case(**({"id": "a", "response": "He won."} | other)))
    assert not joinable(Case(id="a", response=" …\n"))
    assert joins(Settings(judges=["openai:m"]))
    assert joins(Settings(judges=["openai:m@http://127.0.0.1:1/v1"], protocol="longproof"))
    assert not joins(Settings())
    assert not joins(Settings(judges=["openai:m"], protocol="probe"))


def checked(server: ChatServer, home: Path, group: list[Case], **settings: Any) -> list[Report]:
    verifier = Verifier([f"openai:m@{server.address}"], home=str(home), **settings)

    async def work() -> list[Report]:
        try:
            if len(group) == 1:
                return [await verifier.check([Document.of(SOURCE)], group[0])]
            return await verifier.check_group([Document.of(SOURCE)], group)
        finally:
            await verifier.close()

    return asyncio.run(work())


def timeless(reports: list[Report]) -> list[dict[str, Any]]:
    told = [report.model_dump(mode="json") for report in reports]
    for one in told:
        one["stamp"] = {k: v for k, v in one["stamp"].items() if k not in ("created_at", "seconds", "paid")}
    return told


GROUP = cases(
    "Ada lit lamp 17.",
    "Tom wrote line 250 into the log of the ship. Ada lit lamp 250",
    "On day 40 of the voyage Ada sank lamp 40.",
    "Ada lit lamp 18.",
)


def test_a_group_is_checked_by_fewer_calls_and_each_report_is_its_own(tmp_path: Path) -> None:
    with ChatServer(denying("sank")) as server:
        together = checked(server, tmp_path / "a", GROUP)
        asked = len(server.asked)
        alone = [one for case in GROUP for one in checked(server, tmp_path / "b", [case])]
        assert asked < len(server.asked) - asked
    assert [one.verdict for one in together] == [one.verdict for one in alone]
    assert together[2].verdict == "hallucinated"
    assert added([one.usage for one in together]).calls == asked
    for one, case in zip(together, GROUP, strict=True):
        refuse_damaged(one)
        assert one.case.response == case.response
        assert one.stamp["group"]["cases"] == [case.id for case in GROUP]
    assert all("group" not in one.stamp for one in alone)


def test_the_same_group_settings_and_ledger_give_the_same_reports(tmp_path: Path) -> None:
    with ChatServer(well) as server:
        first = checked(server, tmp_path, GROUP)
        asked = len(server.asked)
        again = checked(server, tmp_path, GROUP)
        assert len(server.asked) == asked
    assert timeless(first) == timeless(again)
    assert added([Usage(**one.stamp["paid"]) for one in again]) == Usage()

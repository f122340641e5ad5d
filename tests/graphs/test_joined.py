"""Many cases about one source: their groups, the joined response, and the reports that the one report becomes."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest
from batches import STORY as SOURCE
from building import Builder, call, judgement
from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from reader import Reader, denying

from longproof.agent.report import total_usage, usage
from longproof.agent.types import Case, Error, Report, Usage
from longproof.graphs.joined import MOST_CASES, join, joins, split
from longproof.graphs.runner import Planned, plan_groups
from longproof.graphs.settings import Settings
from longproof.graphs.verifier import Verifier
from longproof.report.saved import refuse_damaged
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, text_id

TEXTS = st.lists(
    st.text("aB .。！\n\"“”(（)'1é\u0301漢", max_size=30).filter(lambda t: any(c.isalnum() for c in t)),
    min_size=1,
    max_size=6,
)


def cases(*responses: str) -> list[Case]:
    return [Case(id=f"case-{n}", response=response) for n, response in enumerate(responses)]


def one_report(joined: Case) -> Report:
    """A report on a joined response: each sentence a claim, every other one wrong in its first character."""
    made = Builder(joined.response, Document.of(SOURCE), judges=["m"])
    for n, span in enumerate(made.spans):
        label = "contradicting" if n % 2 else "explicitly_supported"
        errors = (Error(span=made.response.span(span.start, span.start + 1)),) * (n % 2)
        quotes = (made.sources[0].span(0, 8),)
        made.says(
            label, *quotes, judgements=[judgement("m", label, quotes=quotes, errors=errors)], errors=errors
        )
    made.calls = [call(n) for n in range(3)]
    made.stamp["paid"] = usage(made.calls[:2]).model_dump(mode="json")
    report, _ = made.build()
    return report.model_copy(
        update={"case": joined.model_copy(update={"source_ids": report.case.source_ids})}
    )


WORDS = st.lists(
    st.sampled_from(["Ada", "lit", "“the", "lamp.", "(", "Mr.", "said", "”", "1.", "阿达。"]), min_size=5
)
WRAPPED = st.lists(
    st.builds(lambda words, width: "\n".join(wrap(" ".join(words), width)), WORDS, st.integers(8, 90)),
    min_size=1,
    max_size=4,
)


@given(TEXTS | WRAPPED)
def test_the_joined_response_holds_each_whole_and_no_sentence_runs_over_its_end(texts: list[str]) -> None:
    joined = join(cases(*texts))
    apart: list[tuple[int, int]] = []
    for start, text in zip(joined.parts, texts, strict=True):
        assert joined.response[start : start + len(text)] == text
        apart += [(start + a, start + b) for a, b in sentences(text)]
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
    assert total_usage([part.usage for part in parts]) == whole.usage
    assert [part.calls for part in parts] == [whole.calls, *[()] * (len(parts) - 1)]
    assert total_usage([Usage(**part.stamp["paid"]) for part in parts]) == Usage(**whole.stamp["paid"])
    totals = [part.counts for part in parts]
    assert {name: sum(counts[name] for counts in totals) for name in whole.counts} == whole.counts


def test_an_error_in_anothers_words_is_not_this_ones_and_what_is_of_no_response_is_refused() -> None:
    group = cases("Ada lit the lamp.", "Tom slept.")
    whole = one_report(join(group))
    misplaced = Error(span=Document.of(whole.case.response).span(0, 3), reason="no")
    claims = (whole.claims[0], whole.claims[1].model_copy(update={"errors": (misplaced,)}))
    _, second = split(whole.model_copy(update={"claims": claims}), group)
    refuse_damaged(second)
    (error,) = second.claims[0].errors
    assert (error.span.text, error.reason) == ("Tom slept.", "no")
    with pytest.raises(ValueError, match="another response"):
        split(whole, cases("Ada lit the lamp.", "Tom woke."))
    (first, second), text = whole.sentences, whole.case.response
    both = first.model_copy(update={"end": second.end, "text": text})
    with pytest.raises(ValueError, match="no response of the group"):
        split(whole.model_copy(update={"sentences": (both, second)}), group)


PAIRS = st.lists(st.tuples(st.sampled_from(["", "k", "l"]), st.sampled_from([None, "p", "q", "r"])))


def group_numbers(given: Iterable[tuple[str, str | None]]) -> list[list[int]]:
    """The numbers of cases with these keys and pairs, in the groups in which they are checked."""
    cases = [Planned(str(n), str(n), "", key, pair, (n,)) for n, (key, pair) in enumerate(given)]
    return [[one.place[0] for one in group] for group in plan_groups(cases)]


@given(PAIRS)
def test_groups_hold_every_case_once_and_no_two_of_a_pair(given: list[tuple[str, str | None]]) -> None:
    groups = group_numbers(given)
    assert sorted(n for group in groups for n in group) == list(range(len(given)))
    for group in groups:
        assert group == sorted(group)
        assert len({given[n][0] for n in group}) == 1
        assert len(group) == 1 or given[group[0]][0]
        pairs = [given[n][1] for n in group if given[n][1] is not None]
        assert len(pairs) == len(set(pairs))


def test_a_group_is_full_at_fifty_and_first_members_of_pairs_are_mixed() -> None:
    alone = group_numbers(("k", None) for _ in range(2 * MOST_CASES + 1))
    assert [len(group) for group in alone] == [MOST_CASES, MOST_CASES, 1]
    pairs = group_numbers(("k", f"p{n // 2}") for n in range(40))
    assert [len(group) for group in pairs] == [20, 20]
    assert all(4 < sum(n % 2 for n in group) < 16 for group in pairs)


def test_settings_that_join_cases() -> None:
    assert joins(Settings(judges=["openai:m"]))
    assert joins(Settings(judges=["openai:m@http://127.0.0.1:1/v1"], protocol="longproof"))
    assert not joins(Settings())
    assert not joins(Settings(judges=["openai:m"], protocol="probe"))


def check(server: ChatServer, home: Path, group: list[Case], **settings: Any) -> list[Report]:
    verifier = Verifier([f"openai:m@{server.address}"], home=str(home), **settings)

    async def work() -> list[Report]:
        try:
            if len(group) == 1:
                return [await verifier.check([Document.of(SOURCE)], group[0])]
            return await verifier.check_group([Document.of(SOURCE)], group)
        finally:
            await verifier.close()

    return asyncio.run(work())


GROUP = cases(
    "Ada lit lamp 17.",
    "Tom wrote line 250 into the log of the ship. Ada lit lamp 250",
    "On day 40 of the voyage Ada sank lamp 40.",
    "Ada lit lamp 18.",
)


def test_a_group_is_checked_by_fewer_calls_and_each_report_is_its_own(tmp_path: Path) -> None:
    with ChatServer(denying("sank")) as server:
        together = check(server, tmp_path / "a", GROUP)
        asked = len(server.asked)
        alone = [one for case in GROUP for one in check(server, tmp_path / "b", [case])]
        assert asked < len(server.asked) - asked
    assert [one.verdict for one in together] == [one.verdict for one in alone]
    assert together[2].verdict == "hallucinated"
    assert total_usage([one.usage for one in together]).calls == asked
    for one, case in zip(together, GROUP, strict=True):
        refuse_damaged(one)
        assert one.case.response == case.response
        assert one.stamp["group"]["cases"] == [case.id for case in GROUP]
    assert all("group" not in one.stamp for one in alone)


def test_a_group_is_searched_for_and_read_once(tmp_path: Path) -> None:
    group = cases(*(f"The bishop number {n} swallowed a purple lagoon." for n in range(6)))
    searcher = {"claims": [f"C{n} done" for n in range(1, 7)], "find": [], "read": []}
    with ChatServer(Reader(SearchTurn=searcher)) as server:
        reports = check(server, tmp_path, group)
    assert [asked.form for asked in server.asked].count("SearchTurn") == 1
    pieces = [asked for asked in server.asked if asked.form == "ScanNotes"]
    assert len({asked.parts("piece")[0] for asked in pieces}) == len(pieces)
    assert all(len(asked.parts("claims")[0].splitlines()) == 6 for asked in pieces)
    assert {(one.claims[0].label, one.claims[0].looked.share) for one in reports} == {("fabricated", 1.0)}

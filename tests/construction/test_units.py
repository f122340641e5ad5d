"""Units of a book: sizes, whole sentences, chapters; and the cases of five lengths that are joined from them."""

from collections import defaultdict
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_writer import with_error

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import KINDS
from longproof.construction.units import POSITIONS, SCALES, TARGETS, Book, Unit, case_pairs, neighbours, units
from longproof.construction.versions import TextWithError, check_error

PARAGRAPH = "那时节天色渐晚，众人都散了。王冕牵牛回家，母亲在门前等他。" * 4


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(50, 300))
def test_units_have_their_size_and_follow_each_other(sizes, least):
    sentence = "他买了一本旧书来读。"
    text = "\n".join(sentence * n for n in sizes)
    most = 2 * least
    cut = units(text, least, most)
    assert all(least <= unit.tokens <= most for unit in cut)
    assert all(a.end <= b.start for a, b in pairwise(cut))
    assert all(not text[a.end : b.start].strip() for a, b in pairwise(cut))
    for unit in cut[:-1]:
        assert unit.tokens + estimate_tokens(sentence) > most or text[unit.end] == "\n"
    for unit in cut:
        piece = text[unit.start : unit.end]
        assert piece == piece.strip()
        assert piece.endswith("。")
        assert abs(unit.tokens - estimate_tokens(piece)) <= piece.count("。")


def test_a_chapter_opens_a_unit_once_there_is_enough():
    text = "\n".join([PARAGRAPH] * 3 + ["第二回 王冕画荷"] + [PARAGRAPH] * 8)
    least = estimate_tokens("\n".join([PARAGRAPH] * 3)) - 20
    first, second, *_ = units(text, least, 10 * least)
    assert text[second.start :].startswith("第二回")
    assert text[first.end :].startswith("\n第二回")


def book(n_units: int) -> Book:
    summaries = [
        f"孔明在第{n}章答应曹操出城。张飞有{n + 2}匹马。关羽的哥哥不肯投降。" for n in range(n_units)
    ]
    cut = [Unit(10 * n, 10 * n + 10, tokens=3000) for n in range(n_units)]
    return Book("书", "。" * (n_units * 10), "zh", cut, summaries)


def changes(made: Book):
    def change(_: int, unit: int, kind):
        base = made.summaries[unit]
        text, sentence = with_error(base, kind)
        found = check_error(base, text, kind, sentence)
        good = made.summaries[unit].replace("有", "共有")
        return (found, good) if isinstance(found, TextWithError) else None

    return change


def test_pairs_of_all_scales_with_exact_places_and_errors_where_the_position_says():
    made = book(45)
    found = list(case_pairs([made], 24, changes(made)))
    seen: dict[object, set[object]] = defaultdict(set)
    for source, (wrong, right) in found:
        assert (wrong.label, right.label, right.errors) == ("hallucinated", "faithful", ())
        (error,) = wrong.errors or ()
        assert wrong.response[error.start : error.end] == error.text
        assert (wrong.group, wrong.source) == (right.group, right.source)
        scale, position = wrong.slices["scale"], wrong.slices["position"]
        assert wrong.slices == {**right.slices, "kind": error.kind}
        seen[scale] |= {error.kind, position}
        lines = wrong.response.split("\n"), right.response.split("\n")
        assert sum(a != b for a, b in zip(*lines, strict=True)) == 1
        if scale != "S":
            assert 0.75 * TARGETS[scale] <= 300 * len(source.text) <= 1.25 * TARGETS[scale]
            line, count = wrong.response[: error.start].count("\n"), len(lines[0])
            assert POSITIONS[3 * (2 * line + 1) // (2 * count)] == position
    assert all(seen[scale] == {*KINDS, *POSITIONS} for scale in SCALES[1:])
    assert seen["S"]


def test_short_books_make_short_cases_alone_and_a_seed_the_same_ones():
    made = book(6)
    assert {pair[0].slices["scale"] for _, pair in case_pairs([made], 5, changes(made))} == {"S", "M"}
    assert list(case_pairs([], 5, changes(made))) == []
    first, second, other = (list(case_pairs([made], 6, changes(made), seed)) for seed in (1, 1, 2))
    assert first == second != other


@settings(max_examples=60)
@given(st.integers(1, 60), st.sampled_from(SCALES[1:]), st.sampled_from(POSITIONS), st.randoms())
def test_neighbours_hold_their_unit_at_the_position(n_units, scale, position, random: Random):
    units = [Unit(n, n + 1, random.randint(2000, 4000)) for n in range(n_units)]
    unit = random.randrange(n_units)
    found = neighbours(units, unit, scale, position)
    if found is not None:
        first, last = found
        assert 0 <= first <= unit <= last < n_units
        assert POSITIONS[3 * (2 * (unit - first) + 1) // (2 * (last - first + 1))] == position

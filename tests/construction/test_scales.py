"""Cases at five lengths: places move with the joined text, positions lie where they say, sizes meet the scale."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from longproof.agent.types import KINDS
from longproof.construction.rules import perturb
from longproof.construction.units import POSITIONS, SCALES, TARGETS, Book, Unit, neighbours, pairs
from longproof.construction.versions import Change, Version


def book(n_units: int, tokens: int = 3000) -> Book:
    summaries = [
        f"孔明在第{n}章答应曹操出城。张飞有{n + 2}匹马。关羽的哥哥不肯投降。" for n in range(n_units)
    ]
    text = "。" * (n_units * 10)
    return Book(
        title="书",
        text=text,
        language="zh",
        units=tuple(Unit(start=10 * n, end=10 * n + 10, tokens=tokens) for n in range(n_units)),
        summaries=tuple(Version(text=s) for s in summaries),
        cast=("孔明", "曹操", "张飞", "关羽"),
    )


def changes(made: Book):
    def change(_: int, unit: int, kind):
        found = perturb(made.summaries[unit].text, kind, 1, made.cast)
        good = Version(text=made.summaries[unit].text.replace("有", "共有"))
        return (found, good) if isinstance(found, Change) else None

    return change


def test_pairs_of_all_scales_with_exact_places():
    made = book(45)
    found = list(pairs([made], 24, changes(made)))
    assert {pair[0].scale for pair in found} == set(SCALES)
    for wrong, right in found:
        assert (wrong.label, right.label) == ("hallucinated", "faithful")
        assert wrong.error is not None
        assert right.error is None
        for place in (wrong.error.wrong, wrong.error.sentences):
            assert wrong.response[place.start : place.end] == place.text
        assert (wrong.group, wrong.source, wrong.kind) == (right.group, right.source, right.kind)
        assert wrong.response != right.response
        target = TARGETS[wrong.scale]
        assert wrong.scale == "S" or 0.75 * target <= wrong.tokens <= 1.25 * target
        lines = wrong.response.split("\n"), right.response.split("\n")
        assert sum(a != b for a, b in zip(*lines, strict=True)) == 1
    for scale in SCALES[1:]:
        here = [pair[0] for pair in found if pair[0].scale == scale]
        assert {case.position for case in here} == set(POSITIONS)
        assert {case.kind for case in here} == set(KINDS)


def test_the_error_lies_where_the_position_says():
    made = book(40)
    for wrong, _ in pairs([made], 12, changes(made)):
        if wrong.scale != "S" and wrong.error:
            line = wrong.response[: wrong.error.wrong.start].count("\n")
            count = wrong.response.count("\n") + 1
            assert POSITIONS[3 * (2 * line + 1) // (2 * count)] == wrong.position


def test_short_books_make_short_cases_alone():
    made = book(6)
    assert {pair[0].scale for pair in pairs([made], 5, changes(made))} == {"S", "M"}
    assert list(pairs([], 5, changes(made))) == []


def test_the_same_seed_gives_the_same_cases():
    made = book(12)
    first, second, other = (list(pairs([made], 6, changes(made), seed)) for seed in (1, 1, 2))
    assert first == second != other


@settings(max_examples=60)
@given(st.integers(1, 60), st.sampled_from(SCALES[1:]), st.sampled_from(POSITIONS), st.randoms())
def test_neighbours_hold_their_unit_at_the_position(n_units, scale, position, random: Random):
    units = [Unit(start=n, end=n + 1, tokens=random.randint(2000, 4000)) for n in range(n_units)]
    unit = random.randrange(n_units)
    found = neighbours(units, unit, scale, position)
    if found is not None:
        first, last = found
        assert 0 <= first <= unit <= last < n_units
        assert POSITIONS[3 * (2 * (unit - first) + 1) // (2 * (last - first + 1))] == position

"""Everything in the data that people are shown has a name in both languages."""

from typing import get_args

import pytest

from longproof.agent.types import (
    LABELS,
    DecidedBy,
    Failure,
    JudgeLabel,
    Kind,
    Outcome,
    ReportDocument,
    Round,
)
from longproof.report.words import SIGNS, Language, words


@pytest.mark.parametrize("language", get_args(Language))
def test_every_word_of_the_data_has_a_name(language: Language) -> None:
    roles = get_args(ReportDocument.model_fields["role"].annotation)
    for closed in (JudgeLabel, Kind, Failure, Round, DecidedBy, Outcome):
        assert set(get_args(closed)) <= set(words(language))
    assert set(roles) <= set(words(language))


def test_labels_have_signs_that_differ() -> None:
    signs = [SIGNS[label] for label in (*LABELS, "not_found", "undecided", "not_checked")]
    assert len(set(signs)) == len(signs)


def test_both_languages_fill_the_same_places() -> None:
    english, chinese = words("en"), words("zh")
    for key in english:
        places = {part[1] for part in _parse(english[key])} - {None}
        assert places == {part[1] for part in _parse(chinese[key])} - {None}, key


def _parse(phrase: str) -> list[tuple[str, str | None, str | None, str | None]]:
    from string import Formatter

    return list(Formatter().parse(phrase))

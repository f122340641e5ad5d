"""The words that people are shown: both languages have all of them, and none is there for nothing."""

import json
import re
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import get_args

import longproof.agent
import longproof.graphs
import longproof.retrieval
from longproof.agent.report import UNPROVED
from longproof.agent.types import LABELS, DecidedBy, Failure, JudgeLabel, Kind, Look, Outcome, ReportDocument
from longproof.report.words import SIGNS, Language, Section, words

ROOMS = (longproof, longproof.agent, longproof.graphs, longproof.retrieval)
DATA = json.loads((files("longproof.report") / "words.json").read_text("utf-8"))
ALL = {key: pair for section in DATA.values() for key, pair in section.items()}
ROLES = get_args(ReportDocument.model_fields["role"].annotation)
CLOSED = {
    *ROLES,
    UNPROVED,
    *(word for closed in (JudgeLabel, Kind, Failure, Look, DecidedBy, Outcome) for word in get_args(closed)),
}
"""What stands in the data under a closed list of words."""


def test_every_word_of_the_data_has_a_name_and_labels_have_signs_that_differ():
    assert all(words(language).keys() >= CLOSED for language in get_args(Language))
    signs = [SIGNS[label] for label in (*LABELS, "not_found", "undecided", "not_checked")]
    assert len(set(signs)) == len(signs)


def places(phrase: str) -> set[str | None]:
    return {place for _, place, _, _ in Formatter().parse(phrase)} - {None}


def test_both_languages_are_complete_and_fill_the_same_places():
    assert tuple(DATA) == get_args(Section)
    for key, (english, chinese) in ALL.items():
        assert english, key
        assert chinese, key
        assert places(english) == places(chinese), key


def test_every_word_is_used():
    rooms = [Path(str(room.__file__)).parent for room in ROOMS]
    paths = [path for room in rooms for kind in ("py", "js") for path in room.rglob(f"*.{kind}")]
    source = "\n".join(path.read_text("utf-8") for path in paths)
    quoted = set(re.findall(r"""(?<=["'`])[\w ,]+(?=["'`])""", source)) | CLOSED
    begun = tuple({*re.findall(r"""["'`](\w+_)\$?\{""", source)})
    ends = "|".join({*re.findall(r"""[}](_[a-z]+)["'`]""", source)})
    for key in ALL:
        stem = re.fullmatch(f"(.+)({ends})", key)
        assert key in quoted or key.startswith(begun) or (stem and stem[1] in quoted), key

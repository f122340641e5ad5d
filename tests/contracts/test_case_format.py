"""The documented format of case files names every key that a case may have."""

import re
from pathlib import Path

from longproof.graphs.cases import GivenCase

PAGE = Path(__file__).parents[2] / "docs" / "embedding.md"


def test_every_key_of_a_case_stands_in_the_table() -> None:
    section = PAGE.read_text("utf-8").split("## Case files")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(GivenCase.model_fields)

"""The local pages: no script of a page takes a name from another, and every word that is said is there."""

import re
from importlib.resources import files

import pytest

from longproof.report.html import INDEX, PAGE
from longproof.report.words import words
from longproof.serve.runs import STEPS

PAGES = {"run": (PAGE, ("ask", "marks", "live")), "start": (INDEX, ("ask", "start"))}


def scripts(page: str) -> str:
    report, local = PAGES[page]
    read = [(files("longproof.report") / f"{name}.js").read_text("utf-8") for name in report]
    return "\n".join(
        [*read, *((files("longproof.serve") / f"{name}.js").read_text("utf-8") for name in local)]
    )


@pytest.mark.parametrize("page", PAGES)
def test_no_script_takes_a_name_from_another(page: str) -> None:
    names = re.findall(r"^(?:async )?(?:function|const|let|class) +(\w+)", scripts(page), re.MULTILINE)
    assert len(names) == len({*names})


@pytest.mark.parametrize("page", PAGES)
def test_every_word_that_is_said_is_there(page: str) -> None:
    said = {*re.findall(r'say\("(\w+)"', scripts(page)), *(f"at_{step}" for step in STEPS)}
    assert said <= words("en", "serve").keys()

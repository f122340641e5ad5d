"""The local pages: no script of a page takes a name from another, and every word that is said is there."""

import re
from importlib.resources import files

import pytest

from longproof.report.html import INDEX, PAGE
from longproof.serve.words import local_words

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
def test_every_word_that_is_said_is_there_in_both_languages(page: str) -> None:
    said = {*re.findall(r'say\("(\w+)"', scripts(page))}
    said |= {f"at_{step}" for step in ("read", "decompose", "align", "check", "search", "scan", "confirm")}
    english, chinese = local_words("en"), local_words("zh")
    assert said <= english.keys()
    assert english.keys() == chinese.keys()
    for key in english:
        places = [{*re.findall(r"\{(\w+)\}", words[key])} for words in (english, chinese)]
        assert places[0] == places[1], key

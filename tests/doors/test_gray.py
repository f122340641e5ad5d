"""The bundled gray-zone example holds what it says: seven sentences, seven labels, one page that decides."""

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, get_args

import pytest

from longproof.agent.types import LABELS
from longproof.indexes.documents import DocumentStore
from longproof.indexes.search import PageIndex, open_pages
from longproof.retrieval.ranking import Engine
from longproof.retrieval.text.sentences import sentences

GRAY = files("longproof.examples") / "gray"
ARTICLE, SUMMARY = ((GRAY / f"{name}.txt").read_text("utf-8") for name in ("article", "summary"))
SAID: list[dict[str, Any]] = json.loads((GRAY / "labels.json").read_text("utf-8"))


@pytest.fixture(params=get_args(Engine))
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> PageIndex:
    with as_file(GRAY / "pages") as folder:
        return open_pages(folder, tmp_path, request.param)


def test_one_sentence_of_each_label():
    assert [SUMMARY[start:end] for start, end in sentences(SUMMARY)] == [said["sentence"] for said in SAID]
    assert sorted(said["label"] for said in SAID) == sorted(LABELS)
    assert 400 <= len(ARTICLE.split()) <= 600


def test_only_what_depends_on_outside_knowledge_needs_a_page(pages, tmp_path):
    (said,) = (said for said in SAID if "page" in said)
    assert said["label"] == "out_dependent"
    store = DocumentStore(tmp_path / "documents")
    texts = {page.uri: store.open(page).text for page in pages.pages.values()}
    calendar = "https://stennick.example/town/calendar"
    assert [uri for uri, text in texts.items() if said["page_quote"] in text] == [calendar]
    assert "September" not in ARTICLE
    assert [uri for uri, text in texts.items() if "September" in text] == [calendar]
    best = pages.search(said["sentence"], 3)[0]
    assert said["page_quote"] in best.span.text
    assert pages.pages[best.span.source_id].uri == calendar


def test_six_pages_and_nothing_that_hides_in_them(pages, tmp_path):
    assert (len(pages.pages), pages.left_out) == (6, {})
    store = DocumentStore(tmp_path / "documents")
    text = "\n".join(store.open(page).text for page in pages.pages.values())
    for hidden in ("Ignore the article", "You have won", "Town office", "nine benches", "Slipway"):
        assert hidden not in text
    addresses = {page.uri for page in pages.pages.values()}
    assert addresses > {"https://stennick.example/harbour/council", "https://soundboats.example/pelican"}

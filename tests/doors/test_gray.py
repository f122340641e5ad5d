"""The gray-zone example of these tests holds what it says: seven sentences, seven labels, one page that decides."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from longproof.agent.types import LABELS
from longproof.indexes.documents import DocumentStore
from longproof.indexes.search import PageIndex, open_pages
from longproof.retrieval.ranking import Engine
from longproof.retrieval.text.sentences import sentences

GRAY = Path(__file__).parents[1] / "gray"
ARTICLE, SUMMARY = ((GRAY / f"{name}.txt").read_text("utf-8") for name in ("article", "summary"))
SAID: list[dict[str, Any]] = json.loads((GRAY / "labels.json").read_text("utf-8"))


@pytest.fixture(params=get_args(Engine))
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> PageIndex:
    return open_pages(GRAY / "pages", tmp_path, request.param)


@pytest.fixture
def texts(pages: PageIndex, tmp_path: Path) -> dict[str, str]:
    """The text of each page, by its address."""
    store = DocumentStore(tmp_path / "documents")
    return {page.uri: store.open(page).text for page in pages.pages.values()}


def test_one_sentence_of_each_label():
    assert [SUMMARY[start:end] for start, end in sentences(SUMMARY)] == [said["sentence"] for said in SAID]
    assert sorted(said["label"] for said in SAID) == sorted(LABELS)
    assert 400 <= len(ARTICLE.split()) <= 600


def test_only_what_depends_on_outside_knowledge_needs_a_page(pages, texts):
    (said,) = (said for said in SAID if "page" in said)
    assert (said["label"], "September" in ARTICLE) == ("out_dependent", False)
    calendar = "https://stennick.example/town/calendar"
    for words in (said["page_quote"], "September"):
        assert [uri for uri, text in texts.items() if words in text] == [calendar]
    best = pages.search(said["sentence"], 3)[0]
    assert said["page_quote"] in best.span.text
    assert pages.pages[best.span.source_id].uri == calendar


def test_six_pages_and_nothing_that_hides_in_them(pages, texts):
    assert (len(texts), pages.left_out) == (6, {})
    for hidden in ("Ignore the article", "You have won", "Town office", "nine benches", "Slipway"):
        assert hidden not in "\n".join(texts.values())
    assert texts.keys() > {"https://stennick.example/harbour/council", "https://soundboats.example/pelican"}

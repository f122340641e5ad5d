"""The page as a file: one file, no network, nothing in it can run but our script. Without a browser."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest

from longproof.report.html import INDEX, PAGE, index_page, page


class Parts(HTMLParser):
    """Elements and the contents of style and script, as a browser's tokenizer has them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"style": [], "script": [], "json": []}
        self.at = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        self.at = "json" if given.get("type") == "application/json" else tag

    def handle_endtag(self, tag: str) -> None:
        self.at = ""

    def handle_data(self, text: str) -> None:
        if self.at in self.inside:
            self.inside[self.at].append(text)


def data_of(text: str) -> Any:
    return json.loads("".join(Parts(text).inside["json"]))


@pytest.mark.parametrize("name", ["english_report", "chinese_report", "hostile_report"])
def test_only_the_hashed_script_and_style_may_run(name, request):
    parts = Parts(page(*request.getfixturevalue(name)))
    policy = str(next(given["content"] for tag, given in parts.elements if given.get("http-equiv")))
    assert (policy[:20], "unsafe" in policy) == ("default-src 'none'; ", False)
    for kind in ("style", "script"):
        digest = b64encode(sha256("".join(parts.inside[kind]).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    tags = [tag for tag, _ in parts.elements]
    assert (tags.count("script"), tags.count("style")) == (2, 1)
    assert not {"img", "iframe", "link", "object", "a", "base", "form"} & set(tags)
    assert not [name for _, given in parts.elements for name in given if name[:2] == "on" or name == "src"]


def test_scripts_never_parse_text_as_markup():
    for name in {*PAGE, *INDEX}:
        script = files("longproof.report").joinpath(f"{name}.js").read_text(encoding="utf-8")
        live = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|setAttribute\(\"on"
        assert not re.search(live, script), name
        assert "</" not in script.replace("</g", "")


def test_hostile_texts_come_back_unchanged_from_the_data(hostile_report):
    report, texts = hostile_report
    text = page(report, texts)
    carried = data_of(text)["report"]
    assert carried["documents"][1]["text"] == texts[report.documents[1].id]
    assert carried["case"]["response"] == report.case.response
    assert not re.search("[\u2028\u2029\u202e\x1b]", text)


def test_what_the_page_carries_is_about_as_long_as_its_texts(big_report):
    assert len(page(*big_report)) < 1.2 * sum(map(len, big_report[1].values()))


def test_a_text_that_is_not_given_is_named_and_its_quotes_are_carried(english_report):
    data = data_of(page(english_report[0], {}))
    assert (data["missing"], "text" in data["report"]["documents"][1]) == (["weir.txt"], False)
    assert data["report"]["claims"][0]["evidence"][0][3] == "thirty-one years"


def test_an_index_links_to_files_beside_it_alone(hostile_report):
    names = ["weir.html", "javascript:alert(1)", 'a b&"<.html', "王冕.html"]
    rows = data_of(index_page((name, hostile_report[0]) for name in names))["rows"]
    assert all(row["href"].startswith("./") and ":" not in row["href"] for row in rows)

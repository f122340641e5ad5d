"""What readers of an HTML page see of forms, shadow roots and hidden parts, and what a style sheet may change.

A row holds SEEN where readers see text, and AWAY where they see none.
"""

import zipfile
from io import BytesIO

import pytest

from longproof.retrieval.books import read_epub
from longproof.retrieval.contents import Contents
from longproof.retrieval.visible import LONGEST_TAG, STYLED
from longproof.retrieval.web_pages import html_to_markdown

FORMS = [
    "<input value=SEEN>",
    "<input type=text value='SEEN one'>",
    "<input TYPE=Search VALUE=SEEN>",
    "<input type=submit value=SEEN>",
    "<input type=button value=SEEN placeholder=AWAY>",
    "<input type=reset placeholder=AWAY value=SEEN>",
    "<input placeholder=SEEN>",
    "<input value='' placeholder=SEEN>",
    "<input value=SEEN placeholder=AWAY>",
    "<input type=email value=SEEN>",
    "<input type=date value='SEEN'>",
    "<input type=hidden value=AWAY>SEEN",
    "<input type=password value=AWAY>SEEN",
    "<input type=checkbox value=AWAY>SEEN",
    "<input type=radio value=AWAY>SEEN",
    "<input type=file value=AWAY>SEEN",
    "<input type=image value=AWAY alt=x>SEEN",
    "<input value=AWAY hidden>SEEN",
    "<input style='display:none' value=AWAY>SEEN",
    "<div style='visibility:hidden'><input value=AWAY></div>SEEN",
    "<div style='visibility:hidden'>AWAY<input style='visibility:visible' value=SEEN>AWAY</div>",
    "<textarea placeholder=SEEN></textarea>",
    "<textarea placeholder=AWAY>SEEN</textarea>",
    "<select><option label=SEEN>AWAY</option></select>",
    "<select><option value=AWAY>SEEN</select>",
    "<select><optgroup label=SEEN><option>o</select>",
    "<datalist><option>AWAY</datalist>SEEN",
    "<button value=AWAY>SEEN</button>",
    "<label for=x>SEEN</label><input id=x>",
    "<input data-value=AWAY name=AWAY>SEEN",
]
PARTS = [
    "<div><template shadowrootmode=open><p>SEEN</template></div>",
    "<div><template ShadowRootMode=CLOSED><p>SEEN</p></template></div>",
    "<div><template shadowrootmode=open><p>SEEN<template>AWAY</template></template></div>",
    "<template>AWAY</template>SEEN",
    "<template shadowroot=open>AWAY</template>SEEN",
    "<template shadowrootmode=none>AWAY</template>SEEN",
    "<p hidden>AWAY</p>SEEN",
    "<p HIDDEN=''>AWAY</p>SEEN",
    "<p hidden style='display:block'>SEEN</p>",
    "<p hidden style='color:red'>AWAY</p>SEEN",
    "<p style='display:inline' hidden>SEEN</p>",
    "<p hidden style='display:none'>AWAY</p>SEEN",
    "<p data-hidden=1 title='display:none'>SEEN</p>",
    "<p style=display:none>AWAY</p>SEEN",
    "<p STYLE='DISPLAY : NONE'>AWAY</p>SEEN",
    "<p style='display:none;display:block'>SEEN</p>",
    "<p style='display:none!important;display:block'>AWAY</p>SEEN",
    "<p style='display:/* x */none'>AWAY</p>SEEN",
    r"<p style='d\69splay:none'>AWAY</p>SEEN",
    "<p style='--x:display:none'>SEEN</p>",
    "<p style=\"font-family:'display:none'\">SEEN</p>",
    "<p style='display:contents'>SEEN</p>",
    "<p style='display:none'><b style='display:block'>AWAY</b></p>SEEN",
    "<div style='visibility:hidden'>AWAY<p>AWAY</p></div>SEEN",
    "<div style='visibility:hidden'>AWAY<p style='visibility:visible'>SEEN</p>AWAY</div>",
    "<div style='visibility:hidden'>AWAY<p style='visibility:visible'>SEEN<b>SEEN</b></p>AWAY</div>SEEN",
    "<div style='visibility:hidden'><p>AWAY<b style='visibility:visible'>SEEN</b>AWAY<p>AWAY</div>SEEN",
    "<div style='visibility:hidden'><p style='visibility:inherit'>AWAY</p></div>SEEN",
    "<p style='visibility:hidden'><b style='visibility:visible'>SEEN<i style='visibility:hidden'>AWAY</i></b></p>",
    "<div style='visibility:hidden'><b style='visibility:visible'>SEEN<i hidden>AWAY<u>AWAY</u></i>SEEN</b></div>",
    "<div style='visibility:hidden'>AWAY<br>AWAY<p style='visibility:visible'>SEEN</p></div>",
    "<span style=visibility:hidden>AWAY</span>SEEN",
    "<p style='visibility:hidden'>AWAY<p>SEEN",
    "<ul><li style='visibility:hidden'>AWAY<li>SEEN</ul>",
    "<table><tr><td style='visibility:hidden'>AWAY<td>SEEN</table>",
    "<p style='display:none'>AWAY<div>SEEN</div>",
    "<div><p hidden>AWAY</div>SEEN",
    "<ul><li hidden>AWAY<b>AWAY</b><ul><li>AWAY</ul><li>SEEN</ul>",
    "<ul><li>SEEN<li hidden>AWAY</ul>SEEN",
    "<dl><dt hidden>AWAY<dd>SEEN</dl>",
    "<table><tr hidden><td>AWAY<td>AWAY<tr><td>SEEN</table>",
    "<table><tr><td hidden>AWAY</table>SEEN",
    "<p style='visibility:visible'>SEEN</p>",
    "<div hidden><p style='visibility:visible'>AWAY</p></div>SEEN",
    "<my-part><template shadowrootmode=open><p>SEEN</template></my-part>",
]


def read(html: str) -> tuple[str, Contents]:
    page = Contents()
    return html_to_markdown(html, page), page


@pytest.mark.parametrize("html", [*FORMS, *PARTS])
def test_what_readers_see_is_read(html: str) -> None:
    text, _ = read(f"<p>before</p>{html}<p>behind</p>")
    assert text.count("SEEN") == html.count("SEEN")
    assert "AWAY" not in text
    assert text.startswith("before")
    assert text.endswith("behind")


@pytest.mark.parametrize(
    ("head", "may_change"),
    [
        ("<style>p { display: none }</style>", True),
        ("<style>p{color:red;DISPLAY:NONE}</style>", True),
        ("<style>@media print { nav { visibility: collapse } }</style>", True),
        (r"<style>.a{v\69sibility:hidden}</style>", True),
        ("<style>p{display:none!important}</style>", True),
        ("<style>[hidden] { display: block }</style><p hidden>x</p>", True),
        ("<style>p { visibility: visible }</style><p hidden>x</p>", True),
        ("<svg><style>g { display: none }</style></svg>", True),
        ("<style>p { display: block }</style>", False),
        ("<style>/* display: none */ p { color: red }</style>", False),
        ("<style>p::after { content: 'display: none' }</style>", False),
        ("<style>p { --display: none }</style>", False),
        ("<p hidden>x</p>", False),
        ("<p>display: none</p>", False),
        ("<script>style = 'display: none'</script>", False),
    ],
)
def test_a_style_sheet_that_may_hide_or_show_parts_is_told(head: str, may_change: bool) -> None:
    text, page = read(f"{head}<p>text</p>")
    assert text.endswith("text")
    assert (STYLED in page.unread) is may_change


@pytest.mark.parametrize(
    "head", ["<link rel='alternate StyleSheet' href=a.css>", "<style>@import 'a.css';</style>"]
)
def test_a_linked_style_sheet_is_only_named(head: str) -> None:
    _, page = read(f"{head}<p>text</p>")
    assert "linked style sheets" in page.left_out
    assert not page.unread


def test_values_are_text_and_overlong_attributes_cost_nothing() -> None:
    text, _ = read("<p>a</p><input value='&lt;script&gt; <b>x</b>'>")
    assert text == "a\n\n<script> <b>x</b>"
    long = "x" * LONGEST_TAG
    assert read(f"<p data-x={long} style='display:none'>AWAY</p>b")[0] == "b"


def test_chapters_of_an_epub_are_read_like_pages() -> None:
    chapter = "<html><head><style>p{display:none}</style></head><body><p>SEEN</p><input value='SEEN'/></body></html>"
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
        archive.writestr("META-INF/container.xml", container)
        item = '<manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine>'
        archive.writestr("b.opf", f"<package>{item}</package>")
        archive.writestr("a.xhtml", chapter)
    book = read_epub(data.getvalue(), "b.epub")
    assert book.text.count("SEEN") == 2
    assert book.unread == {STYLED}

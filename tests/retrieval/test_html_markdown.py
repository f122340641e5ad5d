"""HTML to Markdown: what is kept, what is left out, and that hostile markup costs bounded time and memory."""

import re
import subprocess
import sys
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longproof.retrieval.html_markdown import DEPTH, INDENTS, PIECE, bare, html_to_markdown
from longproof.retrieval.types import BadInput


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>Head <em>line</em></h1><p>a<p>b", "# Head line\n\na\n\nb"),
        ("<p>The <a href='/x'>green <b>jacket</b></a> of <code>x_1</code>.", "The green jacket of x_1."),
        ("<ul><li>one<li>two<ol><li>a<li>b</ol></ul>", "- one\n- two\n  1. a\n  2. b"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<blockquote><p>q<p>r</blockquote>", "> q\n>\n> r"),
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("x<br>y &amp; z &lt;p&gt; a < b", "x\ny & z <p> a < b"),
        ("<header><h1>T</h1><nav>menu</nav></header><main>m</main><footer>f</footer>", "# T\n\nm"),
        ("<p>one\n  line</p>\n<p>two\n", "one line\n\ntwo"),
        ("<p>船长把钥匙\n   藏在台阶下，\n谁也 see\n它。", "船长把钥匙藏在台阶下，谁也 see 它。"),
        ("<p>漢<ruby>字<rp>(</rp><rt>ji</rt></ruby>語", "漢字語"),
        ("<p title=don't>it's <a href='x>y'>k</a>", "it's k"),
        ("<my-card><p>a</my-card>b", "a\n\nb"),
        ("<P>A</P><BR/><SCRIPT>x</SCRIPT >B", "A\n\nB"),
        ("<img src='data:image/png;base64,AAAA' alt=x>b", "b"),
    ],
)
def test_main_text_is_kept_as_markdown(html: str, text: str) -> None:
    assert html_to_markdown(html)[0] == text


@pytest.mark.parametrize(
    "away",
    [
        "<script>if (a<b) {'</div>'}</script>",
        "<style>p{}</style>",
        "<nav>x<div>y</div>z</nav>",
        "<aside><aside>x</aside>y</aside>",
        "<svg><svg></svg><text>x</text></svg>",
        "<iframe src='file:///etc/passwd'>x</iframe>",
        "<object data=x><p>x</object>",
        "<template><p>x</template>",
        "<noscript>x</noscript>",
        "<!-- x --><!-- > x --><?php x ?><![CDATA[x]]>",
        "<p hidden><span>x</span>y</p>",
        "<div style='color: red; display: none'>x<p>y</div>",
        "<span style=visibility:hidden>x<span>y</span>x</span>",
        "<div role=navigation>x</div>",
        "<textarea><p>x</textarea>",
        "<nav/><canvas/>",
        "<footer>x</section></main>y</footer>",
    ],
)
def test_what_is_not_the_text_is_left_out(away: str) -> None:
    assert " ".join(html_to_markdown(f"<p>a</p>{away}<p>b</p>")[0].split()) == "a b"


def test_words_about_hiding_hide_nothing() -> None:
    html = "<p title='a hidden role' aria-label=hidden data-style='display:none'>shown</p>"
    assert html_to_markdown(html)[0] == "shown"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a<script>unclosed <p>x", "a"),
        ("a<!-- unclosed <p>x", "a"),
        ("a<p title='unclosed><p>x", "a"),
        ("a<div hidden>x", "a"),
        ("<div>a<nav>n<p>x</div><p>after", "a\n\nafter"),
        ("<ul><li hidden>x<p>y<li>b</ul>", "- b"),
        ("<table><tbody hidden><tr><td>x<tbody><tr><td>b</table>", "| b |\n| --- |"),
    ],
)
def test_what_is_never_closed_ends_where_a_browser_would_end_it(html: str, text: str) -> None:
    assert html_to_markdown(html)[0] == text


def test_the_head_says_title_address_and_date() -> None:
    facts = html_to_markdown(
        "<!-- saved from url=(0021)https://example.org/s --><title>Sea &amp; land</title><title>second</title>"
        '<link rel="Canonical" href="https://example.org/c?a=1&amp;b=2"><meta property=og:url content=\'u\'>'
        '<meta name="Date" content="2024-05-06"><script type="application/ld+json">'
        '{"datePublished": "2023-01-02"}</script><svg><title>picture</title></svg><time datetime=2020>'
    )[1]
    assert facts == {
        "saved from": "https://example.org/s",
        "title": "Sea & land",
        "canonical": "https://example.org/c?a=1&b=2",
        "og:url": "u",
        "date": "2024-05-06",
        "datepublished": "2023-01-02",
        "time": "2020",
    }


def test_singlefile_says_where_a_page_was_saved_from() -> None:
    html = "<html><!--\n Page saved with SingleFile \n url: https://example.org/a \n saved date: x\n--><p>b"
    assert html_to_markdown(html)[1] == {"saved from": "https://example.org/a"}


@given(st.lists(st.sampled_from(["<div>", "</div>", "<p>", "<li>", "<ul>", "</ul>", "<x>", "</x>", "w "])))
@settings(max_examples=200)
def test_bare_markup_is_of_bounded_depth_and_closes_only_what_is_open(parts: list[str]) -> None:
    markup = bare("".join(parts) + "<div>" * 150 + "deep")[0]
    open_ = Counter[str]()
    for end, name in re.findall(r"<(/?)(div|ul|span)>", markup):
        open_[name] += -1 if end else 1
        assert open_[name] >= 0
        assert open_.total() <= DEPTH
        assert open_["ul"] <= INDENTS
    assert markup.endswith("deep")
    assert markup.count("w ") == parts.count("w ")


HOSTILE = {
    "100,000 boxes deep": "<div>" * 100_000 + "deep" + "</div>" * 100_000,
    "100,000 inline deep, open": "<b>" * 100_000 + "deep",
    "30,000 tables deep": "<table><tr><td>" * 30_000 + "deep",
    "50,000 quotations deep": "<blockquote>" * 50_000 + "deep",
    "50,000 lists deep": "<ul><li>" * 50_000 + "deep",
    "text where no text may be": "<table>" + "x<p>y" * 60_000 + "deep",
    "open tags": "deep" + "<a " * 500_000,
    "open quotes": "deep" + '<p a="b" c=\'' * 200_000,
    "open comments": "deep" + "<!--" * 500_000,
    "open scripts": "deep" + "<script" * 500_000,
    "ends of scripts": "<script>" + "</script" * 500_000 + "</script>deep",
    "a tag of 10 MB": "<p class='" + "a" * 10_000_000 + "'>deep",
    "300,000 attributes": "<p " + " ".join(f"a{i}=1" for i in range(300_000)) + ">deep",
    "broken entities": "&#x;&#99999999999;&nothing;&#xD800;" * 50_000 + "deep",
    "NUL bytes": "<p>\0</p>" * 10_000 + "deep",
    "signs": "<" * 500_000 + "&" * 500_000 + "[" * 500_000 + "deep",
    "spaces": "<pre>" + " " * 3_000_000 + "deep",
    "a large span": "<table><tr><td colspan=99999999 rowspan=99999999>deep</td></tr></table>",
    "attributes that hide": "<p hidden style='" + "display " * 1000 + "'>x" * 200 + "<p>deep",
    "closing tags": "</div></p></table>" * 100_000 + "deep",
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markup_costs_little_and_loses_nothing(html: str) -> None:
    started = time.process_time()
    text, facts = html_to_markdown(html)
    assert time.process_time() - started < 10
    assert "deep" in text
    assert "\0" not in text
    assert len(text) <= 5 * len(html)
    assert len(facts) < 300


def test_a_table_that_blows_up_is_refused() -> None:
    with pytest.raises(BadInput, match="blow up"):
        html_to_markdown("<table><tr>" + "<td>x" * 5_000 + "<tr><td>y" * 20_000 + "</table>")


def test_a_long_page_is_read_in_pieces_without_losing_a_word() -> None:
    words = [f"w{i}" for i in range(60_000)]
    html = "".join(f"<p>{word}</p>" for word in words)
    assert len(bare(html)[0]) > 2 * PIECE
    assert html_to_markdown(html)[0].split("\n\n") == words


@given(st.text("<>/!-\"'= adivspnblockquotetablscript&;#x0\n", max_size=200))
@settings(max_examples=300)
def test_any_text_is_read(html: str) -> None:
    text, _ = html_to_markdown(html)
    assert "\0" not in text


MEASURED = """
import resource, time
from longproof.retrieval.html_markdown import html_to_markdown
html = {page}
before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
text, _ = html_to_markdown(html)
print(len(text), time.process_time() - started, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page",
    [
        '"<p>hello world &amp; more <b>bold</b></p>\\n" * 1_200_000',
        '"<table>" + "x<p>y" * 10_000_000',
        '"<div>" * 8_000_000',
        '"<script>" + "x = 1;" * 8_000_000',
    ],
)
def test_fifty_megabytes_cost_bounded_time_and_memory(page: str) -> None:
    code = MEASURED.format(page=page)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    _, seconds, megabytes = map(float, done.stdout.split())
    assert seconds < 150
    assert megabytes < 1000

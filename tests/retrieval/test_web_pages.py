"""Saved pages: their text, title, address and encoding; hostile markup costs bounded time and memory."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longproof.retrieval.contents import Contents
from longproof.retrieval.types import BadInput
from longproof.retrieval.web_pages import PIECE, html_to_markdown, read_page

HTML = """<!DOCTYPE html><!-- saved from url=(0022)https://example.org/s1 --><html><head>{}</head>
<body><nav>Home</nav><h1>The  lighthouse</h1><p>Built in 1871 of grey stone.</p></body></html>"""


def markdown(html: str, *, main_only: bool = False) -> str:
    return html_to_markdown(html, Contents(), main_only=main_only)


OG = "<meta property=og:title content=C><meta property=og:url content=https://d.e/f>"
HEADS = [
    (f"<title> A\n\tB &ndash; </title><link rel=canonical href='https://a.b/'>{OG}", "A B –", "https://a.b/"),
    (f"<title> </title><link rel=canonical href='/c'>{OG}", "The lighthouse", "https://d.e/f"),
    ("<link rel=canonical href='javascript:alert(1)'>", "The lighthouse", "https://example.org/s1"),
    ('<link rel=canonical href="https://a.b/&quot; onclick=x">', "The lighthouse", "https://example.org/s1"),
    ("<link rel=canonical href='file:///etc/passwd'>", "The lighthouse", "https://example.org/s1"),
    ("", "The lighthouse", "https://example.org/s1"),
]


@pytest.mark.parametrize(("head", "title", "address"), HEADS)
def test_title_and_address_are_those_of_the_head_if_any(head: str, title: str, address: str) -> None:
    page = read_page(HTML.format(head).encode(), "sub/light.HTML", main_only=True)
    assert page.text == "# The lighthouse\n\nBuilt in 1871 of grey stone."
    assert (page.kind, page.title, page.uri) == ("page", title, address)


def test_without_a_head_the_title_is_that_of_the_front_matter_else_the_name() -> None:
    assert read_page(b"<meta property=og:title content=Shared><p>x", "n.htm").title == "Shared"
    assert read_page("正文。".encode(), "sub/名字.txt").title == "名字"
    data = b"---\r\ntitle: 'Tides'\nurl: https://example.org/t\n---\n# Heading\n\nText.\n"
    page = read_page(data, "t.md")
    assert page.text == "# Heading\n\nText.\n"
    assert (page.title, page.uri) == ("Tides", "https://example.org/t")


CHINESE = "<p>灯塔建于一八七一年，用灰色的石头砌成，至今还在使用。"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("gb2312", "gb18030", CHINESE),
        ("big5", "big5", "<p>燈塔建於一八七一年，用灰色的石頭砌成。"),
        ("utf-8", "utf-8", CHINESE),
        ("Shift_JIS", "cp932", "<p>灯台は一八七一年に建てられた。"),
        ("windows-1251", "cp1251", "<p>Маяк построен в 1871 году."),
        ("ISO-8859-1", "cp1252", "<p>Phare bâti en 1871 – “gris”."),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(label: str, codec: str, text: str) -> None:
    for head in (f"<meta charset={label}>", f'<meta http-equiv=x content="text/html; charset={label}">'):
        assert read_page((head + text).encode(codec), "x.html").text == text.removeprefix("<p>")


def test_the_encoding_is_told_where_none_or_a_wrong_one_is_declared_and_a_broken_byte_costs_no_page() -> None:
    broken = b"<meta charset=utf-8>" + (CHINESE * 100).encode() + b"\xff"
    assert read_page(broken, "x.html").text.endswith("至今还在使用。\ufffd")
    latin = "<meta charset=utf-8><p>" + "Some hundred characters of plain text stand beside one café. " * 3
    assert "café" in read_page(latin.encode("latin-1"), "x.html").text
    for head in ("", "<meta charset=utf-8>", "<meta charset=punycode>", "<meta charset=nothing>"):
        assert "灰色的石头" in read_page((head + CHINESE * 3).encode("gb18030"), "x.html").text
    assert read_page(("\ufeff" + CHINESE).encode("utf-16-le"), "x.html").text == CHINESE[3:]


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"", "a.html", "empty"),
        (b"<script>only this</script>", "a.html", "no text"),
        (b"---\ntitle: x\n---\n", "a.md", "no text"),
        (b"text\0text", "a.txt", "a.txt: "),
        (bytes(range(256)) * 4, "a.txt", "a.txt: "),
        (b"<table><tr>" + b"<td>x" * 5000 + b"<tr><td>y" * 20000, "a.htm", "a.htm: its tables"),
    ],
)
def test_what_is_no_page_is_refused_by_name(data: bytes, name: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        read_page(data, name)
    assert str(refused.value).startswith(name)
    assert "\n" not in str(refused.value)


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
        ("<nav>n</nav><main>m</main><aside>a</aside><footer>f</footer>", "n\n\nm\n\na\n\nf"),
        ("<p>a</p><button>press</button><dialog>sure?</dialog>", "a\n\npress\n\nsure?"),
        ("<svg><title>t</title><g><text>one</text><text>two</text></g></svg>b", "one\n\ntwo\n\nb"),
        ("<math><mi>x</mi><mo>=</mo><mn>2</mn><annotation>tex</annotation></math> b", "x=2 b"),
        ("<details><summary>s</summary>in</details>", "s\n\nin"),
        ("<select><option>o<option>p</select><textarea>t</textarea>", "o p t"),
        ("<textarea><script>x &lt; y</script></textarea>", "<script>x < y</script>"),
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
    assert markdown(html) == text


@pytest.mark.parametrize(
    ("away", "left_out", "unread"),
    [
        ("<script>if (a<b) {'</div>'}</script>", "scripts and styles", ""),
        ("<!-- x --><!-- > x --><?php x ?><![CDATA[x]]>", "comments", ""),
        ("<p hidden><span>x</span>y</p>", "hidden parts", ""),
        ("<div style='color: red; display: none'>x<p>y</div>", "hidden parts", ""),
        ("<span style=visibility:hidden>x<span>y</span>x</span>", "hidden parts", ""),
        ("<template><p>x</template>", "hidden parts", ""),
        ("<img src=x alt=x>", "pictures", ""),
        ("<svg><image href=x></image></svg>", "pictures", ""),
        ("<video>x</video>", "sound and films", ""),
        ("<iframe src='file:///etc/passwd'>x</iframe>", "", "embedded pages"),
        ("<object data=x><p>x</object>", "", "embedded files"),
        ("<canvas>x</canvas>", "", "drawings by scripts"),
        ("<ruby><rt>x</rt></ruby>", "", "readings above characters"),
    ],
)
def test_what_is_left_out_is_named(away: str, left_out: str, unread: str) -> None:
    page = Contents()
    assert html_to_markdown(f"<p>a</p>{away}<p>b</p>", page).split() == ["a", "b"]
    assert (" ".join(page.left_out), " ".join(page.unread)) == (left_out, unread)


NESTED = [
    "<nav>x<div>y</div>z</nav>",
    "<aside><aside>x</aside>y</aside>",
    "<svg><svg></svg><text>x</text></svg>",
]


@pytest.mark.parametrize("away", [*NESTED, "<div role=navigation>x</div>"])
def test_what_stands_beside_the_main_text_can_be_left_out(away: str) -> None:
    html = f"<p>a</p>{away}<p>b</p>"
    assert markdown(html, main_only=True).split() == ["a", "b"]
    assert "x" in markdown(html)


@pytest.mark.parametrize(
    "html", ["<div>" * 100_000 + "</div>" * 100_000, "<b>" * 100_000, "<table><tr><td>" * 30_000]
)
def test_what_is_nested_too_deep_to_be_read_whole_is_refused(html: str) -> None:
    with pytest.raises(BadInput, match="nested too deep"):
        markdown(html + "deep")


HOSTILE = {
    "text where no text may be": "<table>" + "x<p>y" * 60_000 + "deep",
    "open tags": "deep" + "<a " * 500_000,
    "open quotes": "deep" + '<p a="b" c=\'' * 200_000,
    "open comments": "deep" + "<!--" * 500_000,
    "open scripts": "deep" + "<script" * 500_000,
    "a tag of 10 MB": "<p class='" + "a" * 10_000_000 + "'>deep",
    "300,000 attributes": "<p " + " ".join(f"a{i}=1" for i in range(300_000)) + ">deep",
    "broken entities": "&#x;&#99999999999;&nothing;&#xD800;" * 50_000 + "deep",
    "NUL bytes": "<p>\0</p>" * 10_000 + "deep",
    "signs": "<" * 500_000 + "&" * 500_000 + "[" * 500_000 + "deep",
    "spaces": "<pre>" + " " * 3_000_000 + "deep",
    "a large span": "<table><tr><td colspan=99999999 rowspan=99999999>deep</td></tr></table>",
    "attributes that hide": "<p hidden style='" + "display " * 1000 + "'>x" * 200 + "<p>deep",
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markup_costs_little_and_loses_nothing(html: str) -> None:
    text = markdown(html)
    assert "deep" in text
    assert len(text) <= 5 * len(html) + 10_000


def test_a_long_page_is_read_in_pieces_without_losing_a_word() -> None:
    words = [f"w{i}" for i in range(PIECE // 5)]
    assert markdown("".join(f"<p>{word}</p>" for word in words)).split("\n\n") == words


@given(st.text("<>/!-\"'= adivspnblockquotetablscript&;#x0\n", max_size=200))
@settings(max_examples=300)
def test_any_text_is_read(html: str) -> None:
    text = markdown(html)
    assert "\0" not in text

"""One saved page: its text, title, address, date and encoding, whatever the file."""

import pytest

from longproof.retrieval.types import BadInput
from longproof.retrieval.web_pages import read_page

HTML = """<!DOCTYPE html><!-- saved from url=(0022)https://example.org/s1 --><html><head>{head}</head>
<body><nav>Home</nav><h1>The  lighthouse</h1><p>Built in 1871 of grey stone.</p></body></html>"""


def html(head: str = "") -> bytes:
    return HTML.format(head=head).encode()


def test_an_html_page() -> None:
    head = """<title>Lighthouse &ndash; Coast</title><link rel=canonical href="https://example.org/c">
    <meta property="og:url" content="https://example.org/o"><meta property="article:published_time"
    content="2024-02-03T10:00:00Z"><meta name=date content=2020-01-01>"""
    page = read_page(html(head), "sub/light.HTML", main_only=True)
    assert page.document.text == "# The lighthouse\n\nBuilt in 1871 of grey stone."
    assert page.document.kind == "page"
    assert (page.document.title, page.document.uri) == ("Lighthouse – Coast", "https://example.org/c")
    assert page.date == "2024-02-03"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title> A\n\tB </title><meta property=og:title content=C>", "A B"),
        ("<title> </title><meta property=og:title content=C>", "The lighthouse"),
        ("", "The lighthouse"),
    ],
)
def test_the_title_is_that_of_the_head_else_the_heading(head: str, title: str) -> None:
    assert read_page(html(head), "x.html").document.title == title


def test_without_a_heading_the_title_is_what_is_shared_else_the_name() -> None:
    assert read_page(b"<meta property=og:title content=Shared><p>x", "n.htm").document.title == "Shared"
    assert read_page(b"<p>x", "sub/name.htm").document.title == "name"
    assert read_page("正文。".encode(), "sub/名字.txt").document.title == "名字"


@pytest.mark.parametrize(
    ("head", "address"),
    [
        (
            "<link rel=canonical href='https://a.b/c'><meta property=og:url content=https://d.e>",
            "https://a.b/c",
        ),
        ("<link rel=canonical href='/c'><meta property=og:url content=https://d.e/f>", "https://d.e/f"),
        ("<link rel=canonical href='javascript:alert(1)'>", "https://example.org/s1"),
        ('<link rel=canonical href="https://a.b/&quot; onclick=x">', "https://example.org/s1"),
        ("<link rel=canonical href='file:///etc/passwd'>", "https://example.org/s1"),
        ("", "https://example.org/s1"),
    ],
)
def test_only_a_web_address_is_an_address(head: str, address: str) -> None:
    assert read_page(html(head), "x.html").document.uri == address


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2024-02-03", "2024-02-03"),
        ("2024-02-03 10:00", "2024-02-03"),
        ("20240203", "2024-02-03"),
        ("2024-02-30", ""),
        ("3 February 2024", ""),
        ("0000-00-00", ""),
        ("", ""),
    ],
)
def test_a_date_is_a_day_or_nothing(said: str, day: str) -> None:
    assert read_page(html(f"<meta name=date content='{said}'>"), "x.html").date == day


def test_markdown_says_title_address_and_date_in_its_front_matter() -> None:
    data = b"---\r\ntitle: 'Tides'\nurl: https://example.org/t\ndate: 2023-11-05\n---\n# Heading\n\nText.\n"
    page = read_page(data, "t.md")
    assert page.document.text == "# Heading\n\nText.\n"
    assert (page.document.title, page.document.uri, page.date) == (
        "Tides",
        "https://example.org/t",
        "2023-11-05",
    )


@pytest.mark.parametrize(
    ("text", "title"), [("# Tides\n\nText.", "Tides"), ("Text.\n\n## Sub", "t"), ("---\nText.\n", "t")]
)
def test_markdown_without_front_matter_is_taken_as_it_is(text: str, title: str) -> None:
    page = read_page(text.encode(), "t.md")
    assert (page.document.text, page.document.title) == (text, title)


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
        assert read_page((head + text).encode(codec), "x.html").document.text == text.removeprefix("<p>")


def test_the_encoding_is_told_where_none_or_a_wrong_one_is_declared() -> None:
    for head in ("", "<meta charset=utf-8>", "<meta charset=punycode>", "<meta charset=nothing>"):
        assert "灰色的石头" in read_page((head + CHINESE * 3).encode("gb18030"), "x.html").document.text
    assert read_page(("\ufeff" + CHINESE).encode("utf-16-le"), "x.html").document.text == CHINESE[3:]


def test_a_broken_byte_does_not_cost_the_page() -> None:
    data = b"<meta charset=utf-8>" + (CHINESE * 100).encode() + b"\xff"
    assert read_page(data, "x.html").document.text.endswith("至今还在使用。\ufffd")


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

"""Plain files, and books in EPUB, PDF, DOCX and HTML: text in reading order; what can't be read is refused."""

import re
import zipfile
from importlib.metadata import requires
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from longproof.retrieval import loaders, pdf_length
from longproof.retrieval.loaders import read_document, read_source
from longproof.retrieval.types import BadInput

CHINESE = "那年冬天，村里的人都说今年的收成完了。他看着窗外的大雪，心里想：明天还要去城里吗？\n"
CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book%20one.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
OPF = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"><metadata
xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The  Lighthouse 灯塔</dc:title></metadata><manifest>
<item id="n" href="nav.xhtml" properties="nav"/><item id="b" href="text/two.xhtml"/><item id="e" href="empty.xhtml"/>
<item id="a" href="text/one%20first.xhtml#top"/><item id="x" href="notes.xhtml"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="e"/><itemref idref="b"/>
<itemref idref="x" linear="no"/></spine></package>"""
ONE = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>
<title/><script src="x.js"/></head><body><h1>Chapter One</h1><p>The keeper winds the clock &amp; waits.</p>
<p>灯塔的<i>光</i>照着他。</p></body></html>"""
TWO = "<html><body><h2>Chapter Two</h2><p>The tide turns.</p></body></html>"


def packed(**changes: str | bytes | None) -> bytes:
    """An EPUB; changes name a file with its slashes and dots as `__` and `_`, None leaves it out."""
    files: dict[str, str | bytes | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book one.opf": OPF,
        "OEBPS/text/one first.xhtml": ONE,
        "OEBPS/text/two.xhtml": TWO,
        "OEBPS/empty.xhtml": "",
        "OEBPS/nav.xhtml": "<nav>contents</nav>",
        "OEBPS/notes.xhtml": "<p>a note</p>",
    }
    short = {
        "container": "META-INF/container.xml",
        "opf": "OEBPS/book one.opf",
        "two": "OEBPS/text/two.xhtml",
    }
    files |= {
        short.get(name, name.replace("__", "/").replace("_", ".")): text for name, text in changes.items()
    }
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            if text is not None:
                archive.writestr(name, text)
    return data.getvalue()


def read(tmp_path: Path, name: str, data: bytes) -> Any:
    (tmp_path / name).write_bytes(data)
    return read_source(tmp_path / name)


def refused(tmp_path: Path, name: str, data: bytes, match: str) -> None:
    with pytest.raises(BadInput, match=match) as error:
        read(tmp_path, name, data)
    assert str(error.value).startswith(str(tmp_path / name))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


def test_an_epub_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    document = read(tmp_path, "Book.EPUB", packed())
    assert document.title == "The Lighthouse 灯塔"
    assert (document.kind, document.uri) == ("markdown", str(tmp_path / "Book.EPUB"))
    assert document.text == (
        "# Chapter One\n\nThe keeper winds the clock & waits.\n\n灯塔的光照着他。\n\n"
        "## Chapter Two\n\nThe tide turns.\n"
    )


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"container": None}, "not an EPUB"),
        ({"container": "<container/>"}, "not an EPUB"),
        ({"container": "no xml"}, "not an EPUB"),
        ({"opf": OPF.replace('idref="a"', 'idref="gone"')}, "not an EPUB"),
        ({"two": None}, "not an EPUB"),
        ({"opf": '<!DOCTYPE p [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><p>&b;</p>'}, "declarations"),
        ({"opf": OPF.replace("<?xml", "<!doctype x SYSTEM 'file:///etc/passwd'><?xml")}, "declarations"),
        ({"two": bytes(range(256)) * 9}, "two.xhtml"),
        ({"opf": OPF.replace("<itemref", "<other")}, "no text"),
    ],
)
def test_a_broken_or_hostile_epub_is_refused(tmp_path: Path, changes: dict[str, Any], match: str) -> None:
    refused(tmp_path, "book.epub", packed(**changes), match)


def test_an_epub_whose_chapter_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(_: str) -> None:
        raise BadInput("its markup can't be read")

    monkeypatch.setattr(loaders, "html_to_markdown", refusing)
    refused(tmp_path, "book.epub", packed(), "its markup can't be read")


def test_a_protected_epub_is_refused(tmp_path: Path) -> None:
    locked = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>
    <CipherReference URI="{}"/></CipherData></EncryptedData></encryption>"""
    font = locked.format("OEBPS/fonts/serif.otf")
    assert read(tmp_path, "fonts.epub", packed(**{"META-INF__encryption_xml": font})).text
    chapter = locked.format("OEBPS/text/one%20first.xhtml")
    refused(tmp_path, "locked.epub", packed(**{"META-INF__encryption_xml": chapter}), "protected")


@pytest.mark.parametrize("name", ["book.epub", "book.docx"])
def test_what_unpacks_without_measure_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaders, "UNPACKED", 2_000_000)
    refused(tmp_path, name, packed(two=b"<p>" + b"x" * 3_000_000), "unpacks to more than 2 MB")


@pytest.mark.parametrize("suffix", sorted(loaders.READERS))
@pytest.mark.parametrize("data", [b"", b"PK\3\4 not a zip", b"%PDF-1.7\n%%EOF", bytes(range(256)) * 20])
def test_what_is_no_book_is_refused(tmp_path: Path, suffix: str, data: bytes) -> None:
    if suffix == ".pdf":
        pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    if suffix == ".docx":
        pytest.importorskip("docx", reason="the extra `read` is not installed")
    if suffix in {".html", ".htm", ".xhtml"} and data.startswith((b"PK", b"%PDF")):
        pytest.skip("text, if an odd one")
    refused(tmp_path, f"book{suffix}", data, "book")


def test_a_missing_book_and_a_folder_are_said(tmp_path: Path) -> None:
    (tmp_path / "folder.pdf").mkdir()
    for name, message in (("gone.epub", "no such file"), ("folder.pdf", "a directory")):
        with pytest.raises(BadInput, match=message):
            read_source(tmp_path / name)


def test_other_files_are_read_as_they_were(tmp_path: Path) -> None:
    text = "他们说这里的人都不知道他是从哪里来的。"
    assert read(tmp_path, "plain.txt", text.encode("gb18030")).text == text
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1") * 9)
    assert read_source(tmp_path / "latin.txt", "latin-1").text.startswith("café")


@pytest.mark.parametrize("name", ["page.html", "page.xhtml"])
def test_a_page_gives_its_main_text(tmp_path: Path, name: str) -> None:
    page = b"<title>A page</title><nav>menu</nav><h1>Head</h1><p>Body<script>alert(1)</script> text.</p>"
    document = read(tmp_path, name, page)
    assert (document.title, document.kind, document.text) == ("A page", "markdown", "# Head\n\nBody text.\n")


def a_pdf(pages: list[str], outline: list[tuple[str, int, int | None]] = (), **kinds: str) -> bytes:  # type: ignore[assignment]
    """A PDF of pages of plain lines; outline entries are (title, page, the entry that they stand under)."""
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    name = NameObject
    font = DictionaryObject(
        {
            name("/Type"): name("/Font"),
            name("/Subtype"): name("/Type1"),
            name("/BaseFont"): name("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(600, 800)
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 50 700 Td {lines} ET".encode())
        page[name("/Contents")] = writer._add_object(stream)
        page[name("/Resources")] = DictionaryObject({name("/Font"): DictionaryObject({name("/F1"): font})})
    entries: list[Any] = []
    for title, number, parent in outline:
        entries.append(writer.add_outline_item(title, number, None if parent is None else entries[parent]))
    if "title" in kinds:
        writer.add_metadata({"/Title": kinds["title"]})
    if "password" in kinds:
        writer.encrypt(kinds["password"], algorithm="RC4-128")
    data = BytesIO()
    writer.write(data)
    return data.getvalue()


def test_what_reads_pages_comes_with_the_core_install() -> None:
    core = [one for one in requires("longproof") or [] if "extra ==" not in one]
    assert [one for one in core if one.startswith("html-to-markdown")]


def test_a_word_document_without_properties_takes_its_files_name(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="the extra `read` is not installed")
    whole = docx.Document()
    whole.add_paragraph("Ada lit the lamp.")
    whole.save(tmp_path / "whole.docx")
    with (
        zipfile.ZipFile(tmp_path / "whole.docx") as old,
        zipfile.ZipFile(tmp_path / "bare.docx", "w") as bare,
    ):
        for name in old.namelist():
            kept = re.sub(rb"<(?:Relationship|Override) [^>]*core[-.][^>]*/>", b"", old.read(name))
            if name != "docProps/core.xml":
                bare.writestr(name, kept)
    assert read_source(tmp_path / "bare.docx").title == "bare"


def test_a_pdf_gives_its_pages_with_its_outline_as_headings(tmp_path: Path) -> None:
    outline = [("Chapter One", 0, None), ("A part", 1, 0), ("Hidden heading", 1, None)]
    data = a_pdf(["Chapter One\nThe keeper waits.", "A part\nThe tide turns."], outline, title="The Tide")
    document = read(tmp_path, "book.pdf", data)
    assert document.title == "The Tide"
    assert document.text == (
        "# Chapter One\n\nThe keeper waits.\n\n# Hidden heading\n\n## A part\n\nThe tide turns.\n"
    )


def test_pdfs_that_give_no_text_say_why(tmp_path: Path) -> None:
    refused(tmp_path, "locked.pdf", a_pdf(["secret"], password="x"), "password")
    refused(tmp_path, "pictures.pdf", a_pdf([""]), "text recognition")
    refused(tmp_path, "half.pdf", a_pdf(["one", "two"])[:300], "not a PDF")


def test_a_word_document_gives_paragraphs_tables_and_headings(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="the extra `read` is not installed")
    word = docx.Document()
    word.add_heading("灯塔", 0)
    word.add_heading("第一回", 1)
    word.add_paragraph("看守人等着。")
    table = word.add_table(2, 2)
    for i, cell in enumerate(("name", "age", "Mary", "30")):
        table.cell(i // 2, i % 2).text = cell
    word.add_heading("Part", 3)
    word.add_paragraph("  The tide turns.  ")
    word.core_properties.title = "The Tide"
    data = BytesIO()
    word.save(data)
    document = read(tmp_path, "book.docx", data.getvalue())
    assert document.title == "The Tide"
    assert document.text == (
        "# 灯塔\n\n# 第一回\n\n看守人等着。\n\n| name | age |\n| Mary | 30 |\n\n### Part\n\nThe tide turns.\n"
    )
    hostile = BytesIO()
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(hostile, "w") as new:
        for entry in old.namelist():
            body = old.read(entry)
            new.writestr(
                entry, b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + body if entry.endswith("document.xml") else body
            )
    refused(tmp_path, "hostile.docx", hostile.getvalue(), "declarations")


def test_a_file_becomes_a_document(tmp_path):
    for name, kind in [("a tale.txt", "text"), ("notes.MD", "markdown"), ("plain", "text")]:
        path = tmp_path / name
        path.write_bytes(CHINESE.encode("gb18030"))
        document = read_document(path)
        assert (document.text, document.kind, document.uri) == (CHINESE, kind, str(path))
        assert document.title == path.stem
    path = tmp_path / "game.json"
    path.write_bytes('{"home": "Suns"}'.encode("utf-16"))
    document = read_document(path)
    assert (document.text, document.kind, document.raw) == ("home: Suns", "record", '{"home": "Suns"}')
    assert read_document(path, "utf-16").text == "home: Suns"


def test_files_that_cant_be_read_are_refused_in_one_line(tmp_path):
    (tmp_path / "bad.json").write_text('{"a":\n}')
    (tmp_path / "empty.txt").touch()
    for name, message in [("none.txt", "no such file"), (".", "directory"), ("empty.txt", "empty")]:
        with pytest.raises(BadInput, match=message):
            read_document(tmp_path / name)
    with pytest.raises(BadInput, match=r"bad\.json: not JSON: .* \(line 2, column 1\)"):
        read_document(tmp_path / "bad.json")
    with pytest.raises(BadInput, match="name"):
        read_document(tmp_path / "nul\0.txt")
    with pytest.raises(BadInput, match="can't be read"):
        read_document(tmp_path / ("x" * 5000))
    with pytest.raises(BadInput, match="can't be read"):
        read_document(tmp_path / "empty.txt" / "below")


def test_an_epub_that_repeats_a_chapter_gives_it_once(tmp_path: Path) -> None:
    assert OPF.count("<itemref") > 1
    repeated = re.sub(r"<itemref[^>]*>", lambda found: found[0] * 5000, OPF)
    assert read(tmp_path, "many.epub", packed(opf=repeated)).text == read(tmp_path, "one.epub", packed()).text


@pytest.mark.parametrize("name", ["book.epub", "book.txt", "book.docx"])
def test_text_without_measure_is_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaders, "CHARACTERS", 1_000)
    data = packed(two="<p>" + "tide " * 300) if name.endswith("epub") else b"tide " * 300
    if name.endswith("docx"):
        data = a_table(span=900)
    refused(tmp_path, name, data, "longer than 1,000 characters")


def a_table(span: int) -> bytes:
    """A Word document with a table of one wide cell."""
    docx = pytest.importorskip("docx", reason="the extra `read` is not installed")
    word = docx.Document()
    cell = word.add_table(1, 1).cell(0, 0)
    cell.text = "tide"
    cell._tc.grid_span = span
    data = BytesIO()
    word.save(data)
    return data.getvalue()


def test_a_table_with_columns_without_measure_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "wide.docx", a_table(900_000_000), "more than 1,000 columns")


@pytest.mark.parametrize(("limit", "least"), [("CELLS", 39), ("PIECES", 80)])
def test_a_word_document_of_more_than_can_be_read_in_a_minute_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, least: int
) -> None:
    docx = pytest.importorskip("docx", reason="the extra `read` is not installed")
    word = docx.Document()
    for cell in (cell for row in word.add_table(10, 4).rows for cell in row.cells):
        cell.text = "tide"
    data = BytesIO()
    word.save(data)
    assert read(tmp_path, "table.docx", data.getvalue()).text.count("tide") == 40
    monkeypatch.setattr(loaders, limit, least)
    refused(tmp_path, "table.docx", data.getvalue(), f"more than {least}")


def a_pdf_of_one_stream(content: bytes, pages: int) -> bytes:
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    from pypdf.generic import DecodedStreamObject, NameObject

    writer, stream = pypdf.PdfWriter(), DecodedStreamObject()
    stream.set_data(content)
    shared = writer._add_object(stream)
    for _ in range(pages):
        writer.add_blank_page(600, 800)[NameObject("/Contents")] = shared
    data = BytesIO()
    writer.write(data)
    return data.getvalue()


def test_a_pdf_whose_pages_share_a_long_stream_is_refused(tmp_path: Path) -> None:
    data = a_pdf_of_one_stream(b"BT (tide) Tj ET " * 50_000, 100)
    refused(tmp_path, "shared.pdf", data, "more than 32 MB")


@pytest.mark.timeout(60)
def test_a_pdf_of_short_operators_without_measure_is_refused(tmp_path: Path) -> None:
    assert pdf_length._operators(b"BT /F1 9 Tf (a \\) b) Tj [(c) 2 (d)]TJ <0Aff>' ET") == 6
    refused(tmp_path, "operators.pdf", a_pdf_of_one_stream(b"q Q\n" * 15_000, 100), "too many operators")


def test_a_pdf_of_too_many_pages_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_length, "PAGES", 2)
    refused(tmp_path, "long.pdf", a_pdf(["one", "two", "three"]), "more than 2 pages")


def a_pdf_of_forms(draws: list[tuple[int, int]], size: int = 20_000) -> bytes:
    """A page that draws the last form; form n draws another one so many times: (which, times)."""
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    named = DictionaryObject({NameObject(k): NameObject(v) for k, v in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): named})
    forms = [DecodedStreamObject() for _ in draws]
    places = DictionaryObject({NameObject(f"/X{n}"): writer._add_object(f) for n, f in enumerate(forms)})
    resources = DictionaryObject({NameObject("/Font"): fonts, NameObject("/XObject"): places})
    for form, (which, times) in zip(forms, draws, strict=True):
        form[NameObject("/Subtype")], form[NameObject("/Resources")] = NameObject("/Form"), resources
        form.set_data(
            b"BT /F1 9 Tf (The tide turns.) Tj ET %s " % (b"%" * size + b"\n" + b"/X%d Do " % which * times)
        )
    page, content = writer.add_blank_page(600, 800), DecodedStreamObject()
    content.set_data(b"/X%d Do" % (len(draws) - 1))
    page[NameObject("/Resources")], page[NameObject("/Contents")] = resources, writer._add_object(content)
    data = BytesIO()
    writer.write(data)
    return data.getvalue()


FORMS = {
    "one drawn thousands of times": [(0, 0), (0, 5_000)],
    "nested, twice each": [(0, 0), *((n, 2) for n in range(24))],
    "one that draws itself": [(0, 2)],
    "two that draw each other": [(1, 2), (0, 2)],
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", FORMS)
def test_a_pdf_whose_forms_multiply_is_refused(tmp_path: Path, kind: str) -> None:
    refused(tmp_path, "forms.pdf", a_pdf_of_forms(FORMS[kind]), "more than 32 MB")


def test_a_pdf_gives_the_text_of_its_forms(tmp_path: Path) -> None:
    document = read(tmp_path, "forms.pdf", a_pdf_of_forms([(0, 0), (0, 3)]))
    assert document.text.count("The tide turns.") == 4


@pytest.mark.timeout(60)
def test_a_pdf_whose_pages_share_a_font_with_a_table_without_measure_is_refused(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer, table, content = pypdf.PdfWriter(), DecodedStreamObject(), DecodedStreamObject()
    rows = b"".join(b"<%04X> <%04X>\n" % (n, n + 32) for n in range(50_000))
    table.set_data(b"50000 beginbfchar\n" + rows + b"endbfchar")
    content.set_data(b"BT /F1 9 Tf <00410042> Tj ET")
    kinds = {"/Type": "/Font", "/Subtype": "/Type0", "/BaseFont": "/X", "/Encoding": "/Identity-H"}
    font = DictionaryObject({NameObject(key): NameObject(kind) for key, kind in kinds.items()})
    font[NameObject("/ToUnicode")] = writer._add_object(table)
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    drawn = writer._add_object(content)
    for _ in range(900):
        page = writer.add_blank_page(600, 800)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        page[NameObject("/Contents")] = drawn
    data = BytesIO()
    writer.write(data)
    refused(tmp_path, "font.pdf", data.getvalue(), "more than 32 MB")

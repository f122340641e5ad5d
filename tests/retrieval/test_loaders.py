"""Plain files, and books in EPUB, PDF, DOCX and HTML: text in reading order; what can't be read is refused."""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from longproof.retrieval import contents, loaders
from longproof.retrieval.books import read_docx, read_pdf
from longproof.retrieval.loaders import READERS, read_apart, read_source
from longproof.retrieval.types import BadInput, FileNotes

CHINESE = "那年冬天，村里的人都说今年的收成完了。他看着窗外的大雪。\n"
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


FILES = {
    "container": ("META-INF/container.xml", CONTAINER),
    "opf": ("OEBPS/book one.opf", OPF),
    "one": ("OEBPS/text/one first.xhtml", ONE),
    "two": ("OEBPS/text/two.xhtml", "<html><body><h2>Chapter Two</h2><p>The tide turns.</p></body></html>"),
    "empty": ("OEBPS/empty.xhtml", ""),
    "nav": ("OEBPS/nav.xhtml", "<nav>contents</nav>"),
    "notes": ("OEBPS/notes.xhtml", "<p>a note</p>"),
    "encryption": ("META-INF/encryption.xml", None),
}


LOCKED = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>
<CipherReference URI="{}"/></CipherData></EncryptedData></encryption>"""


def epub(**changes: str | bytes | None) -> bytes:
    """An EPUB of FILES with these changes; None leaves a file out."""
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (path, usual) in FILES.items():
            text = changes.get(name, usual)
            if text is not None:
                archive.writestr(path, text)
    return data.getvalue()


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """PDFs and Word documents are read here, since a process for each takes a second; two tests start one."""
    if "apart" not in request.node.name:
        monkeypatch.setitem(READERS, ".pdf", read_pdf)
        monkeypatch.setitem(READERS, ".docx", read_docx)


def read(tmp_path: Path, name: str, data: bytes) -> Any:
    (tmp_path / name).write_bytes(data)
    return read_source(tmp_path / name)


def assert_refused(tmp_path: Path, name: str, data: bytes, match: str) -> None:
    with pytest.raises(BadInput, match=match) as error:
        read(tmp_path, name, data)
    assert str(error.value).startswith(str(tmp_path / name))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


def test_an_epub_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    document = read(tmp_path, "Book.EPUB", epub())
    assert document.title == "The Lighthouse 灯塔"
    assert (document.kind, document.uri) == ("markdown", str(tmp_path / "Book.EPUB"))
    assert document.text == (
        "# Chapter One\n\nThe keeper winds the clock & waits.\n\n灯塔的光照着他。\n\n"
        "## Chapter Two\n\nThe tide turns.\n\na note\n"
    )
    assert document.notes == FileNotes(left_out=("scripts and styles", "table of contents"))
    data = epub(two="<p>It did <![CDATA[not <turn> &]]> so.</p>", encryption=LOCKED.format("OEBPS/serif.otf"))
    document = read(tmp_path, "b.epub", data)
    assert "It did not <turn> & so." in document.text, (
        "character data is read, and a locked font locks no text"
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
        ({"two": b"<p>" + bytes(range(256)) * 9}, "two.xhtml"),
        ({"opf": OPF.replace("<itemref", "<other")}, "no text"),
        ({"encryption": LOCKED.format("OEBPS/text/one%20first.xhtml")}, "protected"),
    ],
)
def test_a_broken_or_hostile_epub_is_refused(tmp_path: Path, changes: dict[str, Any], match: str) -> None:
    assert_refused(tmp_path, "book.epub", epub(**changes), match)


@pytest.mark.parametrize("suffix", [".docx", ".epub", ".pdf"])
@pytest.mark.parametrize("data", [b"", b"PK\3\4 not a zip", b"%PDF-1.7\n%%EOF", bytes(range(256)) * 20])
def test_what_is_no_book_is_refused(tmp_path: Path, suffix: str, data: bytes) -> None:
    assert_refused(tmp_path, f"book{suffix}", data, "book")


def a_pdf(pages: list[str], **kinds: str) -> bytes:
    """A PDF of pages of plain lines, with a title or a password."""
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    name = NameObject
    kind = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = DictionaryObject({name(key): name(value) for key, value in kind.items()})
    for text in pages:
        page = writer.add_blank_page(600, 800)
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 50 700 Td {lines} ET".encode())
        page[name("/Contents")] = writer._add_object(stream)
        page[name("/Resources")] = DictionaryObject({name("/Font"): DictionaryObject({name("/F1"): font})})
    if "title" in kinds:
        writer.add_metadata({"/Title": kinds["title"]})
    if "password" in kinds:
        writer.encrypt(kinds["password"], algorithm="RC4-128")
    data = BytesIO()
    writer.write(data)
    return data.getvalue()


def test_a_pdf_gives_its_pages(tmp_path: Path) -> None:
    data = a_pdf(["Chapter One\nThe keeper waits.", "The tide turns."], title="The  Tide")
    document = read(tmp_path, "book.pdf", data)
    assert (document.title, document.notes) == ("The Tide", FileNotes())
    assert document.text == "Chapter One\nThe keeper waits.\n\nThe tide turns.\n"
    assert_refused(tmp_path, "locked.pdf", a_pdf(["secret"], password="x"), "password")
    assert_refused(tmp_path, "pictures.pdf", a_pdf([""]), "text recognition")


PAGE = b"<title>A page</title><nav>menu</nav><h1>Head</h1><p>Body.</p>"


@pytest.mark.parametrize(
    ("name", "data", "title", "kind", "text"),
    [
        ("a tale.txt", CHINESE.encode("gb18030"), "a tale", "text", CHINESE),
        ("notes.MD", CHINESE.encode(), "notes", "markdown", CHINESE),
        ("plain", CHINESE.encode(), "plain", "text", CHINESE),
        ("page.html", PAGE, "A page", "markdown", "menu\n\n# Head\n\nBody.\n"),
        ("page.xhtml", PAGE, "A page", "markdown", "menu\n\n# Head\n\nBody.\n"),
        ("game.json", '{"home": "Suns"}'.encode("utf-16"), "game", "record", "home: Suns"),
    ],
)
def test_a_file_becomes_a_document(tmp_path, name, data, title, kind, text):
    document = read(tmp_path, name, data)
    assert (document.title, document.kind, document.text) == (title, kind, text)
    assert document.uri == str(tmp_path / name)


def test_names_that_no_file_can_have_are_refused(tmp_path):
    (tmp_path / "file.txt").touch()
    unread = "can't be read"
    for name, why in (("nul\0.txt", "name"), ("x" * 5000, unread), ("file.txt/below", unread)):
        with pytest.raises(BadInput, match=why):
            read_source(tmp_path / name)


def test_text_without_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "CHARACTERS", 1_000)
    assert_refused(tmp_path, "book.txt", b"tide " * 300, "longer than 1,000 characters")
    assert_refused(tmp_path, "book.epub", epub(two="<p>" + "tide " * 300), "longer than 1,000 characters")
    monkeypatch.setattr(contents, "UNPACKED", 2_000_000)
    assert_refused(tmp_path, "book.epub", epub(two=b"<p>" + b"x" * 3_000_000), "unpacks to more than 2 MB")


def test_a_pdf_is_read_in_a_process_apart_and_given_up_where_it_would_take_hours(tmp_path, monkeypatch):
    assert read(tmp_path, "book.pdf", a_pdf(["The keeper waits."])).text == "The keeper waits.\n"
    assert_refused(tmp_path, "half.pdf", a_pdf(["one", "two"])[:300], "not a PDF")
    monkeypatch.setattr(loaders, "SECONDS", 0.01)
    assert_refused(tmp_path, "forms.pdf", a_pdf(["one"]), "takes more than 0.01 s")
    monkeypatch.undo()
    with pytest.raises(BadInput, match=r"book\.none: reading it takes too much memory, or fails"):
        read_apart(".none", b"x", "book.none")


def test_a_pdf_says_what_its_pages_show_beside_their_text() -> None:
    pypdf = pytest.importorskip("pypdf", reason="the extra `read` is not installed")
    from pypdf.annotations import FreeText, Text
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter(clone_from=BytesIO(a_pdf(["one", ""])))
    writer.add_annotation(0, FreeText(text="seen", rect=(0, 0, 9, 9)))
    writer.add_annotation(0, Text(text="a comment", rect=(0, 0, 9, 9)))
    picture = DecodedStreamObject()
    picture[NameObject("/Subtype")] = NameObject("/Image")
    pictures = DictionaryObject({NameObject("/I"): writer._add_object(picture)})
    for page in writer.pages:
        page[NameObject("/Resources")][NameObject("/XObject")] = pictures
    data = BytesIO()
    writer.write(data)
    notes = read_pdf(data.getvalue(), "x.pdf").notes
    assert notes.left_out == ("comments", "pictures")
    assert notes.unread == ("form fields and notes on the pages", "pages that are pictures")


def test_an_encoding_that_was_guessed_is_noted(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("他们说这里的人都不知道他是从哪里来的。".encode("gb18030"))
    assert read_source(tmp_path / "old.txt").notes == FileNotes(guessed_encoding="gb18030")
    assert read_source(tmp_path / "old.txt", "gb18030").notes == FileNotes()
    latin = epub(two="<p>naïve café, d\u2019accord</p>".encode("cp1252"))
    assert read(tmp_path, "latin.epub", latin).notes.guessed_encoding == "cp1252"

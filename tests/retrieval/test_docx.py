"""Word documents: their text is read, and what readers see and mammoth doesn't read is named."""

import zipfile
from io import BytesIO

import pytest

pytest.importorskip("mammoth", reason="the extra `read` is not installed")

from longproof.retrieval.books import read_docx
from longproof.retrieval.types import BadInput

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
)
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
STYLES = (
    '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>'
)
CORE = (
    '<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title> The  Tide </dc:title></p>',
    "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties",
)


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(*inside: str, properties: str = "") -> str:
    return f"<w:p><w:pPr><w:tabs><w:tab/></w:tabs>{properties}</w:pPr>{''.join(inside)}</w:p>"


def packed(body: str, title: bool = False, **parts: str) -> bytes:
    """A Word document; `parts` are others by the kind of their relation, headers as `header` and so on."""
    related = "".join(
        f'<Relationship Id="{kind}" Type="{REL}/{kind}" Target="{kind}.xml"/>' for kind in ("styles", *parts)
    )
    files = {
        "_rels/.rels": f'<Relationship Id="d" Type="{REL}/officeDocument" Target="word/document.xml"/>'
        + (f'<Relationship Id="c" Type="{CORE[1]}" Target="/docProps/core.xml"/>' if title else ""),
        "word/_rels/document.xml.rels": related,
    }
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, relations in files.items():
            archive.writestr(path, RELATIONS.format(relations))
        archive.writestr("[Content_Types].xml", TYPES)
        if title:
            archive.writestr("docProps/core.xml", CORE[0])
        archive.writestr(
            "word/document.xml", f"<w:document {W}><w:body>{body}<w:sectPr/></w:body></w:document>"
        )
        for kind, part in {"styles": STYLES, **parts}.items():
            archive.writestr(f"word/{kind}.xml", f"<w:{kind} {W}>{part}</w:{kind}>")
    return data.getvalue()


def text_of(body: str, **parts: str) -> str:
    return read_docx(packed(body, **parts), "x.docx").text


def cell(*blocks: str) -> str:
    return f"<w:tc><w:tcPr/>{''.join(blocks)}</w:tc>"


A, B, C, D = (paragraph(run(letter)) for letter in "abcd")
TABLE = f"<w:tbl><w:tblPr/><w:tr>{cell(C)}{cell(D)}</w:tr></w:tbl>"
BOX = "<w:r><w:pict><w:txbxContent>{}</w:txbxContent></w:pict></w:r>"
SEEN = {
    "headings and paragraphs": (
        paragraph(run("灯塔"), properties='<w:pStyle w:val="T"/>')
        + paragraph(run("One "), run(" two"), properties='<w:pStyle w:val="H1"/>')
        + paragraph(run("  The tide"), "<w:r><w:tab/></w:r>", run("turns. ")),
        "# 灯塔\n\n# One two\n\nThe tide\tturns.",
    ),
    "an insertion": (paragraph(run("a"), f"<w:ins>{run('b')}</w:ins>", run("c")), "abc"),
    "a paragraph that was moved here": (f"<w:moveTo>{A}</w:moveTo>", "a"),
    "a content control in a line": (
        paragraph(run("a"), f"<w:sdt><w:sdtPr/><w:sdtContent>{run('b')}</w:sdtContent></w:sdt>"),
        "ab",
    ),
    "a content control around paragraphs": (
        f"<w:sdt><w:sdtContent>{A}{TABLE}</w:sdtContent></w:sdt>",
        "a\n\n| c | d |\n| --- | --- |",
    ),
    "a link": (paragraph(run("a "), f"<w:hyperlink>{run('b')}</w:hyperlink>"), "a b"),
    "a text box": (paragraph(run("a"), BOX.format(B + C)), "a\n\nb\n\nc"),
}


@pytest.mark.parametrize(("body", "text"), SEEN.values(), ids=SEEN)
def test_what_readers_see_is_read(body: str, text: str) -> None:
    assert text_of(body) == text


def test_notes_stand_behind_the_text_without_their_marks() -> None:
    refers = "<w:r><w:footnoteReference w:id='2'/></w:r><w:r><w:endnoteReference w:id='2'/></w:r>"
    text = text_of(
        paragraph(run("a"), refers, run("b")) + C,
        footnotes=f"<w:footnote w:id='0'>{D}</w:footnote><w:footnote w:id='2'>{paragraph(run('foot'))}</w:footnote>",
        endnotes=f"<w:endnote w:id='2'>{paragraph(run('end'))}</w:endnote>",
    )
    assert text == "ab\n\nc\n\n1. foot\n\n2. end"


M = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"
NOT_READ = {
    "a deletion": (f"<w:del>{run('x').replace('w:t', 'w:delText')}</w:del>", ""),
    "what was moved away": (f"<w:moveFrom>{run('x')}</w:moveFrom>", ""),
    "a field's code": ("<w:r><w:instrText>x</w:instrText></w:r>", ""),
    "a comment": ("<w:r><w:commentReference w:id='1'/></w:r>", ""),
    "a field's result": (f"<w:fldSimple w:instr='DATE'>{run('May')}</w:fldSimple>", "results of fields"),
    "a formula": (f"<m:oMath {M}><m:r><m:t>x=2</m:t></m:r></m:oMath>", "formulas"),
    "a reading": (f"<w:ruby><w:rt>{run('x')}</w:rt></w:ruby>", "readings above characters"),
    "a chart": ("<w:r><w:drawing><chart/></w:drawing></w:r>", "charts and embedded objects"),
    "lettering": (
        "<w:r><w:pict><v:textpath xmlns:v='v' string='not'/></w:pict></w:r>",
        "charts and embedded objects",
    ),
}


@pytest.mark.parametrize(("inside", "unread"), NOT_READ.values(), ids=NOT_READ)
def test_what_readers_see_and_is_not_read_is_named(inside: str, unread: str) -> None:
    contents = read_docx(packed(paragraph(run("a"), inside, run("b"))), "x.docx")
    assert (contents.text, " ".join(contents.notes.unread)) == ("ab", unread)


def test_headers_and_footers_with_words_are_named() -> None:
    assert read_docx(packed(A, footer=paragraph(run("7"))), "x.docx").notes.unread == ()
    notes = read_docx(packed(A, header=paragraph(run("Draft"))), "x.docx").notes
    assert notes.unread == ("headers and footers",)


def test_the_title_is_that_of_the_properties_if_there_are_any() -> None:
    assert read_docx(packed(A, title=True), "x.docx").title == "The Tide"
    assert read_docx(packed(A), "x.docx").title == ""


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"no archive", "not a Word document"),
        (packed("<!DOCTYPE x [<!ENTITY a 'b'>]>" + A), "declarations"),
        (packed("<w:p>"), "not a Word document"),
        (packed("<w:sdt>" * 5000 + A + "</w:sdt>" * 5000), "not a Word document"),
    ],
)
def test_what_is_no_word_document_is_refused(data: bytes, match: str) -> None:
    with pytest.raises(BadInput, match=match) as refused:
        read_docx(data, "x.docx")
    assert str(refused.value).startswith("x.docx")
    assert "\n" not in str(refused.value)

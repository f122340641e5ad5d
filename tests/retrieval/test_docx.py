"""Word documents: all that readers see is read, and what is left out is named."""

import zipfile
from io import BytesIO

import pytest

from longproof.retrieval.books import read_docx
from longproof.retrieval.types import BadInput

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
)
STYLES = (
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
)
TITLE = '<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title> The  Tide </dc:title></p>'


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(*inside: str, properties: str = "") -> str:
    return f"<w:p><w:pPr><w:tabs><w:tab/></w:tabs>{properties}</w:pPr>{''.join(inside)}</w:p>"


def packed(body: str, title: bool = False, **parts: str) -> bytes:
    """A Word document; `parts` are others by the kind of their relation, headers as `header` and so on."""
    kinds = {"styles": STYLES, **parts}
    related = [f'<Relationship Type="{REL}/{kind}" Target="{kind}.xml"/>' for kind in kinds]
    main = f'<Relationship Type="{REL}/officeDocument" Target="word/document.xml"/>'
    core = '<Relationship Type="x/core-properties" Target="/docProps/core.xml"/>' if title else ""
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("_rels/.rels", RELATIONS.format(main + core))
        archive.writestr("word/_rels/document.xml.rels", RELATIONS.format("".join(related)))
        archive.writestr("docProps/core.xml", TITLE)
        for kind, part in {"document": f"<w:body>{body}<w:sectPr/></w:body>", **kinds}.items():
            archive.writestr(f"word/{kind}.xml", f"<w:{kind} {W}>{part}</w:{kind}>")
    return data.getvalue()


def text_of(body: str, **parts: str) -> str:
    return read_docx(packed(body, **parts), "x.docx").text


def cell(*blocks: str) -> str:
    return f"<w:tc><w:tcPr/>{''.join(blocks)}</w:tc>"


def drop_down(*settings: str) -> str:
    """A form's old drop-down list with the choices North, East and West."""
    entries = "".join(f'<w:listEntry w:val="{choice}"/>' for choice in ("North", "East", "West"))
    field = f"<w:ffData><w:ddList>{''.join(settings)}{entries}</w:ddList></w:ffData>"
    return f"<w:r><w:fldChar w:fldCharType='begin'>{field}</w:fldChar><w:fldChar w:fldCharType='end'/></w:r>"


A, B, C, D = (paragraph(run(letter)) for letter in "abcd")
TABLE = f"<w:tbl><w:tblPr/><w:tr>{cell(C)}{cell(D)}</w:tr></w:tbl>"
BOX = "<w:r><w:pict><w:txbxContent>{}</w:txbxContent></w:pict></w:r>"
OLD_TOO = "<AlternateContent><Choice>{}</Choice><Fallback>{}</Fallback></AlternateContent>"
SEEN = {
    "headings and paragraphs": (
        paragraph(run("灯塔"), properties='<w:pStyle w:val="T"/>')
        + paragraph(run("One "), run(" two"), properties='<w:pStyle w:val="H1"/>')
        + paragraph(run("  The tide"), "<w:r><w:tab/></w:r>", run("turns. ")),
        "# 灯塔\n\n# One two\n\nThe tide\tturns.",
    ),
    "an insertion": (paragraph(run("a"), f"<w:ins>{run('b')}</w:ins>", run("c")), "abc"),
    "a paragraph that was moved here": (f"<w:moveTo>{A}</w:moveTo>", "a"),
    "a content control in a line": (paragraph(run("a"), f"<w:sdt><w:sdtPr/>{run('b')}</w:sdt>"), "ab"),
    "controlled paragraphs": (f"<w:sdt><w:sdtContent>{A}{TABLE}</w:sdtContent></w:sdt>", "a\n\n| c | d |"),
    "a field's result": (paragraph(f"<w:fldSimple w:instr='DATE'>{run('May')}</w:fldSimple>"), "May"),
    "a link": (paragraph(run("a "), f"<w:hyperlink>{run('b')}</w:hyperlink>"), "a b"),
    "a nested table": (f"<w:tbl><w:tr>{cell(A, TABLE)}{cell(B)}</w:tr></w:tbl>", "| a | c | d | | b |"),
    "a row in a content control": (f"<w:tbl><w:sdt><w:tr>{cell(A)}</w:tr></w:sdt></w:tbl>", "| a |"),
    "a text box": (paragraph(run("a"), BOX.format(B + C)), "a\n\nb\n\nc"),
    "a text box once, for old programs too": (paragraph(OLD_TOO.format(BOX.format(B), BOX.format(C))), "b"),
    "a formula": (paragraph("<m:oMath xmlns:m='m'><m:r><m:t>x=2</m:t></m:r></m:oMath>"), "x=2"),
    "lettering": (paragraph("<w:r><w:pict><v:textpath xmlns:v='v' string='a'/></w:pict></w:r>"), "a"),
    "a drop-down list that nobody touched": (paragraph(run("a "), drop_down()), "a North"),
    "a drop-down list and its choice": (
        paragraph(drop_down("<w:default w:val='1'/><w:result w:val='2'/>")),
        "West",
    ),
    "a drop-down list and its default": (paragraph(drop_down("<w:default w:val='1'/>")), "East"),
    "a drop-down list with a wrong number": (paragraph(drop_down("<w:result w:val='9'/>")), "North"),
    "a check box": (
        paragraph(run("a"), "<w:r><w:fldChar><w:ffData><w:checkBox/></w:ffData></w:fldChar></w:r>"),
        "a",
    ),
    "a new drop-down list": (
        paragraph(
            "<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText='East'/></w:dropDownList></w:sdtPr>"
            f"<w:sdtContent>{run('West')}</w:sdtContent></w:sdt>"
        ),
        "West",
    ),
    "base characters": (paragraph(f"<w:ruby><w:rubyBase>{run('字')}</w:rubyBase></w:ruby>"), "字"),
}


@pytest.mark.parametrize(("body", "text"), SEEN.values(), ids=SEEN)
def test_what_readers_see_is_read(body: str, text: str) -> None:
    assert text_of(body) == text


def test_notes_stand_behind_their_paragraphs_and_headers_and_footers_around_the_text() -> None:
    refers = "<w:r><w:footnoteReference w:id='2'/></w:r><w:r><w:endnoteReference w:id='2'/></w:r>"
    text = text_of(
        paragraph(run("a"), refers, run("b")) + paragraph(refers) + C,
        footnotes=f"<w:footnote w:id='0'>{D}</w:footnote><w:footnote w:id='2'>{paragraph(run('foot'))}</w:footnote>",
        endnotes=f"<w:endnote w:id='2'>{paragraph(run('end'))}</w:endnote>",
        header=paragraph(run("top")),
        footer=paragraph(run("bottom")),
    )
    assert text == "top\n\nab\n\nfoot\n\nend\n\nc\n\nbottom"


NOT_READ = {
    "a deletion": (f"<w:del>{run('x').replace('w:t', 'w:delText')}</w:del>", "deletions", ""),
    "what was moved away": (f"<w:moveFrom>{run('x')}</w:moveFrom>", "deletions", ""),
    "hidden text": (run("x", "<w:vanish/>"), "hidden text", ""),
    "a field's code": ("<w:r><w:instrText>x</w:instrText></w:r>", "codes of fields", ""),
    "a comment": ("<w:r><w:commentReference/></w:r>", "comments", ""),
    "a picture": ("<w:r><w:drawing><pic/></w:drawing></w:r>", "pictures", ""),
    "a reading": (f"<w:ruby><w:rt>{run('x')}</w:rt></w:ruby>", "", "readings above characters"),
    "a chart": ("<w:r><w:drawing><chart/></w:drawing></w:r>", "", "charts and diagrams"),
    "an object": (f"<w:r><w:object>{run('x')}</w:object></w:r>", "", "embedded objects"),
}


@pytest.mark.parametrize(("inside", "left_out", "unread"), NOT_READ.values(), ids=NOT_READ)
def test_what_is_not_read_is_named(inside: str, left_out: str, unread: str) -> None:
    contents = read_docx(packed(paragraph(run("a"), inside, run("b", '<w:vanish w:val="0"/>'))), "x.docx")
    assert contents.text == "ab"
    assert (" ".join(contents.notes.left_out), " ".join(contents.notes.unread)) == (left_out, unread)


def test_the_title_is_that_of_the_properties_and_numbers_of_lists_are_left_out() -> None:
    contents = read_docx(packed(paragraph(run("a"), properties="<w:numPr/>"), title=True), "x.docx")
    assert (contents.title, contents.notes.left_out) == ("The Tide", ("numbers of lists",))
    assert read_docx(packed(A), "x.docx").title == ""


@pytest.mark.parametrize(
    ("data", "match"),
    [
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

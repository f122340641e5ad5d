"""A report's page in a real Chromium: clicks, keys, filters, search, both ways, hostile texts, print, contrast."""

import base64
from typing import Any

import pytest

from longproof.report.html import index_page, page

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]

VISIBLE = "return arguments[0].getBoundingClientRect().toJSON()"


def keys() -> Any:
    from selenium.webdriver.common.keys import Keys

    return Keys


def focused(seen: Any) -> Any:
    return seen.js("return document.activeElement.id")


def test_what_is_marked_is_what_the_report_says(opened, english_report):
    report, _ = english_report
    seen = opened(english_report)
    wrong = [error.span.text for claim in report.claims for error in claim.errors]
    assert seen.texts(".sentence .wrong") == wrong
    quoted = sorted((span.start, span.text) for claim in report.claims for span in claim.evidence)
    assert seen.texts(".evidence") == [text for _, text in quoted]
    labels = seen.js("return [...document.querySelectorAll('.sentence')].map(e => e.classList[1])")
    assert labels == [sentence.label or "undecided" for sentence in report.sentences]


def test_a_reader_is_led_between_problems_and_from_sentence_to_evidence(opened, english_report):
    seen = opened(english_report)
    assert seen.text("h1 .word") == "hallucinated"
    assert (seen.chosen(), seen.text(".evidence.chosen")) == ("s1", "thirty-one years")
    assert seen.in_view(".evidence.chosen")
    assert "thirty years → thirty-one years" in seen.text(".card .correction")
    for key, sentence in (*zip("nnnn", ("s3", "s4", "s6", "s1"), strict=True), ("p", "s6")):
        seen.press(key)
        assert (seen.chosen(), focused(seen)) == (sentence, sentence)
    seen.one("#s2").click()
    seen.settle()
    assert seen.text(".evidence.chosen") == "His daughter Thea went on with it."
    next(e for e in seen.all(".evidence") if e.text == "Her brother Jonas").click()
    seen.settle()
    assert (seen.chosen(), seen.text(".evidence.chosen")) == ("s3", "Her brother Jonas")
    seen.press(keys().ESCAPE)
    assert (seen.chosen(), focused(seen)) == (None, "s3")


def test_the_card_tells_votes_reasons_and_the_arbiter(opened, english_report):
    seen = opened(english_report)
    seen.press("n")
    rows = seen.texts(".votes tbody tr")
    assert [row.split("its place")[0].split("wind")[0] for row in rows[:3]] == ["a", "b", "c"]
    assert "A relative is a relative." in rows[1]
    assert seen.text(".votes .arbiter th") == "darbiter"
    titles = seen.js("return [...document.querySelectorAll('.votes th bdi, .by > span')].map(e => e.title)")
    assert set(map(bool, titles)) == {True}
    assert "decided by arbiter" in seen.text(".votes summary")
    assert seen.text(".rounds").endswith("its place → window")


def test_what_was_searched_for_is_text_and_nothing_else(opened, hostile_search):
    seen = opened(hostile_search)
    assert seen.chosen() == "s2"
    assert seen.texts(".rounds q bdi")[:2] == ["Abel sang", "a song"]
    explained = seen.js("return [...document.querySelectorAll('.rounds [title]')].map(e => e.title.length)")
    assert min(explained) > 8
    assert seen.text(".card .note").endswith("--reach scan")
    assert not seen.all(".rounds script, .rounds img, .rounds a")


def test_filters_dim_the_rest_and_lead_the_walk(opened, english_report):
    seen = opened(english_report)
    for value, sentence in (("implicitly_supported", "s5"), ("relation", "s3")):
        seen.one(f".chip[data-value={value}]").click()
        left = seen.js("return [...document.querySelectorAll('.sentence:not(.dim)')].map(e => e.id)")
        seen.press("n")
        assert (left, seen.chosen()) == ([sentence], sentence)
        seen.one(f".chip[data-value={value}]").click()


def test_search_finds_in_both_texts(opened, english_report):
    seen = opened(english_report)
    seen.press("/")
    seen.press("jonas")
    seen.press(keys().ENTER)
    assert seen.texts(".response .found") == ["Jonas"]
    assert seen.texts(".source .found") == ["Jonas"]
    assert seen.in_view(".found.here")
    assert seen.text(".told") == "1 of 1 in the source, 1 in the response"
    seen.press(keys().ESCAPE)
    assert not seen.all(".found")
    seen.press("?")
    assert seen.js("return document.getElementById('help').open")
    seen.press(keys().ESCAPE)
    assert not seen.js("return document.getElementById('help').open")


def test_hostile_texts_run_nothing_and_break_nothing(opened, hostile_report):
    report, _ = hostile_report
    for width in (1400, 380):
        seen = opened(hostile_report, width=width)
        seen.js("document.querySelector('.votes').open = true; document.querySelector('.making').open = true")
        for _ in report.sentences:
            seen.press("n")
        assert seen.probe("tooWide()") == []
        assert seen.js("return getComputedStyle(document.body).display") in ("grid", "block")
        assert not seen.all("img, iframe, body script[src]")
        assert not seen.all("a[href]")
        shown = seen.text(".scroller, .prose, .card")
        assert not set(shown) & set("\u202e\x1b\x07\u2028")
        assert "⟦RLO⟧" in shown
        seen.js("document.querySelector('.card .quotes li:last-child .quote').click()")
        seen.settle()
        assert "End 𝒳 line." in seen.texts(".evidence"), "offsets fit behind wide characters"
        assert seen.in_view(".evidence.chosen:last-of-type")


def test_a_dispute_shows_what_both_sides_cite_and_is_somewhere_on_the_map(opened, rich_report):
    report, _ = rich_report
    seen = opened(rich_report)
    seen.one("#s3").click()
    a, b, _ = report.claims[2].judgements
    assert seen.texts(".card .side bdi") == ["a", "b, d" if "Thea" in report.case.response else "b，d"]
    assert len(seen.all(".card .side + .quotes .quote")) == len((*a.quotes, *b.quotes))
    assert a.quotes[0].text in seen.text(".card .quotes q")
    assert seen.js("return document.querySelector('.card .votes').open")
    assert seen.in_view(".evidence.chosen")
    nowhere = "document.querySelector('.strip rect.nowhere').getBoundingClientRect().left"
    signs = "[...document.querySelectorAll('.strip .sign.undecided')]"
    left = f"return {signs}.map(sign => sign.getBoundingClientRect().right < {nowhere})"
    assert seen.js(left) == [True, False, True]
    seen.js("dispatchEvent(new Event('beforeprint'))")
    assert a.quotes[0].text in seen.text("#printed blockquote")


def test_every_button_can_be_clicked(opened, rich_report):
    seen = opened(rich_report)
    seen.js("window.print = () => {}")
    for sentence in range(len(rich_report[0].sentences)):
        seen.js(f"document.getElementById('s{sentence + 1}').click()")
        seen.js("for (const one of document.querySelectorAll('details')) one.open = true")
        seen.js("for (const one of document.querySelectorAll('button, summary, mark, select')) one.click()")
        seen.settle()


def test_a_missing_text_or_source_is_said(opened, english_report, triage_report):
    report, _ = english_report
    seen = opened(english_report, texts={})
    assert "The text of weir.txt isn't here" in seen.text(".triage")
    assert seen.text(".card .quotes q") == "thirty-one years"
    seen = opened(triage_report)
    signs = seen.texts(".sentence.not_checked .tag")
    assert len(signs) == 39
    assert not any("✔" in sign or "✓" in sign for sign in signs)
    claims = [c.model_copy(update={"evidence": (), "window": None, "judgements": ()}) for c in report.claims]
    alone = report.model_copy(update={"documents": report.documents[:1], "claims": tuple(claims)})
    seen = opened((alone, {}))
    assert seen.text(".source .absent") == "There is no source."
    seen.press("n")
    assert seen.chosen() == "s3"


def test_a_million_characters_stay_fluid(opened, big_report):
    report, texts = big_report
    seen = opened(big_report)
    text = texts[report.case.source_ids[0]]
    assert seen.all(".chunk")
    assert seen.js("return document.querySelectorAll('*').length") < 4000
    assert len(seen.text(".chunk")) < 30_000
    for _ in range(9):
        seen.press("n")
        assert seen.in_view(".evidence.chosen")
    claim = [c for c in report.claims if c.label == "contradicting"][-1]
    assert seen.text(".evidence.chosen") == claim.evidence[0].text
    seen.js("document.querySelector('.scroller').scrollTop = 1e9")
    seen.settle()
    last = text.rstrip("\n").rpartition("\n")[2]
    assert seen.texts(".chunk p")[-1] == last


def test_all_of_a_long_text_is_met_and_stays_while_heights_are_learnt(opened, long_report):
    report, texts = long_report
    seen = opened(long_report)
    met = seen.later("scrolled(arguments[0])")
    lines = [line for _, line in sorted(met.items(), key=lambda item: int(item[0]))]
    assert "\n".join(lines).split() == texts[report.case.source_ids[0]].split()
    seen.js("document.querySelector('.scroller').scrollTop = 9000")
    seen.settle()
    before = seen.probe("lineRead()")
    for _ in range(5):
        seen.settle()
    assert seen.probe("lineRead()") == before


def test_it_prints_findings_and_evidence(opened, browser, english_report):
    seen = opened(english_report)
    seen.js("dispatchEvent(new Event('beforeprint'))")
    for piece in ("her cousin → her brother", "thirty-one years and missed two", "Some say that the river"):
        assert piece in seen.text("#printed")
    for media, shown in (("", ["none", "flex"]), ("print", ["block", "none"])):
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
        display = "return getComputedStyle(document.querySelector(arguments[0])).display"
        assert [seen.js(display, one) for one in ("#printed", ".source")] == shown
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]).startswith(b"%PDF")


def test_contrast_is_at_least_four_and_a_half_in_both_themes(opened, english_report):
    seen = opened(english_report)
    seen.press("n")
    for theme in ("light", "dark"):
        assert seen.probe("tooFaint(arguments[0])", theme) == [], theme


def test_every_control_has_a_name(opened, chinese_report):
    seen = opened(chinese_report)
    assert seen.js("return document.documentElement.lang") == "zh-Hans"
    assert seen.text("h1 .word") == "有幻觉"
    tree = seen.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "searchbox", "link", "combobox", "image"}
    controls = [one for one in tree if one.get("role", {}).get("value") in roles and not one.get("ignored")]
    assert controls
    assert all(one.get("name", {}).get("value", "").strip() for one in controls)


def test_the_strip_says_in_words_what_it_shows_and_a_click_opens_the_sentence_there(opened, shuffled_report):
    seen = opened(shuffled_report)
    told = seen.one(".strip svg").get_attribute("aria-label")
    for words in ("有问题的句子：3。", "原文的 30%–62% 处没有证据", "与原文顺序不一致的句子：10–11"):
        assert words in told
    seen.js(
        "const box = document.querySelector('.strip circle.quote:last-of-type').getBoundingClientRect();"
        "document.querySelector('.strip svg')"
        ".dispatchEvent(new MouseEvent('click', {clientX: box.left, clientY: box.top}))"
    )
    seen.settle()
    assert seen.chosen() == "s16"


def test_the_source_is_a_sheet_on_a_narrow_screen(opened, english_report):
    seen = opened(english_report, width=390, height=800)
    assert seen.js(VISIBLE, seen.one(".source"))["height"] < 60
    seen.js("document.querySelector('.card .quote').click()")
    seen.settle()
    assert seen.js(VISIBLE, seen.one(".source"))["height"] > 300
    assert seen.in_view(".evidence.chosen")
    seen.js("document.querySelector('.votes').open = true")
    assert seen.probe("tooWide()") == []


def test_the_stamp_is_read_in_rows_without_what_is_not_set(opened, english_report):
    report, texts = english_report
    settings = {"judges": ["openai:a"], "pages": None, "prices": {}, "max_tokens": 2000000, "stream": False}
    stamp = {**report.stamp, "settings": settings, "refused": {}, "created_at": "2026-11-22T08:38:26Z"}
    seen = opened((report.model_copy(update={"stamp": stamp}), texts))
    rows = seen.texts(".making table tr")
    assert not any(sign in row for row in rows for sign in '{}[]"')
    assert {"max tokens2,000,000", "streamfalse", "created at2026-11-22T08:38:26Z"} <= {*rows}
    assert not any(row.startswith(("pages", "prices", "refused")) for row in rows)


def test_an_index_sorts_filters_and_links(opened_file, tmp_path, english_report, chinese_report):
    case = chinese_report[0].case.model_copy(update={"id": "王冕"})
    calm = chinese_report[0].model_copy(update={"verdict": "faithful", "claims": (), "case": case})
    path = tmp_path / "index.html"
    path.write_text(index_page([("zh.html", calm), ("en.html", english_report[0])]), encoding="utf-8")
    (tmp_path / "en.html").write_text(page(*english_report), encoding="utf-8")
    seen = opened_file(path)
    assert seen.texts("tbody td:nth-child(2)") == ["weir", "王冕"]
    for key, first in (("cost", "weir"), ("cost", "王冕"), ("verdict", "weir"), ("verdict", "王冕")):
        seen.one(f"[data-key={key}] button").click()
        assert seen.texts("tbody td:nth-child(2)")[0] == first
    assert seen.one("[data-key=verdict]").get_attribute("aria-sort") == "descending"
    seen.one(".chip[data-value=relation]").click()
    assert seen.texts("tbody td:nth-child(2)") == ["weir"]
    seen.one("tbody a").click()
    assert seen.text("h1 .word") == "hallucinated"

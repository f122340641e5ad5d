"""The local server in a real Chromium: drop, watch, stop, go on, mark, correct, take; keyboard, phone, long books."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from socket import create_server
from types import SimpleNamespace
from typing import Any

import pytest
from disputing import disputing
from fakes import ChatServer
from reader import Asked, Item, Reader, by_words

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]

GRAY = Path(__file__).parents[3] / "gray"
ARTICLE, SUMMARY = ((GRAY / f"{name}.txt").read_text("utf-8") for name in ("article", "summary"))
TOKEN = "a-t0ken"
DROP = """
const [zone, ...named] = arguments;
const given = new DataTransfer();
for (let n = 0; n < named.length; n += 2) given.items.add(new File([named[n + 1]], named[n]));
document.querySelector(zone).dispatchEvent(new DragEvent("drop", { dataTransfer: given, cancelable: true }));
"""
DONE = "document.querySelector('a[href$=\"report.json\"]') !== null"
WORKS = "document.querySelector('.at-work')?.textContent.includes('found')"
HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"


def contradicting(asked: Asked, item: Item) -> dict[str, Any]:
    """Each claim is contradicted by the first line shown, and its first word corrected to a hostile text."""
    about = {"label": "contradicting", "kind": "event", "wrong": item["passage"].split()[0]}
    return {**by_words(asked, item), "quotes": [asked.first_line], "correction": HOSTILE, **about}


def thirty_is_wrong(asked: Asked, item: Item) -> dict[str, Any]:
    """A sentence with "thirty" is contradicted by the first line shown, and corrected to "twenty"."""
    if "thirty" not in item["passage"]:
        return by_words(asked, item)
    finding = {"label": "contradicting", "kind": "entity", "wrong": "thirty", "correction": "twenty"}
    return {**by_words(asked, item), **finding, "quotes": [asked.first_line]}


class Served:
    """The server on a thread of its own, as `longproof serve` runs it; `stop` ends it like a terminal's Ctrl-C."""

    def __init__(self, judges: list[str]) -> None:
        import uvicorn

        from longproof.serve.app import application
        from longproof.serve.offer import Offer

        bound = create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{bound.getsockname()[1]}/{TOKEN}/"
        app = application(Offer({"judges": judges or ["offline"]}), TOKEN)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=8))
        self._thread = threading.Thread(target=lambda: asyncio.run(self._server.serve([bound])), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Served]]:
    pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    started: list[Served] = []

    def start(judges: list[str]) -> Served:
        started.append(Served(judges))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def judge() -> Iterator[str]:
    """The spec of a scripted judge that knows that thirty is wrong."""
    with ChatServer(Reader(thirty_is_wrong)) as chat:
        yield f"openai:a@{chat.address}"


@pytest.fixture
def opened_at(opened_file: Any) -> Any:
    return lambda address: opened_file(SimpleNamespace(as_uri=lambda: address))


def until(seen: Any, script: str, seconds: float = 30) -> None:
    """Waits until a script's value is true."""
    for _ in range(int(seconds / 0.1)):
        if seen.js(f"return {script}"):
            return
        time.sleep(0.1)
    raise AssertionError(
        f"never {script}; the page says {seen.text('#run')}{seen.text('#told, .wrong-with')}{seen.complaints()}"
    )


def until_states(seen: Any, words: str) -> None:
    """Waits until the run's bar says these words."""
    until(seen, f"document.querySelector('.states').textContent.includes({words!r})")


def give(seen: Any, source: str = ARTICLE, response: str = SUMMARY, name: str = "source") -> None:
    """Drops both texts, and waits until they are read."""
    seen.js(DROP, "#give_source", f"{name}.txt", source)
    seen.js(DROP, "#give_response", "answer.txt", response)
    until(seen, "document.querySelectorAll('.given li').length === 2")


def check(seen: Any) -> None:
    """Checks a text that contradicts its source, and waits until its first card is open."""
    give(seen, "Tom sold the boat to Ada for twenty pounds.", "Tom sold the boat to Ada for thirty pounds.")
    seen.one("#start").click()
    until(seen, f"{DONE} && document.querySelector('.mark') !== null")


def corrected(seen: Any) -> str:
    """The corrected text that the page's link gives."""
    link = "document.querySelector(`a[href$='corrected.txt']`).href"
    return str(seen.later(f"fetch({link}).then((answer) => answer.text()).then(arguments[0])"))


def assert_unharmed(seen: Any) -> None:
    """No text of the page was run, and the browser complains of nothing."""
    assert seen.js("return window.pwned ?? null") is None
    assert not seen.all("img, iframe, script[src]")
    assert not seen.complaints()


def second_tab(seen: Any) -> str:
    """Opens the same page in a second tab; the first one's handle."""
    first, address = str(seen.browser.current_window_handle), seen.js("return location.href")
    seen.browser.switch_to.new_window("tab")
    seen.browser.get(address)
    return first


def test_drop_watch_stop_reload_go_on_mark_correct_take(serve, opened_at):
    with ChatServer(Reader(contradicting), delay_s=5) as chat:
        seen = opened_at(serve([f"openai:a@{chat.address}", f"openai:b@{chat.address}"]).address)
        give(seen)
        seen.one("#price").click()
        until(seen, "document.querySelector('#told').textContent.includes('calls')")
        assert not chat.asked
        seen.one("#start").click()
        until(seen, "document.querySelectorAll('.sentence.open').length === 7")
        until(seen, WORKS)
        seen.one("#stop").click()
        until(seen, "document.querySelector('#go') !== null")
        seen.browser.refresh()
        assert "nothing is paid twice" in seen.text("#run")
        seen.one("#go").click()
        until(seen, "document.querySelector('progress')?.max >= 6")
        until(seen, DONE)
        assert len({asked.user + asked.body["model"] for asked in chat.asked}) == len(chat.asked)
    assert seen.text("h1 .word") == "hallucinated"
    assert len(seen.texts(".sentence.contradicting")) == 7
    assert not seen.texts(".sentence.open")
    seen.one(".mark input[value=right]").click()
    seen.one(".accept input").click()
    until_states(seen, "1 of 7")
    seen.browser.refresh()
    assert len(seen.all(".mark input[value=right]:checked, .accept input:checked")) == 2
    assert corrected(seen).count(HOSTILE) == 1
    seen.one(".accept input").click()
    seen.one(".mark input[value=wrong]").click()
    until_states(seen, "0 of 7")
    seen.one("#accept-all").click()
    until_states(seen, "6 of 7")
    assert corrected(seen).count(HOSTILE) == 6, "not where the person says that the finding is wrong"
    assert len(seen.all(".prose > .sentence ins")) == len([*filter(None, seen.texts(".sentence del"))]) == 6
    before = seen.chosen()
    seen.one(".mark input[value=wrong]").click()
    seen.press("n")
    assert seen.chosen() != before, "a box that is checked keeps no key from the page"
    seen.one("#accept-all").click()
    until_states(seen, "0 of 7")
    assert not seen.all(".prose > .sentence ins")
    seen.one("#run a").click()
    assert seen.texts("tbody a") == ["answer"]
    assert_unharmed(seen)


def test_a_text_is_edited_and_checked_again_renamed_and_deleted(serve, judge, opened_at):
    from selenium.webdriver.common.keys import Keys

    seen = opened_at(serve([judge]).address)
    check(seen)
    seen.one(".accept input").click()
    until(seen, "document.querySelector('.prose > .sentence del')?.textContent === 'thirty'")
    assert seen.text(".prose > .sentence ins") == "twenty"
    before = seen.js("return location.href")
    seen.js("document.querySelector('#edit').click()")  # the bar is drawn anew once the mark is kept
    until(seen, "document.querySelector('#editing').open")
    editor = seen.one("#editing textarea")
    assert editor.get_attribute("value") == "Tom sold the boat to Ada for twenty pounds."
    editor.send_keys(f" nnn {HOSTILE}")
    seen.one("#again").click()
    until(seen, f"location.href !== {json.dumps(before)} && {DONE}")
    assert seen.texts(".sentence")[0].startswith("Tom sold the boat to Ada for twenty pounds.")
    seen.one("#run a").click()
    assert seen.texts("tbody a") == ["answer", "answer"]
    assert "source" in seen.texts(".about bdi")[0]
    seen.one("tbody .change").click()
    seen.one("#naming").send_keys(Keys.CONTROL, "a", Keys.NULL, HOSTILE, Keys.ENTER)
    until(seen, "document.querySelector('#naming') === null")
    assert HOSTILE[:20] in seen.texts("tbody a")[0]
    seen.one("tbody tr .change:last-child").click()
    assert len(seen.all("tbody tr")) == 2
    seen.one("#parting").click()
    until(seen, "document.querySelectorAll('tbody tr').length === 1")
    seen.browser.refresh()
    assert seen.texts("tbody a") == ["answer"]
    assert_unharmed(seen)


def test_a_run_that_waits_opens_at_its_disputes_with_what_both_sides_cite(serve, opened_at):
    with ChatServer(disputing) as chat:
        seen = opened_at(serve([f"openai:{name}@{chat.address}" for name in "abc"]).address)
        give(seen)
        seen.js("document.querySelector('.panel label:nth-of-type(4) input').click()")
        seen.one("#start").click()
        until(seen, "document.querySelector('#decide') !== null")
    waiting = "return document.querySelector('.sentence[aria-expanded=true]').classList.contains('waiting')"
    disputes = len(seen.all(".sentence.waiting"))
    assert disputes
    for _ in range(disputes + 1):
        assert seen.js(waiting)
        assert seen.all(".card .side + .quotes .quote")
        assert seen.js("return document.querySelector('.card .votes').open")
        seen.press("n")
    assert not seen.complaints()


def test_each_file_that_is_given_is_listed_or_refused_by_name(serve, opened_at, tmp_path):
    seen = opened_at(serve([]).address)
    files_ = {"a.txt": "One boat.", "empty.txt": "", "none.md": " ", "b.txt": "Two boats."}
    seen.js(DROP, "#give_source", *chain(*files_.items()))
    until(seen, "!document.querySelector('#start').disabled")
    assert "empty.txt" in seen.text("#give_source .wrong-with")
    assert "none.md" in seen.text("#give_source .wrong-with")
    seen.one("#start").click()
    until(seen, "document.querySelector('#give_response .wrong-with').textContent.includes('text to check')")
    assert seen.texts("#give_source .given bdi") == ["a", "b"]
    folder = {"items": [], "files": [str(tmp_path)], "dragOperationsMask": 1}
    place = seen.one("#give_source h2").location
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": place["x"] + 2, "y": place["y"] + 2, "data": folder}
        seen.browser.execute_cdp_cmd("Input.dispatchDragEvent", event)
    until(seen, "document.querySelector('#give_source .wrong-with').textContent.includes('not folders')")


def test_a_dead_server_is_said_and_a_second_tab_sees_the_same(serve, opened_at):
    with ChatServer(Reader(contradicting), delay_s=3) as chat:
        server = serve([f"openai:a@{chat.address}"])
        seen = opened_at(server.address)
        give(seen)
        seen.one("#start").click()
        until(seen, WORKS)
        first = second_tab(seen)
        until(seen, WORKS)
        seen.browser.close()
        seen.browser.switch_to.window(first)
        server.stop()
        until(seen, "/Stopped|longproof serve/.test(document.querySelector('#run').textContent)")
        again = opened_at(serve([f"openai:a@{chat.address}"]).address)
        again.one("tbody a").click()
        again.one("#go").click()
        until(again, DONE)


def test_marks_outlive_what_goes_wrong_at_the_server(serve, judge, opened_at, tmp_path):
    seen = opened_at(serve([judge]).address)
    check(seen)
    (folder,) = (tmp_path / "home" / "serve").glob("2*")
    claim = json.loads((folder / "report.json").read_text("utf-8"))["claims"][0]["id"]
    shelf, trouble = f"longproof {folder.name}", "document.querySelector('#run > .triage').textContent"
    (folder / "marks.json").write_text("{")
    seen.one(".mark input[value=right]").click()
    until(seen, f"{trouble}.includes('move the file away')")
    (folder / "marks.json").unlink()
    folder.rename(tmp_path / "moved")
    until(seen, f"{trouble}.includes('there is no run')")
    assert seen.js("return localStorage.length") == 1
    (tmp_path / "moved").rename(folder)
    until(seen, f"{trouble} === '' && localStorage.length === 0")
    many = {f"c{n}": {"note": "x"} for n in range(30)}
    said = json.dumps({**many, claim: {"note": "kept"}})
    seen.js("localStorage.setItem(...arguments); window.dispatchEvent(new Event('focus'))", shelf, said)
    until(seen, "localStorage.length === 0")
    assert json.loads((folder / "marks.json").read_text("utf-8"))[claim]["note"] == "kept"


def test_a_note_is_kept_as_it_is_typed_and_another_tab_shows_it(serve, judge, opened_at):
    seen = opened_at(serve([judge]).address)
    check(seen)
    note = "document.querySelector('.mark input[type=text]')"
    seen.one(".mark input[type=text]").send_keys("half a w")
    seen.browser.refresh()
    until(seen, f"{note}?.value === 'half a w'")
    seen.js(f"{note}.focus()")
    first = second_tab(seen)
    seen.one(".mark input[type=text]").send_keys("ord")
    until(seen, "localStorage.length === 0")
    seen.browser.close()
    seen.browser.switch_to.window(first)
    seen.js("window.dispatchEvent(new Event('focus'))")
    until(seen, f"{note}.value === 'half a word' && document.activeElement === {note}")


def test_with_the_keyboard_alone(serve, judge, opened_at):
    from selenium.webdriver.common.keys import Keys

    seen = opened_at(serve([judge]).address)

    def tab_to(selector: str) -> None:
        for _ in range(60):
            if seen.js("return document.activeElement?.matches(arguments[0])", selector):
                return
            seen.press(Keys.TAB)
        raise AssertionError(f"the keyboard doesn't reach {selector}")

    tab_to("#give_source textarea")
    seen.press("Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds.")
    tab_to("#give_response textarea")
    seen.press("Tom sold the boat to Ada for thirty pounds. Ada lit the lamp at nine.")
    tab_to("#start")
    seen.press(Keys.ENTER)
    until(seen, DONE)
    tab_to(".sentence")
    if seen.chosen() is None:
        seen.press(Keys.ENTER)
    tab_to(".mark input")
    seen.press(Keys.SPACE)
    assert seen.js("return document.querySelector('.mark input:checked') !== null")


@pytest.mark.parametrize("width", [1400, 380])
def test_hostile_texts_run_nothing_and_fit_a_phone(serve, opened_at, width):
    with ChatServer(Reader(contradicting), delay_s=0.2) as chat:
        seen = opened_at(serve([f"openai:a@{chat.address}"]).address)
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        seen.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        source, response = f"The lamp {HOSTILE} was lit at nine.", f"{HOSTILE} was lit at ten. It burned."
        give(seen, source, response, f"\u202e{HOSTILE}")
        assert seen.probe("tooWide()") == []
        seen.one("#start").click()
        until(seen, DONE)
    until(seen, "document.querySelector('.mark input[type=text]') !== null")
    note = "const note = document.querySelector('.mark input[type=text]'); note.value = arguments[0];"
    seen.js(f"{note} note.dispatchEvent(new Event('change'))", HOSTILE)
    for _ in range(3):
        seen.press("n")
        assert seen.probe("tooWide()") == []
    seen.one("#run a").click()
    assert seen.probe("tooWide()") == []
    seen.one("tbody a").click()
    assert seen.one(".mark input[type=text]").get_attribute("value") == HOSTILE
    assert_unharmed(seen)

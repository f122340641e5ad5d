"""A real Chromium, opened on pages from disk. Needs Debian's chromium and chromium-driver, and selenium.

Tests that need one of them are skipped, with the reason.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longproof.report.html import page

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
PROBES = Path(__file__).with_name("probes.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("apt-get install chromium chromium-driver: they are not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    yield driver
    driver.quit()


class Opened:
    """A page in the browser, driven as a reader would."""

    def __init__(self, browser: Any, path: Path, width: int = 1400, height: int = 900) -> None:
        self.browser = browser
        self.path = path
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get_log("browser")
        browser.get("about:blank")
        browser.get(path.as_uri())
        self.settle()

    def js(self, script: str, *given: Any) -> Any:
        return self.browser.execute_script(script, *given)

    def probe(self, call: str, *given: Any) -> Any:
        return self.js(f"{PROBES}; return {call}", *given)

    def later(self, call: str) -> Any:
        """The value that the probe hands to its callback."""
        return self.browser.execute_async_script(f"{PROBES}; {call}")

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return list(self.js(script, selector))

    def text(self, selector: str) -> str:
        return "".join(self.texts(selector))

    def press(self, key: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(key).perform()
        self.settle()

    def settle(self) -> None:
        self.later("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))")

    def chosen(self) -> str | None:
        return self.js("return document.querySelector('.sentence[aria-expanded=true]')?.id ?? null")

    def in_view(self, selector: str) -> bool:
        return bool(self.probe("inView(arguments[0])", selector))

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser")]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a report's page. None may run what stands in a text, or be complained of."""
    pages: list[Opened] = []

    def refuse_harm() -> None:
        for seen in pages[-1:]:
            assert seen.js("return window.pwned ?? null") is None
            assert not seen.complaints()

    def open_(built: Any, texts: dict[str, str] | None = None, **size: int) -> Opened:
        refuse_harm()
        report, known = built
        path = tmp_path / "report.html"
        path.write_text(page(report, known if texts is None else texts), encoding="utf-8")
        pages.append(Opened(browser, path, **size))
        return pages[-1]

    yield open_
    refuse_harm()


@pytest.fixture
def opened_file(browser: Any) -> Any:
    """Opens any page's file."""
    return lambda path: Opened(browser, path)

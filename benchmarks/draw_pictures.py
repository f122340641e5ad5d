"""Draw the pictures of README and docs anew, in Chromium: the start page and the recorded example.

    python benchmarks/draw_pictures.py

Needs the extra `browser`, and Debian's chromium and chromium-driver. Asks no model: the example is answered
from its recording.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

DOCS = Path(__file__).parents[1] / "docs"
WIDTHS = {"": (1280, 900), "-phone": (390, 844)}
"""Width and height in pixels, by what ends the name of a picture."""
SETTLED_S = 2.5
"""Seconds until the page has scrolled to the lines of its first finding."""
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
SECONDS = 60


def draw(browser: Any, name: str, *, dark: bool = False) -> None:
    """Save what the browser shows, at each width."""
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    for end, (width, height) in WIDTHS.items():
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.refresh()  # the page scrolls to its first finding once, at the size that it opens in
        time.sleep(SETTLED_S)
        path = DOCS / f"{name}{end}.png"
        browser.save_screenshot(str(path))
        print(path)


def main() -> None:
    """Draw the start page, and the example light and dark, at each width."""
    options = webdriver.ChromeOptions()
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        sys.exit("chromium and its driver are missing (Debian: apt-get install chromium chromium-driver)")
    options.binary_location = chromium
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as profile:
        command = [sys.executable, "-m", "longproof", "serve", "--no-open", "--port", "0"]
        environment = {**os.environ, "LONGPROOF_HOME": home}
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(driver))
        try:
            assert server.stdout
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
            browser.get(address)
            draw(browser, "serve-start")
            browser.find_element("id", "example").click()
            WebDriverWait(browser, SECONDS).until(lambda page: "/runs/" in page.current_url)
            WebDriverWait(browser, SECONDS).until(lambda page: page.find_elements("css selector", "#main *"))
            draw(browser, "example")
            draw(browser, "example-dark", dark=True)
        finally:
            browser.quit()
            server.terminate()
            server.wait(SECONDS)


if __name__ == "__main__":
    main()

"""A lab that runs, and a real browser in it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 120_000  # milliseconds: what comes is waited for on a busy machine too
expect.set_options(timeout=PATIENCE)
# What was changed is drawn in the next frame, and drawing marks what is out of date.
DRAWN = """() => new Promise((done) => setTimeout(() =>
  requestAnimationFrame(() => requestAnimationFrame(done))))"""


@pytest.fixture(scope="session")
def lab() -> Iterator[str]:
    """The address of a lab, started as anybody starts it."""
    code = "from headwright.cli import main; main()"
    command = [sys.executable, "-c", code, "lab", "--port", "0", "--no-open"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), address
        yield address.rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE / 1000)


@pytest.fixture(scope="session")
def browser(launch_browser: Callable[[], Browser]) -> Iterator[Browser]:
    """pytest-playwright's own, whose pages wait for navigation and clicks as long as for anything else."""
    browser = launch_browser()
    new_context = browser.new_context

    def patient(**given: Any) -> BrowserContext:
        context = new_context(**given)
        context.set_default_timeout(PATIENCE)
        return context

    browser.new_context = patient  # type: ignore[method-assign]
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Debian's Chromium; nothing is downloaded."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(
            "no Chromium: pages are not tested in a browser (Debian: apt-get install chromium)"
        )
    return {"executable_path": found, "args": FLAGS}


class View:
    """A page of the lab, with all that its console said."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address, self.said = page, address, list[str]()
        page.on(
            "console",
            lambda message: (
                self.said.append(message.text) if message.type == "error" else None
            ),
        )
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def enter(self, path: str) -> Page:
        self.page.goto("about:blank")  # another hash alone would not load the page anew
        self.page.goto(self.address + path)
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page

    def address_has(self, part: str) -> None:
        """The address says so, or will in a moment."""
        expect(self.page).to_have_url(re.compile(re.escape(part)))

    def address_lacks(self, part: str) -> None:
        expect(self.page).not_to_have_url(re.compile(re.escape(part)))

    def settled(self) -> None:
        """What was asked is answered."""
        self.page.evaluate(DRAWN)
        expect(self.page.locator(".stale, .busy")).to_have_count(0)


@pytest.fixture
def view(page: Page, lab: str) -> Iterator[View]:
    found = View(page, lab)
    yield found
    assert found.said == []

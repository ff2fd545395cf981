"""A page whose server stops, and starts again on the same port."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

CODE = "from headwright.cli import main; main()"
VERDICTS = ("proved", "refuted", "missing", "undecided")


class Server:
    """A lab on a port of its own, which can be stopped and started again."""

    def __init__(self) -> None:
        self.address = ""
        self._process: subprocess.Popen[str] | None = None
        self.start("0")

    def start(self, port: str | None = None) -> None:
        command = [
            sys.executable,
            "-c",
            CODE,
            "lab",
            "--no-open",
            "--port",
            port or self.address.rpartition(":")[2],
        ]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip().rstrip("/")

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.communicate(timeout=120)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A lab that every test stops and starts again."""
    found = Server()
    yield found
    found.stop()


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (
            "/check",
            lambda page: page.locator("#field-answer").fill("q = 7 (k_a + k_b)"),
        ),
        ("/design", lambda page: page.locator("#field-n").fill("8")),
    ],
)
def test_a_stopped_server_is_no_verdict_and_the_page_reconnects(
    page: Page, server: Server, path: str, change: Callable[[Page], None]
) -> None:
    page.goto(server.address + path)
    badge = page.locator("#verdict .badge")
    expect(badge).to_have_count(1)
    expect(page.locator(".stale, .busy")).to_have_count(0)
    before = badge.inner_text()
    server.stop()
    change(page)
    banner = page.locator("#connection")
    expect(banner).to_contain_text("Connection to the lab lost")
    expect(banner).to_contain_text(f"--port {server.address.rpartition(':')[2]}")
    # Once more it tries in vain, which changes nothing.
    with page.expect_event("requestfailed"):
        pass
    expect(banner).to_have_count(1)
    expect(page.locator("#verdict.stale")).to_have_count(
        1
    )  # the verdict before, shown as out of date
    expect(badge).to_have_text(before)
    expect(page.locator(".error:visible")).to_have_count(0)
    server.start()
    expect(banner).to_have_count(0)
    expect(page.locator(".stale, .busy")).to_have_count(0)
    expect(badge).to_have_count(1)


def test_a_page_that_is_opened_while_the_server_stops_fills_itself_later(
    page: Page, server: Server
) -> None:
    page.goto(server.address + "/heads")
    page.wait_for_selector("html[data-ready=yes]")
    server.stop()
    page.locator(".presets button").nth(1).click()  # its rules are a file of the server
    expect(page.locator("#connection")).to_be_visible()
    server.start()
    expect(page.locator("#connection")).to_have_count(0)
    expect(page.locator("#verdict .badge")).to_have_text("Designed.")


def test_a_failure_of_the_server_is_no_verdict(page: Page, lab: str) -> None:
    page.route(
        "**/api/check",
        lambda route: route.fulfill(
            status=503, json={"error": "too many requests", "where": None}
        ),
    )
    page.goto(f"{lab}/check")
    expect(page.locator("#verdict .headline")).to_have_text("No verdict.")
    expect(page.locator("#verdict .error")).to_have_text("too many requests")
    assert not any(word in page.locator("#verdict").inner_text() for word in VERDICTS)

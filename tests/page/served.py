"""The page as it is built, served by a plain web server, and opened in a real browser."""

from __future__ import annotations

import fcntl
import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from headwright.errors import InputError
from headwright.page.build import build
from tests.lab.browser import PATIENCE as PATIENCE

DOWNLOADS = Path(__file__).parents[2] / "out" / "downloads"  # fetched once
OLD_TYPES = {
    "": "text/html",
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
}
OWN = r"""# The secret key is SECRETCOMMENT
id = "our-own"
title = "Our own exercise"
statement = "Copy $v_a$."
answer = ["q"]
goals = ['\alpha_a \ge \frac{1}{1 + \epsilon}']

[parameters]
n = { integer = true, at_least = 2 }
epsilon = { above = 0, below = 1, small = true }

[samples]
right = [['q = 123454321 \lambda k_a']]

[keys]
are = "orthonormal"
named = ["a"]
"""
WEEK = """title = "Week 3 <b>"
deadline = "Friday, 18:00"
help = "Ask in the forum."
hints = "direction"
folder = "own"
exercises = ["our-own", "averaging-two", "averaging-three", "copying-separated",
             "averaging-all-but-one"]
[points]
averaging-two = 5
averaging-varies = 2
"""
ASK = "([call, given]) => import('./static/common/transport.js').then(({ post }) => post(call, given))"


def built(out: Path, assignment: Path | None = None) -> Path:
    """A page, or a skipped test where it cannot be built."""
    for tool in ("npm", "node"):
        if shutil.which(tool) is None:
            pytest.skip(
                f"NO {tool.upper()} HERE: the page is not built and not tested (Debian: apt-get install npm)"
            )
    try:
        build(out, assignment, downloads=DOWNLOADS)
    except InputError as error:
        if str(error).startswith("fetching"):
            pytest.skip(
                f"NO REGISTRY HERE: the page is not built and not tested ({error})"
            )
        raise
    return out


@contextmanager
def serving(folder: Path, *, knows_types: bool = True) -> Iterator[str]:
    """The address of a folder, as `python -m http.server` serves it, or a server that knows only types of old."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def guess_type(self, path: Any) -> str:
            known = super().guess_type(path)
            return (
                known
                if knows_types
                else OLD_TYPES.get(Path(path).suffix, "application/octet-stream")
            )

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


class Opened:
    """A page in which Python is ready, with what its console said and what it asked the network for."""

    def __init__(self, context: BrowserContext, address: str, path: str = "") -> None:
        self.address, self.said, self.asked = address, list[str](), list[str]()
        context.on("request", lambda request: self.asked.append(request.url))
        self.page: Page = context.new_page()
        self.page.on(
            "console",
            lambda message: (
                self.said.append(message.text) if message.type == "error" else None
            ),
        )
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.goto(address + path)
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-python=ready]", timeout=PATIENCE)

    def ask(self, call: str, **given: Any) -> Any:
        """What Python in the tab answers, by the way that the page itself asks."""
        return self.page.evaluate(ASK, [call, given])


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, built once for all workers: whoever comes second waits for the first."""
    base = tmp_path_factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (common / "page.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = common / "page"
        return done if (done / "manifest.json").exists() else built(done)


@pytest.fixture(scope="session")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an assignment with an exercise of one's own, built once for all workers."""
    base = tmp_path_factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (common / "week.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        own = common / "week" / "own"
        done = common / "week" / "page"
        if not (done / "manifest.json").exists():
            own.mkdir(parents=True, exist_ok=True)
            (own / "copying.toml").write_text(OWN)
            (own.parent / "week.toml").write_text(WEEK)
            built(done, own.parent / "week.toml")
        return done


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as found:
        yield found


@pytest.fixture(scope="session")
def shared(browser: Browser, address: str) -> Iterator[Opened]:
    """One tab for all tests that leave it as it was."""
    context = browser.new_context()
    opened = Opened(context, address)
    yield opened
    context.close()
    assert opened.said == []
    assert {
        url for url in opened.asked if not url.startswith((address, "data:", "blob:"))
    } == set()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Opened]:
    """A tab of one's own."""
    context = browser.new_context(accept_downloads=True)
    found = Opened(context, address)
    yield found
    context.close()
    assert found.said == []

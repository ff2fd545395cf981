"""The static page in Chromium, on a server of this machine: what a student waits for.

Seconds are wall-clock. Targets: first paint 0.5 s, first verdict 10 s without and 5 s with what the service worker has
kept, later verdicts 1 s, 18 MB compressed and 30 MB as files without the solver, `import headwright.check` 1 s.
"""

from __future__ import annotations

import functools
import http.server
import itertools
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.lab import FLAGS
from bench.measure import Contender, Skipped

TITLE = "The static page, in Chromium (wall-clock seconds)"
OUT = Path("out")
WAIT = 120_000  # milliseconds
CONTENDERS = [
    Contender("first paint", "paint"),
    Contender("first verdict, cold", "cold"),
    Contender("first verdict, warm", "warm"),
    Contender("later verdicts", "later"),
    Contender("import headwright.check in the tab", "imports", repeats=1),
]
PAINTED = "performance.getEntriesByName('first-contentful-paint').length > 0"
LOAD = """async () => {
  const { loadPyodide } = await import(new URL("python/pyodide.mjs", location.href));
  const python = await loadPyodide({ indexURL: new URL("python/", location.href).href });
  const modules = await (await fetch("python/modules.zip")).arrayBuffer();
  python.unpackArchive(modules, "zip", { extractDir: python.runPython("import site; site.getsitepackages()[0]") });
  window.python = python;
}"""
IMPORT = "window.python.runPython('import headwright.check, headwright.check.checker')"


def _build() -> str:
    """The page, built once, by the first contender; its size in words."""
    from headwright.errors import InputError
    from headwright.page.build import build

    try:
        sizes = build(OUT / "page", downloads=OUT / "downloads")
    except InputError as error:
        raise Skipped(str(error)) from None
    return f"{sizes.compressed / 1e6:.1f} MB compressed, {sizes.raw / 1e6:.1f} MB raw"


def _open() -> tuple[Any, str]:
    """A browser, and the address of the page."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise Skipped("there is no Chromium here")
    if not (OUT / "page" / "manifest.json").exists():
        raise Skipped("there is no page in out/page")
    handler = functools.partial(_Quiet, directory=OUT / "page")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = sync_playwright().start().chromium.launch(executable_path=found, args=FLAGS)
    return browser, f"http://localhost:{server.server_port}/"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def paint() -> Callable[[], str]:
    size = _build()
    browser, address = _open()

    def work() -> str:
        page = browser.new_context().new_page()
        page.goto(address, wait_until="commit")
        page.wait_for_function(PAINTED)
        at = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        page.context.close()
        return f"{at:.0f} ms by its clock; {size}"

    return work


def cold() -> Callable[[], str]:
    browser, address = _open()

    def work() -> str:
        page = browser.new_context().new_page()
        page.goto(address)
        word = str(page.wait_for_selector("#verdict .badge", timeout=WAIT).inner_text())
        page.context.close()
        return word

    return work


def _opened() -> Any:
    browser, address = _open()
    page = browser.new_context().new_page()
    page.goto(address)
    page.wait_for_selector("#verdict .badge", timeout=WAIT)
    page.wait_for_function("navigator.serviceWorker.controller !== null", timeout=WAIT)
    return page


def warm() -> Callable[[], str]:
    page = _opened()

    def work() -> str:
        page.reload()
        page.wait_for_selector("#verdict .badge", timeout=WAIT)
        return str(page.locator("#verdict .badge").first.inner_text())

    return work


def later() -> Callable[[], str]:
    """With the half second that the page waits for the next letter."""
    page, lengths = _opened(), itertools.count(2)

    def work() -> str:
        page.locator("#field-answer").fill(f"q = {next(lengths)} (k_a + k_b)")
        page.wait_for_selector("#verdict.stale", state="attached", timeout=WAIT)
        page.wait_for_selector("#verdict:not(.stale)", timeout=WAIT)
        return str(page.locator("#verdict .badge").first.inner_text())

    work()
    return work


def imports() -> Callable[[], str]:
    browser, address = _open()
    context = browser.new_context()
    context.route("**/worker.js", lambda route: route.abort())  # this tab has one Python, its own
    page = context.new_page()
    page.goto(address)
    page.evaluate(LOAD)
    return lambda: str(page.evaluate(IMPORT))

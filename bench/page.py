"""The static page in Chromium, on a server of this machine: what a student waits for, by the page's own clock.

Every visit has a browser process of its own. Cold: nothing was fetched before. Warm: the browser was closed after a
visit, and started again. Later verdicts contain the half second that the page waits for the next letter, and a drag
the 0.15 seconds that it waits for the next movement. Targets are for two cores that do nothing else, so the load of
the machine is told as well.
"""

from __future__ import annotations

import functools
import http.server
import math
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.lab import FLAGS
from bench.measure import Contender, Skipped

TITLE = "The static page, in Chromium (seconds by the page's clock)"
OUT = Path("out")
WAIT = 120_000  # milliseconds
DRAGS = 6
CONTENDERS = [
    Contender("first paint", "paint"),
    Contender("first verdict, cold", "cold"),
    Contender("first verdict, warm", "warm"),
    Contender("later verdicts", "later", repeats=1),
    Contender("drag to proof, 9 keys", "drag", repeats=1),
    Contender("drag to proof, 60 keys", "drag_many", repeats=1),
    Contender("import headwright.grading in the tab", "imports"),
]
UNTIL = "for (;;) { const found = {}; if (found) return found; await new Promise(requestAnimationFrame); }"
PAINTED, JUDGED, KEPT = (
    f"async () => {{ {UNTIL.replace('{}', expression, 1)} }}"
    for expression in (
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime",
        "document.querySelector('#verdict .badge') && performance.now()",
        "navigator.serviceWorker.controller && performance.now()",
    )
)
AGAIN = """async (text) => {
  const [area, verdict] = [document.getElementById("field-answer"), document.getElementById("verdict")];
  const until = async (stale) => {
    while (verdict.classList.contains("stale") !== stale) await new Promise(requestAnimationFrame);
  };
  const started = performance.now();
  area.value = text;
  area.dispatchEvent(new Event("input", { bubbles: true }));
  await until(true);
  await until(false);
  return performance.now() - started;
}"""
WATCHED = """() => {
  const verdict = document.getElementById("verdict");
  const isProved = () => {
    const badge = verdict.querySelector(".badge");
    return !verdict.classList.contains("stale") && badge?.textContent.startsWith("Proved");
  };
  let last = null;
  window.fromDragToProof = null;
  addEventListener("pointermove", ({ timeStamp }) => { last = timeStamp; window.fromDragToProof = null; }, true);
  new MutationObserver(() => {
    if (last === null || window.fromDragToProof !== null || !isProved()) return;
    window.fromDragToProof = performance.now() - last;
  }).observe(verdict, { attributes: true, childList: true, subtree: true });
}"""
IMPORTED = """async () => {
  const { loadPyodide } = await import(new URL("python/pyodide.js", location.href));
  const { default: createPyodideModule } = await import(new URL("python/pyodide.asm.js", location.href));
  const python = await loadPyodide({ indexURL: new URL("python/", location.href).href, createPyodideModule });
  const modules = await (await fetch("python/modules.zip")).arrayBuffer();
  python.unpackArchive(modules, "zip", { extractDir: python.runPython("import site; site.getsitepackages()[0]") });
  const started = performance.now();
  python.runPython("import headwright.grading, headwright.grading.grade");
  return performance.now() - started;
}"""
Work = Callable[[], tuple[float, str]]


def _sizes() -> str:
    """Build the page, and tell its size."""
    from headwright.errors import InputError
    from headwright.page.build import build

    try:
        sizes = build(OUT / "page", downloads=OUT / "downloads")
    except InputError as error:
        raise Skipped(str(error)) from None
    solver = (OUT / "page" / "python" / "z3_solver.whl").stat().st_size / 1e6
    return f"{sizes.compressed / 1e6:.1f} MB compressed, {sizes.raw / 1e6:.1f} raw; z3 {solver:.1f} more"


@contextmanager
def _address() -> Iterator[str]:
    if not (OUT / "page" / "manifest.json").exists():
        raise Skipped("there is no page in out/page")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=OUT / "page")
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def _visit(
    look: Callable[[Any], float], address: str, profile: str, worker: str | None = None
) -> tuple[float, str]:
    """Seconds that `look` finds on the page, in a browser that is started for it, with a profile."""
    from playwright.sync_api import Error, sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise Skipped("there is no Chromium here")
    with sync_playwright() as play:
        browser = play.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=FLAGS
        )
        try:
            browser.set_default_timeout(WAIT)
            if worker is not None:
                browser.route(
                    "**/worker.js",
                    lambda route: route.fulfill(
                        body=worker, content_type="text/javascript"
                    ),
                )
            page = browser.new_page()
            page.goto(address, wait_until="commit")
            return look(page) / 1000, f"load {os.getloadavg()[0]:.1f}"
        except Error as error:
            return math.inf, str(error).partition("\n")[0]
        finally:
            browser.close()


def _cold(
    look: Callable[[Any], float],
    target: str,
    *,
    worker: str | None = None,
    path: str = "",
) -> Work:
    def work() -> tuple[float, str]:
        with (
            _address() as address,
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        ):
            seconds, said = _visit(look, address + path, profile, worker)
            return seconds, f"target {target}; {said}"

    return work


def paint() -> Work:
    return _cold(lambda page: float(page.evaluate(PAINTED)), f"0.5 s; {_sizes()}")


def cold() -> Work:
    return _cold(lambda page: float(page.evaluate(JUDGED)), "10 s")


def warm() -> Work:
    def work() -> tuple[float, str]:
        with (
            _address() as address,
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        ):
            _visit(lambda page: float(page.evaluate(KEPT)), address, profile)
            seconds, said = _visit(
                lambda page: float(page.evaluate(JUDGED)), address, profile
            )
            return seconds, f"target 5 s; {said}"

    return work


def later() -> Work:
    def slowest(page: Any) -> float:
        page.evaluate(JUDGED)
        return float(
            max(
                page.evaluate(AGAIN, f"q = {length} (k_a + k_b)")
                for length in range(2, 8)
            )
        )

    return _cold(slowest, "1 s; the slowest of six")


def imports() -> Work:
    """In a worker, as the page does; it does nothing else there."""

    def look(page: Any) -> float:
        with page.expect_event("worker", lambda _: True) as started:
            page.reload(wait_until="commit")
        return float(started.value.evaluate(IMPORTED))

    return _cold(look, "1 s", worker="")


def _slowest_drag(page: Any) -> float:
    """Drag a key six times; the milliseconds from the last movement until a proof is shown."""
    page.wait_for_selector("html[data-python=ready]")
    page.wait_for_selector("#verdict:not(.stale) .badge:not(.undecided)")
    page.evaluate(WATCHED)
    slowest = 0.0
    for number in range(DRAGS):
        key = page.locator("[aria-label^='Key 1, weight']").bounding_box()
        x, y = key["x"] + key["width"] / 2, key["y"] + key["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 8, y + 8 * (-1) ** number, steps=10)
        page.mouse.up()
        page.wait_for_function("() => window.fromDragToProof !== null")
        slowest = max(slowest, float(page.evaluate("window.fromDragToProof")))
    return slowest


def drag() -> Work:
    return _cold(_slowest_drag, "0.5 s; the slowest of six", path="design.html")


def drag_many() -> Work:
    return _cold(
        _slowest_drag,
        "0.5 s; the slowest of six",
        path="design.html#n=60&targets=8",
    )

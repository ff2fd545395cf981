"""How the lab answers: from the command to the first page, a drag among 200 keys, and fifty users at once.

    python -m bench.lab [startup] [drag] [load] [--seconds 60]

Seconds are wall-clock here, since that is what a person waits; a drag is told as the processor time of the page's own
thread for each frame (Chromium's count): fluid is what leaves room in 16.7 ms.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from headwright.lab.calls import VIEWS

COMMAND = [sys.executable, "-m", "headwright", "lab", "--port", "0", "--no-open"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]
COUNTED = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
EYE = [[float(i == j) for j in range(8)] for i in range(8)]
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("design", {"keys": EYE, "average": [0, 1]}),
    ("design", {"keys": [[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]], "copy": 2}),
    (
        "simulate",
        {
            "keys": EYE,
            "queries": EYE[:2],
            "uncertainty": [{"key": 0, "scale": {"normal": [1.0, 0.5]}}],
            "targets": [0, 1],
            "samples": 2000,
        },
    ),
    ("order", {"tokens": ["a", "dog", "bit"], "order": [2, 0, 1]}),
    ("check", {"exercise": "averaging-two", "text": "q = k_a + k_b"}),
    ("verify", {"certificate": "{}"}),
    ("", {}),  # a page
]
DRAG = """async ([index, frames]) => {
  const key = document.querySelectorAll('g.key')[index];
  key.setPointerCapture = () => {};
  const box = key.querySelector('.dot').getBoundingClientRect();
  const at = (by, kind) => key.dispatchEvent(new PointerEvent(kind,
    {clientX: box.x + by, clientY: box.y + by / 2, pointerId: 1, button: 0, bubbles: true}));
  const frame = () => new Promise(requestAnimationFrame);
  at(0, 'pointerdown');
  at(8, 'pointermove');
  await frame();
  const began = performance.now();
  for (let i = 0; i < frames; i++) { at(8 + (i % 40), 'pointermove'); await frame(); }
  const took = (performance.now() - began) / frames;
  at(0, 'pointerup');
  return took;
}"""


@contextmanager
def lab() -> Iterator[str]:
    """The address of a lab that runs."""
    process = subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/")
    finally:
        process.terminate()
        process.wait(timeout=30)


def startup(runs: int = 5) -> str:
    """From the command to the first page of every view, and to the first certified answer."""
    pages, answers = list[float](), list[float]()
    for _ in range(runs):
        started = time.monotonic()
        with lab() as address:
            for view in VIEWS:
                if view.summary:
                    assert _ask(address, "GET", f"/{view.name}") == 200
            pages.append(time.monotonic() - started)
            assert _ask(address, "POST", "/api/design", QUESTIONS[0][1]) == 200
            answers.append(time.monotonic() - started)
    return f"all pages after {_spread(pages)}, the first proof after {_spread(answers)}"


def drag(frames: int = 120, n: int = 200) -> str:
    """A key is dragged among n others; superseded questions go to the server meanwhile, as they do for anybody."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser")
    with lab() as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{address}/design#kind=sphere&d=2&n={n}&targets=5")
        page.wait_for_selector("#verdict .badge", timeout=60_000)
        page.evaluate(DRAG, [9, 20])  # compiled by now
        session = page.context.new_cdp_session(page)
        session.send(
            "Performance.enable", {"timeDomain": "threadTicks"}
        )  # its own time, whoever else is busy
        before = _counts(session.send("Performance.getMetrics"))
        apart = page.evaluate(DRAG, [9, frames])
        after = _counts(session.send("Performance.getMetrics"))
        browser.close()
    told = ", ".join(
        f"{name.removesuffix('Duration').lower()} {1000 * (after[name] - before[name]) / frames:.1f}"
        for name in COUNTED
    )
    return f"n = {n}: ms of the page's thread for each frame: {told}; frames were {apart:.1f} ms apart"


def load(seconds: float, users: int = 50) -> str:
    """Users who ask one thing after the other."""
    took, wrong = list[tuple[str, float]](), list[str]()
    with lab() as address:
        until = time.monotonic() + seconds

        def user(first: int) -> None:
            for turn in itertools.count(first):
                if time.monotonic() > until:
                    return
                call, body = QUESTIONS[turn % len(QUESTIONS)]
                started = time.monotonic()
                try:
                    status = (
                        _ask(address, "POST", f"/api/{call}", body)
                        if call
                        else _ask(address, "GET", "/design")
                    )
                except OSError as error:
                    status = -1
                    wrong.append(f"{call}: {error}")
                if status != 200:
                    wrong.append(f"{call}: {status}")
                took.append((call or "a page", time.monotonic() - started))

        threads = [
            threading.Thread(target=user, args=(number,)) for number in range(users)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = [
        f"{users} users, {seconds:g} s: {len(took)} answers, {len(wrong)} errors {wrong[:3] or ''}"
    ]
    for name in dict.fromkeys(call or "a page" for call, _ in QUESTIONS):
        times = sorted(second for call, second in took if call == name)
        if times:
            lines.append(
                f"  {name:9} {len(times):6} median {times[len(times) // 2]:.3f} s, "
                f"95% within {times[int(len(times) * 0.95)]:.3f} s, longest {times[-1]:.3f} s"
            )
    return "\n".join(lines)


def _ask(
    address: str, method: str, path: str, body: dict[str, Any] | None = None
) -> int:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    sent = None if body is None else json.dumps(body)
    connection.request(
        method, path, sent, {"content-type": "application/json"} if sent else {}
    )
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return reply.status


def _spread(times: list[float]) -> str:
    return f"{statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f}, {len(times)} runs)"


def _counts(said: Any) -> dict[str, float]:
    return {one["name"]: one["value"] for one in said["metrics"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what",
        nargs="*",
        choices=["startup", "drag", "load", []],
        default=["startup", "drag", "load"],
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    for what in asked.what:
        told = (
            startup()
            if what == "startup"
            else drag()
            if what == "drag"
            else load(asked.seconds)
        )
        print(what, told, sep=": ")


if __name__ == "__main__":
    main()

"""The picture of the static page in the README: `python docs/site/page_picture.py out/page` (after `make page`)."""

from __future__ import annotations

import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parents[1] / "pictures" / "page-check.png"


def main(folder: str) -> None:
    """Check the first example in a browser, with all hints, and keep what it looks like."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1160, "height": 1160})
        page.goto(f"http://localhost:{server.server_port}/#hints=full")
        page.wait_for_selector("#counterexample svg", timeout=120_000)
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURE)
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])

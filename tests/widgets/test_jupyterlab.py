"""The design widget in a real page of JupyterLab: what is dragged and typed there is read back in Python."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import headwright
from tests.lab.browser import browser_type_launch_args  # noqa: F401  (the same browser)

SOURCE = Path(headwright.__file__).parents[1]  # the kernel runs elsewhere, and has to find what is tested here
CELLS = [
    "import numpy as np\nfrom headwright import widgets\nfrom headwright.queries import copy\n"
    "view = widgets.design(np.array([[1.0, 0.0], [0.0, 1.0], [-0.7, -0.7]]), copy(0, '0.1'))\nview",
    "from headwright.trusted.verify import verify\n"
    "print('read', view.keys.tolist(), view.wish.targets, view.granted, view.query is not None,"
    " verify(view.certificate).word)",
    "view.found",
    "view.found.picture()",
]


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook with these cells, in a JupyterLab of its own."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{i}", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
        for i, text in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    (tmp_path / "view.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    )
    (tmp_path / "JUPYTER_CONFIG_DIR" / "labconfig").mkdir(parents=True)
    quiet = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (tmp_path / "JUPYTER_CONFIG_DIR" / "labconfig" / "page_config.json").write_text(json.dumps(quiet))
    token = secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = {
        name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "HOME")
    }
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--ip=127.0.0.1", "--allow-root",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={tmp_path}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    with (tmp_path / "said.txt").open("w") as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=said, env={**os.environ, **own, "PYTHONPATH": str(SOURCE)}, cwd=tmp_path
        )
    try:
        _wait(f"http://127.0.0.1:{port}/api?token={token}", process, tmp_path / "said.txt")
        yield f"http://127.0.0.1:{port}/lab/tree/view.ipynb?token={token}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(address: str, process: subprocess.Popen[Any], said: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, said.read_text()
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(said.read_text())


def run(page: Page, cell: int) -> None:
    page.locator(".jp-CodeCell").nth(cell).locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")


def read(page: Page) -> str:
    """What the second cell prints when it is run anew."""
    before = page.locator(".jp-CodeCell").nth(1).locator(".jp-InputPrompt").inner_text()
    run(page, 1)
    prompt = page.locator(".jp-CodeCell").nth(1).locator(".jp-InputPrompt")
    expect(prompt).not_to_have_text(before, timeout=60_000)
    expect(prompt).not_to_have_text("[*]:", timeout=60_000)
    return page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output").last.inner_text().strip()


@pytest.mark.slow
def test_what_is_dragged_and_typed_in_jupyterlab_is_read_back_in_python(page: Page, notebook: str) -> None:
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda request: (
            None
            if "127.0.0.1" in request.url or re.match("(data|blob):", request.url)
            else elsewhere.append(request.url)
        ),
    )
    page.set_viewport_size({"width": 1500, "height": 1100})
    page.goto(notebook)
    page.wait_for_selector(".jp-CodeCell", timeout=90_000)
    expect(page.get_by_role("button", name="| Idle")).to_be_visible(timeout=90_000)
    run(page, 0)
    badge = page.locator("#verdict .badge")
    expect(badge).to_have_text("Proved.", timeout=90_000)
    assert read(page) == "read [[1.0, 0.0], [0.0, 1.0], [-0.7, -0.7]] [0] True False verified"

    page.locator("g.key >> nth=2 >> .dot").click(modifiers=["Shift"])  # another target
    expect(page.locator("#wishes")).to_contain_text("key 2: weight at least")
    expect(page.locator("#wishes")).to_contain_text("key 0: weight at least")
    page.locator("g.key >> nth=2 >> .dot").click()  # this one only
    expect(page.locator("#wishes")).not_to_contain_text("key 0: weight at least")
    expect(badge).to_have_text("Proved.", timeout=60_000)
    index = page.get_by_label("Number of the selected key")
    index.fill("2")
    index.press("Enter")
    field = page.get_by_label("Key 2, coordinate 1")
    field.fill("-0.25")
    field.press("Enter")
    said = read(page)
    assert said == "read [[1.0, 0.0], [0.0, 1.0], [-0.7, -0.25]] [2] True False verified"

    page.locator("g.key >> nth=1 >> .dot").scroll_into_view_if_needed()
    box = page.locator("g.key >> nth=1 >> .dot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 30, steps=6)
    page.mouse.up()
    page.get_by_role("button", name="Edit a query").click()
    moved = read(page)
    assert "[0.0, 1.0]" not in moved
    assert moved.endswith("[2] True True verified")

    page.get_by_role("button", name="Undo").click()  # the query is let go
    page.keyboard.press("Control+z")  # and the key goes back
    assert read(page) == said
    page.get_by_role("button", name="Redo").click()
    page.keyboard.press("Control+Shift+z")
    assert read(page) == moved

    page.locator("g.key[tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")  # moves the key, and is no command of the notebook
    assert read(page) != moved
    assert page.locator(".jp-CodeCell").count() == len(CELLS)
    run(page, 2)
    expect(page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output")).to_contain_text(
        "designed", timeout=30_000
    )
    run(page, 3)
    drawn = page.locator(".jp-CodeCell").nth(3).locator(".jp-OutputArea-output :is(img, svg)").first
    expect(drawn).to_be_visible(timeout=30_000)
    assert elsewhere == []  # nothing is fetched from anywhere

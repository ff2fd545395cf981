"""The report in a real browser: nothing keeps anybody from reading it, on a telephone or a desk, light or dark."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from headwright.auditing.auditor import audit
from headwright.auditing.report.page import page as report
from headwright.models import load_model
from tests.lab.browser import browser_type_launch_args  # noqa: F401 - Debian's Chromium for this module, too


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(report(audit(load_model("builtin:induction"), tokens=400)))
    return file.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_serious_keeps_anybody_from_reading(
    page: Page, address: str, width: int, scheme: str
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(address)
    found = Axe().run(page).response["violations"]
    assert [
        (one["id"], one["nodes"][0]["html"])
        for one in found
        if one["impact"] in ("serious", "critical")
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert asked == [address]  # and nothing else


def test_a_click_sorts_the_table(page: Page, address: str) -> None:
    page.goto(address)
    column = page.locator("#heads tbody tr td:nth-child(7)")
    before = [float(text) for text in column.all_inner_texts()]
    page.get_by_role("button", name="induct.").click()
    after = [float(text) for text in column.all_inner_texts()]
    assert before not in (sorted(before), sorted(before, reverse=True))
    assert after in (sorted(before), sorted(before, reverse=True))

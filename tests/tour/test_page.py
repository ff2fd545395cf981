"""The tour's page in a real browser: on a telephone or a desk, light or dark, by eye or by ear."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.lab.browser import browser_type_launch_args  # noqa: F401 - Debian's Chromium for this module, too
from tests.tour.conftest import Tour


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1100])
def test_nothing_serious_keeps_anybody_from_reading(page: Page, tour: Tour, width: int, scheme: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto((tour.folder / "index.html").as_uri())
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith(tour.folder.as_uri()) for url in asked)
    assert len(asked) == 13  # the page and its pictures


def test_every_number_leads_to_a_command_and_every_picture_is_told(tour: Tour) -> None:
    text = (tour.folder / "index.html").read_text()
    for target in re.findall(r'href="#([^"]+)"', text):
        assert f'id="{target}"' in text, target
    told = re.findall(r'<img src="([^"]+)" alt="([^"]{40,})"', text)
    assert len(told) == 12
    assert all((tour.folder / name).exists() for name, _ in told)
    assert text.count("<math") > 10


def test_formulas_are_read(tour: Tour) -> None:
    text = (tour.folder / "index.html").read_text()
    assert "\\frac" not in text
    assert "$" not in text


def test_what_a_reader_sees_is_lettered(tour: Tour) -> None:
    shown = re.sub(r"<(pre|style|img)\b.*?(?:</\1>|>)", "", (tour.folder / "index.html").read_text(), flags=re.DOTALL)
    assert re.findall(r"\b(?:lambda|epsilon)\b|k_a|&gt;=", shown) == []

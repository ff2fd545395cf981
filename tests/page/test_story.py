"""The story: its figures are drawn without Python, and each link leads to the verdict that it names."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from headwright.page.build import trained_pattern
from tests.page.served import PATIENCE, Opened

FIGURES = ("copy", "fixed", "grow", "hull", "noise", "heads", "order", "trained")


@pytest.mark.parametrize("width", [390, 1280])
def test_each_figure_is_drawn_and_moves(
    browser: Browser, address: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}story.html")
    page.wait_for_selector("html[data-ready=yes]", timeout=PATIENCE)
    for name in FIGURES:
        figure = page.locator(f"[data-figure={name}]")
        expect(figure.locator("svg").first).to_be_visible()
        before = figure.locator("svg").first.inner_html()
        figure.locator("input[type=range]").focus()
        page.keyboard.press("Home" if name == "trained" else "End")
        page.wait_for_function(
            "([name, before]) => document.querySelector(`[data-figure=${name}] svg`).innerHTML !== before",
            arg=[name, before],
        )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    assert all(url.startswith(address) for url in asked)
    assert not any("pyodide" in url for url in asked)
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.violations_count == 0, found.generate_report()
    context.close()


def test_the_first_figure_moves_when_the_page_opens_until_it_is_touched(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.goto(f"{address}story.html")
    page.wait_for_selector("html[data-ready=yes]", timeout=PATIENCE)
    length = page.locator("[data-figure=copy] output")
    says = page.locator("[data-figure=copy] .says")
    page.clock.run_for(300)
    moving = float(length.inner_text())
    assert 0 < moving < 4
    expect(says).to_have_attribute("aria-busy", "true")
    page.clock.run_for(300)
    assert moving < float(length.inner_text()) < 4
    page.locator("[data-figure=copy] input").press("End")
    page.clock.run_for(5000)
    expect(length).to_have_text("10")
    assert says.get_attribute("aria-busy") is None
    page.reload()
    page.wait_for_selector("html[data-ready=yes]", timeout=PATIENCE)
    page.clock.run_for(5000)
    expect(length).to_have_text("4")
    assert says.get_attribute("aria-busy") is None
    context.close()


def test_nothing_moves_for_who_asked_for_less_motion(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.goto(f"{address}story.html")
    page.wait_for_selector("html[data-ready=yes]", timeout=PATIENCE)
    page.clock.run_for(300)
    expect(page.locator("[data-figure=copy] output")).to_have_text("4")
    context.close()


def test_each_link_leads_to_the_verdict_that_it_names(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}story.html")
    page.wait_for_selector("html[data-ready=yes]", timeout=PATIENCE)
    links = [
        (link.inner_text(), link.get_attribute("href") or "")
        for link in page.locator(".proofs a[href*='#']").all()
    ]
    assert len(links) == 7
    for words, target in links:
        opened = Opened(context, address, target)
        verdict = opened.page.locator("#verdict .badge, .verdict .badge").first
        named = words.partition(" ")[0].strip(":,")
        expect(verdict).to_have_text(
            re.compile(f"^{named}", re.IGNORECASE), timeout=PATIENCE
        )
        assert opened.said == []
        opened.page.close()
    context.close()


def test_the_trained_head_is_the_one_that_the_text_is_about() -> None:
    found = trained_pattern()
    assert len(found["tokens"]) == len(found["pattern"])
    for row, weights in enumerate(found["pattern"][1:], start=1):
        assert weights[row - 1] > 0.8795
        assert sum(weights) == pytest.approx(1, abs=0.01)

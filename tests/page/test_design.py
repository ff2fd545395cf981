"""The Design page: keys are dragged, and the shortest query is proved in the tab."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from headwright.verification.verify import verify
from tests.page.served import PATIENCE, Opened


def _proved(page: Page, word: str) -> None:
    """The verdict is of the checker, and about what is shown."""
    verdict = page.locator("#verdict:not(.stale)")
    expect(verdict.locator(".badge")).to_have_text(word, timeout=PATIENCE)


def test_a_query_is_proposed_at_once_and_proved_in_the_tab(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    context = browser.new_context(accept_downloads=True)
    opened = Opened(context, address, "design.html")
    page = opened.page
    _proved(page, "Proved.")
    before = page.locator("#verdict .headline").inner_text()
    key = page.get_by_role("button", name=re.compile("^Key 1, weight"))
    box = key.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 60, steps=5)
    page.mouse.up()
    expect(page.locator("#verdict .headline")).not_to_have_text(before)
    _proved(page, "Proved.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download certificate").click()
    certificate = tmp_path / "certificate.json"
    download.value.save_as(certificate)
    found = verify(certificate.read_text(), checker="both")
    assert found.word == "verified"
    assert found.words == page.locator("#verdict .words").text_content()
    assert opened.said == []
    context.close()


def test_what_is_impossible_is_proved_with_its_combination(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    opened = Opened(context, address, "design.html")
    page = opened.page
    page.get_by_role("button", name="Average two distant keys").click()
    _proved(page, "Proved impossible.")
    expect(page.locator("#verdict")).to_contain_text("convex combination of keys")
    page.get_by_role("button", name="16 dimensions").click()
    _proved(page, "Proved.")
    assert opened.said == []
    context.close()


def test_a_link_to_what_only_the_lab_has_is_refused_by_name(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    opened = Opened(context, address, "design.html#heads=2&noise=ball")
    page = opened.page
    expect(page.locator("#error-link")).to_contain_text("heads")
    expect(page.locator("#error-link")).to_contain_text("noise")
    _proved(page, "Proved.")
    context.close()

"""The Verify page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from headwright import copy, design
from headwright.verification.verify import verify
from tests.page.served import PATIENCE, Opened

COPY = Path(__file__).parents[1] / "certificates" / "corpus" / "accept" / "copy.json"


def test_a_certificate_is_verified_by_the_exact_checker_alone_which_is_said(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    context = browser.new_context()
    opened = Opened(context, address, "verify.html")
    page = opened.page
    expect(page.locator(".point")).to_contain_text(
        "floating-point checker needs NumPy and does not run here"
    )
    page.set_input_files("#certificate", COPY)
    card = page.locator("#verified .verdict").first
    expect(card.locator(".badge")).to_have_text("Verified", timeout=PATIENCE)
    expect(card).to_contain_text("by the exact checker")
    expect(card.locator(".words")).to_have_text(
        verify(COPY.read_text(), checker="exact").words
    )
    changed = tmp_path / "changed.json"
    changed.write_text(
        COPY.read_text().replace("0x1.0624dd2f1a9fcp-10", "0x1.0624dd2f1a9fcp-9", 1)
    )
    page.set_input_files("#certificate", changed)
    expect(page.locator("#verified .verdict").first.locator(".badge")).not_to_have_text(
        "Verified", timeout=PATIENCE
    )
    expect(page.locator("#verified .verdict").first.locator(".badge")).to_be_visible(
        timeout=PATIENCE
    )
    assert opened.said == []
    context.close()


def test_the_card_of_a_design_links_to_it(
    browser: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = design(np.eye(2), copy(0))
    assert "Verify in a browser" not in found._repr_html_()
    monkeypatch.setenv("HEADWRIGHT_PAGE", "javascript:alert(1)")
    assert "Verify in a browser" not in found._repr_html_()
    monkeypatch.setenv("HEADWRIGHT_PAGE", address)
    context = browser.new_context()
    page = context.new_page()
    page.set_content(found._repr_html_())
    with context.expect_page() as waiting:
        page.get_by_role("link", name="Verify in a browser").click()
    assert found.certificate is not None
    card = waiting.value.locator("#verified .verdict")
    expect(card.locator(".badge")).to_have_text("Verified", timeout=PATIENCE)
    expect(card.locator(".words")).to_have_text(
        verify(found.certificate, checker="exact").words
    )
    context.close()

"""The Rank view in a real browser, and its calls."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from headwright.lab.worker import handle
from tests.lab.browser import View


def test_the_slider_cuts_and_undo_takes_it_back(view: View) -> None:
    page = view.enter("/rank#source=noisy&noise=0")
    view.settled()
    page.locator("#field-rank").fill("3")
    page.locator("#field-rank").press("Enter")
    expect(page.locator("#verdict .headline")).to_contain_text(
        "the approximation of rank 3"
    )
    expect(page.locator("#energy svg")).to_have_attribute(
        "aria-label", "Rank 3 keeps 100% of the energy"
    )
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(page.locator("#verdict .headline")).to_contain_text(
        "the approximation of rank 6"
    )


def test_where_all_singular_values_are_equal_the_last_meets_the_bound(
    view: View,
) -> None:
    page = view.enter("/rank#source=equal&size=16&rank=16")
    expect(page.locator("#verdict .headline")).to_contain_text(
        "rank 16 represents A exactly"
    )
    page.get_by_role("button", name="One rank less").click()
    expect(page.locator("#verdict")).to_contain_text("1 times the proved error")


def test_a_head_of_the_built_in_model(view: View) -> None:
    page = view.enter("/rank")
    page.locator("#field-source").select_option("head")
    expect(page.locator(".matrices figcaption").first).to_contain_text("47 × 47")
    view.address_has("source=head")


def test_an_image_of_ones_own_comes_back_from_the_link(
    view: View, tmp_path: Path
) -> None:
    (tmp_path / "stripes.png").write_bytes(_png([[0, 255] * 5] * 6))
    page = view.enter("/rank")
    page.locator("#field-source").select_option("yours")
    expect(page.locator("#error-image")).to_contain_text("choose an image")
    page.set_input_files("#image", tmp_path / "stripes.png")
    expect(page.locator(".matrices figcaption").first).to_contain_text("6 × 10")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".matrices figcaption").first).to_contain_text("6 × 10")
    (tmp_path / "no.png").write_text("this is no image")
    page.set_input_files("#image", tmp_path / "no.png")
    expect(page.locator("#error-image")).to_contain_text("cannot be read as an image")


def test_the_cut_is_told_as_the_command_line_does() -> None:
    given = {"matrix": [[3.0, 0.0], [0.0, 1.0]], "rank": 1}
    found = handle({"call": "lowrank", "given": given})["answer"]
    assert 1 <= found["error_upper_bound"] < 1.0001
    assert found["guarantee"] >= 5**0.5


def test_the_factors_give_the_matrix_back() -> None:
    given = {"head": {"layer": 0, "head": 1, "circuit": "qk"}}
    found = handle({"call": "factors", "given": given})["answer"]
    left, right = np.array(found["left"]), np.array(found["right"])
    again = left * np.array(found["singular_values"]) @ right
    assert np.allclose(again, found["matrix"], atol=0.01)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({}, "matrix"),
        ({"matrix": [[1.0]], "head": {"layer": 0, "head": 0}}, "matrix"),
        ({"matrix": [[1.0, 2.0], [3.0]], "rank": 1}, "matrix"),
        ({"matrix": [[1.7e308, 1.7e308], [1.7e308, 1.7e308]], "rank": 1}, "matrix"),
        ({"matrix": [[1.0, 2.0]], "rank": 2}, "rank"),
        ({"matrix": [[1.0, 2.0]], "rank": 1, "tolerance": 1.0}, "rank"),
    ],
)
def test_what_cannot_be_cut_is_said(given: dict[str, object], where: str) -> None:
    assert handle({"call": "lowrank", "given": given})["where"] == where


def test_entries_as_large_as_numbers_go_have_factors() -> None:
    found = handle(
        {"call": "factors", "given": {"matrix": [[1e300, 0.0], [0.0, 1e-300]]}}
    )["answer"]
    assert found["singular_values"][0] == pytest.approx(1e300)


def _png(greys: list[list[int]]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data))
            + kind
            + data
            + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", len(greys[0]), len(greys), 8, 0, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + bytes(row) for row in greys))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", body)
        + chunk(b"IEND", b"")
    )


def test_a_tolerance_finds_the_rank_that_is_certified_to_miss_no_more(
    view: View,
) -> None:
    page = view.enter("/rank")
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("Proved")
    expect(page.locator("#verdict .headline")).to_contain_text(
        "the approximation of rank 6"
    )
    expect(page.locator(".matrices image")).to_have_count(3)
    page.get_by_text("error", exact=True).click()
    page.locator("#field-tolerance").fill("1.5")
    page.locator("#field-tolerance").press("Enter")
    view.settled()
    view.address_has("tolerance=1.5")
    said = page.locator("#verdict .headline").inner_text()
    found = re.search(r"rank (\d+) has an error of at most ([\d.]+)", said)
    assert found is not None, said
    assert float(found[2]) <= 1.5
    expect(page.locator("#verdict")).not_to_contain_text("Certifying")
    again = view.enter(page.url.removeprefix(view.address))
    view.settled()
    expect(again.locator("#verdict .headline")).to_have_text(said)
    page.evaluate(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )
    page.get_by_text("Export").click()
    page.get_by_role("button", name="Copy as command line").click()
    assert "--tolerance 1.5" in page.evaluate("window.copied")

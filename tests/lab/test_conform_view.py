"""The Conform view in a real browser, and its call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from headwright.lab.worker import handle
from tests.cli.conftest import headwright
from tests.cli.running import Headwright
from tests.lab.browser import View
from tests.lab.test_interface import ask

__all__ = ["headwright"]  # the command line, as a fixture


def _ask(**given: Any) -> dict[str, Any]:
    answer: dict[str, Any] = handle({"call": "conform", "given": given})
    return answer


def test_a_mistake_is_chosen_and_named(view: View) -> None:
    page = view.enter("/conform")
    expect(page.locator("#verdict .badge")).to_have_text("Outside")
    expect(page.locator("#verdict")).to_contain_text("a window of 33 keys, not 32")
    expect(page.locator("#map svg image")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("96 of 128 rows are outside")
    page.locator("#field-mistake").select_option("none")
    expect(page.locator("#verdict .badge")).to_have_text("Within")
    expect(page.locator("#rows")).to_contain_text("no row is outside")
    view.address_has("mistake=none")
    page.locator("#field-mistake").select_option("fp8-keys")
    expect(page.locator("#verdict")).to_contain_text("keys rounded to float8_e4m3")
    page.keyboard.press("Control+z")
    view.settled()


def test_a_scale_hides_in_bfloat16_and_not_in_float32(view: View) -> None:
    page = view.enter("/conform#mistake=scale&percent=0.1&window=0")
    expect(page.locator("#verdict .badge")).to_have_text("Within")
    expect(page.locator("#field-percent")).to_be_visible()
    page.get_by_text("fp32", exact=True).click()
    expect(page.locator("#verdict .badge")).to_have_text("Outside")
    expect(page.locator("#verdict")).to_contain_text("1.001 times 0.176777")
    page.locator("#field-mistake").select_option("none")
    expect(page.locator("#field-percent")).to_be_hidden()


def test_the_picture_says_in_words_where_the_worst_element_is(view: View) -> None:
    page = view.enter("/conform#mistake=zeros&rows=16&keys=16&window=0")
    view.settled()
    words = page.locator("#map > svg").get_attribute("aria-label") or ""
    answer = _ask(mistake="zeros", rows=16, keys=16, contract="fused")["answer"]
    worst = answer["worst"]
    assert f"row {worst['row']}, column {worst['column']}" in words
    circle = page.locator("#map circle.worst").bounding_box()
    image = page.locator("#map image").bounding_box()
    assert circle is not None and image is not None
    middle = circle["y"] + circle["height"] / 2
    row = (middle - image["y"]) / image["height"] * 16
    assert abs(row - worst["row"] - 0.5) < 0.2


def test_what_would_change_nothing_is_refused_beside_its_field(view: View) -> None:
    page = view.enter("/conform#mistake=corner&window=0")
    expect(page.locator("#error-keys")).to_contain_text("expected more than rows")
    page.locator("#field-keys").fill("160")
    page.locator("#field-keys").press("Enter")
    expect(page.locator("#verdict")).to_contain_text("the other causal corner")
    expect(page.locator("#error-keys")).to_be_hidden()
    page.locator("#field-mistake").select_option("window")
    expect(page.locator("#error-window")).to_contain_text("expected one that is off")
    view.said.clear()  # the browser reports what was refused


@pytest.mark.parametrize("mistake", ["window", "corner", "scale", "lost-key", "none"])
def test_the_call_says_what_the_command_line_says(
    headwright: Headwright, mistake: str
) -> None:
    dump = f"builtin:{mistake},rows=40,keys=48,dim=16,seed=3,percent=2.0"
    options = ["--causal", "--window", "16", "--contract", "fused", "--json"]
    ran = headwright("conform", dump, *options)
    settings = {"rows": 40, "keys": 48, "dim": 16, "seed": 3, "percent": 2.0}
    answer = _ask(mistake=mistake, window=16, contract="fused", **settings)["answer"]
    shown = {name: answer[name] for name in ran.json}
    assert shown == ran.json
    assert ran.code == int(mistake != "none")


def test_cells_hold_the_worst_of_their_elements() -> None:
    answer = _ask(mistake="window", rows=200, keys=200, window=50)["answer"]
    cells = answer["map"]
    assert len(cells["rows"]) == len(cells["ratios"]) == 64
    assert cells["rows"][0][0] == 0 and cells["rows"][-1][1] == 200
    assert len(answer["by_row"]) == 200
    largest = max(max(row) for row in cells["ratios"])
    assert largest == pytest.approx(answer["ratio"], rel=1e-3)
    assert largest == max(answer["by_row"])
    assert set(answer["tolerances"]) == {"0.001", "0.01", "0.02"}
    json.dumps(answer, allow_nan=False)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"mistake": "typo"}, "mistake"),
        ({"rows": 0}, "rows"),
        ({"rows": 513}, "rows"),
        ({"keys": 10**9}, "keys"),
        ({"dim": 129}, "dim"),
        ({"rows": 100, "keys": 50}, "keys"),
        ({"percent": -1.0}, "percent"),
        ({"percent": 1e9}, "percent"),
        ({"dtype": "float8"}, "dtype"),
        ({"kind": "none"}, "kind"),
        ({"contract": "loose"}, "contract"),
        ({"contract": "tf32"}, None),
        ({"mistake": "window"}, "window"),
        ({"mistake": "corner"}, "keys"),
        ({"seed": -1}, "seed"),
        ({"file": "/etc/passwd"}, "file"),
    ],
)
def test_what_cannot_be_shown_is_said(
    lab: str, given: dict[str, Any], where: str | None
) -> None:
    status, answer = ask(lab, "conform", given)
    assert (status, answer["where"]) == (422, where), answer
    assert "\n" not in answer["error"] and "bug" not in answer["error"]


def test_demonstrations_of_the_command_line_are_read_strictly(
    headwright: Headwright, tmp_path: Path
) -> None:
    del tmp_path
    for dump, words in (
        ("builtin:typo", "there is no mistake 'typo'"),
        ("builtin:none,tokens=3", "there is no setting 'tokens'"),
        ("builtin:none,rows=x", "rows is 'x'"),
        ("builtin:none,dtype=int8", "dtype is 'int8': expected one of"),
        ("builtin:none,rows=9999", "rows is 9999: expected 1 to 512"),
    ):
        ran = headwright("conform", dump, "--causal")
        assert ran.code == 2 and words in ran.err, ran.err
    ran = headwright("conform", "builtin:none", "--causal", "--window", "3,0")
    assert ran.code == 2 and "expected a window of one number" in ran.err

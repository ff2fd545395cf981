"""The Audit view in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from headwright.auditing.measures.table import MEASURES as TABLE
from tests.lab.browser import View

# As an audit says in JSON what it measured.
MEASURES = [
    {
        "name": measure.name,
        "title": measure.title,
        "meaning": measure.meaning,
        "kind": measure.kind,
        "map": measure.display.caption if measure.display else None,
    }
    for measure in TABLE
]


def test_it_makes_its_point_and_heads_and_rows_are_chosen(view: View) -> None:
    page = view.enter("/audit")
    view.settled()
    expect(page.locator("#report")).to_contain_text("4 heads")
    expect(page.locator("#head")).to_contain_text("induction")
    expect(page.locator("#row")).to_contain_text("after the previous “c”")
    expect(page.locator("#same .badge")).to_have_text("Verified.")
    expect(page.locator("#texts .badge")).to_have_text("Proved.")
    page.get_by_role("button", name="head 0.0,").click()
    view.settled()
    view.address_has("layer=0")
    expect(page.locator("#head h2")).to_have_text("Head 0.0")
    expect(page.locator("#row")).to_contain_text("1 back")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#head h2")).to_have_text("Head 0.1")
    view.settled()
    page.get_by_role("button", name="row 30, token a").click()
    view.settled()
    view.address_has("row=30")
    expect(page.locator("#row h2")).to_contain_text("Row 30")


def test_induction_is_told_with_its_period_and_its_length(view: View) -> None:
    page = view.enter("/audit")
    view.settled()
    expect(page.locator("#head")).to_contain_text(
        "induction (period 47, contexts of 189 tokens)"
    )
    expect(page.locator("#head")).to_contain_text(
        "long induction (period 47, contexts of 256 tokens)"
    )
    expect(page.locator("#head")).to_contain_text(
        "95 % intervals over 21 random sequences"
    )
    expect(page.locator("#map")).to_contain_text("(period 47, contexts of 189 tokens)")


def test_arrow_keys_go_from_row_to_row_and_the_text_is_one_stop_of_the_tab_key(
    view: View,
) -> None:
    page = view.enter("/audit#row=20")
    view.settled()
    expect(page.locator("#row .strip [tabindex='0']")).to_have_count(1)
    page.locator("#row .token.at").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    view.settled()
    expect(page.locator("#row h2")).to_contain_text("Row 22")
    expect(page.locator("#row .token.at")).to_be_focused()


def test_a_witness_is_as_long_as_the_texts(view: View) -> None:
    page = view.enter("/audit#layer=0&length=8")
    view.settled()
    expect(page.locator("#texts h2")).to_contain_text("all texts of 8 tokens")
    expect(page.locator("#texts .strip .token")).to_have_count(8)


def test_a_text_that_is_too_short_is_complained_about_beside_its_field(
    view: View,
) -> None:
    page = view.enter("/audit#row=2")
    page.locator("#field-text").fill("short")
    expect(page.locator("#error-text")).to_contain_text("expected at least 16")
    assert [
        said for said in view.said if "422" not in said
    ] == []  # the browser itself reports the refusal
    view.said.clear()


@pytest.mark.parametrize(
    ("link", "missing"), [("layer=7&head=3", "7.3"), ("layer=0&head=2", "0.2")]
)
def test_a_link_to_a_head_that_does_not_exist_says_which_heads_there_are(
    view: View, link: str, missing: str
) -> None:
    page = view.enter(f"/audit#{link}")
    view.settled()
    error = page.locator("#error-head")
    expect(error).to_have_text(
        f"builtin:induction has no head {missing}: layers are 0 to 1, heads 0 to 1"
    )
    expect(page.locator("#head h2")).to_have_text(f"Head {missing}")
    for panel in ("#head", "#row", "#texts"):
        expect(page.locator(panel)).to_contain_text("There is no such head.")
    expect(page.locator(".badge.proved:visible")).to_have_count(0)
    page.get_by_role("button", name="head 1.1,").click()
    view.settled()
    expect(error).to_be_hidden()
    expect(page.locator("#row h2")).to_contain_text("head 1.1")


def test_a_link_to_a_measure_that_does_not_exist_says_so_and_shows_another(
    view: View,
) -> None:
    page = view.enter("/audit#measure=averaging_away")
    view.settled()
    expect(page.locator("#error-measure")).to_contain_text(
        "has no measure averaging_away with a map"
    )
    expect(page.locator("#map .head")).to_have_count(4)
    page.locator("#field-measure").select_option("qk_rank")
    view.settled()
    expect(page.locator("#error-measure")).to_be_hidden()
    expect(page.locator("#map")).to_contain_text("smallest rank that keeps 90 % of QK")
    expect(page.locator("#map .chosen")).to_have_attribute(
        "aria-label", "head 1.0, QK rank 8, induction, long induction, one key"
    )


def test_every_measure_of_the_table_is_shown(view: View) -> None:
    page = view.enter("/audit")
    view.settled()
    mapped = [
        measure.title
        for measure in TABLE
        if measure.display
        and measure.display.caption
        # The built-in model has no norms, and no range of keys.
        and not measure.is_left_out_if_missing
    ]
    expect(page.locator("#field-measure option")).to_have_text(mapped)
    for measure in TABLE:
        if measure.display is not None and not measure.is_left_out_if_missing:
            expect(page.locator("#head")).to_contain_text(measure.title)


def test_an_audit_from_a_file_is_shown_and_not_vouched_for(
    view: View, tmp_path: Path
) -> None:
    heads = [
        {
            "layer": layer,
            "head": head,
            "roles": [],
            "previous_away": {"value": 0.25, "low": 0.2, "high": 0.3},
            "key_range": {"value": 40.0 + layer, "bound": 40.0 + layer, "shown": 9.0},
        }
        for layer in range(3)
        for head in range(4)
    ]
    (tmp_path / "audit.json").write_text(
        json.dumps(
            {"model": {"name": "some/model"}, "measures": MEASURES, "heads": heads}
        )
    )
    (tmp_path / "other.json").write_text("[]")
    odd = {
        "layer": 0,
        "head": 0,
        "roles": [],
        "tv_int4_per_token": {"value": "much"},
    }
    (tmp_path / "odd.json").write_text(
        json.dumps({"model": {"name": "odd"}, "measures": MEASURES, "heads": [odd]})
    )
    page = view.enter("/audit")
    view.settled()
    page.set_input_files("#field-report", tmp_path / "other.json")
    expect(page.locator("#error-report")).to_contain_text("this is not an audit")
    page.set_input_files("#field-report", tmp_path / "odd.json")
    expect(page.locator("#error-report")).to_contain_text("parts of this file")
    expect(page.locator("#map .head")).to_have_count(4)
    page.set_input_files("#field-report", tmp_path / "audit.json")
    expect(page.locator("#report")).to_contain_text("its numbers are not verified here")
    expect(page.locator("#map .head")).to_have_count(12)
    expect(page.locator(".badge.proved:visible")).to_have_count(0)
    page.locator("#field-measure").select_option("key_range")
    expect(page.locator("#map")).to_contain_text("the largest a key's numbers can be")
    expect(page.get_by_role("button", name="head 2.0,")).to_have_attribute(
        "aria-label", "head 2.0, Largest key on every text 42.00"
    )
    page.get_by_role("button", name="Back to the built-in model").click()
    expect(page.locator("#map .head")).to_have_count(4)

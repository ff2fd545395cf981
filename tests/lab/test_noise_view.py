"""The Noise view in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.lab.browser import View


def test_it_makes_its_point_before_anything_is_touched(view: View) -> None:
    page = view.enter("/noise")
    expect(page.locator("#story")).to_contain_text(
        "one head succeeds with probability 3.1% and two heads with 70.1%",
    )
    expect(page.locator("#robust .story")).to_contain_text("Proved")
    expect(page.locator("#one")).to_contain_text("Proved: between 0.03127 and 0.03128")


def test_what_is_not_proven_says_why(view: View) -> None:
    page = view.enter("/noise")
    page.get_by_role("button", name="All keys random").click()
    expect(page.locator("#one")).to_contain_text("Not proved: 10 keys are uncertain")
    expect(page.locator("#story")).to_contain_text(
        "The proof covers only the noise that was modelled"
    )


def test_a_slider_has_its_number_field_and_both_are_in_the_address(view: View) -> None:
    page = view.enter("/noise")
    page.locator("#field-n").fill("20")
    page.locator("#field-n").press("Enter")
    view.address_has("n=20")
    page.locator("#field-n-slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#field-n")).to_have_value("21")
    page.locator("#field-n").fill("500")
    expect(page.locator("#error-n")).to_contain_text("expected 3 to 100")


def test_what_is_taken_away_as_python_says_the_same(view: View) -> None:
    page = view.enter("/noise#samples=1000")
    expect(page.locator("#robust .story")).to_contain_text("Proved")
    page.evaluate(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )
    page.get_by_text("Export").click()
    page.get_by_role("button", name="Copy as Python").click()
    said: list[tuple[object, ...]] = []
    exec(page.evaluate("window.copied"), {"print": lambda *what: said.append(what)})
    assert "no query shorter" in str(said[0][0])
    assert f"{float(str(said[1][2]).split()[0]):.4f}" == "0.0313"

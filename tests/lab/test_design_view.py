"""The Design view in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.lab.browser import View

DRAG = """async () => {
  const key = document.querySelectorAll('g.key')[9];
  const box = key.querySelector('.dot').getBoundingClientRect();
  const at = (by, kind) => key.dispatchEvent(new PointerEvent(kind,
    {clientX: box.x + by, clientY: box.y + by, pointerId: 1, button: 0, bubbles: true}));
  key.setPointerCapture = () => {};
  at(0, 'pointerdown');
  let drawn = 0;
  for (let i = 0; i < 20; i++) { at(6 + i, 'pointermove'); await new Promise(requestAnimationFrame); drawn++; }
  at(30, 'pointerup');
  return drawn;
}"""


def drag(page: Page, what: str, dx: float, dy: float) -> None:
    box = page.locator(what).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2, steps=4)
    page.mouse.move(x + dx, y + dy, steps=4)
    page.mouse.up()


def test_a_key_that_is_dragged_moves_and_is_undone(view: View) -> None:
    page = view.enter("/design")
    view.settled()
    before = page.locator("#verdict .headline").inner_text()
    drag(page, "g.key >> nth=1 >> .dot", -60, 60)
    view.settled()
    view.address_has("moved=1:")
    expect(page.locator("#verdict .headline")).not_to_have_text(before)
    page.keyboard.press("Control+z")
    view.settled()
    view.address_lacks("moved")
    expect(page.locator("#verdict .headline")).to_have_text(before)
    page.keyboard.press("Control+Shift+z")
    view.settled()
    view.address_has("moved=1:")


def test_the_presets_that_are_impossible_say_so_in_their_titles(view: View) -> None:
    page = view.enter("/design")
    for preset in page.locator(".presets button").all():
        preset.click()
        view.settled()
        impossible = (
            "impossible" in page.locator("#verdict .headline").inner_text().lower()
        )
        assert impossible == ("impossible" in preset.inner_text()), preset.inner_text()


def test_a_key_follows_the_hand_on_the_projector_too(view: View) -> None:
    view.page.set_viewport_size({"width": 1600, "height": 900})
    page = view.enter("/design#view=projector")
    view.settled()
    expect(page.locator("#verdict .headline")).to_be_in_viewport(ratio=1)
    before = page.locator("g.key >> nth=4 >> .dot").bounding_box()
    drag(page, "g.key >> nth=4 >> .dot", 60, -40)
    view.settled()
    after = page.locator("g.key >> nth=4 >> .dot").bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["x"] - before["x"] - 60) < 4
    assert abs(after["y"] - before["y"] + 40) < 4


def test_a_click_replaces_the_target_and_shift_click_adds_or_removes_one(
    view: View,
) -> None:
    page = view.enter("/design")
    key = page.locator("g.key .dot")
    targets = page.locator("#targets .control")
    key.nth(2).click()
    expect(targets).to_have_text(["key 2: weight at least0.9091"])
    key.nth(3).click(modifiers=["Shift"])
    expect(targets).to_have_count(2)
    view.address_has("targets=2,3")
    key.nth(2).click(modifiers=["Shift"])
    expect(targets).to_have_text(["key 3: weight at least0.9091"])
    key.nth(3).click()
    expect(targets).to_have_count(1)
    key.nth(5).click()
    view.address_has("targets=5")
    expect(targets).to_have_text(["key 5: weight at least0.9091"])
    view.settled()


def test_enter_replaces_the_target_and_shift_enter_adds_or_removes_one(
    view: View,
) -> None:
    page = view.enter("/design")
    page.locator("g.key[tabindex='0']").focus()
    for presses, targets in (
        ("Enter", "0"),
        ("PageDown PageDown Shift+Enter", "0,2"),
        ("Space", "2"),
        ("PageDown Shift+Space", "2,3"),
        ("Shift+Space", "2"),
    ):
        for press in presses.split():
            page.keyboard.press(press)
        expect(page).to_have_url(re.compile(f"targets={targets}($|&)"))
    page.keyboard.press("ArrowUp")
    view.address_has("moved=3:")
    view.settled()


def test_a_link_restores_the_selected_key(view: View) -> None:
    page = view.enter("/design")
    page.locator("g.key >> nth=4 >> .dot").click(modifiers=["Shift"])
    view.address_has("chosen=4")
    again = view.enter(page.url.removeprefix(view.address))
    expect(again.locator("g.key.chosen")).to_have_attribute(
        "aria-label", re.compile("^Key 4")
    )
    expect(again.get_by_label("Number of the selected key")).to_have_value("4")
    view.settled()
    again.keyboard.press("Control+z")  # nothing was done since the link was opened
    expect(again.locator("g.key.target")).to_have_count(2)


@pytest.mark.parametrize(
    ("link", "error"),
    [
        ("targets=50", "targets: there is no key 50: the keys are 0 to 8"),
        ("chosen=9", "chosen: there is no key 9: the keys are 0 to 8"),
        ("moved=12:1,1", "moved: there is no key 12: the keys are 0 to 8"),
        ("query=1,2,3", "query: 3 numbers: expected 2"),
    ],
)
def test_a_link_to_a_key_that_does_not_exist_is_an_error(
    view: View, link: str, error: str
) -> None:
    page = view.enter(f"/design#{link}")
    expect(page.locator("#error-link")).to_contain_text(error)
    view.settled()


def test_a_targets_and_an_impossible_one_are_drawn_and_labelled_with_what_can_be_had(
    view: View,
) -> None:
    page = view.enter("/design")
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("Proved.")
    assert page.locator("path.region").get_attribute("d")
    labels = page.locator(".planes .legend span:visible")
    drawn = [
        "target",
        "other keys",
        "output (values are the keys)",
        "direction of the query",
    ]
    drawn += [
        "queries that meet the targets",
        "shortest query",
        "its length",
        "your query: drag it",
    ]
    expect(labels).to_have_text(drawn)
    page.get_by_role("button", name="Target inside the other keys").click()
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("Proved impossible.")
    drawn = [
        "target",
        "other keys",
        "convex hull",
        "coefficients of the combination",
        "your query: drag it",
    ]
    expect(labels).to_have_text(drawn)
    for mark in (".region[d]:not([d=''])", ".shortest", ".ray", ".output:visible"):
        expect(page.locator(f".planes svg {mark}:visible")).to_have_count(0)
    expect(page.locator("#verdict")).to_contain_text(
        "is a convex combination of other keys"
    )
    page.get_by_role("button", name="Use this tolerance").click()
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("Proved.")


def test_a_query_that_is_dragged_says_what_stops_it(view: View) -> None:
    page = view.enter("/design")
    view.settled()
    drag(page, "g.handle .grip", -40, 60)
    expect(page.locator("#mine-words")).to_contain_text("is required")
    expect(page.locator("#mine-words")).to_contain_text("at distance")
    page.get_by_role("button", name="Back to the shortest query").click()
    view.address_lacks("query")


def test_what_cannot_be_used_is_said_beside_its_control(view: View) -> None:
    page = view.enter("/design")
    view.settled()
    page.locator("#field-scale").fill("0")
    expect(page.locator("#error-scale")).to_contain_text("expected another number")
    view.said.clear()  # the browser reports the refused request as well
    page.locator("#field-scale").fill("1/2")
    view.settled()
    expect(page.locator("#error-scale")).to_be_hidden()


def test_what_is_taken_away_as_python_runs_and_says_the_same(view: View) -> None:
    page = view.enter("/design#targets=1,2&eps=0.2")
    view.settled()
    page.evaluate(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )
    page.get_by_text("Export").click()
    page.get_by_role("button", name="Copy as Python").click()
    names: dict[str, object] = {"print": lambda *_: None}
    exec(page.evaluate("window.copied"), names)
    assert names["found"].word == "designed"  # type: ignore[attr-defined]
    words = page.locator("#verdict .words").text_content()
    assert names["found"].words == words  # type: ignore[attr-defined]


def test_two_hundred_keys_can_be_dragged(view: View) -> None:
    page = view.enter("/design#kind=sphere&d=2&n=200&targets=5")
    view.settled()
    frames = page.evaluate(DRAG)
    assert frames == 20
    view.address_has("moved=9:")


def test_the_headline_says_in_what_uncertainty_it_holds(view: View) -> None:
    page = view.enter("/design")
    page.get_by_role("button", name="Uncertain keys").click()
    view.settled()
    expect(page.locator("#verdict .headline")).to_contain_text(
        "for all keys within their balls"
    )


def test_the_view_of_three_dimensions_turns_by_mouse_and_by_keyboard(
    view: View,
) -> None:
    page = view.enter("/design#kind=sphere&d=3&n=12")
    view.settled()
    said = page.locator("#verdict .headline").inner_text()
    keys = page.locator("g.key")
    before = keys.evaluate_all("all => all.map(key => key.getAttribute('transform'))")
    ground = page.locator("rect.ground").bounding_box()
    assert ground is not None
    page.mouse.move(ground["x"] + 8, ground["y"] + 8)
    page.mouse.down()
    page.mouse.move(ground["x"] + 120, ground["y"] + 60, steps=5)
    page.mouse.up()
    view.address_has("yaw=")
    expect(keys.first).not_to_have_attribute("transform", before[0])
    page.locator("rect.ground").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="Reset").click()
    view.address_lacks("yaw=")
    view.address_lacks("pitch=")
    for number, place in enumerate(
        before
    ):  # it is drawn a moment after the address has changed
        expect(keys.nth(number)).to_have_attribute("transform", place)
    # It was only looked at from elsewhere.
    expect(page.locator("#verdict .headline")).to_have_text(said)


def test_an_address_with_impossible_targets_is_said_to_be_one(view: View) -> None:
    page = view.enter("/design#targets=-1,2")
    view.settled()
    expect(page.locator("#error-link")).to_contain_text("targets")
    expect(page.locator("#verdict .badge")).to_have_text("Proved.")


def test_uncertain_keys_are_drawn_with_their_balls(view: View) -> None:
    page = view.enter("/design")
    view.settled()
    expect(page.locator(".ball").first).to_be_hidden()
    page.get_by_role("button", name="Uncertain keys").click()
    expect(page.locator(".ball:visible")).to_have_count(9)
    expect(page.locator(".legend .of-ball")).to_be_visible()

"""The Order view in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.lab.browser import View


def test_tokens_are_moved_by_keys_shuffled_and_put_back(view: View) -> None:
    page = view.enter("/order#order=0,1,2,3,4")
    page.locator(".tokens button").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tokens button").first).to_contain_text("dog")
    view.address_has("order=1,0,2,3,4")
    page.get_by_role("button", name="Shuffle", exact=True).click()
    view.settled()
    page.locator("#sentence").get_by_role("button", name="Original order").click()
    view.settled()
    expect(page.locator("#without .headline")).to_contain_text(
        "the order is the original one"
    )


def test_a_token_is_dragged_to_another_place(view: View) -> None:
    page = view.enter("/order#order=0,1,2,3,4")
    first, last = (page.locator(".tokens button").nth(i).bounding_box() for i in (0, 4))
    assert first is not None
    assert last is not None
    page.mouse.move(first["x"] + 9, first["y"] + 9)
    page.mouse.down()
    page.mouse.move(last["x"] + 20, last["y"] + 9, steps=5)
    page.mouse.up()
    view.address_has("order=1,2,3,4,0")


def test_equal_words_are_equal_rows_and_a_causal_layer_sees_order(view: View) -> None:
    page = view.enter("/order")
    view.settled()
    expect(page.locator("#without .badge")).to_have_text("Equal")
    expect(page.locator("#with .badge")).to_have_text("Different")
    expect(page.locator("#places .headline")).to_contain_text(
        "The first pair: 256 and 257"
    )
    page.get_by_role("button", name="Equal words").click()
    view.settled()
    expect(page.locator("#without .badge")).to_have_text("Equal")
    page.get_by_role("button", name="Causal mask").click()
    view.settled()
    expect(page.locator("#without .badge")).to_have_text("Different")


def test_a_link_with_an_order_that_does_not_fit_the_sentence_is_an_error(
    view: View,
) -> None:
    page = view.enter("/order#order=1,1")
    error = "order: expected each of 0 to 4 once, since the sentence has 5 words"
    expect(page.locator("#error-link")).to_contain_text(error)


def test_an_empty_sentence_is_complained_about_beside_its_field(view: View) -> None:
    page = view.enter("/order")
    page.locator("#field-sentence").fill("alone")
    expect(page.locator("#error-sentence")).to_contain_text("two words")

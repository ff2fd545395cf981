"""The pages in a real browser: what is common to all views."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from headwright.lab.calls import VIEWS
from tests.effort import ALL
from tests.lab.browser import View

NAMES = [view.name for view in VIEWS if view.summary]
SOME = NAMES if ALL else ["design", "check", "order"]  # for what all views share
# Check has a layout of its own: what somebody wrote comes first, and no key replaces it.
OTHERS = [name for name in SOME if name != "check"]


@pytest.mark.parametrize("name", ["", *NAMES])
def test_a_page_shows_itself_without_complaint_in_its_width_and_to_a_screen_reader(
    view: View, name: str
) -> None:
    view.enter(f"/{name}")
    _shown(view, 1440, "light")
    _shown(view, 390, "dark")
    if name in OTHERS:  # groups are folded as a narrow page is loaded
        _controls_come_first_and_all_but_one_group_are_folded(view.enter(f"/{name}"))
        view.settled()


def _shown(view: View, width: int, look: Literal["light", "dark"]) -> None:
    page = view.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=look)
    view.settled()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    expect(page.locator("h1:visible")).to_have_count(1)
    _axe_finds_nothing_serious(page)
    for menu in page.locator(".menu summary").all():
        menu.click()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.keyboard.press("Escape")


def _axe_finds_nothing_serious(page: Page) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.context.add_init_script(
        ""
    )  # axe is put into the page from outside: the policy stays as it is
    serious = [
        v
        for v in Axe().run(page).response["violations"]
        if v["impact"] in ("serious", "critical")
    ]
    assert serious == [], [
        (v["id"], [node["html"][:120] for node in v["nodes"][:3]]) for v in serious
    ]


def _controls_come_first_and_all_but_one_group_are_folded(page: Page) -> None:
    controls, results = (
        page.locator(part).first.bounding_box() for part in (".controls", ".stage")
    )
    assert controls is not None and results is not None
    assert controls["y"] + controls["height"] <= results["y"]
    groups = page.locator(".controls > .group:visible")
    assert groups.evaluate_all("all => all.map(one => one.open)") == [
        True,
        *[False] * (groups.count() - 1),
    ]
    groups.last.locator("summary").click()
    expect(groups.last.locator(".control, .note").first).to_be_visible()


def test_the_front_page_opens_every_view(view: View) -> None:
    page = view.enter("/")
    assert page.locator("a.card").evaluate_all(
        "all => all.map(a => a.getAttribute('href'))"
    ) == [f"/{n}" for n in NAMES]


def test_the_front_page_says_all_in_one_screen(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 800})
    page = view.enter("/")
    for card in page.locator(".card").all():
        expect(card).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("name", OTHERS)
def test_the_number_keys_choose_presets_and_undo_goes_back(
    view: View, name: str
) -> None:
    page = view.enter(f"/{name}#view=projector")
    page.keyboard.press("2")
    page.wait_for_url("**/*#*&view=projector")
    view.settled()
    page.keyboard.press("Control+z")
    page.wait_for_url(f"**/{name}#view=projector")
    view.settled()


@pytest.mark.parametrize("name", SOME)
def test_projector_and_dark_are_a_key_and_a_button_away(view: View, name: str) -> None:
    page = view.enter(f"/{name}")
    page.locator("h1").click()
    page.keyboard.press("p")
    expect(page.locator(".controls").first).to_be_hidden()
    view.address_has("view=projector")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("body")).not_to_have_css("background-color", before)


FIELDS = """() => Object.fromEntries([...document.querySelectorAll(
  '.controls :is(input, select, textarea), #field-answer, #field-sentence')]
  .filter((field) => field.type !== 'file' && field.id)
  .map((field) => [field.id, field.type === 'checkbox' || field.type === 'radio' ? field.checked : field.value]))"""


@pytest.mark.parametrize("name", NAMES)
def test_a_link_restores_everything_the_seed_included_and_can_hide_the_controls(
    view: View, name: str
) -> None:
    page = view.enter(f"/{name}")
    page.keyboard.press("3")
    if page.locator("#field-seed").is_visible():
        page.locator("#field-seed").fill("7")
        page.locator("#field-seed").press("Enter")
    view.settled()
    before = page.evaluate(FIELDS)
    page.evaluate(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )
    links = []
    for label in ("Copy the link", "Copy a link without controls"):
        page.locator(".menu summary", has_text="Share").click()
        page.get_by_role("button", name=label, exact=True).click()
        links.append(str(page.evaluate("window.copied")).removeprefix(view.address))
    for link in links if name in SOME else links[1:]:
        view.enter(link)
        view.settled()
        assert page.evaluate(FIELDS) == before
    expect(page.locator(".controls").first).to_be_hidden()
    expect(page.locator(".presets")).to_be_hidden()


@pytest.mark.parametrize("name", NAMES)
def test_a_tour_points_at_what_is_there_shows_what_it_speaks_of_and_gives_the_focus_back(
    view: View, name: str
) -> None:
    page = view.enter(f"/{name}")
    view.settled()
    page.get_by_role("button", name="Tour").press("Enter")
    guide, shown = page.locator(".guide"), 0
    while guide.count():
        expect(page.locator(".marked")).to_be_visible()
        expect(page.locator(".marked")).to_be_in_viewport()
        if guide.get_by_role("button", name="Show me").is_visible():
            guide.get_by_role("button", name="Show me").click()
            view.settled()
            shown += 1
        guide.locator("button.primary").press("Enter")
    assert shown >= 1
    expect(page.get_by_role("button", name="Tour")).to_be_focused()


def test_arrow_keys_belong_to_a_slider_during_the_tour_too(view: View) -> None:
    page = view.enter("/design")
    page.get_by_role("button", name="Tour").click()
    page.locator("#field-n-slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#field-n")).to_have_value("10")
    expect(page.locator(".guide")).to_contain_text("1 of")
    page.keyboard.press("Escape")
    expect(page.locator(".guide")).to_have_count(0)


def test_a_certificate_that_is_dropped_on_a_view_is_checked(view: View) -> None:
    import numpy as np

    from headwright.query_design import copy, design

    page = view.enter("/rank")
    view.settled()
    page.evaluate(
        """text => {
          const carried = new DataTransfer();
          carried.items.add(new File([text], 'certificate.json', {type: 'application/json'}));
          for (const kind of ['dragenter', 'dragover', 'drop'])
            document.querySelector('h1').dispatchEvent(
              new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: carried}));
        }""",
        design(np.eye(2), copy(0)).certificate,
    )
    expect(page.locator(".badge", has_text="Verified")).to_be_visible()


@pytest.mark.parametrize("path", ["/design", "/heads"])
def test_the_certificate_of_a_result_is_verified_from_the_menu(
    view: View, path: str
) -> None:
    page = view.enter(path)
    view.settled()
    page.locator("summary", has_text="Export").click()
    page.get_by_role("button", name="Verify the certificate").click()
    expect(page.locator("#main > .verdict .badge").first).to_have_text("Verified")
    page.evaluate(
        f"document.documentElement.dataset.verify = '{view.address}/verify.html'"
    )
    page.locator("summary", has_text="Export").click()
    with page.expect_popup() as waiting:
        page.get_by_role("button", name="Verify the certificate").click()
    assert "/verify.html#certificate=%7B" in waiting.value.url


def test_a_certificate_that_is_chosen_on_the_front_page_is_checked(
    view: View, tmp_path: Path
) -> None:
    import numpy as np

    from headwright.query_design import copy, design

    certificate = design(np.eye(2), copy(0)).certificate
    assert certificate is not None
    (tmp_path / "good.json").write_text(certificate)
    said = json.loads(certificate)
    said["statement"]["none_shorter"] = "1000"
    (tmp_path / "bad.json").write_text(json.dumps(said))
    page = view.enter("/")
    page.set_input_files("#certificate", tmp_path / "good.json")
    expect(page.locator("#verified .badge").first).to_have_text("Verified")
    page.set_input_files("#certificate", tmp_path / "bad.json")
    expect(page.locator("#verified .badge").first).to_have_text("Rejected")


def test_what_an_address_cannot_mean_is_said_beside_its_control(view: View) -> None:
    page = view.enter("/design#n=many")
    expect(page.locator("#error-n")).to_contain_text("not a number")
    expect(page.locator("#error-link")).to_be_hidden()


def test_an_error_about_a_control_that_is_hidden_is_shown_above_the_results(
    view: View,
) -> None:
    page = view.enter("/rank#head=77")  # the control of a source that is not chosen
    expect(page.locator("#error-link")).to_contain_text(
        "head: 77: expected 00, 01, 10, 11"
    )
    view.settled()


def test_what_takes_long_says_so_and_can_be_given_up_and_asked_again(
    view: View,
) -> None:
    page, gone, asked = view.page, list[str](), list[str]()
    page.route(
        "**/api/design", lambda route: asked.append(route.request.url)
    )  # and never an answer
    page.on("requestfailed", lambda request: gone.append(request.url))
    page.goto(f"{view.address}/design")
    line = page.locator("#working")
    expect(line).to_contain_text(re.compile(r"Designing: \d+ s"))
    with page.expect_event("requestfailed"):
        line.get_by_role("button", name="Cancel").click()
    expect(line).to_contain_text("ancelled")
    expect(page.locator("#error-general")).to_contain_text("ancelled")
    assert len(gone) == 1  # the server hears that nobody waits
    page.unroute("**/api/design")
    line.get_by_role("button", name="Try again").click()
    expect(page.locator("#verdict .badge")).to_have_text("Proved.")
    expect(line).to_be_hidden()


def test_what_is_typed_and_not_yet_confirmed_survives_a_reload_and_is_one_step_to_undo(
    view: View,
) -> None:
    page = view.enter("/design")
    page.locator("#field-eps").fill("0.25")
    view.address_has("eps=0.25")
    page.locator("#field-eps").fill("0.3")
    view.address_has("eps=0.3")
    page.reload()
    expect(page.locator("#field-eps")).to_have_value("0.3")
    page.locator("#field-eps").fill("0.4")
    view.address_has("eps=0.4")
    page.locator("#field-eps").press("Enter")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#field-eps")).to_have_value("0.3")

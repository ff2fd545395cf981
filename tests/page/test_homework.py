"""A homework on the page: drafts, their state, one file to hand in, on a desktop and on a telephone, offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.page.served import PATIENCE, Opened, serving

# An exercise, an answer as a student may write it, and its verdict.
ANSWERS = {
    "our-own": (r"q = \ln(2n/\epsilon) k_a", "proved"),
    "averaging-two": (
        "# My idea\n\nTake $q = \\lambda (k_a + k_b)$ with $\\lambda$ large.",
        "proved",
    ),
    "averaging-three": (r"Let $q = k_a + k_b + k_c$.", "refuted"),
    "copying-separated": (r"We take $q = 2\ln(n/\epsilon) k_1$.", "proved"),
    "averaging-all-but-one": (r"q = -\lambda k_1", "proved"),
    "averaging-varies": ("I do not know.", "missing"),
}
WAITING = re.compile("not checked yet|not begun")
CONTROLLED = "async () => { while (!navigator.serviceWorker.controller) await new Promise((go) => setTimeout(go, 100)); }"  # noqa: E501


@pytest.fixture(scope="module")
def home(week: Path) -> Iterator[str]:
    with serving(week) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(accept_downloads=True)
    yield context
    context.close()


def write(page: Page, exercise: str, answer: str) -> None:
    page.locator("#field-exercise").select_option(exercise)
    page.locator("#field-answer").fill(answer)


def states(page: Page) -> list[str]:
    return page.locator(".exercise .note").all_text_contents()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_homework_is_done_offline_and_handed_in_as_one_file(
    context: BrowserContext, home: str, tmp_path: Path, width: int
) -> None:
    opened = Opened(context, home)
    page = opened.page
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate(CONTROLLED)
    context.set_offline(True)
    page.reload()
    opened.ready()
    expect(page.locator("#progress")).to_have_text("0 of 6 proved")
    for exercise, (answer, word) in ANSWERS.items():
        write(page, exercise, answer)
        state = page.locator(".exercise[aria-current] .note")
        expect(state).not_to_have_text(WAITING, timeout=PATIENCE)
        expect(state).to_contain_text(word)
        expect(page.locator("#verdict .badge").first).to_have_text(word)
    expect(page.locator("#progress")).to_have_text("4 of 6 proved")
    for exercise, (answer, _) in ANSWERS.items():
        page.locator("#field-exercise").select_option(exercise)
        expect(page.locator("#field-answer")).to_have_value(answer)
    if not page.locator("#download-answers").is_visible():
        page.locator("summary", has_text="Exercises").click()
    with page.expect_download() as waiting:
        page.locator("#download-answers").click()
    assert waiting.value.suggested_filename == "week-3-b-answers.md"
    sheet = tmp_path / "answers.md"
    waiting.value.save_as(sheet)
    assert {url for url in opened.asked if not url.startswith((home, "blob:"))} == set()
    assert opened.said == []
    _the_sheet_says_the_same(sheet, home, context)


def _the_sheet_says_the_same(sheet: Path, home: str, context: BrowserContext) -> None:
    text = sheet.read_text()
    for exercise in ANSWERS:
        assert f"## {exercise}\n" in text
    assert "\n\nI do not know.\n" in text  # words are not made a formula
    context.set_offline(False)
    page = context.new_page()
    page.goto(home)
    page.wait_for_selector("html[data-python=ready]", timeout=PATIENCE)
    page.set_input_files("#document", sheet)
    words = [word for _, word in ANSWERS.values()]
    expect(page.locator("#document-verdicts td .badge")).to_have_text(
        words, timeout=PATIENCE
    )
    page.close()


def test_what_the_page_shows_of_the_homework(
    context: BrowserContext, home: str
) -> None:
    page = Opened(context, home).page
    expect(page.locator("#deadline")).to_have_text(
        "Due: Friday, 18:00. Ask in the forum."
    )
    assert states(page)[:2] == ["1 point, not begun", "5 points, not begun"]
    expect(page.locator("#kept")).to_contain_text("Nothing has left this tab")
    expect(page.locator("#download-answers")).to_be_disabled()
    write(page, "averaging-two", "q = k_a")
    expect(page.locator(".exercise[aria-current] .note")).to_have_text(
        "5 points, refuted", timeout=PATIENCE
    )
    page.locator("#field-answer").press_sequentially(" ")
    expect(page.locator(".exercise[aria-current] .note")).to_have_text(
        re.compile("not checked yet|refuted")
    )
    page.locator("#next").click()
    expect(page.locator("#exercise h2")).to_contain_text("three")
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.violations_count == 0, found.generate_report()


def test_drafts_survive_a_new_visit_and_answers_are_opened_again(
    context: BrowserContext, home: str, tmp_path: Path
) -> None:
    page = Opened(context, home).page
    write(page, "averaging-two", "q = 7 k_a")
    page.close()
    page = Opened(context, home).page  # without anything in the address
    expect(page.locator("#field-exercise")).to_have_value("averaging-two")
    expect(page.locator("#field-answer")).to_have_value("q = 7 k_a")
    sheet = tmp_path / "week.md"
    sheet.write_text(
        "Ada\n\n## averaging-two\n\n$$q = k_b$$\n\n```\n## copying\n```\n"
        "\n# Average three values\n\n$q = 0$\n"
    )
    titles = page.locator("#field-exercise option").all_text_contents()
    assert "Average three values" in titles
    page.set_input_files("#sheet", sheet)
    expect(page.locator("#opened")).to_contain_text("2 answers were opened")
    expect(page.locator("#field-answer")).to_have_value(re.compile("k_b"))
    page.get_by_role("button", name="Bring it back").click()
    expect(page.locator("#field-answer")).to_have_value("q = 7 k_a")
    page.locator("#field-exercise").select_option("averaging-three")
    expect(page.locator("#field-answer")).to_have_value("$q = 0$")
    sheet.write_text("no headings")
    page.set_input_files("#sheet", sheet)
    expect(page.locator("#error-sheet")).to_contain_text("week.md has no answer")


def test_a_link_with_an_answer_does_not_replace_a_draft(
    context: BrowserContext, home: str
) -> None:
    page = Opened(context, home).page
    write(page, "averaging-two", "q = 7 k_a")
    page.goto(f"{home}#exercise=averaging-two&answer=q%3D0")
    expect(page.locator("#field-answer")).to_have_value("q=0")
    expect(page.locator("#draft")).to_contain_text("Your own draft")
    page.get_by_role("button", name="Show my draft").click()
    expect(page.locator("#field-answer")).to_have_value("q = 7 k_a")
    page.goto(f"{home}#exercise=averaging-two&answer=q%3D0")
    page.locator("#field-answer").fill("q = 1")  # goes on from the link
    expect(page.locator("#draft")).to_contain_text("replaced an earlier draft")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.locator("#field-answer")).to_have_value("q = 7 k_a")


def test_a_browser_that_keeps_nothing_says_so(
    context: BrowserContext, home: str
) -> None:
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
    )
    page = Opened(context, home).page
    write(page, "averaging-two", "q = 7 k_a")
    expect(page.locator("#kept")).to_contain_text("This browser keeps no drafts")
    page.locator("#field-exercise").select_option("averaging-three")
    page.locator("#field-exercise").select_option("averaging-two")
    expect(page.locator("#field-answer")).to_have_value("q = 7 k_a")


def test_six_stops_of_the_tab_key_lead_to_the_answer(
    context: BrowserContext, home: str
) -> None:
    page = Opened(context, home).page
    stops = 0
    while page.evaluate("document.activeElement.id") != "field-answer":
        page.keyboard.press("Tab")
        stops += 1
    assert stops <= 6


def test_the_answer_is_on_the_first_screen_of_a_telephone(
    context: BrowserContext, home: str
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(home)
    expect(page.locator("#exercise h2")).to_be_visible()
    expect(page.locator("#field-answer")).to_be_in_viewport()

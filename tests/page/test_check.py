"""The Check page as a student uses it, in a real browser."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Route, expect

from headwright.grading.exercise import load_exercises
from headwright.page.build import write_manifest
from tests.page.served import PATIENCE, Opened, serving

RIGHT, WRONG = r"$q = \lambda (k_a + k_b)$ for a large $\lambda$", "q = k_a + k_b"
CONTROLLED = "async () => { while (!navigator.serviceWorker.controller) await new Promise((go) => setTimeout(go, 100)); }"  # noqa: E501
SHEET = f"# Homework\n\n## averaging-two\n\n$${WRONG}$$\n\n## low-rank\n\n$$B = 0$$\n"


def test_it_can_be_read_before_python_is_there(browser: Browser, address: str) -> None:
    context = browser.new_context()
    context.route("**/python/**", lambda route: None)  # never answered
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#exercise h2")).to_have_text("Average two values")
    expect(page.locator("#exercise math").first).to_be_visible()
    expect(page.locator("#field-exercise option")).to_have_count(
        1 + len(load_exercises())
    )
    expect(page.locator("#loading progress")).to_be_visible()
    context.close()


def test_python_that_cannot_be_loaded_is_named(browser: Browser, address: str) -> None:
    context = browser.new_context()
    context.route("**/python/modules.zip", lambda route: route.fulfill(status=404))
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#loading")).to_contain_text(
        "modules.zip could not be loaded (404)", timeout=PATIENCE
    )
    context.close()


def test_progress_is_shown_in_bytes_until_all_have_arrived(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    held: list[Route] = []
    context.route("**/python/pyodide.asm.wasm", lambda route: held.append(route))
    page = context.new_page()
    page.goto(address)
    arriving = re.compile(r"Loading Python: 1\d\.\d of 2\d\.\d MB")
    expect(page.locator("#loading")).to_contain_text(arriving, timeout=PATIENCE)
    # The other files may have arrived before this one is asked for.
    for _ in range(PATIENCE // 100):
        if held:
            break
        page.wait_for_timeout(100)
    held[0].continue_()
    expect(page.locator("#loading")).to_have_text("Starting Python", timeout=PATIENCE)
    context.close()


def test_a_server_need_not_know_the_types_of_modules_and_wasm(
    browser: Browser, folder: Path
) -> None:
    with serving(folder, knows_types=False) as address:
        context = browser.new_context()
        opened = Opened(context, address)
        expect(opened.page.locator("#verdict .badge")).to_have_text(
            "refuted", timeout=PATIENCE
        )
        context.close()
        assert opened.said == []


def test_a_new_version_reaches_returning_visitors_when_all_of_it_is_there(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    again = shutil.copytree(folder, tmp_path / "page")
    index = again / "index.html"
    with serving(again) as address:
        context = browser.new_context()
        opened = Opened(context, address)
        page = opened.page
        page.evaluate(CONTROLLED)
        index.write_text(index.read_text().replace("Check an answer", "Week 4"))
        (again / "offline.js").unlink()  # as in a build, which lists the files before
        write_manifest(again)
        new = index.read_text()
        index.write_text("half of it is uploaded")
        page.reload()
        opened.ready()
        assert page.title() == "Check an answer"
        index.write_text(new)
        page.reload()
        expect(page.get_by_text("This page has a new version.")).to_be_visible(
            timeout=PATIENCE
        )
        page.get_by_role("button", name="Reload").click()
        expect(page.locator("h1")).to_have_text("Week 4")
        context.close()


def test_the_keyboard_is_enough(opened: Opened) -> None:
    page = opened.page
    page.locator("#field-exercise").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")  # the exercise again, without an answer
    expect(page.locator("#field-answer")).to_have_value(re.compile(r"\$\$"))
    while page.evaluate("document.activeElement.id") != "field-answer":
        page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("q = k_a")
    expect(page.locator("#verdict .badge")).to_have_text("refuted", timeout=PATIENCE)
    expect(page.locator("#spoken")).to_contain_text(
        "refuted"
    )  # what a screen reader says
    while page.evaluate("document.activeElement.id") != "more-hints":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(
        page.get_by_role("button", name="verdict and where it fails")
    ).to_have_attribute("aria-pressed", "true")


def test_a_text_that_is_too_long_is_not_cut_silently(shared: Opened) -> None:
    page = shared.page
    page.goto(f"{shared.address}#exercise=averaging-two")
    page.locator("#field-answer").fill("word " * 10_000)
    ends = page.locator("#error-cut")
    expect(ends).to_contain_text("The text ends here, after 40000 characters")
    expect(page.locator("#verdict .badge")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".stale")).to_have_count(0, timeout=PATIENCE)
    expect(ends).to_be_visible()  # when the verdict has arrived, too
    page.goto(f"{shared.address}#exercise=averaging-two&answer=q")
    expect(ends).to_be_hidden()
    expect(page.locator("#field-answer")).to_have_value(
        "q"
    )  # though the cursor is still there


TYPED_AT_ONCE = """() => new Promise((done) => {
  addEventListener("hashchange", () => {
    const area = document.getElementById("field-answer");
    area.value = "word ".repeat(10_000);
    area.dispatchEvent(new Event("input"));
    requestAnimationFrame(() => requestAnimationFrame(done));
  }, { once: true });
  location.hash = "exercise=averaging-three";
})"""


def test_a_link_that_arrives_late_does_not_remove_the_message(shared: Opened) -> None:
    page = shared.page
    page.evaluate(
        TYPED_AT_ONCE
    )  # as on a busy machine: the text comes before the next frame
    expect(page.locator("#error-cut")).to_contain_text(
        "The text ends here, after 40000 characters"
    )


def test_a_student_with_a_wrong_answer_mends_it(opened: Opened) -> None:
    page = opened.page
    expect(page.locator("#verdict .badge")).to_have_text("refuted", timeout=PATIENCE)
    expect(page.locator("#verdict")).to_contain_text("n=3")
    expect(page.locator("#picture svg")).to_be_visible()
    expect(page.locator("#loading")).to_be_hidden()
    page.locator("#field-exercise").select_option("averaging-three")
    page.locator("#field-answer").fill(RIGHT)
    expect(page.locator("#verdict .badge")).to_have_text("refuted", timeout=PATIENCE)
    page.locator("#field-answer").fill(RIGHT.replace("k_b", "k_b + k_c"))
    expect(page.locator("#verdict .badge")).to_have_text("proved", timeout=PATIENCE)
    expect(page.locator("#read math").first).to_be_visible()
    expect(page.locator("#to-read, #read .badge").first).to_be_visible()
    expect(page).to_have_url(re.compile("answer="))
    page.reload()  # the text is in the address
    expect(page.locator("#field-answer")).to_have_value(
        RIGHT.replace("k_b", "k_b + k_c")
    )
    opened.ready()
    expect(page.locator("#verdict .badge")).to_have_text("proved", timeout=PATIENCE)


def test_a_link_to_an_exercise_shows_it_with_its_template(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}#exercise=averaging-three")
    expect(page.locator("#exercise h2")).to_contain_text("three")
    expect(page.locator("#field-answer")).to_have_value("$$q = $$")
    expect(page.locator("#verdict")).to_have_text(
        "Write an answer. It is checked as you type."
    )
    context.close()


def test_a_sheet_is_dropped_and_downloaded_with_its_verdicts(
    opened: Opened, tmp_path: Path
) -> None:
    page = opened.page
    drop = """(text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "homework.md", { type: "text/markdown" }));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop, SHEET)
    expect(page.locator("#document-verdicts .badge")).to_have_text(
        ["refuted", "refuted"], timeout=PATIENCE
    )
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download with verdicts").click()
    assert waiting.value.suggested_filename == "homework-checked.md"
    text = Path(waiting.value.path()).read_text()
    assert "## averaging-two\n<!-- headwright: refuted: " in text
    before, after = (
        opened.ask("document", text=one)["answers"] for one in (SHEET, text)
    )
    assert [one["verdict"] for one in before] == [one["verdict"] for one in after]
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the report").click()
    assert "Answers checked" in Path(waiting.value.path()).read_text()


def test_after_the_time_limit_python_is_started_again_and_the_text_is_kept(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()

    def hasty(route: object) -> None:
        reply = route.fetch()  # type: ignore[attr-defined]
        route.fulfill(  # type: ignore[attr-defined]
            response=reply, body=reply.text().replace("check: 30", "check: 0.02")
        )

    context.route("**/transport.js", hasty)
    opened = Opened(context, address, f"#answer={quote(WRONG)}")
    verdict = opened.page.locator("#verdict")
    expect(verdict).to_contain_text(
        "this took more than 0.02 seconds and was stopped", timeout=PATIENCE
    )
    expect(opened.page.locator("#field-answer")).to_have_value(WRONG)
    assert (
        opened.ask("verify", certificate="{}")["verdict"] == "unreadable"
    )  # by the Python started again
    context.close()


def test_it_works_without_a_network_even_with_the_solver(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    opened = Opened(context, address)
    page = opened.page
    page.evaluate(CONTROLLED)
    context.set_offline(True)
    page.reload()
    opened.ready()
    page.locator("#field-answer").fill(RIGHT)
    expect(page.locator("#verdict .badge").first).to_have_text(
        "proved", timeout=PATIENCE
    )
    page.goto(f"{address}verify.html")
    expect(page.locator("h1")).to_have_text("Verify a certificate")
    assert {
        url for url in opened.asked if not url.startswith((address, "data:", "blob:"))
    } == set()
    context.close()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["", "verify.html"])
def test_nothing_is_wider_than_the_screen_and_axe_finds_nothing(
    shared: Opened, width: int, scheme: Literal["light", "dark"], path: str
) -> None:
    page = shared.page if not path else shared.page.context.new_page()
    page.goto(
        shared.address + (path or "#exercise=averaging-two&hints=full&answer=q%3Dk_a")
    )  # a hash loads nothing
    page.wait_for_selector("html[data-ready=yes]")
    if not path:
        expect(page.locator("#verdict .badge")).to_have_text(
            "refuted", timeout=PATIENCE
        )
        expect(page.locator(".stale")).to_have_count(0, timeout=PATIENCE)
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    # Colours fade: until no animation runs.
    page.wait_for_function("document.getAnimations().length === 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.violations_count == 0, found.generate_report()
    if path:
        page.close()

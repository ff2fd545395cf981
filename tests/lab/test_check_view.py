"""The Check view in a real browser, and its calls."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from headwright.lab.worker import handle
from tests.lab.browser import DRAWN, View

WRONG = "q = k_a + k_b"


def test_it_makes_its_point_before_anything_is_touched(view: View) -> None:
    page = view.enter("/check")
    view.settled()
    expect(page.locator("#verdict .badge")).to_have_text("refuted")
    expect(page.locator("#verdict")).to_contain_text("n=3")
    expect(page.locator("#exercise math").first).to_be_visible()
    assert (
        "ln(" not in page.locator("#verdict").inner_text()
    )  # what would mend it is not told yet


def test_hints_come_one_step_at_a_time(view: View) -> None:
    page = view.enter("/check#hints=none")
    view.settled()
    expect(page.locator("#verdict .headline")).to_contain_text("it is wrong")
    assert "n=3" not in page.locator("#verdict").inner_text()
    expect(page.locator("#picture")).to_be_hidden()
    page.locator("#more-hints").click()
    expect(page.locator("#verdict")).to_contain_text("n=3")
    page.locator("#more-hints").click()
    expect(page.locator("#verdict")).to_contain_text("λ")
    view.address_has("hints=full")


def test_an_exercise_is_picked_and_an_answer_typed(view: View) -> None:
    page = view.enter("/check")
    view.settled()
    page.locator("#field-exercise").select_option("averaging-three")
    expect(page.locator("#exercise h2")).to_contain_text("three")
    view.address_has("hints=none")
    page.locator("#field-answer").fill(
        r"Let $q = \lambda(k_a + k_b)$ for a large $\lambda$."
    )
    expect(page.locator("#verdict .badge")).to_have_text("refuted")
    page.locator("#field-answer").fill(
        r"Let $q = \lambda(k_a + k_b + k_c)$ for a large $\lambda$."
    )
    expect(page.locator("#verdict .badge")).to_have_text("proved")


def test_an_exercise_that_is_chosen_shows_its_template_and_no_error(view: View) -> None:
    asked: list[str] = []
    page = view.enter("/check")
    view.settled()
    page.on(
        "request",
        lambda request: (
            asked.append(request.url) if request.url.endswith("/api/check") else None
        ),
    )
    exercises = page.locator("#field-exercise option").evaluate_all(
        "all => all.map(one => one.value).filter(Boolean)"
    )
    assert len(exercises) > 20
    for exercise in exercises:
        page.locator("#field-exercise").select_option(exercise)
        expect(page.locator("#field-answer")).not_to_have_value("")
        expect(page.locator("#verdict")).to_have_text(
            "Write an answer. It is checked as you type."
        )
    page.wait_for_timeout(800)  # longer than the pause before a request
    assert asked == []
    expect(page.locator(".error:visible")).to_have_count(0)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#verdict")).to_have_text(
        "Write an answer. It is checked as you type."
    )
    assert asked == []


def test_every_formula_has_its_status_and_sentences_are_left_to_read(
    view: View,
) -> None:
    answer = (
        r"Take $q = \lambda (k_a + k_b)$ for a large $\lambda$. Then $\alpha_a = 1$."
        + "\n\nThis is as easy as pie, <b>see</b>."
    )
    page = view.enter(
        "/check#exercise=averaging-two&hints=full&answer=" + quote(answer)
    )
    expect(page.locator("#verdict .badge").first).to_have_text("proved")
    expect(page.locator("#read .badge.false")).to_have_text("false")
    expect(page.locator("#read h2").first).to_contain_text("1 false")
    expect(page.locator("#to-read li").last).to_contain_text("as easy as pie")
    expect(page.locator("#to-read b")).to_have_count(0)


def test_markup_in_an_answer_stays_text(view: View) -> None:
    page = view.enter("/check")
    page.locator("#field-answer").fill(
        r"$q = k_a$ <img src=x onerror=alert(1)> $\text{<b id=evil>}$"
    )
    view.settled()
    expect(page.locator("#verdict .badge").first).to_be_visible()
    expect(page.locator("main img, #evil")).to_have_count(0)


def test_a_document_is_checked_and_leaves_a_report(view: View, tmp_path: Path) -> None:
    (tmp_path / "homework.md").write_text(
        f"## averaging-two\n\n$${WRONG}$$\n\n## low-rank\n\n$$B = 0$$\n"
    )
    page = view.enter("/check")
    page.set_input_files("#document", tmp_path / "homework.md")
    expect(page.locator("#document-verdicts .badge").first).to_have_text("refuted")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the report").click()
    assert "Answers checked" in Path(waiting.value.path()).read_text()


def test_a_file_that_is_no_text_is_refused_by_its_name(
    view: View, tmp_path: Path
) -> None:
    (tmp_path / "homework.pdf").write_text("%PDF-1.4")
    page = view.enter("/check")
    page.set_input_files("#document", tmp_path / "homework.pdf")
    refused = page.locator("#error-document")
    expect(refused).to_contain_text("homework.pdf is not a supported file")
    apart = """() => document.getElementById("error-document").getBoundingClientRect().top
      - document.querySelector("label[for=document]").getBoundingClientRect().top"""
    assert 0 < page.evaluate(apart) < 80  # beside the button, wherever it was scrolled


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        (
            "averaging-varies",
            r"\operatorname{Var}(\alpha_a) \to 0",
            "Left side 0.25, right side 0",
        ),
        ("kth-singular-value", r"\sigma_k^2 \ge \|A\|_F^2", "Left side"),
        ("taking-apart", "M = I", "difference = 0; 1"),
        ("self-attention-copy", "c_2 \\to u_b", "c_2 tends to u_a, not to u_b"),
    ],
)
def test_a_counterexample_without_keys_is_drawn_too(
    view: View, exercise: str, answer: str, words: str
) -> None:
    page = view.enter(f"/check#exercise={exercise}&answer={quote(answer)}&hints=full")
    view.settled()
    expect(page.locator("#verdict .badge").first).to_have_text("refuted")
    expect(page.locator(f'#counterexample svg[aria-label*="{words}"]')).to_be_visible()
    page.get_by_role("button", name="verdict only").click()
    view.settled()
    expect(page.locator("#counterexample")).to_be_hidden()


def test_one_answer_is_told_as_the_command_line_does() -> None:
    found = handle(
        {"call": "check", "given": {"text": WRONG, "exercise": "averaging-two"}}
    )["answer"]
    answer = found["answers"][0]
    assert (answer["verdict"], answer["asked"][0]["counterexample"]["n"]) == (
        "refuted",
        3,
    )
    assert found["counts"]["refuted"] == 1


@pytest.mark.parametrize("hints", ["none", "direction"])
def test_a_hint_does_not_tell_what_would_mend_it(hints: str) -> None:
    given = {"text": WRONG, "exercise": "averaging-two", "hints": hints}
    assert "ln(" not in json.dumps(handle({"call": "check", "given": given}))


def test_two_answers_at_once_are_a_document() -> None:
    text = f"## averaging-two\n\n$${WRONG}$$\n\n## low-rank\n\n$$B = 0$$\n"
    assert handle({"call": "check", "given": {"text": text}})["where"] == "text"


def test_the_cells_of_a_notebook_that_are_text_are_read(
    view: View, tmp_path: Path
) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["## averaging-two\n", f"$${WRONG}$$"]},
        {"cell_type": "code", "source": "q = 0", "outputs": [{"text": "$q = 0$"}]},
    ]
    (tmp_path / "homework.ipynb").write_text(json.dumps({"cells": cells}))
    page = view.enter("/check")
    page.set_input_files("#document", tmp_path / "homework.ipynb")
    expect(page.locator("#document-verdicts .badge")).to_have_text(["refuted"])
    expect(page.get_by_role("button", name="Download with verdicts")).to_have_count(0)
    (tmp_path / "broken.ipynb").write_text("not JSON")
    page.set_input_files("#document", tmp_path / "broken.ipynb")
    expect(page.locator("#error-document")).to_contain_text(
        "broken.ipynb is no Jupyter notebook"
    )


def test_the_wanted_value_is_drawn_beside_the_weights(view: View) -> None:
    answer = quote("q = 3(k_a + k_b)")
    page = view.enter(f"/check#exercise=averaging-two&answer={answer}&hints=full")
    view.settled()
    expect(page.locator("#verdict .badge").first).to_have_text("refuted")
    figure = page.locator("#counterexample")
    expect(figure.locator(".wanted-line").first).to_be_attached()
    expect(figure).to_contain_text("every other key")
    expect(figure).to_contain_text("Dashed: the wanted value, 0.")


def test_ticks_of_n_are_whole_numbers(view: View) -> None:
    page = view.enter("/check")
    view.settled()
    ticks = page.locator("#picture .tick").all_text_contents()
    assert ticks[5:10] == ["2", "5", "14", "38", "100"]


def test_what_is_said_of_an_answer_is_typeset(view: View) -> None:
    page = view.enter("/check#hints=full")
    view.settled()
    expect(page.locator("#verdict .headline span math").first).to_be_visible()
    expect(page.locator("#verdict dd math").first).to_be_visible()


def test_the_answer_stands_right_below_the_exercise_on_a_telephone(view: View) -> None:
    view.page.set_viewport_size({"width": 390, "height": 844})
    page = view.enter("/check")
    view.settled()
    exercise = page.locator("#exercise").bounding_box()
    answer = page.locator("#field-answer").bounding_box()
    assert exercise is not None
    assert answer is not None
    assert answer["y"] - exercise["y"] - exercise["height"] < 120  # a label between


def test_no_letter_replaces_an_answer_and_the_skip_link_keeps_it(view: View) -> None:
    page = view.enter(f"/check#answer={quote('q = 2(k_a + k_b)')}")
    view.settled()
    page.locator("h1").click()
    for letter in "123456789":
        page.keyboard.press(letter)
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    page.evaluate(DRAWN)
    expect(page.locator("#field-answer")).to_have_value("q = 2(k_a + k_b)")
    view.address_has("answer=")

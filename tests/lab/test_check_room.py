"""The Check room in a real browser, and its calls."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from headwright.lab.worker import handle
from tests.lab.browser import Room

WRONG = "q = k_a + k_b"


def test_it_makes_its_point_before_anything_is_touched(room: Room) -> None:
    page = room.enter("/check")
    room.settled()
    expect(page.locator("#verdict .badge")).to_have_text("refuted", timeout=30_000)
    expect(page.locator("#verdict")).to_contain_text("n = 3")
    expect(page.locator("#exercise math").first).to_be_visible()
    expect(page.locator("#picture")).to_be_visible()
    assert "ln(" not in page.locator("#verdict").inner_text()  # what would mend it is not told yet


def test_hints_come_one_step_at_a_time(room: Room) -> None:
    page = room.enter("/check#hints=none")
    room.settled()
    expect(page.locator("#verdict .headline")).to_have_text("refuted: something in it is false", timeout=30_000)
    expect(page.locator("#picture")).to_be_hidden()
    expect(page.locator("#read")).to_contain_text("claimed")
    page.locator("#more-hints").click()
    expect(page.locator("#verdict")).to_contain_text("n = 3", timeout=30_000)
    page.locator("#more-hints").click()
    expect(page.locator("#verdict")).to_contain_text("works from λ", timeout=30_000)
    room.address_has("hints=full")


def test_an_exercise_is_picked_and_an_answer_typed(room: Room) -> None:
    page = room.enter("/check")
    room.settled()
    page.locator("#field-exercise").select_option("averaging-three")
    expect(page.locator("#exercise h2")).to_contain_text("three", timeout=30_000)
    room.address_has("hints=none")
    page.locator("#field-answer").fill(r"Let $q = \lambda(k_a + k_b)$ for a large $\lambda$.")
    expect(page.locator("#verdict .badge")).to_have_text("refuted", timeout=30_000)
    page.locator("#field-answer").fill(r"Let $q = \lambda(k_a + k_b + k_c)$ for a large $\lambda$.")
    expect(page.locator("#verdict .badge")).to_have_text("proved", timeout=30_000)


def test_a_sentence_that_was_not_understood_is_shown_as_one(room: Room) -> None:
    page = room.enter("/check#exercise=copying&answer=" + quote(r"$\alpha_j \approx 1$ when $k_j^T q$ is quite warm."))
    expect(page.locator("#read tbody p").first).to_contain_text("is quite warm", timeout=30_000)
    assert page.locator("#read tbody sup").count() >= 1  # in the reason: k_j^T q, with both marks
    assert "$" not in page.locator("#read").inner_text()


def test_sliders_move_both_answers_and_undo_takes_it_back(room: Room) -> None:
    page = room.enter("/check")
    room.settled()
    said = page.locator("#picture .note")
    expect(said).to_contain_text("With n = 10", timeout=30_000)
    page.locator("#field-n").fill("20")
    page.locator("#field-n").press("Enter")
    expect(said).to_contain_text("With n = 20 and ε = 0.1", timeout=30_000)
    page.locator("#go").click()
    expect(said).to_contain_text("With n = 3 ", timeout=30_000)
    expect(said).to_contain_text("yours 0.4011")  # as the counterexample says
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(said).to_contain_text("With n = 20", timeout=30_000)


def test_a_key_of_uncertain_length_has_its_slider_and_what_has_no_picture_its_sentence(room: Room) -> None:
    page = room.enter("/check#exercise=averaging-scaled-discrete&answer=%5Calpha_1/%5Calpha_2+%3D+e%5E%7Bct%7D")
    room.settled()
    expect(page.locator("#picture")).to_contain_text("the formula says")
    before = page.locator("#picture .note").inner_text()
    page.locator("#field-length").fill("1.5")
    room.settled()
    assert page.locator("#picture .note").inner_text() != before
    page = room.enter("/check#exercise=low-rank&answer=B+%3D+0")
    room.settled()
    expect(page.locator("#undrawn")).to_contain_text("not about the weights of n keys")


def test_a_link_restores_the_answer(room: Room) -> None:
    page = room.enter("/check")
    page.locator("#field-answer").fill("q = 5 (k_a + k_b)")
    page.locator("h1").click()
    room.address_has("answer=q")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#field-answer")).to_have_value("q = 5 (k_a + k_b)")
    expect(page.locator("#verdict")).to_contain_text("0.4998", timeout=30_000)


def test_markup_in_an_answer_stays_text(room: Room) -> None:
    page = room.enter("/check")
    page.locator("#field-answer").fill(r"$q = k_a$ <img src=x onerror=alert(1)> $\text{<b id=evil>}$")
    room.settled()
    expect(page.locator("#verdict .badge").first).to_be_visible(timeout=30_000)
    assert page.locator("main img, #evil").count() == 0


def test_a_document_is_checked_and_leaves_a_report(room: Room, tmp_path: Path) -> None:
    (tmp_path / "homework.md").write_text(f"## averaging-two\n\n$${WRONG}$$\n\n## low-rank\n\n$$B = 0$$\n")
    page = room.enter("/check")
    page.set_input_files("#document", tmp_path / "homework.md")
    expect(page.locator("#document-verdicts .badge").first).to_have_text("refuted", timeout=60_000)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the report").click()
    assert "Answers checked" in Path(waiting.value.path()).read_text()


def test_a_file_that_is_no_text_is_refused_by_its_name(room: Room, tmp_path: Path) -> None:
    (tmp_path / "homework.pdf").write_text("%PDF-1.4")
    page = room.enter("/check")
    page.set_input_files("#document", tmp_path / "homework.pdf")
    expect(page.locator("#document-verdicts .error")).to_contain_text("homework.pdf is not read: expected text")


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        ("averaging-varies", r"\operatorname{Var}(\alpha_a) \to 0", "Left side 0.25, right side 0"),
        ("kth-singular-value", r"\sigma_k^2 \ge \|A\|_F^2", "Left side"),
        ("taking-apart", "M = I", "difference = 0; 1"),
        ("self-attention-copy", "c_2 \\to u_b", "c_2 tends to u_a, not to u_b"),
    ],
)
def test_a_counterexample_without_keys_is_drawn_too(room: Room, exercise: str, answer: str, words: str) -> None:
    page = room.enter(f"/check#exercise={exercise}&answer={quote(answer)}&hints=full")
    room.settled()
    expect(page.locator("#verdict .badge").first).to_have_text("refuted")
    expect(page.locator(f'#counterexample svg[aria-label*="{words}"]')).to_be_visible()
    expect(page.locator("#undrawn")).to_be_hidden()
    page.get_by_role("button", name="the verdict alone").click()
    room.settled()
    expect(page.locator("#counterexample")).to_be_hidden()


def test_one_answer_is_told_as_the_command_line_does() -> None:
    found = handle({"call": "check", "given": {"text": WRONG, "exercise": "averaging-two"}})["answer"]
    answer = found["answers"][0]
    assert (answer["verdict"], answer["counterexample"]["n"]) == ("refuted", 3)
    assert found["counts"]["refuted"] == 1


@pytest.mark.parametrize("hints", ["none", "direction"])
def test_a_hint_does_not_tell_what_would_mend_it(hints: str) -> None:
    given = {"text": WRONG, "exercise": "averaging-two", "hints": hints}
    assert "ln(" not in json.dumps(handle({"call": "check", "given": given}))


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"text": "q = k_a", "exercise": "nonsense"}, None),
        ({"text": "q = k_a", "exercise": "averaging-two", "epsilon": "2"}, "epsilon"),
        ({"text": "q = k_a", "exercise": "averaging-two", "large": "1e99"}, "large"),
        ({"text": "q = k_a", "exercise": "averaging-many", "n": 3, "m": 7}, "n"),
    ],
)
def test_numbers_that_cannot_be_used_are_refused(given: dict[str, object], where: str | None) -> None:
    reply = handle({"call": "compare", "given": given})
    assert (reply["kind"], reply["where"]) == ("unusable", where)


@pytest.mark.parametrize(
    ("text", "exercise"),
    [("z = 1", "averaging-two"), ("q = k_a", "permutation"), ("(((", "averaging-two"), ("q = k_a + 1", "copying")],
)
def test_what_cannot_be_drawn_says_why(text: str, exercise: str) -> None:
    found = handle({"call": "compare", "given": {"text": text, "exercise": exercise}})["answer"]
    assert found["picture"] is None
    assert found["why"]


def test_two_answers_at_once_are_a_document() -> None:
    text = f"## averaging-two\n\n$${WRONG}$$\n\n## low-rank\n\n$$B = 0$$\n"
    assert handle({"call": "check", "given": {"text": text}})["where"] == "text"

r"""Nothing that is written about an answer is dropped: what is not used makes it undecided, and is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written
from headwright.grading.verdict import Verdict
from tests.effort import ALL, tried
from tests.grading.respelling import ABOUT_THE_OBJECT, respellings, restricted

EXERCISES = load_exercises()
FOLDER = Path(__file__).parent
FALSE = {"right": {"refuted", "missing"}, "wrong": {"proved"}, "none": {"proved"}}
OBJECTS = [  # exercise, an object that is right for a large value of the name only, the name, a value
    ("averaging-two", r"q = \beta(k_a + k_b)", r"\beta", "1"),
    ("two-heads", r"q_1 = \lambda\mu_a,\quad q_2 = \lambda\mu_b", r"\lambda", "1"),
    ("temperature-cold", r"\tau = \frac1c", "c", "2"),
    ("averaging-many", r"q = t\sum_{i=1}^m k_i", "t", "3"),
]


def verdict(exercise: str, text: str) -> Verdict:
    return grade(EXERCISES[exercise], Written(text))


@pytest.mark.parametrize("number", range(len(OBJECTS) if ALL else 1))
def test_a_value_for_an_open_name_is_never_dropped(number: int) -> None:
    exercise, definition, name, value = OBJECTS[number]
    words = []
    for text in restricted(definition, name, value):
        word = verdict(exercise, text).word
        assert word in ("refuted", "undecided"), text
        words.append(word)
    assert words.count("refuted") >= 0.85 * len(words)


@pytest.mark.parametrize("template", ABOUT_THE_OBJECT)
def test_words_that_change_the_object_are_never_dropped(template: str) -> None:
    text = template.replace("OBJECT", r"q = \beta(k_a + k_b)").replace("NAME", r"\beta")
    assert verdict("averaging-two", text).word in ("refuted", "undecided")


QUERY = r"q = \ln(n/\epsilon)(k_a+k_b)"


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        # what is given in another form is read, or it is said that it may be the answer
        ("averaging-two", rf"$\Rightarrow {QUERY}$", "proved"),
        ("averaging-two", rf"$$\Longrightarrow {QUERY}$$", "proved"),
        ("averaging-two", r"$q/\lambda = k_a + k_b$ with $\lambda$ large", "proved"),
        ("averaging-two", r"$\frac1\lambda q = k_a + k_b$, $\lambda\gg0$", "proved"),
        ("averaging-two", "`q = lambda*(k_a + k_b)` with lambda large", "proved"),
        ("averaging-two", "`q = 2*(k_a + k_b)`", "refuted"),
        ("averaging-two", "```\nq = lambda*(k_a + k_b)\n```", "proved"),
        ("averaging-two", "```python\nq = lam*(k_a + k_b)\n```", "undecided"),
        ("averaging-two", f"| a | b |\n|---|---|\n| q | ${QUERY}$ |", "undecided"),
        (
            "averaging-two",
            "| a | b |\n|---|---|\n| $q$ | $\\ln(n/\\epsilon)(k_a+k_b)$ |",
            "undecided",
        ),
        (
            "averaging-two",
            r"$c \approx \frac12(v_a+v_b) \text{ for } q = \lambda(k_a+k_b), \lambda \gg 0$",
            "proved",
        ),
        (
            "averaging-two",
            r"$c \approx \frac12(v_a+v_b) \text{ if } q = \lambda(k_a+k_b)$",
            "undecided",
        ),
        (
            "averaging-two",
            r"$k_a^\top q = k_b^\top q$ must be the largest scores",
            "undecided",
        ),
        ("averaging-two", "Add both keys and make the sum long.", "missing"),
        # a condition of two halves is one condition
        (
            "copying",
            r"$k_j^\top q \ge \ln(n/\delta)$ and $k_i^\top q \le 0$ for all $i \ne j$.",
            "proved",
        ),
        (
            "copying",
            r"$k_j^\top q \ge 5$ and $k_i^\top q \le 0$ for all $i \ne j$.",
            "refuted",
        ),
        (
            "copying",
            r"$k_j^\top q \gg 0$ and $k_i^\top q \le 0$ for all $i \ne j$.",
            "undecided",
        ),
        (
            "copying",
            "- $k_j^\\top q \\gg 0$\n- $k_i^\\top q \\le 0$ for all $i \\ne j$",
            "undecided",
        ),
        # 'for some' leaves open which, until more is said
        (
            "averaging-two",
            r"$q = \lambda(k_a+k_b)$ for some $\lambda > 0$.",
            "undecided",
        ),
        (
            "averaging-two",
            r"$q = \lambda(k_a+k_b)$ for some $\lambda > 0$. Any $\lambda \ge \ln(n/\epsilon)$ works.",
            "proved",
        ),
        # what pins an open name is no remark; what speaks of it is
        ("averaging-two", r"$q = \beta(k_a + k_b)$. Then $\|q\| = 1$.", "undecided"),
        (
            "averaging-two",
            r"$q = \beta(k_a + k_b)$, $\|q\| = \sqrt2\beta$.",
            "proved",
        ),
        (
            "averaging-many",
            "\\begin{align*}\nq &= \\lambda \\sum_{i=1}^m k_i\n\\end{align*}\n, for all $\\lambda > 0$",
            "refuted",
        ),
    ],
)
def test_what_is_written_is_used_or_named(exercise: str, text: str, word: str) -> None:
    found = verdict(exercise, text)
    assert found.word == word, found.reason


def test_what_is_left_over_is_named_with_its_line() -> None:
    found = verdict("averaging-two", "$q = \\beta(k_a + k_b)$.\n\nThen normalise $q$.")
    assert found.word == "undecided"
    assert "line 3" in found.reason
    assert "normalise" in found.reason


WRITTEN = list(map(json.loads, (FOLDER / "written.jsonl").read_text().splitlines()))


def test_answers_written_before_the_code_was_changed_get_no_false_verdict() -> None:
    right = wrong = 0
    for one in WRITTEN:
        found = verdict(one["exercise"], one["text"])
        assert found.word not in FALSE[one["asked"]], one
        right += one["asked"] == "right" and found.word == "proved"
        wrong += one["asked"] == "wrong" and found.word == "refuted"
    assert right >= 0.9 * 46
    assert wrong >= 0.9 * 46


LABELLED = (FOLDER / "answers.jsonl").read_text().splitlines()


@pytest.mark.parametrize("place", range(0, len(LABELLED), len(LABELLED) // tried(40)))
def test_a_respelling_never_turns_a_verdict_over(place: int) -> None:
    one = json.loads(LABELLED[place])
    before = verdict(one["exercise"], one["text"]).word
    for name, text in respellings(one["text"]):
        word = verdict(one["exercise"], text).word
        assert {before, word} != {"proved", "refuted"}, (name, text)
        assert word not in FALSE[one["asked"]], (name, text)

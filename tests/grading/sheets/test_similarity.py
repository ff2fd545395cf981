"""Which exercise a part is about, and when that is not certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.grading.exercise import load_exercises
from headwright.grading.sheets.document import Matcher, defined, tokens

EXERCISES = load_exercises()
MATCHER = Matcher(EXERCISES)


def _match(
    *, heading: str = "", asked: str = "", said: str = "", matcher: Matcher = MATCHER
) -> tuple[str, str]:
    return matcher.match({"heading": heading, "asked": asked, "said": said})


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_the_statement_of_an_exercise_is_about_that_exercise(name: str) -> None:
    found, why = _match(heading=EXERCISES[name].title, asked=EXERCISES[name].statement)
    assert found == name or (not found and name in why)


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_the_statement_without_its_title_is_about_no_other_exercise(name: str) -> None:
    assert _match(asked=EXERCISES[name].statement)[0] in (name, "")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (
            r"For the average of both values $q = \lambda(k_a + k_b)$, as the keys are orthonormal.",
            "averaging-two",
        ),
        (
            r"The covariances $\Sigma_i$ vanish, so the average comes from $q = \lambda(\mu_a + \mu_b)$.",
            "averaging-gaussian",
        ),
        (r"Project onto the subspace: $M = A A^\top$.", "taking-apart"),
        (
            r"$\Phi_t = \Phi_{t'}$ needs $\sin t = \sin t'$, and $\pi$ is irrational.",
            "positions-unique",
        ),
        (
            r"Truncate: $B = \sum_{i<k} \sigma_i u_i v_i^\top$ has rank $k-1$.",
            "low-rank",
        ),
    ],
)
def test_an_answer_is_known_by_what_it_defines_and_its_words(
    said: str, name: str
) -> None:
    assert _match(said=said)[0] == name


@pytest.mark.parametrize(
    "said", ["$q = k_a$", "Thank you for the course.", "", "$a = b$"]
)
def test_what_tells_too_little_is_given_to_no_exercise(said: str) -> None:
    assert _match(said=said)[0] == ""


def test_where_two_exercises_fit_both_are_named() -> None:
    one = EXERCISES["averaging-two"]
    twins = Matcher(
        {
            "averaging-two": one,
            "mixing-two": one.model_copy(update={"id": "mixing-two"}),
        }
    )
    found = _match(
        heading="An average of two values", said="$q = 9 (k_a + k_b)$", matcher=twins
    )
    assert found[0] == ""
    assert all(name in found[1] for name in ("averaging-two", "mixing-two"))


def test_the_choice_is_shown_with_its_score_and_the_next() -> None:
    why = _match(heading="An average of two values", said="$q = 9 (k_a + k_b)$")[1]
    assert "by similarity with the exercise (score 0." in why
    assert "; next averaging-" in why


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$q = k_a$", ("q",)),
        ("q = k_a", ("q",)),
        ("$k_a^\\top q = 1$", ()),
        ("$\\|q\\| = 1$", ()),
        ("$q_1 = k_a, \\quad q_{2} = k_b$", ("q_1", "q_2")),
        ("q1 = ka and q2 = kb", ("q_1", "q_2")),
        (
            "$$\\begin{aligned} q_1 &= k_a \\\\ q_2 &= k_b \\end{aligned}$$",
            ("q_1", "q_2"),
        ),
    ],
)
def test_names_are_defined_on_the_left_of_an_equation(
    text: str, names: tuple[str, ...]
) -> None:
    assert defined(text, ("q", "q_1", "q_2")) == names


@given(st.text(max_size=200))
def test_any_text_is_spelled_and_matched(text: str) -> None:
    assert all(tokens(text).values())
    assert _match(said=text)[0] in {"", *EXERCISES}

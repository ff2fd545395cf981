"""What stands behind words that were not understood is not held against an answer."""

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()


@pytest.mark.parametrize(("exercise", "text"), [
    ("self-attention-copy",
     r"We get $c_2 \approx u_a$. Lengthening it by $u_d$ makes $x_2 = u_a + u_d$: now $c_2 \approx u_a + u_d$."),
    ("positions-unique",
     r"$\Phi_t \ne \Phi_{t'}$ if $t \ne t'$: otherwise $t - t' = 2\pi m$ with an integer $m \ne 0$."),
    ("low-rank", r"$B = U S_{k-1} V^\top$, where $S_{k-1}$ is $S$ with $\sigma_k, \dots, \sigma_d$ crossed out."),
])  # fmt: skip
def test_what_stands_behind_words_that_may_change_its_meaning_is_not_refuted(exercise: str, text: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text)).word == "undecided"


def test_a_reason_that_is_not_understood_saves_no_false_claim() -> None:
    text = r"$q = \ln(n/\epsilon)(k_a + k_b)$. Because the softmax is nice with such keys, $\alpha_a = 1$."
    assert check_answer(EXERCISES["averaging-two"], Written(text)).word == "refuted"


def test_an_object_that_fails_is_refuted_whatever_is_said_beside_it() -> None:
    text = r"$q = k_a + k_b$. Now with a wave of the hand it is balanced."
    assert check_answer(EXERCISES["averaging-two"], Written(text)).word == "refuted"

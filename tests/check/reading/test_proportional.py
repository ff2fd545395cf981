"""What is proportional to something is known but for a factor."""

from __future__ import annotations

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Written


def test_a_matrix_up_to_a_factor_is_no_matrix_of_the_exercise() -> None:
    text = "The scores are $A \\propto Q K^\\top$.\n\n$$P Q (P K)^\\top = P (Q K^\\top) P^\\top = P A P^\\top$$\n"
    assert check_answer(load_exercises()["permutation"], Written(text)).word not in ("refuted", "proved", "holds")

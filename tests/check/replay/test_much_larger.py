"""'Much larger' among what is claimed has no number: nothing is refuted for want of one."""

from __future__ import annotations

from headwright.check.reading.written import Written

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises


def test_a_weight_that_is_much_larger_than_the_others_is_not_refuted() -> None:
    text = "It takes $k_j^\\top q \\gg k_i^\\top q$ for all $i \\ne j$. So $\\alpha_j \\gg \\sum_{i \\ne j} \\alpha_i$."
    assert check_answer(load_exercises()["copying"], Written(text)).word not in ("refuted", "holds")

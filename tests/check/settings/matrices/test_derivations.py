"""Steps count as an argument where they add up to what is to be shown, and none of them says it."""

from __future__ import annotations

import pytest

from headwright.check import check
from headwright.check.exercise import parsed
from headwright.check.judging import claims
from headwright.check.settings.matrices.deciding import MatricesCourt
from headwright.check.settings.matrices.derivations import Aim
from tests.check.settings.bench import EXERCISES, opened

LAYERS = r"\operatorname{softmax}(P Q K^\top P^\top/\sqrt d)"


@pytest.mark.parametrize(
    ("exercise", "argument"),
    [
        ("kth-singular-value", r"\|A\|_F^2 - k \sigma_k^2 = \sum_{i \le k}(\sigma_i^2 - \sigma_k^2)"
                               r" + \sum_{i > k} \sigma_i^2 \ge 0"),
        ("kth-singular-value", r"0 \le \sum_{i=1}^k (\sigma_i^2 - \sigma_k^2) = \sum_{i=1}^k \sigma_i^2 - k\sigma_k^2"
                               r" \le \|A\|_F^2 - k \sigma_k^2"),
        ("kth-singular-value", r"\frac{\|A\|_F^2}{k} - \sigma_k^2 = \frac1k (\sum_{i=1}^k (\sigma_i^2 - \sigma_k^2)"
                               r" + \sum_{i=k+1}^d \sigma_i^2) \ge 0"),
        ("kth-singular-value", r"\sigma_k^2 = \frac1k \sum_{i=1}^k \sigma_k^2 \le \frac1k \sum_{i=1}^k \sigma_i^2"
                               r" \le \frac1k \|A\|_F^2"),
        ("energy", r"\|A\|_F^2 = \sum_{i,j} \sigma_i \sigma_j (u_i^\top u_j)(v_i^\top v_j) = \sum_i \sigma_i^2"),
        ("energy", r"\operatorname{tr}(A A^\top) = \operatorname{tr}(U S^2 U^\top) = \operatorname{tr}(S^2)"
                   r" = \sum_i \sigma_i^2"),
        ("permutation", rf"P^\top H_p = P^\top {LAYERS} P V = \operatorname{{softmax}}(Q K^\top/\sqrt d) V = H; "
                        r"P^\top Z_p = \operatorname{relu}(P^\top H_p W_1 + \mathbf 1 b_1) W_2 + \mathbf 1 b_2 = Z"),
    ],
)  # fmt: skip
def test_steps_that_add_up_are_an_argument(exercise: str, argument: str) -> None:
    known = EXERCISES[exercise]
    court, _, said = opened(known, *argument.split("; "))
    assert isinstance(court, MatricesCourt)
    steps = [claim.link for one in said for claim in claims(one.node, "step", one)]
    aims = [Aim(parsed(source), parsed(target), court.given) for source, target in known.derive]
    leaps = [link for link in steps if any(aim.is_leap(link) for aim in aims)]
    small = [link for link in steps if link not in leaps]
    assert any(aim.leads(small) or (aim.leads(steps) and aim.follows(small)) for aim in aims)


@pytest.mark.parametrize(
    ("exercise", "argument"),
    [
        ("kth-singular-value", r"\|A\|_F^2 - k \sigma_k^2 \ge 0"),
        ("kth-singular-value", r"2 \|A\|_F^2 \ge 2 k \sigma_k^2"),
        ("kth-singular-value", r"\|A\|_F^2 - \sigma_k^2 = \sum_{i \ne k} \sigma_i^2 \ge 0"),
        ("kth-singular-value", r"\|A\|_F^2 + k \sigma_k^2 = \sum_{i \le k}(\sigma_i^2 + \sigma_k^2)"
                               r" + \sum_{i > k} \sigma_i^2 \ge 0"),
        ("kth-singular-value", r"\|A\|_F^2 \ge \sum_{i=1}^k \sigma_i^2 \ge 0"),
        ("energy", r"\|A\|_F^2 - \sum_i \sigma_i^2 = 0"),
        ("energy", r"\|A\|_F^2 = \|A V\|_F^2 = \sum_i \sigma_i^2"),
        ("permutation", r"P^\top Z_p = Z"),
        ("permutation", r"2 Z_p = 2 P Z"),
        ("permutation", r"Q_p = P Q; P^\top Z_p = Z"),
    ],
)  # fmt: skip
def test_what_was_to_be_shown_is_no_step_however_it_is_turned(exercise: str, argument: str) -> None:
    assert check(exercise, *argument.split("; ")).word in ("undecided", "missing")

"""Steps count as an argument where they add up to what is to be shown, and none of them says it."""

from __future__ import annotations

import pytest

from headwright.grading import check
from headwright.grading.exercise import Exercise, parse_exercise, parsed
from headwright.grading.grade import grade
from headwright.grading.judging import claims
from headwright.grading.kinds.matrices.derivations import Aim
from headwright.grading.kinds.matrices.prover import MatricesProver
from headwright.grading.markdown import Written
from tests.grading.kinds.bench import EXERCISES, opened

LAYERS = r"\operatorname{softmax}(P Q K^\top P^\top/\sqrt d)"


@pytest.mark.parametrize(
    ("exercise", "argument"),
    [
        (
            "kth-singular-value",
            r"\|A\|_F^2 - k \sigma_k^2 = \sum_{i \le k}(\sigma_i^2 - \sigma_k^2)"
            r" + \sum_{i > k} \sigma_i^2 \ge 0",
        ),
        (
            "kth-singular-value",
            r"0 \le \sum_{i=1}^k (\sigma_i^2 - \sigma_k^2) = \sum_{i=1}^k \sigma_i^2 - k\sigma_k^2"
            r" \le \|A\|_F^2 - k \sigma_k^2",
        ),
        (
            "kth-singular-value",
            r"\frac{\|A\|_F^2}{k} - \sigma_k^2 = \frac1k (\sum_{i=1}^k (\sigma_i^2 - \sigma_k^2)"
            r" + \sum_{i=k+1}^d \sigma_i^2) \ge 0",
        ),
        (
            "kth-singular-value",
            r"\sigma_k^2 = \frac1k \sum_{i=1}^k \sigma_k^2 \le \frac1k \sum_{i=1}^k \sigma_i^2"
            r" \le \frac1k \|A\|_F^2",
        ),
        (
            "energy",
            r"\|A\|_F^2 = \sum_{i,j} \sigma_i \sigma_j (u_i^\top u_j)(v_i^\top v_j) = \sum_i \sigma_i^2",
        ),
        (
            "energy",
            r"\operatorname{tr}(A A^\top) = \operatorname{tr}(U S^2 U^\top) = \operatorname{tr}(S^2)"
            r" = \sum_i \sigma_i^2",
        ),
        (
            "permutation",
            rf"P^\top H_p = P^\top {LAYERS} P V = \operatorname{{softmax}}(Q K^\top/\sqrt d) V = H; "
            r"P^\top Z_p = \operatorname{relu}(P^\top H_p W_1 + \mathbf 1 b_1) W_2 + \mathbf 1 b_2 = Z",
        ),
    ],
)
def test_steps_that_add_up_are_an_argument(exercise: str, argument: str) -> None:
    known = EXERCISES[exercise]
    court, _, said = opened(known, *argument.split("; "))
    assert isinstance(court, MatricesProver)
    steps = [claim.link for one in said for claim in claims(one.node, "step", one)]
    aims = [
        Aim(parsed(source), parsed(target), court.given)
        for source, target in known.derive
    ]
    leaps = [link for link in steps if any(aim.is_leap(link) for aim in aims)]
    small = [link for link in steps if link not in leaps]
    assert any(
        aim.leads(small) or (aim.leads(steps) and aim.follows(small)) for aim in aims
    )


@pytest.mark.parametrize(
    ("exercise", "argument"),
    [
        ("kth-singular-value", r"\|A\|_F^2 - k \sigma_k^2 \ge 0"),
        ("kth-singular-value", r"2 \|A\|_F^2 \ge 2 k \sigma_k^2"),
        (
            "kth-singular-value",
            r"\|A\|_F^2 - \sigma_k^2 = \sum_{i \ne k} \sigma_i^2 \ge 0",
        ),
        (
            "kth-singular-value",
            r"\|A\|_F^2 + k \sigma_k^2 = \sum_{i \le k}(\sigma_i^2 + \sigma_k^2)"
            r" + \sum_{i > k} \sigma_i^2 \ge 0",
        ),
        ("kth-singular-value", r"\|A\|_F^2 \ge \sum_{i=1}^k \sigma_i^2 \ge 0"),
        ("energy", r"\|A\|_F^2 - \sum_i \sigma_i^2 = 0"),
        ("energy", r"\|A\|_F^2 = \|A V\|_F^2 = \sum_i \sigma_i^2"),
        ("permutation", r"P^\top Z_p = Z"),
        ("permutation", r"2 Z_p = 2 P Z"),
        ("permutation", r"Q_p = P Q; P^\top Z_p = Z"),
        ("permutation", r"Z_p = I Z_p = P Z"),
        ("permutation", r"Z_p = P P^\top Z_p = P Z"),
        (
            "permutation",
            r"Z_p = \operatorname{relu}(H_p W_1 + \mathbf 1 b_1) W_2 + \mathbf 1 b_2 = P Z",
        ),
        (
            "permutation",
            r"Z_p = P (\operatorname{relu}(H W_1 + \mathbf 1 b_1) W_2 + \mathbf 1 b_2) = P Z",
        ),
        (
            "permutation",
            r"Z_p = \operatorname{relu}(\operatorname{softmax}(Q_p K_p^\top/\sqrt d) V_p W_1"
            r" + \mathbf 1 b_1) W_2 + \mathbf 1 b_2 = P Z",
        ),
        ("kth-singular-value", r"k \sigma_k^2 = \sigma_k^2 k \le \|A\|_F^2"),
    ],
)
def test_what_was_to_be_shown_is_no_step_however_it_is_turned(
    exercise: str, argument: str
) -> None:
    assert check(exercise, *argument.split("; ")).word in ("undecided", "missing")


def _to_show(start: str, end: str) -> Exercise:
    return parse_exercise(rf"""
id = "to-show"
title = "To show"
statement = 'Show it.'
derive = [['{start}', '{end}']]
[matrices]
facts = {{ P = ["permutation"], U = ["orthogonal"] }}
sizes = {{ T = [2, 3] }}
[matrices.shapes]
A = ["T", "T"]
B = ["T", "T"]
P = ["T", "T"]
U = ["T", "T"]
b = ["T", 1]
x = ["T", 1]
ones = ["T", 1]
""")


SHIFTED, SOFTMAX = (
    r"\operatorname{softmax}(A + b \mathbf{1}^\top)",
    r"\operatorname{softmax}(A)",
)
SHIFT = _to_show(SHIFTED, SOFTMAX)
LENGTH = _to_show(r"\|U x\|^2", r"\|x\|^2")
SQUARE = _to_show(r"\|A x\|^2", r"x^\top A^\top A x")
TURNED = _to_show(
    r"\operatorname{softmax}(P A P^\top) P B", r"P \operatorname{softmax}(A) B"
)


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        (SHIFT, f"${SHIFTED} = {SOFTMAX}$"),
        (SHIFT, f"${SOFTMAX} = {SHIFTED}$"),
        (SHIFT, f"${SHIFTED} = {SOFTMAX}$. So ${SHIFTED} = {SOFTMAX}$."),
        (SHIFT, f"${SHIFTED} = {SOFTMAX}$ for all $A$ and $b$."),
        (SHIFT, f"${SHIFTED} = I {SHIFTED} = {SOFTMAX}$"),
        (
            SHIFT,
            rf"${SHIFTED} = \operatorname{{softmax}}(b \mathbf{{1}}^\top + A) = {SOFTMAX}$",
        ),
        (
            SHIFT,
            rf"${SHIFTED} = \operatorname{{softmax}}(A + 2 b \mathbf{{1}}^\top) = {SOFTMAX}$",
        ),
        (
            SHIFT,
            rf"${SHIFTED} = \operatorname{{softmax}}(A + b \mathbf{{1}}^\top - b \mathbf{{1}}^\top) = {SOFTMAX}$",
        ),
        (SHIFT, f"$2 {SHIFTED} = 2 {SOFTMAX}$"),
        (SHIFT, f"${SHIFTED} - {SOFTMAX} = 0$"),
        (
            SHIFT,
            rf"Let $C = A + b \mathbf{{1}}^\top$. Then $\operatorname{{softmax}}(C) = {SOFTMAX}$.",
        ),
        (SHIFT, f"${SOFTMAX} = {SOFTMAX}$"),
        (SHIFT, "$A = A$"),
        (LENGTH, r"$\|U x\|^2 = \|x\|^2$"),
        (LENGTH, r"$\|x\|^2 = \|U x\|^2 = \|x\|^2$"),
        (LENGTH, r"$\|U x\|^2 = \frac{2 \|U x\|^2}{2} = \|x\|^2$"),
        (LENGTH, r"$\|U x\|^2 = \|U x\| \|U x\| = \|x\|^2$"),
        (LENGTH, r"$0 = \|x\|^2 - \|U x\|^2$"),
        (SQUARE, r"$\|A x\|^2 = x^\top A^\top A x$"),
        (SQUARE, r"$\|A x\|^2 = \|A I x\|^2 = x^\top A^\top A x$"),
        (
            TURNED,
            r"$\operatorname{softmax}(P A P^\top) P B = P \operatorname{softmax}(A) B$",
        ),
    ],
)
def test_what_the_algebra_knows_is_missing_where_it_is_restated(
    exercise: Exercise, text: str
) -> None:
    assert grade(exercise, Written(text)).word == "missing"


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        (
            LENGTH,
            r"$\|U x\|^2 = (U x)^\top (U x) = x^\top U^\top U x = x^\top x = \|x\|^2$",
            "proved",
        ),
        (
            LENGTH,
            r"$\|U x\|^2 = x^\top U^\top U x$. $U^\top U = I$. $x^\top U^\top U x = \|x\|^2$",
            "proved",
        ),
        (LENGTH, r"$\|U x\|^2 = x^\top U^\top U x$.", "undecided"),  # a gap
        (SHIFT, rf"${SHIFTED} = P^\top P {SHIFTED} = {SOFTMAX}$", "undecided"),
        (SQUARE, r"$\|A x\|^2 = (A x)^\top (A x) = x^\top A^\top A x$", "proved"),
        (
            TURNED,
            r"$\operatorname{softmax}(P A P^\top) P B = P \operatorname{softmax}(A) P^\top P B"
            r" = P \operatorname{softmax}(A) B$",
            "proved",
        ),
    ],
)
def test_what_the_algebra_knows_is_proved_by_steps(
    exercise: Exercise, text: str, word: str
) -> None:
    assert grade(exercise, Written(text)).word == word


HEAD = r"$H_p = \operatorname{softmax}(P Q K^\top P^\top/\sqrt d) P V = P H$"
NEARLY = f"{HEAD}, so $Z_p = P Z$."
SPLIT = r"\operatorname{relu}(x + y) = \operatorname{relu}(x) + \operatorname{relu}(y)"
SCORES = r"Q_p K_p^\top = P Q K^\top"
ENERGY = r"$\|A\|_F^2 = \operatorname{tr}(V S^2 V^\top) = \operatorname{tr}(S^2) = \sum_i \sigma_i^2$."


@pytest.mark.parametrize(
    ("exercise", "text", "line"),
    [
        ("permutation", f"$$\n{SPLIT}\n$$\n\n{NEARLY}", 2),
        (
            "permutation",
            f"Since relu is a linear function,\n\n$${SPLIT}$$\n\n{NEARLY}",
            3,
        ),
        ("permutation", f"${SPLIT}$ for all $x, y$. {NEARLY}", 1),
        (
            "permutation",
            f"Let $x, y \\in \\mathbb{{R}}^d$.\n\n$${SPLIT}$$\n\n{NEARLY}",
            3,
        ),
        ("permutation", f"We have ${SCORES}$. {NEARLY}", 1),
        ("permutation", f"{HEAD}.\n$${SCORES}$$\nSo $Z_p = P Z$.", 2),
        ("permutation", rf"$P^2 = I$. {NEARLY}", 1),
        ("permutation", f"{HEAD}, $Z_p = P Z = Z$.", 1),
        (
            "energy",
            rf"$\operatorname{{tr}}(X Y) = \operatorname{{tr}}(X) \operatorname{{tr}}(Y)$. {ENERGY}",
            1,
        ),
        ("energy", rf"$\|X\|_F = \operatorname{{tr}}(X)$. {ENERGY}", 1),
        (
            "kth-singular-value",
            r"$\sigma_1^2 = \|A\|_F^2$. $\|A\|_F^2 \ge \sum_{i \le k} \sigma_i^2 \ge k\sigma_k^2$.",
            1,
        ),
    ],
)
def test_a_false_step_of_a_derivation_is_named(
    exercise: str, text: str, line: int
) -> None:
    found = grade(EXERCISES[exercise], Written(text))
    assert found.word == "undecided"
    assert f"line {line} is false as it stands" in found.reason
    assert [one.line for one in found.false_formulas] == [line]


@pytest.mark.parametrize("remark", [f"$${SPLIT}$$", f"Also ${SCORES}$."])
def test_a_false_remark_after_a_derivation_is_named_beside_it(remark: str) -> None:
    found = grade(EXERCISES["permutation"], Written(f"{NEARLY}\n\n{remark}"))
    assert found.word == "proved"
    assert (
        found.reason == "every step from Z_p to P Z is true; false beside them: line 3"
    )
    assert [one.line for one in found.false_formulas] == [3]


@pytest.mark.parametrize(
    "said",
    [
        f"For $x, y \\ge 0$ we have ${SPLIT}$.",
        f"Let $x \\ge 0$ and $y \\ge 0$. Then ${SPLIT}$.",
        f"Take nonnegative $x$ and $y$. $${SPLIT}$$",
        f"It is not true that ${SPLIT}$.",
        r"$\operatorname{relu}(P Y) = P \operatorname{relu}(Y)$.",
        r"$\operatorname{softmax}(P Y P^\top) = P \operatorname{softmax}(Y) P^\top$.",
        r"Let $R$ be a permutation matrix. $\operatorname{softmax}(R Y) = R \operatorname{softmax}(Y)$.",
        r"Let $x^\top y = 0$. Then $\|x + y\|^2 = \|x\|^2 + \|y\|^2$.",
        r"By Pythagoras $\|x + y\|^2 = \|x\|^2 + \|y\|^2$.",
    ],
)
def test_a_law_for_some_letters_is_not_called_false(said: str) -> None:
    found = grade(EXERCISES["permutation"], Written(f"{said} {NEARLY}"))
    assert found.word == "proved"
    assert not [one for one in found.formulas if one.status == "false"]

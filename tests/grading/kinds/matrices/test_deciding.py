"""Right statements are proved and wrong ones refuted, never the other way round."""

from __future__ import annotations

import time

import pytest

from headwright.errors import InputError
from headwright.formulas.errors import FormulaError
from headwright.formulas.shapes import Shape
from headwright.formulas.tree import Name, Relation
from headwright.grading import check as whole
from headwright.grading.exercise import load_exercises
from headwright.grading.kinds.matrices.known import Given
from headwright.grading.kinds.matrices.normal import ABEL, SQUARED, TERMS
from headwright.grading.kinds.matrices.prover import decide
from tests.grading.kinds.bench import check
from tests.grading.kinds.matrices.worlds import (
    APART,
    FREE,
    LAYER,
    POSITIONS,
    SINGULAR,
    World,
    world,
)

SOFTMAX = r"\operatorname{softmax}"
BEST = r"\sum_{i=1}^{k-1} \sigma_i u_i v_i^\top"


@pytest.mark.parametrize(
    "chain",
    [
        "Q_p = P Q",
        "K_p = P K",
        "V_p = P V",
        rf"H_p = {SOFTMAX}(PQ(PK)^\top/\sqrt d) PV = {SOFTMAX}(P Q K^\top P^\top/\sqrt d) PV"
        rf" = P {SOFTMAX}(QK^\top/\sqrt d) P^\top P V = P {SOFTMAX}(QK^\top/\sqrt d) V = P H",
        "Z_p = relu(H_p W_1 + 1 b_1) W_2 + 1 b_2 = relu(PHW_1 + 1 b_1) W_2 + 1 b_2"
        " = relu(P(HW_1 + 1 b_1)) W_2 + 1 b_2 = P relu(HW_1 + 1 b_1) W_2 + 1 b_2"
        " = P(relu(HW_1 + 1 b_1) W_2 + 1 b_2) = P Z",
        rf"{SOFTMAX}(P X X^\top P^\top) = P {SOFTMAX}(X X^\top) P^\top",
        rf"{SOFTMAX}(X X^\top + X X^\top ones ones^\top) = {SOFTMAX}(X X^\top)",
        r"X^\top X = X_p^\top X_p",
        r"\|X_p\|_F = \|X\|_F",
        r"ones^\top P X = ones^\top X",
        r"ones^\top ones = T",
        r"\sqrt{2d}/2 = \sqrt{d}/\sqrt{2}",
        r"relu(3 X) = 3 relu(X)",
        "P X - X_p = 0",
    ],
)
def test_lines_about_a_layer_are_proved(chain: str) -> None:
    for decision in LAYER.decisions(chain):
        assert decision.word == "proved", decision
        assert decision.used == "matrix algebra"


@pytest.mark.parametrize(
    "statement",
    [
        r"Q_p = P^\top Q",
        "K_p = K",
        "Q_p = P P Q",
        "X_p = X",
        rf"{SOFTMAX}(P X X^\top P^\top) = {SOFTMAX}(X X^\top)",
        rf"{SOFTMAX}(P X X^\top) = {SOFTMAX}(X X^\top)",
        rf"{SOFTMAX}(P Q K^\top P^\top/\sqrt d) = P {SOFTMAX}(Q K^\top/\sqrt d)",
        rf"{SOFTMAX}(P Q K^\top P^\top/\sqrt d) = P {SOFTMAX}(Q K^\top/\sqrt d) P",
        rf"{SOFTMAX}(P Q K^\top P^\top/\sqrt d) = P^\top {SOFTMAX}(Q K^\top/\sqrt d) P",
        rf"H_p = {SOFTMAX}(P Q K^\top P^\top) P V",
        rf"H_p = {SOFTMAX}(P Q K^\top/\sqrt d) P V",
        rf"H_p = {SOFTMAX}(P Q K^\top P^\top/\sqrt d) V",
        rf"P {SOFTMAX}(QK^\top/\sqrt d) P^\top P V = P {SOFTMAX}(QK^\top/\sqrt d) P V",
        "H_p = H",
        r"H_p = P^\top H",
        "Z_p = Z",
        r"Z_p = P^\top Z",
        "Z_p = P relu(HW_1) W_2 + 1 b_2",
        "Z_p = relu(P H W_1) W_2 + 1 b_2",
        "relu(P(HW_1 + 1 b_1)) W_2 = relu(HW_1 + 1 b_1) W_2",
        "relu(-X) = -relu(X)",
        "relu(2 X) = 4 relu(X)",
        "relu(X + X_p) = relu(X) + relu(X_p)",
        r"P + P^\top = 2 I",
        "P^2 = I",
        r"P^\top = P",
        r"X^\top X = X_p^\top X",
        r"X X^\top = X_p X_p^\top",
        rf"{SOFTMAX}(2 X) = {SOFTMAX}(X)",
        rf"{SOFTMAX}(X + ones ones^\top X) = {SOFTMAX}(X)",
        rf"{SOFTMAX}(X X^\top)^\top = {SOFTMAX}(X X^\top)",
        rf"ones^\top {SOFTMAX}(X X^\top) = ones^\top",
        "tr(P) = T",
        "tr(P) = 0",
        r"ones^\top ones = d",
        r"\|X_p\|_F^2 = \|X\|_F",
        "P X = 0",
    ],
)
def test_wrong_lines_about_a_layer_are_refuted(statement: str) -> None:
    _refuted(LAYER, statement)


def _refuted(place: World, statement: str) -> None:
    decision = place.decision(statement)
    assert decision.word == "refuted", decision
    assert decision.used == "a certified instance"
    assert decision.example is not None


@pytest.mark.parametrize(
    "answer",
    [
        r"A A^\top",
        r"\sum_i a_i a_i^\top",
        r"\sum_{i=1}^{p} a_i a_i^\top",
        r"I - B B^\top",
        r"A A^\top A A^\top",
        r"I - \sum_i b_i b_i^\top",
        r"I_d - B B^\top",
        r"(B B^\top)^\top + A A^\top - B B^\top",
    ],
)
def test_what_takes_a_sum_apart_is_proved(answer: str) -> None:
    assert (
        APART.with_definitions({"M": answer}).decision("M (v_a + v_b) = v_a").word
        == "proved"
    )


@pytest.mark.parametrize(
    "answer",
    [
        r"A A^\top + B B^\top",
        r"B B^\top",
        r"2 A A^\top",
        "I",
        "0",
        r"\sum_{i=1}^{p} b_i b_i^\top",
        r"I - A A^\top",
    ],
)
def test_what_does_not_take_a_sum_apart_is_refuted(answer: str) -> None:
    _refuted(APART.with_definitions({"M": answer}), "M (v_a + v_b) = v_a")


def test_an_answer_of_the_wrong_shape_is_an_error_of_its_formula() -> None:
    with pytest.raises(FormulaError, match="cannot be compared with M"):
        APART.with_definitions({"M": r"A^\top A"}).decision("M (v_a + v_b) = v_a")


@pytest.mark.parametrize(
    "chain",
    [
        r"\|A\|_F^2 = tr(A^\top A) = tr(V S U^\top U S V^\top) = tr(V S^2 V^\top) = \sum_i \sigma_i^2",
        r"tr(S^2) = \sum_i \sigma_i^2 = \sum_{i=1}^{d} \sigma_i^2",
        r"tr(A A^\top) = \sum_{i=1}^{d} \sigma_i^2",
        r"A^\top A = V S^2 V^\top",
        r"A = \sum_i \sigma_i u_i v_i^\top",
        r"A v_k = \sigma_k u_k",
        r"u_k^\top A v_k = \sigma_k",
        r"\|A\|_2 = \sigma_1",
        r"\sum_i (u_i^\top A v_i)^2 = \|A\|_F^2",
        r"\sum_i u_i^\top A v_i = \sum_i \sigma_i",
        r"\|U\|_F^2 = d",
        r"tr(U U^\top) = d",
        r"u_1^\top u_2 = 0",
        r"\sum_i (x^\top v_i)(v_i^\top x) = x^\top x",
        r"\sum_i \sigma_i v_i (v_i^\top x) = V S V^\top x",
        r"\sum_i (x^\top v_i) v_i^\top = x^\top",
    ],
)
def test_lines_about_energy_are_proved(chain: str) -> None:
    place = SINGULAR
    shapes = {**place.given.shapes, "x": Shape("d", 1)}
    given = Given(
        shapes,
        place.given.definitions,
        place.given.facts,
        (),
        place.given.sizes,
        place.given.assume,
    )
    for decision in World(given, place.names).decisions(chain):
        assert decision.word == "proved", decision


@pytest.mark.parametrize(
    "chain",
    [
        r"\|A\|_F^2 \ge \sum_{i\le k} \sigma_i^2 \ge k \sigma_k^2",
        r"\sigma_k^2 \le \|A\|_F^2/k",
        r"\sum_{i=1}^d \sigma_i^2 \ge \sum_{i=1}^k \sigma_i^2 \ge \sum_{i=1}^k \sigma_k^2",
        r"k \sigma_k \le \sum_{i=1}^k \sigma_i",
        r"\sigma_{k+1} \le \sigma_k \le \sigma_1",
        r"\sum_{i=k}^d \sigma_i^2 \le (d-k+1)\sigma_k^2",
        r"\sum_{i=k}^d \sigma_i^2 \le \frac{d-k+1}{d} \|A\|_F^2",
        r"\|A\|_2^2 \le tr(A^\top A)",
        r"\sigma_k^2 < \|A\|_F^2/k + 1",
        r"tr(S) \ge \sigma_1",
    ],
)
def test_weighted_sums_are_proved_for_all_sizes(chain: str) -> None:
    for decision in SINGULAR.decisions(chain):
        assert (decision.word, decision.used) == ("proved", ABEL), decision


@pytest.mark.parametrize(
    "statement",
    [
        r"\sigma_k \le \|A\|_F/\sqrt{k}",
        r"\|A\|_2 \le \|A\|_F",
        r"\|A\|_F \le \sqrt{d} \|A\|_2",
        r"\sigma_k \le \|A\|_F",
    ],
)
def test_roots_are_squared(statement: str) -> None:
    decision = SINGULAR.decision(statement)
    assert decision.word == "proved"
    assert decision.used.startswith(SQUARED)


@pytest.mark.parametrize(
    "statement",
    [
        r"\sum_{i=1}^k \sigma_k^2 = k\sigma_k^2",
        r"\sum_{i<k} \sigma_i^2 + \sigma_k^2 = \sum_{i \le k} \sigma_i^2",
        r"\sum_{i<k} \sigma_i^2 + \sum_{i>k} \sigma_i^2 = \|A\|_F^2 - \sigma_k^2",
    ],
)
def test_sums_with_conditions_are_equal(statement: str) -> None:
    assert SINGULAR.decision(statement).word == "proved"


@pytest.mark.parametrize(
    "statement",
    [
        r"tr(A^\top A) = \sum_i \sigma_i",
        r"tr(V S U^\top U S V^\top) = tr(V S V^\top)",
        r"\|A\|_F = \sum_i \sigma_i^2",
        r"tr(A^\top A) = \sigma_1^2",
        r"A^\top A = V^\top S^2 V",
        r"U U^\top = I",
        r"tr(U^\top U) = n",
        r"\|A\|_F \le \|A\|_2",
        r"\|A\|_F < \sqrt{d} \|A\|_2",
        r"A = \sum_i u_i v_i^\top",
        r"u_1^\top u_2 = 1",
        r"\|A\|_F > 0",
        r"tr(S) \le \sigma_1",
        r"rank(A) \le d - 1",
        "rank(A) = d",
        r"\|A\|_F^2 \le \sum_{i\le k} \sigma_i^2",
        r"\sum_{i \le k} \sigma_i^2 \le k \sigma_k^2",
        r"\sum_{i=1}^k \sigma_i^2 \ge d \sigma_k^2",
        r"\sigma_k^2 \le \|A\|_F^2/(k+1)",
        r"\sigma_k^2 \le \|A\|_F^2/d",
        r"\sigma_k \le \|A\|_F/k",
        r"\sigma_k^2 \le \|A\|_F/k",
        r"\sum_{i=1}^k \sigma_k^2 = d \sigma_k^2",
        r"\sigma_1 \le \sigma_k",
        r"\sum_{i=k}^d \sigma_i^2 \le (d-k)\sigma_k^2",
        r"\sigma_k \le \sigma_{k+1}",
        r"\sum_{i=k}^d \sigma_i^2 \ge \frac{d-k+1}{d} \|A\|_F^2",
        r"\sigma_k \le \|A\|_F/\sqrt{k+1}",
        r"\sum_{i \ne k} \sigma_i^2 = \|A\|_F^2",
        r"\sum_{i<k} \sigma_i^2 = \sum_{i \le k} \sigma_i^2",
    ],
)
def test_wrong_lines_about_singular_values_are_refuted(statement: str) -> None:
    _refuted(SINGULAR, statement)


@pytest.mark.parametrize(
    "answer",
    [
        BEST,
        r"\sum_{i<k} \sigma_i u_i v_i^\top",
        r"A - \sum_{i=k}^{d}\sigma_i u_i v_i^\top",
        r"\sum_{i=1}^{k-1} u_i u_i^\top A",
        r"\sum_{i<k} A v_i v_i^\top",
    ],
)
def test_the_best_approximation_of_small_rank_is_proved(answer: str) -> None:
    place = SINGULAR.with_definitions({"B": answer})
    for statement in (
        r"\|A - B\|_2 \le \|A\|_F/\sqrt{k}",
        r"rank(B) \le k - 1",
        r"\|A - B\|_2 = \sigma_k",
        r"A - B = \sum_{i=k}^{d} \sigma_i u_i v_i^\top",
        r"\|A - B\|_F^2 = \sum_{i=k}^d \sigma_i^2",
        r"\|A\|_F^2 = \|B\|_F^2 + \|A - B\|_F^2",
    ):
        assert place.decision(statement).word == "proved", statement


@pytest.mark.parametrize(
    ("answer", "near", "low"),
    [
        (r"\sum_{i=1}^{k-1} (\sigma_i + 2 \sigma_k) u_i v_i^\top", "refuted", "proved"),
        (r"\sum_{i=1}^{k-1} (2 \sigma_i - \sigma_k) u_i v_i^\top", "refuted", "proved"),
        (
            r"\sum_{i=1}^{k-1} (\sigma_i - \sigma_{k-1}) u_i v_i^\top",
            "refuted",
            "proved",
        ),
        (
            r"\sum_{i=1}^{d} \min(\sigma_i - \sigma_k, 0) u_i v_i^\top",
            "refuted",
            "refuted",
        ),
        (
            r"\sum_{i=1}^{k-1} \sigma_i u_i v_i^\top + u_k v_k^\top",
            "refuted",
            "refuted",
        ),
        (r"\sum_{i=1}^{k} \sigma_i u_i v_i^\top", "proved", "refuted"),
        (r"\sum_{i=1}^{k-1} u_i v_i^\top", "refuted", "proved"),
        (r"\sum_{i=k}^{d} \sigma_i u_i v_i^\top", "refuted", "refuted"),
        (r"2\sum_{i=1}^{k-1} \sigma_i u_i v_i^\top", "refuted", "proved"),
        ("0", "refuted", "proved"),
        ("A", "proved", "refuted"),
        (r"\sum_{i=2}^{k} \sigma_i u_i v_i^\top", "refuted", "proved"),
        (r"\sum_{i=1}^{k-1} \sigma_i u_i u_i^\top A", "refuted", "proved"),
        (r"\sum_{i=1}^{k-1} \sigma_i u_{i+1} v_i^\top", "refuted", None),
        ("A/2", "refuted", "refuted"),
    ],
)
def test_other_approximations_fail_in_one_way_or_the_other(
    answer: str, near: str | None, low: str | None
) -> None:
    place = SINGULAR.with_definitions({"B": answer})
    found = [
        place.decision(said).word
        for said in (r"\|A - B\|_2 \le \|A\|_F/\sqrt{k}", r"rank(B) \le k - 1")
    ]
    assert found == [near or "holds", low or "holds"]


def test_positions_make_a_difference() -> None:
    decision = POSITIONS.decision(r"P X + \Phi \ne P (X + \Phi)")
    assert (decision.word, decision.used) == ("proved", "a given difference")
    _refuted(POSITIONS, r"P X + \Phi = P (X + \Phi)")


@pytest.mark.parametrize(
    "said",
    [
        r"P X \ne X",
        r"P X \ne X + \Phi",
        r"X \ne 0",
        r"X \ne \Phi",
        r"P X + \Phi \ne X + \Phi",
        r"\Phi \ne 2 X",
        r"P \ne P^\top",
    ],
)
def test_instances_do_not_prove_that_matrices_always_differ(said: str) -> None:
    assert POSITIONS.decision(said).word == "undecided"


def test_an_instance_where_the_sides_are_equal_is_told() -> None:
    assert "an instance where they are equal" in POSITIONS.decision(r"P X \ne X").reason
    assert LAYER.decision(r"Z_p \ne Z").reason.startswith("no identity")


def test_not_equal_is_refuted_where_both_sides_are_always_equal() -> None:
    assert LAYER.decision(r"Z_p \ne P Z").word == "refuted"


@pytest.mark.parametrize(
    "statement",
    [
        "tr(A B) = tr(B A)",
        r"tr(A^\top B) = tr(B^\top A)",
        r"O O^\top = I",
        r"D E = E D",
        r"D^\top = D",
        r"(A B)^\top = B^\top A^\top",
        r"\langle x, y \rangle = y^\top x",
        r"\|A + B\|_F^2 = \|A\|_F^2 + 2 tr(A^\top B) + \|B\|_F^2",
        r"x y^\top A x = (y^\top A x) x",
        r"\|O x\| = \|x\|",
        r"\frac{s}{s+t} + \frac{t}{s+t} = 1",
        r"(s+t)^2 = s^2 + 2 s t + t^2",
        r"e^{s+t} = e^s e^t",
        r"\sqrt{t^2} = t",
        r"\frac{A}{s} s = A",
        r"\sqrt{s+t}/(s+t) = 1/\sqrt{s+t}",
        "(A + B)^2 = A^2 + A B + B A + B^2",
        r"\operatorname{softmax}(P A R) = P \operatorname{softmax}(A) R",
        r"relu(P A R) = P relu(A) R",
        r"\operatorname{softmax}(P x) = P \operatorname{softmax}(x)",
        "tr(s A) = s tr(A)",
        r"A^0 = I",
        r"|s|^2 = s^2",
        r"\|2 A\|_2 = 2 \|A\|_2",
        r"tr(I_n) = n",
        r"\sin(s + t) = \sin(t + s)",
        r"\|A\|_F \ge 0",
        r"t \ge 0",
        r"\|A\|_F^2 + \|B\|_F^2 \ge 0",
        r"\|A - A\|_F = 0",
        r"\|A\|_2 \le \|A\|_F",
        r"2\|A B\|_2 \le 2\|A B\|_F",
        r"R^\top R F = F",
    ],
)
def test_algebra(statement: str) -> None:
    decision = FREE.decision(statement)
    assert decision.word == "proved", decision


@pytest.mark.parametrize(
    "statement",
    [
        "A B = B A",
        "tr(A B) = tr(A) tr(B)",
        "D A = A D",
        r"A^\top = A",
        r"x^\top A y = y^\top A x",
        r"\sqrt{s^2} = s",
        r"(A + B)^2 = A^2 + 2 A B + B^2",
        r"\operatorname{softmax}(A + B) = \operatorname{softmax}(B)",
        "P R = R P",
        r"\operatorname{softmax}(O A) = O \operatorname{softmax}(A)",
        r"relu(O A) = O relu(A)",
        r"O = O^\top",
        r"\operatorname{softmax}(D A) = D \operatorname{softmax}(A)",
        r"relu(D A) = D relu(A)",
        r"s \ge 0",
        r"s^2 > 0",
        r"\operatorname{softmax}(s A) = \operatorname{softmax}(A)",
        r"e^{s t} = e^s e^t",
        "tr(A) = tr(B)",
        r"\|A + B\|_F = \|A\|_F + \|B\|_F",
        r"ones^\top D = ones^\top",
        r"D ones = ones",
        r"O ones = ones",
        r"\operatorname{softmax}(ones x^\top) = \operatorname{softmax}(A)",
        r"relu(s A) = s relu(A)",
        r"P = I",
        "relu(relu(A) - B) = relu(A) - B",
        "relu(A) + relu(-A) = A",
        "relu(relu(A) - A) = relu(A)",
        "P^{60} = P",
        r"\|A\|_2 = \|A\|_F",
        r"x x^\top = x^\top x I",
        r"\sum_{i=1}^{n} x = x",
        r"\sum_{i=1}^{n} i = n",
    ],
)
def test_wrong_algebra_is_refuted(statement: str) -> None:
    _refuted(FREE, statement)


def test_what_cannot_be_decided_is_left_open_and_says_what_was_tried() -> None:
    decision = FREE.decision(r"\|A + B\|_2 \le \|A\|_2 + \|B\|_2")
    assert decision.word == "holds"
    assert "instances were tried" in decision.reason
    assert FREE.decision(r"A ~ B").word in ("holds", "undecided")


def test_every_term_nonnegative_needs_no_solver() -> None:
    assert FREE.decision(r"\|A\|_F^2 \ge 0").used == TERMS


def test_the_same_question_has_the_same_answer() -> None:
    assert FREE.decision("A B = B A") == FREE.decision("A B = B A")


def test_a_circular_definition_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"defined by itself: (A -> B -> A|B -> A -> B)"
    ):
        FREE.with_definitions({"A": "B + I", "B": "A"}).decision("A = B")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"A": frozenset({"nice"})}, "unknown fact"),
        ({"A,B": frozenset({"diagonal"})}, "unknown fact"),
        ({"F": frozenset({"permutation"})}, "only a square matrix"),
        ({"A,a": frozenset({"columns"})}, "is named as sigma_"),
    ],
)
def test_strange_facts_are_refused(
    facts: dict[str, frozenset[str]], message: str
) -> None:
    given = Given({"A": Shape("n", "n"), "F": Shape("n", "m")}, facts=facts)
    with pytest.raises(InputError, match=message):
        decide(Relation((Name("A"), Name("A")), ("=",)), given)


def test_only_one_comparison_is_decided_at_a_time() -> None:
    with pytest.raises(InputError, match="one comparison"):
        decide(Relation((Name("A"), Name("A"), Name("A")), ("=", "=")), FREE.given)


def test_differences_that_are_given_hold_in_every_counterexample() -> None:
    place = world(
        {"A": ("n", "n"), "B": ("n", "n")},
        {},
        {"n": (1, 2)},
        different=(("A B", "B A"),),
    )
    decision = place.decision("A B = A")
    assert decision.example is not None
    assert decision.example.sizes == {"n": 2}


def test_a_sum_may_not_run_backwards_unnoticed() -> None:
    """sum_{i=k}^{1} is empty for k > 1; a formula for it as a difference of two sums would be wrong."""
    decision = SINGULAR.decision(
        r"\sum_{i=k}^{1} \sigma_i^2 = \sigma_1^2 - \sum_{i<k} \sigma_i^2"
    )
    assert decision.word != "proved"


def test_an_index_inside_a_sum_is_not_taken_for_a_label() -> None:
    place = world({"x_*": ("n", 1), "x_i": ("n", 1), "s_*": (1, 1)}, {}, {"n": (2,)})
    assert place.decision(r"\sum_{i=1}^{n} x_i = n x_i").word != "proved"
    assert place.decision(r"\sum_{i=1}^{n} s_i = n s_1").word != "proved"
    assert place.decision(r"\sum_{i=1}^{n} s_1 = n s_1").word == "proved"


def test_a_counterexample_is_found_beyond_the_usual_sizes() -> None:
    """|A/2|_2 = sigma_1/2 is at most |A|_F/sqrt(k) for k up to 4, and the sizes to try end at 3."""
    decision = SINGULAR.with_definitions({"B": "A/2"}).decision(
        r"\|A - B\|_2 \le \|A\|_F/\sqrt{k}"
    )
    assert decision.word == "refuted"
    assert decision.example is not None
    assert decision.example.sizes == {"d": 5, "k": 5, "n": 5}


@pytest.mark.parametrize(
    ("statement", "size"),
    [
        (r"\sum_{i=1}^{d} \sigma_i \le 2\|A\|_F", 5),
        (r"2^k \le k^2 + 2", 5),
        (r"\|A\|_F^2 = \sum_{i=1}^{d} \sigma_i^2 + (d-1)(d-2)(d-3)\sigma_1^2", 4),
        (r"\sigma_k^2 \le \frac{1}{k^2 - 3k + 3}\|A\|_F^2", 4),
    ],
)
def test_what_fails_only_in_larger_sizes_is_refuted(statement: str, size: int) -> None:
    decision = SINGULAR.decision(statement)
    assert decision.word == "refuted"
    assert decision.example is not None
    assert max(decision.example.sizes.values()) == size


@pytest.mark.parametrize(
    "statement",
    [
        "tr((A + B)^{10}) = tr((A + B)^{11})",
        "(s + t + 1)^{16} (s - t + 2)^{16} = s",
        r"\sum_{i=1}^{n^{n^{n^n}}} s = t",
        r"(A + B)^{16} = A",
        "s^{1000} = t",
        "10^{100000} s = s",
        "A^{1000000} = B",
    ],
)
def test_large_formulas_are_decided_in_time(statement: str) -> None:
    start = time.process_time()
    assert FREE.decision(statement).word == "refuted"
    assert time.process_time() - start < 10


@pytest.mark.parametrize("statement", ["1/0 = 1", "s/0 = s/0", "A/(s - s) = B"])
def test_what_has_no_meaning_is_neither_proved_nor_refuted(statement: str) -> None:
    assert FREE.decision(statement).word in ("holds", "undecided")


@pytest.mark.parametrize(
    ("answer", "low"),
    [
        (r"U_{k-1} S_{k-1} V_{k-1}^\top", "proved"),
        (r"U_k S_k V_k^\top", "refuted"),
        (
            r"U \operatorname{diag}(\sigma_1, \dots, \sigma_{k-1}, 0, \dots, 0) V^\top",
            "proved",
        ),
        (r"U \operatorname{diag}(\sigma_1, \dots, \sigma_d) V^\top", "refuted"),
        (
            r"\sigma_1 u_1 v_1^\top + \dots + \sigma_{k-1} u_{k-1} v_{k-1}^\top",
            "proved",
        ),
        (r"\frac{k}{k+1} \sum_{i<k} \sigma_i u_i v_i^\top", "proved"),
    ],
)
def test_the_first_columns_and_diagonals_with_dots_have_a_meaning(
    answer: str, low: str
) -> None:
    place = SINGULAR.with_definitions({"B": answer})
    assert place.decision(r"\|A - B\|_2 \le \|A\|_F/\sqrt{k}").word == "proved"
    assert place.decision(r"rank(B) \le k - 1").word == low


@pytest.mark.parametrize("name", ["U_1", "U_i", "W_k"])
def test_what_may_not_be_the_first_columns_is_not_read_so(name: str) -> None:
    with pytest.raises(FormulaError):
        SINGULAR.decision(rf"\sum_{{i=1}}^{{k}} {name} = 0")


@pytest.mark.parametrize(
    "statement",
    [
        r"\sum_{i=1}^{n} \sum_{j=1}^{d} A_{ij}^2 = \|A\|_F^2",
        r"\sum_{i=1}^{d} S_{ii} = tr(S)",
        r"A_{ij} = \sum_{l=1}^{d} U_{il} \sigma_l V_{jl}",
        r"(V^\top V)^{-1} = I",
        r"V^{-1} = V^\top",
        r"S_{kk} = \sigma_k",
    ],
)
def test_entries_and_inverses_are_part_of_the_algebra(statement: str) -> None:
    assert SINGULAR.decision(statement).word == "proved"


@pytest.mark.parametrize(
    "statement",
    [
        r"\sum_{i=1}^{n} \sum_{j=1}^{d} A_{ij} = \|A\|_F^2",
        r"V^{-1} = V",
        r"V_{1,2} = V_{2,1}",
        r"(2V)^{-1} = 2 V^\top",
    ],
)
def test_wrong_entries_and_inverses_are_refuted(statement: str) -> None:
    _refuted(SINGULAR, statement)


def test_the_inverse_of_what_may_be_singular_proves_nothing() -> None:
    assert SINGULAR.decision(r"S S^{-1} = I").word != "proved"
    assert SINGULAR.decision(r"(U U^\top)^{-1} = U U^\top").word != "proved"


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (r"\sigma_i^2 \ge \sigma_k^2 \text{ for all } i \le k", "proved"),
        (r"\sigma_i^2 \ge \sigma_k^2 \text{ for all } i \ge k", "refuted"),
        (r"\sigma_i^2 \ge \sigma_k^2 \text{ for all } i", "refuted"),
        (r"\sigma_i^2 \ge \sigma_k^2", "undecided"),
        (r"u_i^\top u_j = 0", "undecided"),
        (r"A v_i = \sigma_i u_i", "proved"),
        (r"\sigma_k \le 0 \text{ for } k > d", "undecided"),
    ],
)
def test_indices_run_over_what_is_said(claim: str, word: str) -> None:
    (part,) = check("energy", claim).parts
    assert part.word == word, part.reason


def test_handout_names_are_those_of_the_exercise() -> None:
    steps = [
        r"H_{\text{perm}} = \text{softmax}(P Q K^\top P^\top/\sqrt{d}) P V = P H",
        r"Z_{\text{perm}} = P Z",
    ]
    assert whole("permutation", *steps).word == "proved"
    assert (
        whole("permutation", steps[0].replace("P^\\top", ""), steps[1]).word
        == "refuted"
    )
    chain = r"\|A\|_F^2 = tr(V \Sigma^2 V^\top) = \sum_i \sigma_i^2"
    assert whole("energy", r"A = U \Sigma V^\top", chain).word == "proved"
    assert (
        whole(
            "energy", r"\Sigma = S^2", r"\|A\|_F^2 = tr(\Sigma) = \sum_i \sigma_i^2"
        ).word
        == "proved"
    )


def test_a_counterexample_is_shown_as_small_explicit_matrices() -> None:
    shown = check("taking-apart", r"M = B B^\top").counterexample
    assert shown == {
        "sizes": {"d": 2, "p": 1, "r": 1},
        "names": {"A": [[1], [0]], "B": [[0], [1]], "x": 1, "y": 1},
        "left": [[0], [1]],
        "right": [[1], [0]],
    }


@pytest.mark.parametrize(
    ("exercise", "claim"),
    [("low-rank", r"rank(B) \le k - 1"), ("taking-apart", "M (v_a + v_b) = v_a")],
)
def test_what_is_said_of_an_object_that_nothing_defines_is_no_answer(
    exercise: str, claim: str
) -> None:
    found = whole(exercise, claim)
    assert found.word == "undecided"
    assert "no formula defines it" in found.reason


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (r"A V_k = U_k S_k", "proved"),
        (r"A V_k = \sigma_k U_k", "undecided"),  # true of the k-th columns
        (r"A V_k = U_k", "undecided"),
        (r"U_k^\top A V_k = S_k", "proved"),
    ],
)
def test_what_is_false_of_the_first_columns_may_be_meant_of_one(
    claim: str, word: str
) -> None:
    (part,) = check("energy", claim).parts
    assert part.word == word, part.reason


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (r"\sigma_1^2 \ge \sigma_2^2 \ge \dots \ge \sigma_k^2", ["proved"]),
        (r"\sigma_1 \ge \dots \ge \sigma_d \ge 0", ["proved", "proved"]),
        (r"\sigma_1 \le \sigma_2 \le \dots \le \sigma_k", ["refuted"]),
        (r"\sigma_1 > \sigma_2 > \dots > \sigma_k", ["refuted"]),
        (r"\sigma_1^2, \dots, \sigma_k^2 \ge \sigma_k^2", ["proved"]),
        (r"\sigma_1, \sigma_2, \dots, \sigma_d \le \sigma_1", ["proved"]),
        (r"\sigma_1, \dots, \sigma_d \ge \sigma_k", ["refuted"]),
    ],
)
def test_chains_with_dots_speak_of_all_between(claim: str, words: list[str]) -> None:
    assert [part.word for part in check("energy", claim).parts] == words


@pytest.mark.parametrize(
    ("bound", "word"),
    [
        (r"(2(d-k)-1)\sigma_1", "undecided"),
        (r"(d-k)\sigma_1", "proved"),
        (r"\sigma_1", "proved"),
    ],
)
def test_a_norm_may_be_that_of_nothing(bound: str, word: str) -> None:
    """For k = d nothing is left of A - U_k S_k V_k^T."""
    (part,) = check("energy", rf"\|A - U_k S_k V_k^\top\|_2 \le {bound}").parts
    assert part.word == word, part.reason


@pytest.mark.parametrize(
    "claim",
    [
        r"A - B = \sum_{i=k}^{n} \sigma_i u_i v_i^\top",
        r"\|A\|_F^2 = \sum_{i=1}^{n} \sigma_i^2",
        r"\sum_{i=1}^n \sigma_i \ge 0",
    ],
)
def test_a_sum_over_more_terms_than_there_are_is_not_passed(claim: str) -> None:
    found = check("low-rank", r"B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top", claim)
    assert found.word == "undecided"
    assert "exist for n <= d only" in found.reason


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (r"B = U S_{k-1} V^\top", "undecided"),
        (r"B = U_{k-1} S_{k-1} V_{k-1}^\top", "proved"),
        (r"B = U_{k-1} S_{k-1} V^\top", "undecided"),
        (r"B = U V_{k-1}^\top", "undecided"),
    ],
)
def test_a_diagonal_that_is_cut_off_may_have_zeros_instead(
    answer: str, word: str
) -> None:
    verdict = check("low-rank", answer)
    assert verdict.word == word, verdict.reason


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        (r"P 1 = 1", "proved"),
        (r"P 1 b_1 = 1 b_1", "proved"),
        (r"1^\top P = 1^\top", "proved"),
        (r"P 1 b_2 = 2 \cdot 1 b_2", "refuted"),
    ],
)
def test_a_plain_1_is_the_vector_of_ones_where_only_that_fits(
    claim: str, word: str
) -> None:
    assert [part.word for part in check("permutation", claim).parts] == [word]


def test_the_statement_says_that_the_decomposition_is_thin() -> None:
    """U U^T = I is refuted for it, and true of a U with n columns."""
    for name in ("energy", "kth-singular-value", "low-rank"):
        assert r"$U$ is $n \times d$" in load_exercises()[name].statement
    assert [part.word for part in check("energy", r"U U^\top = I").parts] == ["refuted"]


@pytest.mark.parametrize(
    ("exercise", "claim", "word"),
    [
        (
            "same-word",
            r"\|(x_t + \phi_t) - (x_k + \phi_k)\| = \|\phi_t - \phi_k\| > 0",
            "proved",
        ),
        ("same-word", r"0 < \|x_t + \phi_t - x_k - \phi_k\|^2", "proved"),
        ("positions-help", r"\|P X + \Phi - P(X + \Phi)\|_F > 0", "proved"),
        ("same-word", r"\|x_t + \phi_t\| > 0", "refuted"),
    ],
)
def test_a_norm_is_above_0_where_its_body_is_not_0(
    exercise: str, claim: str, word: str
) -> None:
    assert check(exercise, claim).word == word


def test_a_name_may_have_a_sum_for_its_index() -> None:
    best, beyond = (
        r"A_{k-1} = \sum_{i<k} \sigma_i u_i v_i^\top",
        r"A_{k+1} = \sum_{i \le k} \sigma_i u_i v_i^\top",
    )
    assert check("low-rank", best, "B = A_{k-1}").word == "proved"
    assert (
        check("low-rank", beyond, best, "B = A_{k+1}").word == "refuted"
    )  # both were called A_

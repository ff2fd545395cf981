"""What an answer earns: an object, a statement that says something, an argument."""

from __future__ import annotations

import pytest

from headwright.check import check
from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.telling.told import shown_word

TRUE_IN_ANY_CASE = [
    ("averaging-scaled-discrete", r"\alpha_1 + \alpha_2 \le 1"),
    ("averaging-scaled-discrete", r"\sum_{i=1}^n \alpha_i = 1"),
    ("averaging-scaled-discrete", r"0 < \alpha_1 < 1"),
    ("self-attention-copy", r"\|c_2\| \ge 0"),
    ("self-attention-copy", r"\alpha_{21} + \alpha_{22} + \alpha_{23} = 1"),
    ("positions-unique", r"t \ge 0"),
    ("positions-unique", r"t = t"),
    ("positions-help", r"P(X + \Phi) = P X + P \Phi"),
    ("positions-help", r"P \Phi \ne \Phi"),
    ("positions-help", r"\Phi - P \Phi \ne 0"),
    ("positions-help", r"3 P \Phi \ne 3 \Phi"),
]
NOT_SAID = [
    ("averaging-scaled-discrete", [r"\alpha_1 \ne \alpha_2"], "alpha_1"),
    ("averaging-scaled-discrete", [r"\alpha_1/\alpha_2 < n/\epsilon"], "alpha_1"),
    ("averaging-scaled-discrete", [r"\alpha_1 > \alpha_2 \text{ if } c = 3/2"], "alpha_1"),
    ("averaging-scaled-discrete", [r"\alpha_1/\alpha_2 = e^{t/2} \text{ if } c = 3/2"], "c = 1/2"),
    ("averaging-scaled-discrete", [r"c < 1 \Rightarrow \alpha_2 \approx 1"], "c = 3/2"),
    ("self-attention-copy", [r"c_2 \ne u_b"], "c_2"),
    ("self-attention-copy", [r"c_2 \approx \alpha_{22} u_a + \alpha_{21} x_1 + \alpha_{23} x_3"], "c_2"),
    ("averaging-scaled", [r"q = \lambda(\mu_a + \mu_b)"], "c"),
    ("averaging-scaled", [r"q = \lambda(\mu_a + \mu_b)", r"g > 1 \Rightarrow c \approx c"], "c"),
]
RESTATED = [
    ("permutation", r"Z_p = P Z"),
    ("permutation", r"Z_p = P^\top P Z_p = P Z"),
    ("permutation", r"Z_p = \frac12(Z_p + P Z) = P Z"),
    ("energy", r"\|A\|_F^2 = \operatorname{tr}(A^\top A) = \sum_{i=1}^d \sigma_i^2"),
    ("energy", r"2\|A\|_F^2 - \|A\|_F^2 = \sum_{j=1}^d \sigma_j^2"),
    (
        "energy",
        r"\|A\|_F^2 = \sum_{i=1}^d \frac1d \|A\|_F^2 = \sum_{i=1}^d \frac1d \sum_j \sigma_j^2",
    ),
    ("energy", r"\|A\|_F^2 = \|A\|_F^2 + \|S\|_F^2 - \operatorname{tr}(S^2) = \sum_j \sigma_j^2"),
    ("kth-singular-value", r"\sigma_k \le \|A\|_F/\sqrt{k}"),
    ("kth-singular-value", r"k \sigma_k^2 = \sum_{i=1}^k \sigma_k^2 \le \|A\|_F^2"),
]
MISSING = [
    ("averaging-two", r"\alpha_a \approx \frac12"),
    ("two-heads", r"q_1 = \lambda \mu_a"),
    ("low-rank", r"\|A\|_F \ge 0"),
    ("copying", r"\alpha_j \le 1"),
    ("copying", r"c \approx v_j"),
]
ANSWERS = [
    ("averaging-scaled-discrete", r"\alpha_2/\alpha_1 = e^{(1-c)t}"),
    ("self-attention-copy", r"\|c_2 - u_a\| \to 0"),
    ("self-attention-copy", r"c_2 = \frac{e^{\beta^2} u_a + u_c + u_d + 2u_b}{e^{\beta^2} + 2}"),
    ("self-attention-copy", r"c_2 \approx x_2"),
    ("positions-unique", r"t - t' = 2\pi k \Rightarrow k = 0"),
    ("positions-help", r"P^\top (P X + \Phi) \ne X + \Phi"),
    ("permutation", r"H_p = \operatorname{softmax}(P Q K^\top P^\top/\sqrt d) P V = P H, Z_p = P Z"),
]


@pytest.mark.parametrize(("exercise", "answer"), TRUE_IN_ANY_CASE + RESTATED)
def test_a_true_statement_that_does_not_answer_is_no_answer(exercise: str, answer: str) -> None:
    verdict = check(exercise, answer)
    assert verdict.word == "no answer", verdict.reason
    assert shown_word(verdict) == "true, but no answer"


@pytest.mark.parametrize(("exercise", "answer"), MISSING)
def test_what_was_asked_for_and_is_missing_is_named(exercise: str, answer: str) -> None:
    verdict = check(exercise, answer)
    assert verdict.word == "no answer", verdict.reason
    assert "defines" in verdict.reason or "condition" in verdict.reason


@pytest.mark.parametrize(("exercise", "answer", "missing"), NOT_SAID)
def test_what_something_is_must_be_said_in_every_case(exercise: str, answer: list[str], missing: str) -> None:
    verdict = check(exercise, *answer)
    assert verdict.word == "no answer", verdict.reason
    assert missing in verdict.reason


ENERGY = r"\|A\|_F^2 = \sum_{i=1}^d \sigma_i^2"
KTH = r"\sigma_k \le \|A\|_F/\sqrt{k}"
TRUE_AND_IDLE = [  # a true step that goes nowhere, beside what was to be shown
    ("energy", r"\operatorname{tr}(S) = \sum_{i=1}^d S_{ii}", ENERGY),
    ("energy", r"\operatorname{tr}(A^\top A) = \sum_{i=1}^n \sum_{j=1}^d A_{ij}^2", ENERGY),
    ("energy", r"\operatorname{tr}(S^2) = \operatorname{tr}(S^2) + \sum_{i=1}^d S_{ii} - \sum_{i=1}^d S_{ii}", ENERGY),
    ("kth-singular-value", r"\sigma_k \le \sigma_k", KTH),
    ("kth-singular-value", r"\|A\|_F/\sqrt{k} \ge \|A\|_F/\sqrt{k}", KTH),
    ("kth-singular-value", r"k \sigma_k^2 \le k \sigma_k^2 + \|A\|_F^2 - \sum_i \sigma_i^2", KTH),
    ("kth-singular-value", r"k \sigma_k^2 \le \frac12 (k \sigma_k^2 + \sum_i \sigma_i^2)", KTH),
    ("permutation", r"H_p = P P^\top H_p", "Z_p = P Z"),
    ("permutation", "Q_p = P Q", "Z_p = P Z"),
]


@pytest.mark.parametrize(("exercise", "step", "goal"), TRUE_AND_IDLE)
def test_a_true_step_that_leads_nowhere_makes_no_argument_of_a_restatement(exercise: str, step: str, goal: str) -> None:
    verdict = check(exercise, step, goal)
    assert verdict.word == "no answer", verdict.reason


def test_a_trace_that_was_written_out_may_be_taken_for_what_is_known_of_it() -> None:
    steps = r"\|A\|_F^2 = \sum_{i=1}^n \sum_{j=1}^d A_{ij}^2 = \operatorname{tr}(A^\top A) = \sum_i \sigma_i^2"
    assert check("energy", steps).word == "proved"
    assert check("energy", steps.replace("A_{ij}^2", "A_{ij}")).word == "refuted"


def test_half_of_an_inequality_is_a_step() -> None:
    assert check("kth-singular-value", r"\sum_{i=1}^k \sigma_i^2 \ge k \sigma_k^2", KTH).word == "proved"


def test_terms_that_are_equal_one_by_one_are_a_step() -> None:
    steps = r"\|A\|_F^2 = \|A V\|_F^2 = \sum_i \|A v_i\|^2 = \sum_i \|\sigma_i u_i\|^2 = \sum_i \sigma_i^2"
    assert check("energy", steps).word == "proved"


@pytest.mark.parametrize(("exercise", "answer"), ANSWERS)
def test_a_claim_that_would_be_false_otherwise_is_an_answer(exercise: str, answer: str) -> None:
    verdict = check(exercise, answer)
    assert verdict.word == "proved", verdict.reason


def test_a_false_statement_beside_no_answer_is_refuted() -> None:
    assert check("averaging-scaled-discrete", r"\alpha_1 + \alpha_2 \le \frac12").word == "refuted"
    assert check("energy", r"\|A\|_F^2 = \sum_i \sigma_i^2, \|A\|_F = 1").word == "refuted"


def test_a_premise_that_never_holds_says_nothing() -> None:
    verdict = check("positions-unique", r"\Phi_t = \Phi_{t'} \text{ for } t' = t + 2\pi")
    assert verdict.word == "no answer"
    assert "never happens" in verdict.reason


@pytest.mark.parametrize(
    ("exercise", "answer", "shapes"),
    [
        ("taking-apart", r"M = A^\top A", "p x p"),
        ("taking-apart", r"M = B", "d x r"),
        ("permutation", r"Z_p = P Z P^\top", "T x o"),
        ("energy", r"\|A\|_F^2 = \operatorname{tr}(A)^2 = \sum_i \sigma_i^2", "n x d"),
    ],
)
def test_a_wrong_shape_is_refuted_with_the_shapes(exercise: str, answer: str, shapes: str) -> None:
    verdict = check(exercise, answer)
    assert verdict.word == "refuted"
    assert verdict.counterexample is not None
    assert shapes in verdict.counterexample["shapes"]


def test_a_query_made_of_values_is_refuted() -> None:
    verdict = check("averaging-two", r"q = \lambda(v_a + v_b)")
    assert verdict.word == "refuted"
    assert "values" in verdict.reason


def test_the_caret_stands_under_the_formula_at_fault() -> None:
    verdict = check("averaging-two", r"\alpha_a \approx \frac12", r"q = \lambda k_x")
    assert verdict.word == "unreadable"
    assert verdict.reason.startswith("q = \\lambda k_x\n            ^^^")


ENERGY = r"\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(S^\top S) = \sum_{i=1}^d\sigma_i^2"


@pytest.mark.parametrize(
    ("exercise", "text", "only"),
    [
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$ for $t' < t < 6$.", "t < 6"),
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$ for $t \ne t'$ if $T \le 3$.", "T <= 3"),
        ("positions-unique", r"Let $T = 4$. Then $\Phi_t \ne \Phi_{t'}$.", "T = 4"),
        ("energy", rf"If $n = d$, ${ENERGY}$.", "n = d"),
        ("permutation", r"For $T = 3$: $Z_p = \operatorname{relu}(P H W_1 + 1 b_1) W_2 + 1 b_2 = P Z$.", "T = 3"),
    ],
)
def test_what_is_said_for_some_of_what_is_given_is_said_for_these_only(exercise: str, text: str, only: str) -> None:
    verdict = check_answer(load_exercises()[exercise], Written(text))
    assert verdict.word == "undecided", verdict.reason
    assert f"is said for {only} only" in verdict.reason


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$ for $0 \le t < t' < T$."),
        ("energy", rf"${ENERGY}$ for $n \ge d$."),
    ],
)
def test_what_is_given_anyway_restricts_nothing(exercise: str, text: str) -> None:
    verdict = check_answer(load_exercises()[exercise], Written(text))
    assert verdict.word == "proved", verdict.reason

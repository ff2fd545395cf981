"""Answers as students write them, right and wrong, beyond the corpora: quantifiers, reasons, steps."""

from __future__ import annotations

import pytest

from headwright.check import check

RIGHT = [
    ("averaging-two", [r"q = \lambda(k_a+k_b)", r"\alpha_a = \alpha_b"]),
    (
        "averaging-two",
        [r"q = \lambda(k_a+k_b)", r"\frac{\alpha_i}{\alpha_a} = e^{-\lambda} \text{ for all } i \ne a, b"],
    ),
    ("averaging-two", [r"q = \lambda(k_a+k_b)", r"\alpha_i < \alpha_a \text{ for all } i \ne a,b"]),
    ("averaging-two", [r"q = \lambda(k_a+k_b)", r"c \to \frac12(v_a+v_b) \text{ as } \lambda\to\infty"]),
    ("averaging-two", [r"q = \ln(n/\epsilon)(k_a+k_b)", r"\alpha_a \ge \frac{1}{2+\epsilon}"]),
    ("averaging-two", [r"q = \ln(1+n/\epsilon)(k_a+k_b)"]),
    ("averaging-two", [r"q = \frac{n}{\epsilon}(k_a+k_b)"]),
    ("averaging-gaussian", [r"q = \ln(n/\epsilon)(\mu_a+\mu_b)", r"c \approx \frac12(v_a+v_b)"]),
    ("averaging-gaussian", [r"q = \lambda(\mu_a+\mu_b)", r"k_a^\top q \approx \lambda"]),
    ("averaging-gaussian", [r"q = \lambda(\mu_a+\mu_b)", r"\|q\| = \sqrt2 \lambda"]),
    (
        "averaging-scaled",
        [r"q=\lambda(\mu_a+\mu_b)", r"c\approx v_a \text{ if } g > 1", r"c \approx v_b \text{ if } g < 1"],
    ),
    ("averaging-scaled", [r"q=\lambda(\mu_a+\mu_b)", r"\frac{\alpha_a}{\alpha_b} \approx e^{\lambda(g-1)}"]),
    (
        "averaging-scaled-discrete",
        [r"\alpha_1 \approx 0 \text{ for } c = \frac12", r"\alpha_2 \approx 0 \text{ for } c = \frac32"],
    ),
    ("averaging-scaled-discrete", [r"\alpha_1 = \frac{(n/\epsilon)^c}{(n/\epsilon)^c + n/\epsilon + n-2}"]),
    ("two-heads-discrete", [r"q_1 = 2\ln(n/\epsilon) u", r"q_2 = 2\ln(n/\epsilon) k_2"]),
    ("two-heads", [r"q_1 = \lambda\mu_a", r"q_2=\lambda\mu_b", r"c_1\approx v_a, c_2\approx v_b"]),
    ("two-heads-scaled", [r"q_1 = \lambda\mu_a", r"q_2=\lambda\mu_b", r"c_2\approx v_b"]),
    ("copying", [r"k_j^\top q - k_i^\top q \ge \ln\frac{n-1}{\delta} \text{ for all } i \ne j", r"c \approx v_j"]),
    ("copying", [r"q^\top k_j \gg q^\top k_i \text{ for every } i\ne j"]),
    (
        "copying-separated",
        [r"q = 2\ln(n/\epsilon)k_1", r"k_1^\top q = 2\ln(n/\epsilon)", r"k_i^\top q \le \ln(n/\epsilon)"],
    ),
    ("copying-separated", [r"q = 2\ln(n/\epsilon)k_1", r"\langle k_1,k_i\rangle \le \frac12 \text{ for all } i \ne 1"]),
    ("averaging-two-bounded", [r"q = \ln(n/\epsilon)(k_1+k_2)", r"k_i^\top q = 0 \text{ for all } i \ne 1, 2"]),
    ("self-attention-copy", [r"\alpha_{22} \approx 1", r"c_2 \approx x_2"]),
    ("self-attention-copy", [r"x_2 = u_a + u_c", r"c_2 \approx u_a + u_c"]),
    ("self-attention-copy", [r"\alpha_{21} = \alpha_{23} = \frac{1}{e^{\beta^2}+2}", r"c_2\approx u_a"]),
    ("positions-unique", [r"\Phi_t = \Phi_{t'} \Rightarrow t = t'"]),
    ("positions-unique", [r"\Phi_t \ne \Phi_{t'}", r"t - t' \ne 2\pi k \text{ for } k \ne 0"]),
    ("positions-help", [r"P(X+\Phi) \ne PX + \Phi"]),
    ("positions-help", [r"P\Phi \ne \Phi \Rightarrow PX + \Phi \ne P(X+\Phi)"]),
    (
        "energy",
        [
            r"\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(V S^2 V^\top) = \operatorname{tr}(S^2) "
            r"= \sum_{i=1}^d \sigma_i^2"
        ],
    ),
    (
        "kth-singular-value",
        [
            r"\|A\|_F^2 = \sum_{i=1}^d\sigma_i^2 \ge \sum_{i=1}^k \sigma_i^2 \ge k\sigma_k^2",
            r"\sigma_k^2 \le \|A\|_F^2/k",
        ],
    ),
    (
        "permutation",
        [
            r"Z_p = \operatorname{relu}(H_p W_1 + 1 b_1)W_2 + 1 b_2 "
            r"= \operatorname{relu}(P H W_1 + 1 b_1)W_2 + 1 b_2 = P Z"
        ],
    ),
    ("taking-apart", [r"M = A A^\top", r"M v_a = v_a, M v_b = 0"]),
    (
        "low-rank",
        [r"B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top", r"\|A-B\|_2 = \sigma_k", r"\operatorname{rank}(B)\le k-1"],
    ),
]
WRONG = [
    ("averaging-two", [r"q = \lambda(k_a+k_b)", r"\alpha_i = \alpha_j \text{ for all } i, j"]),
    ("averaging-two", [r"q = \lambda(k_a+k_b)", r"\sum_{i \ne a} \alpha_i \approx 0"]),
    ("averaging-two", [r"q = \lambda(k_a+k_b)", r"\|q\| \le 1"]),
    ("averaging-two", [r"q = \ln(n-2)(k_a+k_b)"]),
    ("averaging-gaussian", [r"q = 50(\mu_a+\mu_b)"]),
    ("averaging-scaled", [r"q=\lambda(\mu_a+\mu_b)", r"c\approx v_a \text{ if } g > \frac12"]),
    ("averaging-scaled", [r"q=\lambda(\mu_a+2\mu_b)"]),
    ("two-heads-scaled", [r"q_1 = \lambda\mu_a", r"q_2=\lambda\mu_b", r"c_1 \approx v_b"]),
    ("copying", [r"k_j^\top q \gg k_i^\top q \text{ for all } i \ne j", r"\alpha_i \approx 1 \text{ for all } i"]),
    ("copying-separated", [r"q = 2\ln(n/\epsilon)k_1", r"k_i^\top k_1 < 0 \text{ for all } i \ne 1"]),
    ("positions-unique", [r"\Phi_t \ne \Phi_{t'}", r"t < 2\pi"]),
    ("self-attention-copy", [r"c_2 \approx x_1"]),
    ("energy", [r"\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(U S^2 U^\top) = \sum_i \sigma_i"]),
    ("positions-help", [r"PX + \Phi \ne P(X+\Phi), P X = X"]),
]


@pytest.mark.parametrize(("exercise", "formulas"), RIGHT)
def test_a_right_answer_is_proved(exercise: str, formulas: list[str]) -> None:
    verdict = check(exercise, *formulas)
    assert verdict.word == "proved", verdict.reason


@pytest.mark.parametrize(("exercise", "formulas"), WRONG)
def test_a_wrong_answer_is_refuted(exercise: str, formulas: list[str]) -> None:
    verdict = check(exercise, *formulas)
    assert verdict.word == "refuted", verdict.reason

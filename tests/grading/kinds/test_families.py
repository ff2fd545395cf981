"""Counting, by hand, gradients, numeric design: labelled answers, mistakes that are named, attempts to deceive."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from headwright.errors import InputError
from headwright.grading.exercise import load_exercises, parse_exercise
from headwright.grading.grade import grade
from headwright.grading.markdown import Written
from headwright.grading.verdict import Verdict

LABELLED = [
    json.loads(line)
    for line in (Path(__file__).parent / "families.jsonl").read_text().splitlines()
]


EXERCISES = load_exercises()


def verdict_on(exercise: str, answer: str) -> Verdict:
    return grade(EXERCISES[exercise], Written(answer))


@pytest.mark.parametrize(
    "sample", LABELLED, ids=lambda sample: f"{sample['exercise']}-{sample['label']}"
)
def test_labelled_answers(sample: dict[str, str]) -> None:
    """Labels were checked by numerics; an answer is never judged against its label."""
    verdict = verdict_on(sample["exercise"], sample["answer"])
    assert verdict.word == sample["verdict"], verdict.reason
    if sample["label"] == "right":
        assert not verdict.false_formulas


@pytest.mark.parametrize(
    ("exercise", "answer", "told"),
    [
        (
            "count-attention-flops",
            "$F = 4Td^2 + 2T^2d$",
            "the factor 2 of a multiply-add",
        ),
        ("count-attention-flops", "$F = 8Td^2 + 2T^2d$", "the product with V"),
        ("count-longer-context", "$r = 16$", "grow with the square of the context"),
        ("count-grouped-cache", "$M = 1.25$ GB", "GB for GiB"),
        ("count-kv-cache", "$M = 4LTd$", "the true count is b times this"),
        ("hand-attention", "$O = [[0.73, 0.54], [0.5, 1]]$", "forgets the scale"),
        ("hand-attention", "$O = [[0.5, 0.66], [0.5, 1.34]]$", "over the wrong axis"),
        ("hand-attention", "$O = [[0.5, 1], [0.33, 1.34]]$", "K Q^T for Q K^T"),
        (
            "hand-attention",
            "$A = [[0.6, 0.4], [0.5, 0.5]]$, $O = [[0.6, 0.8], [0.5, 1]]$",
            "follows from your A (line 1)",
        ),
        (
            "gradient-negative-sampling",
            r"$g = (\sigma(u^\top v) - 1)u - \sigma(w^\top v)w - \sigma(r^\top v)r$",
            "the sign of the terms of the negative samples is wrong",
        ),
        ("gradient-cross-entropy", r"$\nabla_z L = y - p$", "the sign is wrong"),
        ("gradient-linear", r"$G = x \delta^\top$", "this is the transpose"),
        ("design-one-key", r"$q = \text{none}$", "has length 5.004 (proved)"),
    ],
)
def test_published_mistakes_are_named(exercise: str, answer: str, told: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word == "refuted"
    assert told in verdict.reason


@pytest.mark.parametrize(
    ("exercise", "answer", "told"),
    [
        ("count-layer-parameters", "With biases, $N = 12Ld^2$.", "'With biases'"),
        ("count-layer-parameters", "$N = 12 L d^2$ per layer", "'per layer'"),
        ("count-layer-parameters", "$N = 12Ld^2$ plus embeddings", "'plus embeddings'"),
        ("count-layer-parameters", "For $d = 12$, $N = 12 L d^2$.", "for d = 12 only"),
        ("count-layer-parameters", "$N = 12 L d^2$ bytes", "bytes is not a name"),
        ("count-layer-parameters", r"$N = \mathrm{total}$", ""),
        ("count-kv-cache", "In fp32, $M = 4 b L T d$.", "'In fp32'"),
        ("hand-attention", "$O = A V$", "its value is asked for"),
        ("hand-attention", r"$O = \operatorname{softmax}(Q K^\top/\sqrt2) V$", "value"),
        ("gradient-cross-entropy", r"$g = \nabla_z L$", ""),
        (
            "gradient-cross-entropy",
            r"$\nabla_z L = \frac{\partial p}{\partial z}^\top \frac{\partial L}{\partial p}$",
            "a derivative is still to be taken",
        ),
        ("gradient-cross-entropy", "$g_1 = p_1 - y_1$", ""),
        ("gradient-sigmoid", r"$r = s - s^2$ for $x > 0$", "for x > 0 only"),
        ("gradient-softmax", r"$J_{ii} = p_i(1 - p_i)$", ""),
    ],
)
def test_what_was_not_used_or_not_given_is_not_proved(
    exercise: str, answer: str, told: str
) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word in ("undecided", "missing")
    assert told.lower() in verdict.reason.lower()


def test_what_the_exercise_says_itself_may_be_repeated() -> None:
    answer = "Ignoring biases and layer norms, $N = 12 L d^2$."
    assert verdict_on("count-layer-parameters", answer).word == "proved"


def test_a_false_step_beside_a_right_value_is_false() -> None:
    verdict = verdict_on(
        "hand-attention", "$S = [[1, 0], [1, 1]]$. $O = [[0.67, 0.66], [0.5, 1]]$"
    )
    assert verdict.word == "proved"
    assert [formula.line for formula in verdict.false_formulas] == [1]


GRADIENT = r"""
id = "mine"
title = "Mine"
statement = "The gradient $g$ of $L$ by $x$."
answer = ["g"]
goals = ['g = \nabla_x L']
[gradients]
variables = { x = [2, 1], D = [2, 1] }
functions = { y = '2 x', L = 'D^\top x' }
wanted = { g = { of = "L", by = "x" } }
known = { D = { of = "L", by = "y" } }
"""


def test_there_is_no_query_is_proved_by_a_certificate() -> None:
    assert verdict_on("design-impossible", r"$q = \text{none}$").word == "proved"
    refuted = verdict_on("design-length", "$q = (4, 0, 0)$")
    assert refuted.suggestion is not None
    assert "longer than 4.318" in refuted.suggestion


def test_an_own_number_that_is_large_meets_a_goal_within_a_tolerance() -> None:
    answer = r"$q = \lambda (1, 1, 0)$ with $\lambda$ large"
    assert verdict_on("design-output", answer).word == "proved"
    answer = r"$q = \lambda (1, 1, 0)$ with $\lambda > 0$"
    assert verdict_on("design-output", answer).word == "refuted"


def test_a_derivative_that_is_given_must_be_one() -> None:
    with pytest.raises(InputError, match="D is not the derivative of L by y"):
        parse_exercise(GRADIENT)
    right = parse_exercise(GRADIENT.replace(r"D^\top x", r"D^\top y"))
    assert grade(right, Written("$g = 2 D$")).word == "proved"


COUNT = """
id = "mine"
title = "Mine"
statement = "How many bytes $M$?"
answer = ["M"]
goals = ['M = \\mathrm{total}']
[parameters]
B = { integer = true, at_least = 1 }
[counting]
unit = "bytes"
pieces = { cache = { title = "the cache", array = ["B"] } }
"""


def test_a_parameter_must_not_be_the_sign_of_bytes() -> None:
    with pytest.raises(InputError, match="B is a parameter, and the sign of bytes"):
        parse_exercise(COUNT)


def test_pieces_fit_what_is_counted() -> None:
    with pytest.raises(InputError, match="count pieces with product"):
        parse_exercise(COUNT.replace('"bytes"', '"FLOPs"'))


def test_the_gallery_shows_the_exercises_as_they_are() -> None:
    path = Path(__file__).parents[3] / "docs" / "site" / "gallery.py"
    spec = importlib.util.spec_from_file_location("gallery", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.gallery()


@pytest.mark.parametrize(
    ("exercise", "answer", "word"),
    [
        ("count-grouped-cache", "$M = 1.34$ gigabytes", "proved"),
        ("count-grouped-cache", "$M = 1342$ Megabyte", "proved"),
        ("count-grouped-cache", "$M = 1.34$ GByte", "proved"),
        ("count-grouped-cache", "$M = 1.25$ gibibytes", "proved"),
        ("count-grouped-cache", "$M = 10.74$ gigabits", "proved"),
        ("count-grouped-cache", "In GB: $M = 1.34$.", "proved"),
        ("count-grouped-cache", "$M = 1.34$ megabytes", "refuted"),
        ("count-gpt2-xl", "$N = 1.56$ Milliarden", "proved"),
        ("count-gpt2-xl", "$N = 1.56$ bn", "proved"),
        ("count-gpt2-xl", "$N \\approx 1.56$ thousand million", "proved"),
        ("count-gpt2-xl", "In billions of parameters, $N = 1.56$.", "proved"),
        ("count-gpt2-xl", "In total, $N = 1.56$.", "refuted"),
        ("count-grouped-cache", "$M = 1.34$ Go", "undecided"),
        ("count-grouped-cache", "$M = 335.5$ megawords", "undecided"),
        ("count-optimizer-state", "$M = 4N$ words of 4 bytes each", "undecided"),
        ("count-kv-cache", "$M = 4bLTd$ Megabyte", "refuted"),
        ("count-kv-cache", "$M = 4bLTd$ kilobytes", "refuted"),
        ("count-longer-context", "$r = 3805$ percent", "undecided"),
        ("count-longer-context", "$r = 38$ percent", "undecided"),
        ("count-longer-context", "It is 38 percent, so $r = 38$.", "undecided"),
        ("hand-weights", r"$\alpha = (57.6, 21.2, 21.2)$ percent", "undecided"),
        ("hand-weights", r"In percent, $\alpha = (57.6, 21.2, 21.2)$.", "undecided"),
        ("hand-softmax", "In thirteenths, $p = (4, 6, 2, 1)$.", "undecided"),
    ],
)
def test_words_beside_a_number_scale_it(exercise: str, answer: str, word: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word == word, verdict.reason


@pytest.mark.parametrize(
    ("exercise", "answer", "word"),
    [
        ("gradient-cross-entropy", "With $e = p - y$ we have $g = e$.", "proved"),
        ("gradient-cross-entropy", "Let $e = y - p$. Then $g = -e$.", "proved"),
        ("gradient-cross-entropy", "Let $e = y - p$. Then $g = e$.", "refuted"),
        ("gradient-linear", r"Let $e = \delta$. $G = e x^\top$.", "proved"),
        (
            "averaging-two",
            r"Let $\pi = \ln(n/\epsilon)$. $q = \pi(k_a+k_b)$.",
            "proved",
        ),
    ],
)
def test_an_answer_may_define_e_and_pi(exercise: str, answer: str, word: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word == word, verdict.reason
    assert not verdict.false_formulas


@pytest.mark.parametrize(
    "answer",
    [
        "Diagonal: $J_{ii} = p_i(1-p_i)$. Off the diagonal: $J_{ij} = -p_ip_j$.",
        "Diagonal entries: $J_{ii} = p_i(1-p_i)$. Other entries: $J_{ij} = -p_ip_j$.",
        "On the diagonal we get $J_{ii} = p_i(1-p_i)$ and off the diagonal $J_{ij} = -p_ip_j$.",
    ],
)
def test_entries_told_in_words_are_not_refuted(answer: str) -> None:
    verdict = verdict_on("gradient-softmax", answer)
    assert verdict.word == "undecided", verdict.reason
    assert "diagonal" in verdict.reason
    assert not verdict.false_formulas

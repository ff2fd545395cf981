"""Tight tolerances, thin targets, large and odd rules: weights and a bound, or a sentence; never a crash."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from headwright.head_design import (
    HeadsResult,
    Rule,
    Rules,
    build,
    parse_rules,
    read_rules,
)
from headwright.head_design import builder as built_by
from headwright.head_design.head_design import plain_values
from headwright.head_design.smallest_matrix import PatternGoal, smallest
from tests.head_design.test_builder import DIRECTIONS, ROUTE, kept

EXAMPLES = Path(__file__).parents[2] / "examples" / "heads"


def tightened(name: str, tolerance: str, **options: str) -> HeadsResult:
    rules = read_rules(EXAMPLES / f"{name}.toml")
    tight = tuple(replace(rule, tolerance=Fraction(tolerance)) for rule in rules.rules)
    return build(Rules(rules.sequences, tight, rules.causal), **options)  # type: ignore[arg-type]


# At 1e-12 rounding to float64 takes a part of the tolerance, we think: one norm came out 0.12% above the least.
@pytest.mark.parametrize(
    ("tolerance", "above"), [("1e-6", 1e-3), ("1e-9", 1e-3), ("1e-12", 1e-2)]
)
@pytest.mark.parametrize(
    "name", ["first", "induction", "lookup", "majority", "previous", "route"]
)
def test_tight_tolerances_are_kept_and_the_norm_is_nearly_the_least(
    name: str, tolerance: str, above: float
) -> None:
    found = tightened(name, tolerance)
    kept(found)
    assert found.frobenius <= found.lower_bound * (1 + above)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["majority", "previous"])
def test_values_that_a_type_has_are_found_for_tight_tolerances(
    name: str, dtype: str
) -> None:
    kept(tightened(name, "1e-10", dtype=dtype))


def test_the_smallest_dimension_keeps_a_tight_tolerance() -> None:
    found = tightened("majority", "1e-12", minimise="rank")
    kept(found)
    assert found.head_dim == 1


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([1e-5, 1e-8, 1e-11]))
def test_thin_targets_are_met_with_multipliers_that_make_the_bound(
    seed: int, targets: int, left: float
) -> None:
    from headwright.head_design.head_design import value

    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, size=targets)
    p = weights / weights.sum() * (1 - left)
    goals = [
        PatternGoal(
            rng.normal(size=(8, 12)),
            rng.normal(size=6),
            tuple(range(targets)),
            1 / p - 1,
            left,
        )
    ]
    found = smallest(goals)
    assert goals[0].evened and found.met
    scores = goals[0].keys @ found.matrix @ goals[0].query
    alpha = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    assert (alpha[:targets] >= p * (1 - 1e-3 * left) - 1e-14).all()
    size = float(np.linalg.norm(found.matrix))
    assert size * 0.98 <= value(goals, found, "frobenius") <= size * (1 + 1e-3)


def test_an_average_of_very_many_tokens_needs_no_scores() -> None:
    found = build(
        parse_rules(
            f'tokens = {[[1.0]] + [[2.0]] * 500}\n[[rule]]\ntoken = 1\naverage = "all"'
        )
    )
    kept(found)
    assert found.frobenius == 0


@given(st.integers(0, 10**6))
def test_plain_values_are_as_good_as_the_smallest_with_fewer_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y, W = rng.integers(-2, 3, size=(3, 7)).astype(float), rng.normal(size=(2, 7))
    found = plain_values(Y, Y @ W.T)
    np.testing.assert_allclose(Y @ found.T, Y @ W.T, atol=1e-9)
    assert np.count_nonzero(np.abs(found).max(axis=0)) <= np.linalg.matrix_rank(Y)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            DIRECTIONS + '[[rule]]\ntoken = 0\noutput = "b"\ntolerance = 1e-300',
            "1e-300: expected 1e-30 or more",
        ),
        (
            "dimension = 4096\n" + ROUTE,
            "dimension is 4096: expected a number of at most 1024",
        ),
        (
            f"tokens = {[[1.0]] * 5000}\n[[rule]]\ntoken = 0\ncopy = 1",
            "there are 5000 tokens: expected at most 4096",
        ),
        (
            "tokens = [[1e200, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 0\ncopy = 1",
            r"size 1.00000e\+200: expected at most",
        ),
        (
            'directions = { a = "1e400" }\ntokens = ["a"]\n[[rule]]\ntoken = 0\ncopy = 0',
            "at most 300 digits",
        ),
        (
            DIRECTIONS + f'[[rule]]\ntoken = 0\noutput = "{"9" * 400} b"',
            "output of token 0 holds a number of size",
        ),
        (
            DIRECTIONS + f"[[rule]]\ntoken = 0\noutput = {[1.0] * 2000}",
            "has 2000 numbers: expected at most 1024",
        ),
    ],
    ids=lambda value: value[:40],
)
def test_what_is_too_large_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_rules(text)


def test_rules_from_arrays_have_the_same_limits() -> None:
    rule = Rule(0, attend={0: Fraction(1, 2)})
    for X, words in (
        (np.ones((5000, 1)), "5000 tokens"),
        (np.ones((1, 5000)), "tokens have 5000 numbers"),
        (np.full((1, 1), 1e200), r"size 1e\+200"),
    ):
        with pytest.raises(InputError, match=words):
            Rules((X,), (rule,))
    with pytest.raises(InputError, match="names of tokens are not as many"):
        Rules((np.eye(2),), (rule,), names=(("a",),))


def test_what_stands_in_the_way_is_said() -> None:
    wanted = {0: "1/3 b - c", 1: "0.1 b"}
    tight = "".join(
        f'[[rule]]\ntoken = {i}\noutput = "{w}"\ntolerance = 1e-9\n'
        for i, w in wanted.items()
    )
    found = build(parse_rules(DIRECTIONS + tight), dtype="bfloat16")
    assert found.word == "undecided"
    assert "too tight for values in bfloat16" in found.words
    text = "tokens = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]\n"
    text += "".join(
        f"[[rule]]\ntoken = {i}\ncopy = {a}\n" for i, a in enumerate((3, 0, 1, 2))
    )
    found = build(parse_rules(text), head_dim=1)
    assert (
        found.word == "impossible"
    )  # more than two tokens are copied from one seen set
    assert found.words.startswith(
        "there is no head of dimension 1, and there is one of dimension 2."
    )
    assert verify(found.certificate or "").word == "verified"


def test_a_solver_that_breaks_down_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(built_by, "design_head", broken)
    assert build(parse_rules(ROUTE)).word == "undecided"


def test_a_uncertainty_that_is_too_wide_is_given_up_at_once() -> None:
    assert build(parse_rules(ROUTE + "[uncertainty]\nball = 5.0\n")).word == "undecided"

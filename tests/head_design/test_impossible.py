"""No head at all: rules that contradict each other are proved to, and only these."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from headwright.head_design import Rule, Rules, build, parse_rules
from headwright.head_design.impossible import prove_impossible
from tests.effort import tried


def impossible(text: str) -> dict[str, object]:
    found = build(parse_rules(text))
    assert found.word == "impossible", found.words
    assert found.certificate is not None and found.layer is None
    assert verify(found.certificate).words == found.words
    statement: dict[str, object] = json.loads(found.certificate)["statement"]
    return statement


def test_two_rules_that_are_possible_alone_may_contradict_each_other() -> None:
    tokens, first, second = (
        "tokens = [[1.0], [2.0], [-1.0]]\n",
        "token = 0\ncopy = 1\n",
        "token = 1\ncopy = 2\n",
    )
    for alone in (first, second):
        assert build(parse_rules(f"{tokens}[[rule]]\n{alone}")).word == "designed"
    statement = impossible(
        f"{tokens}[[rule]]\n{first}[[rule]]\n{second}[[rule]]\ntoken = 2\ncopy = 2\nhead = 1\n"
    )
    assert [rule["token"] for rule in statement["rules"]] == [0, 1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "tokens = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]\n[[rule]]\ntoken = 2\ncopy = 0\n",  # twins
        "tokens = [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]]\n[[rule]]\ntoken = 1\ncopy = 0\n",  # in the middle
        "tokens = [[0.0, 0.0], [2.0, 2.0], [0.0, 1.0]]\n[[rule]]\ntoken = 0\ncopy = 1\n",  # 0 asks for nothing
        "tokens = [[1.0], [1.0], [1.0]]\nalibi = 1.0\n[[rule]]\ntoken = 2\ncopy = 0\n",  # only places tell
        "tokens = [[1.0], [1.0]]\nbiases = true\n[[rule]]\ntoken = 0\ncopy = 1\n",
        'tokens = [[0.0], [1.0]]\nmask = "causal"\n[[rule]]\ntoken = 0\noutput = [1.0]\n',  # sees nothing but 0
        "tokens = [[0.0], [1.0], [-1.0]]\n[[rule]]\ntoken = 0\noutput = [1.0]\n",  # the mean of all is 0
        "sequences = [[[1.0]], [[2.0]]]\n[[rule]]\nsequence = '*'\ntoken = 0\noutput = [1.0]\n",  # linear
        "sequences = [[[1.0]], [[2.0]], [[3.0]]]\nbiases = true\n"
        "[[rule]]\nsequence = [0, 1]\ntoken = 0\noutput = [1.0]\n"
        "[[rule]]\nsequence = 2\ntoken = 0\noutput = [2.0]\n",  # affine
    ],
)
def test_impossible_is_proved(text: str) -> None:
    impossible(text)


@pytest.mark.parametrize(
    "text",
    [
        "tokens = [[0.0, 0.0], [2.0, 2.0], [0.0, 1.0]]\nbiases = true\n[[rule]]\ntoken = 0\ncopy = 1\n",
        "sequences = [[[1.0]], [[2.0]]]\nbiases = true\n[[rule]]\nsequence = '*'\ntoken = 0\noutput = [1.0]\n",
        "tokens = [[1.0], [1.0], [1.0]]\nalibi = -9.0\n[[rule]]\ntoken = 2\ncopy = 0\n",
    ],
)
def test_biases_make_some_of_these_possible(text: str) -> None:
    found = build(parse_rules(text))
    assert found.word == "designed", found.words


@settings(max_examples=tried(25))
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_every_set_of_floors_is_decided_as_another_solver_decides_it(
    seed: int, causal: bool, whole: bool
) -> None:
    rng = np.random.default_rng(seed)
    T, D = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    X = (
        rng.integers(-2, 3, size=(T, D)).astype(float)
        if whole
        else rng.normal(size=(T, D)).round(2)
    )
    chosen = tuple(
        Rule(
            i, attend={int(rng.integers(i + 1)): Fraction(int(rng.integers(2, 10)), 10)}
        )
        for i in range(T)
    )
    try:
        rules = Rules((X,), chosen, causal)
    except InputError:
        return
    M, t = cp.Variable((D, D)), cp.Variable()
    held = [
        cp.log_sum_exp((rules.tokens(r) - X[a]) @ M @ X[r.token])
        + float(np.log(float(p)))
        <= t
        for r in chosen
        for a, p in (r.attend or {}).items()
    ]
    values = []
    for most in (1e3, 1e6):  # some rules need large weights
        problem = cp.Problem(cp.Minimize(t), [*held, cp.norm(M, "fro") <= most])
        with (
            warnings.catch_warnings()
        ):  # where the other solver doubts its own answer, it is not asked
            warnings.simplefilter("ignore")
            try:
                problem.solve(solver=cp.CLARABEL)
            except cp.SolverError:
                reject()
        assume(problem.status == cp.OPTIMAL)
        values.append(problem.value)
    verdict = build(rules).word
    if min(values) > 1e-5:
        assert verdict == "impossible"
    elif values[0] < -1e-5:
        assert verdict == "designed"


def test_what_is_possible_is_not_proved_impossible() -> None:
    rules = Rules(
        (np.eye(3),),
        (Rule(0, attend={1: Fraction(9, 10)}), Rule(1, attend={2: Fraction(9, 10)})),
    )
    assert prove_impossible(rules, rules.rules) is None


def test_a_proof_that_would_take_too_long_is_not_tried() -> None:
    X = np.random.default_rng(0).normal(size=(30, 30))
    X = np.vstack([X, X[:1]])
    rules = Rules((X,), tuple(Rule(i, attend={0: Fraction(9, 10)}) for i in range(30)))
    assert prove_impossible(rules, rules.rules) is None

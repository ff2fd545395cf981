"""Heads run on tokens that may be elsewhere: bounds that hold, and that some realization nearly meets."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.certificates.exact.heads.run import (
    CERTAIN,
    PIECES,
    ExactHead,
    HeadRule,
    HeadRun,
    TokenRange,
    error_above,
)
from tests.effort import tried

LOW, HIGH = Fraction(7, 10), Fraction(13, 10)
Case = tuple[np.ndarray, dict[str, np.ndarray], HeadRun, tuple[int, ...]]


def exact(rows: np.ndarray) -> list[tuple[Fraction, ...]]:
    return [tuple(map(Fraction, row)) for row in rows.tolist()]


def case(
    seed: int, uncertainty: TokenRange, *, biases: bool, size: float = 1.0
) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, 3))
    weights = {name: size * rng.normal(size=(2, 3)) for name in ("Q", "K", "V")}
    weights |= {
        "b_Q": rng.normal(size=2),
        "b_V": rng.normal(size=2),
        "bias": rng.normal(size=(4, 4)),
    }
    if not biases:
        weights |= {name: 0 * weights[name] for name in ("b_Q", "b_V", "bias")}
    b_Q, b_V = (
        exact(weights[name][None])[0] if biases else () for name in ("b_Q", "b_V")
    )
    Q, K, V = (exact(weights[name]) for name in "QKV")
    head = ExactHead(Q, K, V, b_Q, b_V, exact(weights["bias"]) if biases else ())
    seen = tuple(sorted({1, *rng.choice(4, size=3, replace=False).tolist()}))
    return X, weights, HeadRun([exact(X)], uncertainty, head), seen


def rule(seen: tuple[int, ...], **said: object) -> HeadRule:
    plain: dict[str, object] = {
        "attend": {},
        "at_most": {},
        "output": (),
        "tolerance": Fraction(0),
    }
    return HeadRule(0, 1, 0, **(plain | said), seen=seen)  # type: ignore[arg-type]


def run(
    X: np.ndarray, w: dict[str, np.ndarray], seen: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The pattern of token 1 over what it sees, and its output, in floating point."""
    S = X[list(seen)]
    s = S @ w["K"].T @ (w["Q"] @ X[1] + w["b_Q"]) + w["bias"][1, list(seen)]
    e = np.exp(s - s.max())
    alpha = e / e.sum()
    return alpha, alpha @ S @ w["V"].T + w["b_V"]


def worst_corners(case: Case, token: int, sign: int, steps: int = 400) -> float:
    """The least (or largest) weight of a token of uncertain length, on a grid of its own length, all others at ends."""
    X, w, _, seen = case
    found = []
    for c in np.linspace(float(LOW), float(HIGH), steps):
        S = X[list(seen)]
        base, added = c * (S @ w["K"].T @ (w["Q"] @ X[1])), S @ w["K"].T @ w["b_Q"]
        ends = np.array([float(LOW) * (base + added), float(HIGH) * (base + added)])
        own = seen.index(1)
        ends[:, own] = c * (base[own] + added[own])
        ends += w["bias"][1, list(seen)]
        at = seen.index(token)
        s = (ends.max(axis=0) if sign > 0 else ends.min(axis=0)).copy()
        s[at] = ends[:, at].min() if sign > 0 else ends[:, at].max()
        found.append(np.exp(s[at] - s.max()) / np.exp(s - s.max()).sum())
    return min(found) if sign > 0 else max(found)


@settings(max_examples=tried(60))
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.3, 1.0, 2.0]))
def test_least_weights_in_a_scale_uncertainty_are_exact(
    seed: int, biases: bool, size: float
) -> None:
    one = case(seed, TokenRange(Fraction(0), LOW, HIGH), biases=biases, size=size)
    below = one[2].pattern_below(
        rule(one[3], attend=dict.fromkeys(one[3], Fraction(1, 10)))
    )
    for token, least in zip(one[3], below, strict=True):
        truth = worst_corners(one, token, 1)
        assert float(least) <= truth * (1 + 1e-12)
        own = abs(
            float((one[0][1] @ one[1]["K"].T) @ (one[1]["Q"] @ one[0][1]))
        )  # |s_i|: the line costs s_i w^2 / 4
        assert (
            float(least)
            >= truth * (1 - 1e-3) * np.exp(-own * (0.6 / 32) ** 2 / 4) - 1e-70
        )


@given(st.integers(0, 10**6), st.booleans())
def test_one_piece_does_where_nothing_bends_the_wrong_way(
    seed: int, biases: bool
) -> None:
    one = case(seed, TokenRange(Fraction(0), LOW, HIGH), biases=biases)
    own = float((one[0][1] @ one[1]["K"].T) @ (one[1]["Q"] @ one[0][1]))
    for at, token in enumerate(one[3]):
        mine = rule(one[3], attend={token: Fraction(1, 10)})
        if (own < 0) == (token == 1):
            assert len(list(one[2].pieces(mine))) == 1
            assert float(one[2].pattern_below(mine)[at]) == pytest.approx(
                worst_corners(one, token, 1), rel=1e-9
            )


@settings(max_examples=tried(60))
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.3, 1.0, 2.0]))
def test_largest_weights_in_a_scale_uncertainty_are_safe_and_near(
    seed: int, biases: bool, size: float
) -> None:
    one = case(seed, TokenRange(Fraction(0), LOW, HIGH), biases=biases, size=size)
    for token in one[3]:
        most = float(
            one[2].weight_above(rule(one[3], at_most={token: Fraction(1, 2)}), token)
        )
        truth = worst_corners(one, token, -1)
        assert most >= truth * (1 - 1e-12)
        assert most <= truth * 1.6 or most < 1e-6


@given(st.integers(0, 10**6), st.booleans())
def test_without_a_uncertainty_weights_and_outputs_are_what_they_are(
    seed: int, biases: bool
) -> None:
    X, w, ran, seen = case(seed, CERTAIN, biases=biases)
    alpha, output = run(X, w, seen)
    np.testing.assert_allclose(
        [float(a) for a in ran.pattern_below(rule(seen))], alpha, rtol=1e-12
    )
    above = [float(ran.weight_above(rule(seen), token)) for token in seen]
    np.testing.assert_allclose(above, alpha, rtol=1e-12)
    wanted = rule(seen, output=(Fraction(1), Fraction(2)))
    np.testing.assert_allclose(
        float(error_above(wanted, [ran])), np.linalg.norm(output - [1, 2]), rtol=1e-12
    )
    twice = float(error_above(wanted, [ran, ran]))
    np.testing.assert_allclose(twice, np.linalg.norm(2 * output - [1, 2]), rtol=1e-12)


@settings(max_examples=tried(40))
@given(
    st.integers(0, 10**6),
    st.booleans(),
    st.sampled_from(
        [
            TokenRange(Fraction(1, 50), Fraction(19, 20), Fraction(1)),
            TokenRange(Fraction(0), LOW, HIGH),
        ]
    ),
)
def test_no_uncertainty_breaks_the_bounds(
    seed: int, biases: bool, uncertainty: TokenRange
) -> None:
    X, w, ran, seen = case(seed, uncertainty, biases=biases)
    mine = rule(
        seen,
        output=(Fraction(1), Fraction(2)),
        at_most=dict.fromkeys(seen, Fraction(1)),
    )
    below, error = (
        [float(a) for a in ran.pattern_below(mine)],
        float(error_above(mine, [ran])),
    )
    above = [float(ran.weight_above(mine, token)) for token in seen]
    rng = np.random.default_rng(seed)
    for _ in range(60):
        c = rng.uniform(float(uncertainty.low), float(uncertainty.high), size=(4, 1))
        c = np.where(
            rng.random((4, 1)) < 0.7,
            rng.choice([float(uncertainty.low), float(uncertainty.high)], size=(4, 1)),
            c,
        )
        e = rng.normal(size=X.shape)
        alpha, output = run(
            c * X + float(uncertainty.ball) * e / np.linalg.norm(e, axis=1)[:, None],
            w,
            seen,
        )
        assert (alpha >= np.array(below) * (1 - 1e-12)).all()
        assert (alpha <= np.array(above) * (1 + 1e-12)).all()
        assert np.linalg.norm(output - [1, 2]) <= error * (1 + 1e-12)


def test_scores_far_apart_have_weights_of_almost_nothing() -> None:
    tokens = [(Fraction(1),), (Fraction(10**9),)]
    ran = HeadRun(
        [tokens],
        CERTAIN,
        ExactHead(((Fraction(1),),), ((Fraction(1),),), ((Fraction(1),),)),
    )
    mine = HeadRule(0, 0, 0, {}, {0: Fraction(1, 2)}, (), Fraction(0), (0, 1))
    assert ran.weight_above(mine, 0) < Fraction(1, 10**400)
    assert ran.pattern_below(mine)[0] == 0


@pytest.mark.parametrize("k", range(1, 20))
def test_bounds_of_weights_are_on_their_sides_of_the_truth_in_every_digit(
    k: int,
) -> None:
    tokens, one = [(Fraction(k, 7),), (Fraction(0),)], ((Fraction(1),),)
    ran, mine = (
        HeadRun([tokens], CERTAIN, ExactHead(one, one, one)),
        HeadRule(0, 0, 0, {}, {}, (), Fraction(0), (0, 1)),
    )
    with mpmath.workdps(200):
        share, hair = (
            1 / (1 + mpmath.exp(-mpmath.mpf(k * k) / 49)),
            mpmath.mpf(2) ** -112,
        )
        for token, least, truth in zip(
            (0, 1), ran.pattern_below(mine), (share, 1 - share), strict=True
        ):
            most = ran.weight_above(mine, token)
            assert (
                truth
                < mpmath.mpf(most.numerator) / most.denominator
                < truth * (1 + hair)
            )
            assert (
                truth * (1 - hair)
                < mpmath.mpf(least.numerator) / least.denominator
                < truth
            )


def test_an_output_moves_with_its_tokens() -> None:
    """One token, of value 2 x: a ball of 1/4 and a scale up to 3/2 move it by 1/2 and by 1."""
    one, two = ((Fraction(1),),), ((Fraction(2),),)
    mine = HeadRule(0, 0, 0, {}, {}, (Fraction(2),), Fraction(0), (0,))
    for uncertainty, off in (
        (TokenRange(Fraction(1, 4), Fraction(1), Fraction(1)), "1/2"),
        (TokenRange(Fraction(0), Fraction(1), Fraction(3, 2)), "1"),
        (TokenRange(Fraction(1, 4), Fraction(1), Fraction(3, 2)), "3/2"),
    ):
        assert error_above(
            mine, [HeadRun([one], uncertainty, ExactHead(one, one, two))]
        ) == Fraction(off)


@pytest.mark.parametrize(("low", "high"), [(LOW, HIGH), (Fraction(1), Fraction(1))])
def test_a_token_that_does_not_see_itself(low: Fraction, high: Fraction) -> None:
    X, w, _, _ = case(3, CERTAIN, biases=False)
    Q, K, V = (exact(w[name]) for name in "QKV")
    head = ExactHead(Q, K, V)
    ran = HeadRun([exact(X)], TokenRange(Fraction(0), low, high), head)
    for at, least in zip((0, 2), ran.pattern_below(rule((0, 2))), strict=True):
        S = X[[0, 2]] @ w["K"].T @ (w["Q"] @ X[1])
        ends = [
            np.array([c * d for d in (float(low), float(high))])
            for c in (float(low), float(high))
        ]
        j = (0, 2).index(at)
        worst = min(1 / (1 + np.exp(max(e * S[1 - j]) - min(e * S[j]))) for e in ends)
        assert float(least) == pytest.approx(worst, rel=1e-12)


UNIT = ((Fraction(1),),)
RANGE = TokenRange(Fraction(0), LOW, HIGH)


@pytest.mark.parametrize(
    ("x", "sign", "said", "count"),
    [
        (
            "1/2",
            1,
            {"attend": {1: Fraction(1, 10)}},
            PIECES,
        ),  # the token's own score bends the wrong way
        ("1/2", 1, {"attend": {0: Fraction(1, 10)}}, 1),
        ("1/2", -1, {"attend": {1: Fraction(1, 10)}}, 1),
        ("1/2", -1, {"attend": {0: Fraction(1, 10)}}, PIECES),
        ("0", 1, {"attend": {1: Fraction(1, 10)}}, 1),
        ("0", 1, {"attend": {0: Fraction(1, 10)}}, 1),
        ("0", 1, {"output": (Fraction(1),)}, 1),
        ("1/2", 1, {"output": (Fraction(1),)}, PIECES),
        ("1/2", 1, {}, 1),
        ("0", 1, {"at_most": {0: Fraction(1)}}, PIECES),
    ],
)
def test_a_range_is_cut_in_pieces_where_a_score_bends_the_wrong_way(
    x: str, sign: int, said: dict[str, object], count: int
) -> None:
    tokens = [(Fraction(-1),), (Fraction(x),)]
    ran = HeadRun([tokens], RANGE, ExactHead(UNIT, ((Fraction(sign),),), UNIT))
    pieces = list(ran.pieces(rule((0, 1), **said)))
    assert len(pieces) == count
    unseen = list(ran.pieces(rule((0,), attend={0: Fraction(1, 10)})))
    assert len(unseen) == 1


def test_a_ball_counts_where_there_is_a_range_as_well() -> None:
    """Token 0, at 1 and scaled by 9/10, is moved to 13/20, and token 1 from 0 to 1/4."""
    uncertainty = TokenRange(Fraction(1, 4), Fraction(9, 10), Fraction(1))
    ran = HeadRun(
        [[(Fraction(1),), (Fraction(0),)]], uncertainty, ExactHead(UNIT, UNIT, UNIT)
    )
    mine = HeadRule(0, 0, 0, {0: Fraction(1, 10)}, {}, (), Fraction(0), (0, 1))
    assert float(ran.pattern_below(mine)[0]) <= 1 / (1 + np.exp(0.65 * 0.25 - 0.65**2))
    assert float(ran.weight_above(mine, 0)) >= 1 / (1 + np.exp(-1.25 * 0.25 - 1.25**2))


def test_the_line_touches_the_square_in_the_middle_of_a_piece() -> None:
    """Of token 1, at 1/2, which scores itself c^2 / 4: the line is below that by a quarter of w^2 at either end."""
    places = ((Fraction(0),) * 2, (Fraction(3), Fraction(5)))
    ran = HeadRun(
        [[(Fraction(-1),), (Fraction(1, 2),)]],
        RANGE,
        ExactHead(UNIT, UNIT, UNIT, bias=places),
    )
    width, starts = (HIGH - LOW) / PIECES, iter(range(PIECES))
    for piece in ran.pieces(rule((0, 1), attend={1: Fraction(1, 10)})):
        start = LOW + next(starts) * width
        for c, ends in zip((start, start + width), piece, strict=True):
            low, high = ends.lowest, ends.highest
            assert (low[1], high[1]) == (5 + (c**2 - width**2 / 4) / 4, 5 + c**2 / 4)
            assert (low[0], high[0]) == (3 - HIGH * c / 2, 3 - LOW * c / 2)


def test_a_bias_of_queries_counts_in_how_far_a_score_is_off() -> None:
    """Scores are twice the tokens, which are at 0 and within 1/4 of it: each is off by 1/2."""
    ran = HeadRun(
        [[(Fraction(0),)] * 2],
        TokenRange(Fraction(1, 4), Fraction(1), Fraction(1)),
        ExactHead(((Fraction(0),),), UNIT, UNIT, b_Q=(Fraction(2),)),
    )
    mine = HeadRule(0, 0, 0, {0: Fraction(1, 10)}, {}, (), Fraction(0), (0, 1))
    assert float(ran.pattern_below(mine)[0]) == pytest.approx(1 / (1 + np.e), rel=1e-12)
    assert float(ran.weight_above(mine, 0)) == pytest.approx(
        1 / (1 + 1 / np.e), rel=1e-12
    )

"""TargetsMet targets by small cases: every kind of rival counts, at the end of its range where it is highest."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from headwright.certificates.exact.certificate import read_certificate, read_document
from headwright.certificates.exact.keys import KeyMatrix
from headwright.certificates.exact.targets_met import least_weights
from headwright.certificates.exact.verify import verify
from tests.certificates.exact.making import certificate, spread


@pytest.mark.parametrize(
    ("keys", "uncertainty", "query"),
    [
        (
            [[2.0], [1.0]],
            [spread([1], scale=("1/2", "3/2"))],
            2 * math.log(8),
        ),  # 2 - 3/2
        (
            [[-1.0], [-3.0]],
            [spread([0], scale=("1/2", "3/2"))],
            math.log(8) / 1.5,
        ),  # 3 - 3/2
        (
            [[1.0], [-1.0]],
            [spread([0], ball="1/4"), spread([1], ball="1/2")],
            math.log(8) / 1.25,
        ),
    ],
)
def test_each_key_is_where_it_does_most_harm(
    keys: Any, uncertainty: list[Any], query: float
) -> None:
    for factor, word in ((1 + 1e-9, "verified"), (1 - 1e-9, "rejected")):
        verdict = verify(
            json.dumps(
                certificate(
                    np.array(keys), {0: "8/9"}, query * factor, uncertainty=uncertainty
                )
            )
        )
        assert (verdict.word, verdict.excluded) == (word, word == "rejected"), factor


def test_rivals_of_several_kinds_are_added_up() -> None:
    """Keys -1: one in a ball, one on a scale, one certain: e^-2q (e^(q/4) + e^(q/2) + 1) must be 1/8."""
    keys = np.array([[1.0], [-1.0], [-1.0], [-1.0]])
    uncertainty = [spread([1], ball="1/4"), spread([2], scale=("1/2", "1"))]
    with mpmath.workdps(30):
        root = mpmath.findroot(
            lambda q: (
                mpmath.exp(-2 * q) * (mpmath.exp(q / 4) + mpmath.exp(q / 2) + 1) - 1 / 8
            ),
            1.9,
        )
    for factor, word in ((1 + 1e-9, "verified"), (1 - 1e-9, "rejected")):
        verdict = verify(
            json.dumps(
                certificate(
                    keys, {0: "8/9"}, float(root) * factor, uncertainty=uncertainty
                )
            )
        )
        assert (verdict.word, verdict.excluded) == (word, word == "rejected")


def test_the_least_score_above_0_is_raised_too() -> None:
    """The rival's score is 2^-52, one unit, at the most: key 0 gets 1/2 - 2^-54."""
    keys, uncertainty = (
        np.array([[0.0, 0.0], [1 + 2.0**-52, 1.0]]),
        [spread([1], scale=("1/2", "1"))],
    )
    for less, word in (("101/100", "verified"), ("99/100", "rejected")):
        p = Fraction(1, 2) - Fraction(less) / 2**54
        assert (
            verify(
                json.dumps(
                    certificate(keys, {0: str(p)}, [1.0, -1.0], uncertainty=uncertainty)
                )
            ).word
            == word
        )


@pytest.mark.parametrize("query", [k / 7 for k in range(1, 30)])
def test_weights_are_between_their_bounds_to_the_last_digit(query: float) -> None:
    found = certificate(
        np.array([[1.0], [-1.0], [0.5]]),
        {0: "0.1"},
        query,
        uncertainty=[spread([1], ball="1/4")],
    )
    statement = read_certificate(*read_document(json.dumps(found))).statement
    low, high = least_weights(
        statement, None, KeyMatrix.of_rows([[1.0], [-1.0], [0.5]]), statement.queries[0]
    )[0]
    with mpmath.workdps(400):
        q = mpmath.mpf(query)
        truth = 1 / (1 + mpmath.exp(-2 * q + q / 4) + mpmath.exp(-q / 2))
        assert (
            mpmath.mpf(low.numerator) / low.denominator
            < truth
            < mpmath.mpf(high.numerator) / high.denominator
        )

"""exp and sums are as near as they say, for arrays of any shape."""

from __future__ import annotations

import numpy as np
from flint import arb, ctx

from headwright.numerics.exponential import EXP_ERROR, EXP_RANGE, exp_near


def test_exp_is_as_near_as_it_says() -> None:
    drawn = np.random.default_rng(0).uniform(-EXP_RANGE, EXP_RANGE, 2000)
    x = np.concatenate([drawn, [-EXP_RANGE, 0.0, EXP_RANGE, 1e-300]])
    with ctx.workprec(200):
        for number, near in zip(x.tolist(), exp_near(x).tolist(), strict=True):
            assert abs(arb(near) / arb(number).exp() - 1) < EXP_ERROR


def test_exp_of_tables_is_that_of_their_numbers() -> None:
    table = np.random.default_rng(1).uniform(-5, 5, (3, 4, 5))
    for some in (table, table.transpose(2, 0, 1), table[:, ::2], np.array(1.5)):
        one_by_one = [exp_near(np.array([number]))[0] for number in np.ravel(some)]
        assert np.ravel(exp_near(some)).tolist() == one_by_one

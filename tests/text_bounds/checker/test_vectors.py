"""Turned queries are known as far as they say, whatever the angle."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx

from headwright.text_bounds.checker.vectors import query_rotation

ANGLES = (1.0, 0.1, 1e-8, 1e15, 1e30, 1e40, 1e300)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("distance", [1, 5, 2**20 - 1, -3])
def test_the_exact_turn_is_within_what_is_known(angle: float, distance: int) -> None:
    found = query_rotation(np.array([angle]), distance)
    assert found is not None
    with ctx.workprec(4000):
        exact = (arb(angle) * distance).cos(), (arb(angle) * distance).sin()
        for known, true in zip((found.cos, found.sin), exact, strict=True):
            assert abs(arb(float(known.mid[0])) - true) <= arb(float(known.rad[0]))

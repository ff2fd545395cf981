"""Do the keys cancel exactly? sum_c lambda_c (sum_i pi^c_i k_i - k_c) = 0 in rationals, and
sum_c lambda_c (H(pi^c) + ln p_c) > 0 in Arb: then no query whatever grants the wish.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq, fmpz, fmpz_mat
from jaxtyping import Float

from headwright.fast.exactly import ball
from headwright.fast.groups import CERTAIN
from headwright.trusted.certificate import Certificate, Spread, Statement
from headwright.trusted.numbers import Reject

PRECISIONS = (128, 1024)  # bits for entropies; the second is for wishes that are all but possible
NONE = Fraction(0)


def check_impossible(certificate: Certificate, keys: list[Float[np.ndarray, "n d"]]) -> None:
    """Refuse unless the evidence certainly proves that there is no query."""
    _check_places(certificate)
    whole = sum((c.multiplier for c in certificate.constraints), NONE)
    masses = [sum(c.distribution.values(), NONE) for c in certificate.constraints]
    if whole == 0 or any(mass == 0 for mass in masses):
        raise Reject("a proof needs a positive multiplier, and distributions of some mass")
    sums = [fmpq(0)] * keys[0].shape[1]
    for number, matrix in enumerate(keys):
        factors: dict[int, fmpq] = {}
        for c, mass in zip(certificate.constraints, masses, strict=True):
            if c.scenario == number:
                for key, x in c.distribution.items():
                    factors[key] = factors.get(key, fmpq(0)) + rational(c.multiplier * x / mass)
                factors[c.target] = factors.get(c.target, fmpq(0)) - rational(c.multiplier)
        sums = [s + x for s, x in zip(sums, combination(matrix, factors), strict=True)]
    # What is left over may be cancelled by moving rivals and targets within their balls, in proportion to the radii.
    if not sum((s * s for s in sums), fmpq(0)) <= rational(_room(certificate, masses) ** 2):
        raise Reject("the keys do not cancel exactly")
    if not any(_entropy_suffices(certificate, masses, bits) for bits in PRECISIONS):
        raise Reject("the entropy is not certain to exceed what the wish leaves open")


def combination(keys: Float[np.ndarray, "n d"], factors: dict[int, fmpq]) -> list[fmpq]:
    """sum_i x_i k_i, exactly: whole numbers over one denominator.

    >>> combination(np.array([[0.5, 3.0], [1.0, 0.0]]), {0: fmpq(1, 3), 1: fmpq(1)})
    [7/6, 1]
    """
    used = {key: x for key, x in factors.items() if x != 0}
    if not used:
        return [fmpq(0)] * keys.shape[1]
    below = fmpz(1)
    for x in used.values():
        below = below.lcm(x.q)
    rows = keys[np.array(list(used), dtype=np.intp)].astype(np.float64)
    if not np.isfinite(rows).all():
        raise Reject("a key holds a number that is not finite")
    mantissas, exponents = np.frexp(rows)
    least = int(exponents.min()) - 53
    whole = [
        fmpz(m) << e
        for m, e in zip(
            np.ldexp(mantissas, 53).astype(np.int64).ravel().tolist(),
            (exponents - 53 - least).ravel().tolist(),
            strict=True,
        )
    ]
    left = fmpz_mat(1, len(used), [x.p * (below // x.q) for x in used.values()])
    product = left * fmpz_mat(len(used), keys.shape[1], whole)
    unit = fmpq(2) ** least
    return [fmpq(x, below) * unit for x in product.entries()]


def rational(x: Fraction) -> fmpq:
    """The same number.

    >>> rational(Fraction(2, 3))
    2/3
    """
    return fmpq(x.numerator, x.denominator)


def _spreads(statement: Statement) -> Callable[[int], Spread]:
    named = {key: spread for spread in statement.world for key in spread.keys or ()}
    others = next((spread for spread in statement.world if spread.keys is None), CERTAIN)
    return lambda key: named.get(key, others)


def _room(certificate: Certificate, masses: list[Fraction]) -> Fraction:
    """sum_c lambda_c sum_{i != a} pi^c_i (r_i + r_a), with r the radius of a key's ball."""
    spread = _spreads(certificate.statement)

    def radius(key: int) -> Fraction:
        return spread(key).ball * (certificate.statement.deviations if spread(key).random else 1)

    room = NONE
    for c, mass in zip(certificate.constraints, masses, strict=True):
        rivals = ((i, x) for i, x in c.distribution.items() if i != c.target)
        room += c.multiplier * sum((x * (radius(i) + radius(c.target)) for i, x in rivals), NONE) / mass
    return room


def _check_places(certificate: Certificate) -> None:
    spreads = _spreads(certificate.statement)
    for key in {key for c in certificate.constraints for key in (*c.distribution, c.target)}:
        spread = spreads(key)
        if not spread.low <= 1 <= spread.high:
            raise Reject(f"key {key} is not admissible at its given place")


def _entropy_suffices(certificate: Certificate, masses: list[Fraction], bits: int) -> bool:
    with ctx.workprec(bits):
        right = arb(0)
        for c, mass in zip(certificate.constraints, masses, strict=True):
            entropy = sum((ball(x) * ball(mass / x).log() for x in c.distribution.values() if x), arb(0)) / ball(mass)
            right += ball(c.multiplier) * (entropy + ball(certificate.statement.wish[c.target]).log())
        return bool(right > 0)

"""Plain numbers within a range, the plainest first."""

from __future__ import annotations

from fractions import Fraction

from headwright.check.scalars.ranges import Range

WHOLE = (0, 1, 2, 3, 4, 6, 8, 10, 20, 50, 100, 1000, 10**6)
SHARES = tuple(Fraction(*pair) for pair in ((1, 2), (1, 10), (9, 10), (1, 100), (99, 100), (1, 1000), (1, 10**6)))
STEPS = tuple(
    Fraction(*pair)
    for pair in ((1, 1), (2, 1), (1, 2), (3, 1), (1, 10), (10, 1), (100, 1), (1, 100), (1000, 1), (1, 10**6))
)


def plain_numbers(known: Range) -> list[Fraction]:
    """Numbers to try, each certainly within the numeric ends of the range.

    >>> [str(x) for x in plain_numbers(Range(2, integer=True))][:8]
    ['2', '3', '4', '5', '6', '8', '10', '20']
    >>> [str(x) for x in plain_numbers(Range(0, 1, True, True))][:3]
    ['1/2', '1/10', '9/10']
    """
    known = known.numeric
    low, high = known.lower, known.upper
    if known.integer:
        tried = _integers(low, high)
    elif isinstance(low, Fraction) and isinstance(high, Fraction):
        tried = [low + (high - low) * share for share in SHARES] + [low, high]
    elif isinstance(low, Fraction):
        tried = [low, *(low + step for step in STEPS)]
    elif isinstance(high, Fraction):
        tried = [high, *(high - step for step in STEPS)]
    else:
        tried = [Fraction(0)] + [sign * step for step in STEPS for sign in (1, -1)]
    return [value for value in dict.fromkeys(tried) if known.holds(Range(value, value, integer=known.integer))]


def _integers(low: object, high: object) -> list[Fraction]:
    if isinstance(low, Fraction):
        first = [low + step for step in range(5)]
        return first + [Fraction(value) for value in WHOLE if value > first[-1]] + [low + value for value in WHOLE]
    if isinstance(high, Fraction):
        return [high - value for value in WHOLE]
    return [Fraction(sign * value) for value in WHOLE for sign in (1, -1)]

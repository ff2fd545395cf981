"""The distance of two positions, and the closest pair.

For sines and cosines the distance depends on the difference of the positions alone:

    |Phi_t - Phi_s|^2 = sum_i 2 - 2 cos(w_i (t - s)) = sum_i 4 sin^2(w_i (t - s) / 2).

So the closest pair among T positions is a minimum over T - 1 differences. With difference = aB + b and B about sqrt(T),

    cos(w difference) = cos(w aB) cos(w b) - sin(w aB) sin(w b),

so the sums over all frequencies are one matrix product, and only 2 sqrt(T) dim sines and cosines are needed. Floating
point, with a proven error bound, selects the candidates, and arb's enclosures decide among them.

The rows of a table have no such structure. |x - y|^2 = |x|^2 + |y|^2 - 2 <x, y> makes all pairs one matrix product. It
cancels, so it only selects the pairs that may be closest; these are compared exactly, as fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.numerics.enclosure import TOLERANCE, Enclosure, assert_within
from headwright.positions.equal_rows import (
    Progress,
    closest_equal_pair,
    first_equal,
)
from headwright.positions.schemes import Alibi, Scheme, Waves, exact_powers

# Beyond this length 64-bit phases lose the digits that make them a filter.
LARGEST_LENGTH = 2**32
# How many sines in enclosures, or numbers as fractions, deciding a closest pair may cost: about a second.
EFFORT = 2**20
BLOCK_ROWS = 1024  # rows on each side of a matrix product
TINY = 1e-300  # more than all that underflow can lose in a sum of squares
TRIED = 64  # random pairs
FEWEST_BITS = 128  # where the precision starts
MOST_BITS = 2**16  # and stops growing, which no known case meets


def squared_separations(
    scheme: Waves, length: int
) -> Iterator[
    tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"], Float[np.ndarray, " k"]]
]:
    """Blocks of (differences, lower, upper): proven bounds of the squared distance for 1..length-1, in order.

    The phase w_i n / 2 pi, modulo 1, is computed in 64-bit integers: n times round(2^64 w_i / 2 pi), where
    overflow is just what 'modulo' means. Its error is at most n units of 2^-64 turns, n 2^-61 in angle, and the
    sum of the two phases of aB and b is off by (aB + b) 2^-61. Converting a phase to a float angle in [-pi, pi]
    costs less than 2^-49, and NumPy's sine and cosine are taken to err by less than 2^-45 there (an ulp is
    2^-53): eta < 2^-44 for each factor, hence less than 2 sqrt(2) eta + 2 eta^2 < 2^-42 for
    cos cos - sin sin. The product sums dim terms; since |cos cos| + |sin sin| <= 1 it adds, in any order and
    with or without fused operations, gamma_dim dim/2 < (dim/2) dim 2^-52. Together, for the sum of cosines,

        E(difference) = dim/2 (difference 2^-61 + 2^-41 + dim 2^-52),

    where 2^-41 instead of 2^-42 also pays for the roundings of dim - 2 (sum -+ E).
    """
    turns = _turns(scheme)
    block = max(1, 2**20 // scheme.dim)  # numbers in a factor: 8 MB at most
    width = min(block, math.isqrt(length - 1) + 1)
    heads = -(-length // width)
    heads_at_once = min(block, 2**20 // width)
    cos, sin = _cos_sin(np.arange(width, dtype=np.uint64), turns)
    right = np.concatenate((cos, sin), axis=1).T  # (dim, width)
    for start in range(0, heads, heads_at_once):
        stop = min(heads, start + heads_at_once)
        multiples = np.arange(start, stop, dtype=np.uint64) * np.uint64(width)
        cos, sin = _cos_sin(multiples, turns)
        total = (np.concatenate((cos, -sin), axis=1) @ right).ravel()
        differences = np.arange(start * width, stop * width)
        inside = slice(1 if start == 0 else 0, length - start * width)
        differences = differences[inside]
        total = total[inside]
        relative = differences * 2.0**-61 + 2.0**-41 + scheme.dim * 2.0**-52
        error = scheme.dim / 2 * relative
        lower = scheme.dim - 2 * (total + error)
        upper = scheme.dim - 2 * (total - error)
        yield differences, lower, upper


def _turns(scheme: Waves) -> Int[np.ndarray, " half"]:
    with ctx.workprec(256):
        unit = arb(2) ** 64 / (2 * arb.pi())
        turns = []
        for w in exact_powers(scheme.base, scheme.exponents):
            turns.append(round(_exact_point((w * unit).mid())))
    return np.array(turns, dtype=np.uint64)


def _cos_sin(
    n: Int[np.ndarray, " k"], turns: Int[np.ndarray, " half"]
) -> tuple[Float[np.ndarray, "k half"], Float[np.ndarray, "k half"]]:
    angles = (n[:, None] * turns).view(np.int64) * (2 * np.pi / 2**64)
    return np.cos(angles), np.sin(angles)


def _exact_point(point: arb) -> Fraction:
    """The number that a ball of radius 0 is."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


class Shortlist:
    """Keeps every candidate whose lower bound does not exceed the least upper bound, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        """Start with nothing."""
        self.limit = limit
        # The smallest upper bound so far: the smallest number is no larger.
        self.least = np.inf
        # What was dropped for the limit's sake is no smaller than this.
        self.missed = np.inf
        self._lower: list[Float[np.ndarray, " k"]] = []
        self._names: list[Int[np.ndarray, "k width"]] = []
        self._count = 0

    def add(
        self,
        lower: Float[np.ndarray, " k"],
        upper: Float[np.ndarray, " k"],
        names: Int[np.ndarray, "k width"],
    ) -> None:
        """Consider more candidates, each known by a row of whole numbers."""
        self.least = min(self.least, float(upper.min(initial=np.inf)))
        keep = lower <= self.least
        self._lower.append(lower[keep])
        self._names.append(names[keep])
        self._count += int(keep.sum())
        if self._count > 2 * self.limit:
            self._tidy()

    @property
    def names(self) -> Int[np.ndarray, "k width"]:
        """The candidates that are left."""
        self._tidy()
        return self._names[0]

    def _tidy(self) -> None:
        lower = np.concatenate(self._lower)
        names = np.concatenate(self._names)
        keep = np.flatnonzero(lower <= self.least)
        if len(keep) > self.limit:
            order = keep[np.argsort(lower[keep], kind="stable")]
            keep = np.sort(order[: self.limit])
            self.missed = min(self.missed, float(lower[order[self.limit]]))
        self._lower = [lower[keep]]
        self._names = [names[keep]]
        self._count = len(keep)


@dataclass(frozen=True)
class Closest:
    """The closest pair of positions.

    >>> from headwright.positions import Sinusoidal
    >>> closest_pair(Sinusoidal(2), 1000).difference
    710
    """

    # (t, t'), the earlier first; for waves every pair with this difference is as close.
    pair: tuple[int, int]
    difference: int  # t' - t
    # Of the smallest distance: this holds whether or not the pair is certain.
    distance: Enclosure
    # How many candidates floating point left to exact arithmetic or enclosures.
    compared: int
    certain: bool  # proven that no other pair is closer


def separation(scheme: Scheme, difference: int) -> Enclosure:
    """The distance between two positions that differ by `difference`, enclosed from both sides.

    For waves sqrt(sum_i 4 sin^2(w_i difference / 2)), with w_i = base^(-2i/dim) enclosed too; for Alibi
    |difference| |slopes|. A learned table has no such distance, and is refused.

    >>> from headwright.positions import Sinusoidal
    >>> near = separation(Sinusoidal(2), 710)  # 710 is almost 113 turns
    >>> near.lower, near.upper
    (6.0288706718976894e-05, 6.02887067189769e-05)
    """
    if isinstance(difference, bool) or not isinstance(difference, int):
        raise InputError(f"difference is {difference!r}: expected a whole number")
    square = _square_of(scheme)
    bits = FEWEST_BITS + difference.bit_length()
    while True:
        with ctx.workprec(bits):
            ball = square(abs(difference))
            if (
                ball.rel_accuracy_bits() > 64
                or bits > MOST_BITS + difference.bit_length()
            ):
                return Enclosure.of(ball.nonnegative_part().sqrt())
        bits *= 2


def closest_pair(
    scheme: Scheme, length: int, *, progress: Progress | None = None
) -> Closest:
    """The closest pair among the positions 0..length-1, in O(length dim) for waves.

    With difference = aB + b and B about sqrt(length), cos(w difference) = cos(w aB) cos(w b) - sin(w aB) sin(w b):
    all differences are one matrix product, with about 2 sqrt(length) dim sines and cosines. A learned table is
    compared pair by pair, O(length^2 dim). `progress` is told the fraction done.

    >>> from headwright.positions import Sinusoidal
    >>> found = closest_pair(Sinusoidal(512), 1_000_000)
    >>> found.difference, round(found.distance.lower, 6), found.certain
    (1, 3.71427, True)
    """
    check_arguments(scheme, length, LARGEST_LENGTH)
    if isinstance(scheme, Waves):
        found = _closest_waves(scheme, length, progress)
    elif isinstance(scheme, Alibi):  # |difference| |slopes| grows with the difference
        found = Closest((0, 1), 1, separation(scheme, 1), 1, certain=True)
    else:
        found = _closest_by_pairs(scheme, length, progress)
    check_against_floats(
        lambda at: scheme.rows(at.astype(np.float64)),
        length,
        found.pair,
        found.distance,
        certain=found.certain,
    )
    return found


def check_against_floats(
    rows: Callable[[Int[np.ndarray, " k"]], Float[np.ndarray, "k dim"]],
    length: int,
    pair: tuple[int, int],
    distance: Enclosure,
    *,
    certain: bool,
    at: Int[np.ndarray, " k"] | None = None,
) -> None:
    """Raise a ContradictionError unless rows in float64 are as far apart as was proved.

    The pair itself is looked at, which lies at the smallest distance where it is certain, and random pairs, at no less;
    these are of the positions `at`, if given.
    """
    rng = np.random.default_rng(0)
    pairs = rng.integers(length if at is None else len(at), size=(TRIED, 2))
    if at is not None:
        pairs = at[pairs]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs = np.concatenate([[pair], pairs])
    first = rows(pairs[:, 0])
    second = rows(pairs[:, 1])
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = first - second
        # Divided before they are squared: squares may be nothing.
        largest = np.abs(gaps).max(axis=1, keepdims=True)
        unit_gaps = gaps / np.where(largest > 0, largest, 1.0)
        distances = largest[:, 0] * np.linalg.norm(unit_gaps, axis=1)
        sizes = np.maximum(
            np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
        )
    for number, (a, b) in enumerate(pairs.tolist()):
        computed = float(distances[number])
        if not math.isfinite(computed):
            continue
        # Sines of large angles err with the angle.
        room = (length * 2.0**-48 + 1e-12) * float(sizes[number])
        is_the_closest = number == 0 and certain
        assert_within(
            computed,
            f"the distance of positions {a} and {b}",
            least=distance.lower,
            most=distance.upper if is_the_closest else math.inf,
            tolerance=TOLERANCE * computed + room,
        )


def check_arguments(scheme: Scheme, length: int, most: int) -> None:
    """Refuse what is no scheme, and a length that has no pair, or too many positions."""
    if not isinstance(scheme, Scheme):
        raise InputError(
            f"the scheme is {scheme!r}: expected one such as Sinusoidal(64)"
        )
    if (
        isinstance(length, bool)
        or not isinstance(length, int)
        or not 2 <= length <= most
    ):
        raise InputError(
            f"length is {length!r}: expected a whole number from 2 (a pair takes two) to {most}",
            field="length",
        )


def _square_of(scheme: Scheme) -> Callable[[int], arb]:
    """difference -> the squared distance, enclosed in the precision at the time of the call."""
    if isinstance(scheme, Waves):
        return lambda difference: _wave_square(
            exact_powers(scheme.base, scheme.exponents), difference
        )
    if isinstance(scheme, Alibi):
        return lambda difference: sum(
            (
                (slope * difference) ** 2
                for slope in exact_powers(2.0, scheme.exponents)
            ),
            arb(0),
        )
    raise InputError(
        f"the scheme is {type(scheme).__name__}: its distances do not depend on the difference alone, "
        "expected Sinusoidal, Rotary or Alibi"
    )


def _wave_square(frequencies: list[arb], difference: int) -> arb:
    return sum((4 * (w * difference / 2).sin() ** 2 for w in frequencies), arb(0))


def _closest_waves(scheme: Waves, length: int, progress: Progress | None) -> Closest:
    shortlist = Shortlist(max(1, EFFORT // scheme.dim))
    for differences, lower, upper in squared_separations(scheme, length):
        shortlist.add(lower, upper, differences[:, None])
        if progress:
            progress(float(differences[-1]) / length)
    candidates = shortlist.names[:, 0].tolist()
    left, nearest = _decide(scheme, candidates)
    distance = separation(scheme, nearest)
    beyond = distance.upper**2 * (1 + 2**-50)
    certain = len(left) == 1 and shortlist.missed > beyond
    if not certain:
        floor = shortlist.missed
        for rival in left:
            floor = min(floor, separation(scheme, rival).lower ** 2)
        lower_bound = math.sqrt(max(0.0, floor)) * (1 - 2**-50)
        distance = Enclosure(min(distance.lower, lower_bound), distance.upper)
    if progress:
        progress(1.0)
    return Closest((0, nearest), nearest, distance, len(candidates), certain)


def _decide(scheme: Waves, candidates: list[int]) -> tuple[list[int], int]:
    """Raise the precision until one candidate is certainly the nearest.

    That happens: equal distances would be a linear relation between exponentials of distinct algebraic numbers,
    which Lindemann and Weierstrass excluded. The cap on the precision bounds the time.
    """
    nearest = candidates[0]
    bits = FEWEST_BITS
    while len(candidates) > 1 and bits <= MOST_BITS:
        with ctx.workprec(bits):
            frequencies = exact_powers(scheme.base, scheme.exponents)
            squares = {d: _wave_square(frequencies, d) for d in candidates}
            uppers = {d: Enclosure.of(square).upper for d, square in squares.items()}
            nearest = min(candidates, key=uppers.__getitem__)
            # Only what is certainly larger is given up.
            candidates = [d for d in candidates if not squares[d] > squares[nearest]]
        bits *= 2
    return candidates, nearest


def _closest_by_pairs(
    scheme: Scheme, length: int, progress: Progress | None
) -> Closest:
    def rows(
        at: Int[np.ndarray, " k"], part: slice = slice(None)
    ) -> Float[np.ndarray, "k columns"]:
        return scheme.rows(at.astype(np.float64))[:, part]

    dim = rows(np.zeros(1)).shape[1]
    # Rows that coincide first: there may be so many that comparing pairs of them would never end.
    twins = closest_equal_pair(first_equal(rows, np.arange(length), dim))
    if twins:
        return Closest(twins, twins[1] - twins[0], Enclosure(0.0, 0.0), 1, certain=True)
    return closest_rows(rows, np.arange(length), dim, progress)


def closest_rows(
    rows: Callable[[Int[np.ndarray, " k"]], Float[np.ndarray, "k dim"]],
    positions: Int[np.ndarray, " n"],
    dim: int,
    progress: Progress | None = None,
) -> Closest:
    """The closest pair among the rows at these positions, all pairs considered.

    Of pairs equally close it takes the one with the smallest difference, then the earliest.
    """
    shortlist = Shortlist(max(1, EFFORT // dim))
    starts = range(0, len(positions), BLOCK_ROWS)
    total = len(starts) * (len(starts) + 1) // 2
    done = 0
    for i in starts:
        earlier = positions[i : i + BLOCK_ROWS]
        left = rows(earlier)
        for j in starts[i // BLOCK_ROWS :]:
            later = positions[j : j + BLOCK_ROWS]
            right = left if i == j else rows(later)
            _shortlist_pairs(shortlist, left, right, earlier, later)
            done += 1
            if progress:
                progress(done / total)
    # The last few exactly.
    pairs = shortlist.names
    x = rows(pairs[:, 0])
    y = rows(pairs[:, 1])
    candidates = []
    for k in _nearly_closest(x, y):
        t, later_position = pairs[k].tolist()
        square = exact_square(x[k], y[k])
        candidates.append((square, later_position - t, t))
    square, difference, t = min(candidates)
    # What the list had no room for is no smaller than this.
    certain = shortlist.missed >= square
    floor = square if certain else Fraction(max(0.0, shortlist.missed))
    distance = Enclosure(exact_root(floor).lower, exact_root(square).upper)
    pair = (t, t + difference)
    return Closest(pair, difference, distance, len(candidates), certain)


def _shortlist_pairs(
    shortlist: Shortlist,
    left: Float[np.ndarray, "a dim"],
    right: Float[np.ndarray, "b dim"],
    earlier: Int[np.ndarray, " a"],
    later: Int[np.ndarray, " b"],
) -> None:
    """Shortlist the pairs of two blocks of rows.

    With N the largest |x|^2, the computed |x|^2 + |y|^2 - 2 <x, y> errs by less than 4 N gamma_(dim+3),
    which is less than N (dim + 4) 2^-50 in any order of summation.
    """
    norms_left = np.einsum("kd,kd->k", left, left)
    norms_right = np.einsum("kd,kd->k", right, right)
    square = norms_left[:, None] + norms_right - 2 * (left @ right.T)
    if left is right:
        # Each pair once, and none with itself.
        square[np.tril_indices(len(left))] = np.inf
    largest = max(norms_left.max(), norms_right.max())
    error = largest * ((left.shape[1] + 4) * 2.0**-50) + TINY
    shortlist.least = min(shortlist.least, float(square.min()) + error)
    a, b = np.nonzero(square - error <= shortlist.least)
    close = square[a, b]
    pairs = np.stack((earlier[a], later[b]), axis=1)
    shortlist.add(close - error, close + error, pairs)


def _nearly_closest(
    x: Float[np.ndarray, "k dim"], y: Float[np.ndarray, "k dim"]
) -> list[int]:
    """Which of these pairs may be closest: the sum of squared differences has relative error gamma_(dim+2)."""
    gaps = x - y
    squares = np.einsum("kd,kd->k", gaps, gaps)
    error = squares * ((x.shape[1] + 3) * 2.0**-52) + TINY
    least = (squares + error).min()
    indices: list[int] = np.flatnonzero(squares - error <= least).tolist()
    return indices


def exact_square(
    x: Float[np.ndarray, " dim"], y: Float[np.ndarray, " dim"]
) -> Fraction:
    """|x - y|^2 of two rows of floats, exactly."""
    # Floats are whole numbers of 2^-1074: with that unit there is nothing to round.
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return Fraction(sum((_units(a) - _units(b)) ** 2 for a, b in pairs), 2**2148)


def _units(number: float) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator * (2**1074 // denominator)


def exact_root(square: Fraction) -> Enclosure:
    """The square root of a rational number."""
    with ctx.workprec(128):
        return Enclosure.of(arb(fmpq(square.numerator, square.denominator)).sqrt())

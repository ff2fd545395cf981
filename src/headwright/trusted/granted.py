"""These queries grant the wish: bounds of the weight of each target where that weight is least.

Let m_i = s <mu_i, q> be the score of key i at its place, and up_i and low_i its highest and lowest
score: the larger and the smaller of low m_i and high m_i, plus and minus off_i, the largest
s <e, q> that its ball or ellipsoid allows. Keys vary independently, so that the least weight of
target a is exactly 1 / (1 + sum over i != a of exp(up_i - low_a)). Random keys are taken at so many
deviations from their places that all are nearer with the probability that is claimed.
"""

from fractions import Fraction

from headwright.trusted.certificate import Guard, Spread, Statement, Vector, common_denominator
from headwright.trusted.keys import Excluded, Keys, Reject
from headwright.trusted.numbers import exp_between, normal_tail, sqrt_above, sqrt_between
from headwright.trusted.scores import NONE, Scores, dot, world_of
from headwright.trusted.words import shown, told

BITS = 1024  # binary digits after the point, of exponentials: fewer make bounds wider, never wrong
Pair = tuple[Fraction, Fraction]


def check_guard(statement: Statement, guard: Guard) -> None:
    """Reject, unless ways to fail times P(N(0, 1) > z) is at most 1 - confidence, for each query.

    A way to fail is that one score, or the difference of two, is more than z deviations to one
    side. By keys: each random key is too high as a rival, or too low as the only target; a random
    one of several targets may be either. By pairs: each random rival of each target; if the target
    is random, all rivals that are not random are one way together.
    """
    (spreads, entries), n, wish = world_of(statement), statement.keys[0].n, statement.wish
    random = sum(spreads[entry].random for entry in entries)
    targets = [spreads[entries[target]].random for target in wish]
    ways = random + (sum(targets) if len(wish) > 1 else 0)
    if guard.kind == "pairs":
        ways = sum(random - own + (own and random < n) for own in targets)
    if statement.heads * ways * normal_tail(guard.deviations)[1] > 1 - statement.confidence:
        raise Reject("the deviations guarded against do not have the probability that is claimed")


def check_granted(s: Statement, guard: Guard | None, keys: Keys, number: int) -> None:
    """Reject, unless the mean of the queries' weights on each target a is at least p_a.

    Excluded, if it is certainly less in some world. Several queries may each give least in another
    world: then nothing is excluded.
    """
    weights = [least_weights(s, guard, keys, query) for query in s.queries]
    exact = not s.world if len(weights) > 1 else not any(w.random for w in s.world)
    for target, p in s.wish.items():
        low, high = (sum((w[target][i] for w in weights), NONE) / len(weights) for i in (0, 1))
        if exact and high < p:
            most = f"at most {told(high)}, less than {shown(p)}, in scenario {number}"
            raise Excluded(f"key {target} gets a weight of {most}")
        if low < p:
            least = f"a weight of {shown(p)} in scenario {number}"
            raise Reject(f"key {target} is not certain to get {least}")


def least_weights(s: Statement, guard: Guard | None, keys: Keys, query: Vector) -> dict[int, Pair]:
    """For each target a, low <= w_a <= high: w_a = 1 / (1 + sum over i != a of exp(x_i)).

    x_i = up_i - low_a, plus z sqrt(v_i) + z sqrt(v_a), or z sqrt(v_i + v_a) for pairs, where v are
    the variances of scores: then only low is a bound. Keys of one kind have the same off_i and v_i,
    so that sums of exp(highest score - top), one for each kind, are enough for all targets.
    """
    spreads, entries = world_of(s)
    fine = common_denominator(c for spread in spreads for c in (spread.low, spread.high))
    ends = [(int(spread.low * fine), int(spread.high * fine)) for spread in spreads]
    scores = Scores(s.scale, keys, query, fine)
    places = {a: scores.place(keys.row(a)) for a in s.wish}
    lowest = {a: place * ends[entries[a]][place < 0] for a, place in places.items()}
    top = max(lowest.values())
    sums: dict[tuple[int, int], tuple[int, int]] = {}  # by entry and, with a stretch, by place
    own: dict[int, tuple[tuple[int, int], int, int]] = {}
    for key, entry in enumerate(entries):
        place = scores.place(keys.row(key))
        highest = place * ends[entry][place > 0]
        low, high = exp_between(highest - top, scores.unit, BITS)
        kind = (entry, place if spreads[entry].stretch else 0)
        below, above = sums.get(kind, (0, 0))
        sums[kind] = (below + low, above + high)
        if key in s.wish:
            own[key] = (kind, low, high)
    unit = Fraction(fine, scores.unit)
    offs = {(i, x): _deviation(s, spreads[i], query, x * unit) for i, x in sums}
    weights, one = {}, 4**BITS
    for a, (kind, low, high) in own.items():
        least, most, start = 0, 0, Fraction(top - lowest[a], scores.unit)
        for rival, (below, above) in sums.items():
            if rival == kind:
                below, above = below - low, above - high  # a is no rival of itself
            if above:
                x, y = (start + off for off in _apart(offs[kind], offs[rival], guard))
                least += below * exp_between(x.numerator, x.denominator, BITS)[0]
                most += above * exp_between(y.numerator, y.denominator, BITS)[1]
        weights[a] = (Fraction(one, one + most), Fraction(one, one + least))
    return weights


def _deviation(s: Statement, spread: Spread, query: Vector, score: Fraction) -> Pair:
    """off_i^2, and the variance of the score: s^2 q^T C q with C = r^2 I + t^2 mu mu^T + E E^T."""
    square = spread.ball**2 * dot(query, query)
    square += sum((dot(column, query) ** 2 for column in spread.factor), NONE)
    square = s.scale**2 * square + (spread.stretch * score) ** 2
    return (NONE, square) if spread.random else (square, NONE)


def _apart(one: Pair, other: Pair, guard: Guard | None) -> Pair:
    """low <= off_i + off_a <= high; where keys are random, high includes the guard's deviations."""
    (below, above), (low, high) = sqrt_between(one[0]), sqrt_between(other[0])
    size = sqrt_above(one[1]) + sqrt_above(other[1])
    if guard and guard.kind == "pairs":
        size = sqrt_above(one[1] + other[1])
    return below + low, above + high + (guard.deviations * size if guard else 0)

"""Is the statement of a certificate true? Yes is said only when it certainly is; any doubt or exception says no.

Granted: alpha_a >= p_a in every admissible world, that is, sum over i != a of exp(s_i - s_a) <= 1/p_a - 1 with every
s_i at its highest and s_a at its lowest. exp is bounded from above, everything else is exact.

None shorter: for multipliers lambda_c >= 0 with sum 1 over targets (in scenarios) and any distributions pi^c over the
keys in admissible places, every query q that grants the wish has

    |q| |scale| |V| >= sum_c lambda_c (H(pi^c) + ln p_c),    V = sum_c lambda_c (sum_i pi^c_i k_i - k_c),

because logsumexp_i(x_i) >= sum_i pi_i x_i + H(pi), and by Cauchy-Schwarz. With pi_i = e_i / Z and e_i <= exp(x_i),
H(pi) >= ln Z - sum_i pi_i x_i. If V is exactly 0 and the right side positive, no query grants the wish at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from operator import mul

from headwright.trusted.certificate import Certificate, Constraint, KeysName, about_heads, document, read
from headwright.trusted.head import check_heads
from headwright.trusted.keys import Keys
from headwright.trusted.numbers import UP, Malformed, Reject, exp_between, ln_below, shown
from headwright.trusted.world import CERTAIN, NONE, Place, Query, View, failure_above

EXACT = Context(prec=5000, traps=[Inexact])
BLOCK = 1024  # rows at once
Part = tuple[Place, Fraction]  # sum_i pi_i k_i - k_a, and a lower bound of H(pi) + ln p_a


@dataclass(frozen=True)
class Verdict:
    """What the checker says: 'verified', 'rejected' or 'unreadable', and in words what was proved or why not."""

    word: str
    words: str


def verify(text: str, files: Sequence[bytes] = (), progress: Callable[[float], None] | None = None) -> Verdict:
    """The verdict on a certificate. Keys that it does not write out are looked for among the contents of .npy files."""
    try:
        said, proof = document(text)
        certificate = None if about_heads(said) else read(said, proof)
    except Exception as error:  # noqa: BLE001  (whatever goes wrong, it is no certificate)
        return Verdict("unreadable", _reason(error))
    try:
        if certificate is None:
            return Verdict("verified", check_heads(said, proof))
        keys = [_keys(name, files) for name in certificate.statement.keys]
        if certificate.statement.claim == "impossible":
            _check_impossible(certificate, keys)
        else:
            _check_granted(certificate, keys, progress or (lambda _: None))
            _check_none_shorter(certificate, keys)
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        return Verdict("unreadable" if isinstance(error, Malformed) else "rejected", _reason(error))
    return Verdict("verified", in_words(certificate))


def _keys(name: KeysName, files: Sequence[bytes]) -> Keys:
    for keys in [name.rows] if name.rows else [Keys.of_npy(content) for content in files]:
        if (keys.n, keys.d, keys.dtype, keys.digest) == (name.n, name.d, name.dtype, name.digest):
            return keys
    what = f"{name.n} x {name.d} keys of type {name.dtype} with sha256 {name.digest[:16]}..."
    raise Reject(f"it is about {what}, {'and other keys were given' if files else 'which were not given'}")


def _check_granted(certificate: Certificate, keys: list[Keys], progress: Callable[[float], None]) -> None:
    statement, heads = certificate.statement, len(certificate.queries)
    if heads * failure_above(statement) > 1 - statement.confidence:  # a key that is safe for one query may fail another
        raise Reject("the deviations guarded against do not have the probability that is claimed")
    for number, scenario in enumerate(keys):
        total = dict.fromkeys(statement.wish, NONE)  # of the weights over the heads, from below
        for h, query in enumerate(certificate.queries):
            for target, rivals in _rivals(View(statement, scenario, Query.of(query))).items():
                total[target] += 1 / (1 + rivals)
            progress((number + (h + 1) / heads) / len(keys))
        for target, least in statement.wish.items():
            if not total[target] >= heads * least:
                raise Reject(f"key {target} is not certain to get a weight of {shown(least)} in scenario {number}")


def _rivals(view: View) -> dict[int, Fraction]:
    """For each target, what competes with it at worst: sum over the others of exp(s_i - s_a), from above."""
    wish = view.statement.wish
    scores = {a: view.score(view.keys.row(a)) for a in wish}
    low, high = ({a: bound(a, s) for a, s in scores.items()} for bound in (view.lowest, view.highest))
    top = max(low.values())
    # Terms below exp(cut) change nothing that matters: they are counted as exp(cut), which is above them.
    slack = min((1 / p - 1 for p in wish.values() if p < 1), default=Fraction(1))
    cut = math.floor(math.log(slack.numerator) - math.log(slack.denominator) - math.log(view.keys.n)) - 50
    small, others = 0, Decimal(0)
    for i, row in enumerate(view.keys.rows()):
        if i in wish:
            continue
        x = view.highest(i, view.score(row)) - top
        if x < cut * view.unit:
            small += 1
        else:
            others = UP.add(others, exp_between(x, view.unit)[1])
    distractors = Fraction(others) + small * Fraction(exp_between(cut, 1)[1])

    def above(x: int) -> Fraction:
        return Fraction(exp_between(x, view.unit)[1])

    return {a: distractors * above(top - low[a]) + sum(above(high[b] - low[a]) for b in wish if b != a) for a in wish}


def _check_none_shorter(certificate: Certificate, keys: list[Keys]) -> None:
    statement = certificate.statement
    if statement.none_shorter == 0:
        return
    used = [c for c in certificate.constraints if c.multiplier > 0]
    if len(certificate.queries) > 1 and len(used) > 1:
        raise Reject("with several heads the bound must rest on one target: one head has to attend to that")
    query = Query.of(certificate.bound_query)
    parts: list[tuple[Constraint, Part]] = []
    for number, scenario in enumerate(keys):
        if mine := [c for c in used if c.scenario == number]:
            parts += zip(mine, _bounds(View(statement, scenario, query), mine, certificate), strict=True)
    V, right = _combined(parts, keys[0].d)
    if right <= 0 or not (statement.none_shorter * statement.scale) ** 2 * sum(v * v for v in V) <= right**2:
        raise Reject(f"it is not certain that no query is shorter than {shown(statement.none_shorter)}")


def _combined(parts: Sequence[tuple[Constraint, Part]], d: int) -> Part:
    """V and the right side: the averages of their parts, by the multipliers."""
    whole = sum((c.multiplier for c, _ in parts), NONE)
    if whole == 0:
        raise Reject("no constraint has a positive multiplier")
    V = [sum((c.multiplier * direction[j] for c, (direction, _) in parts), NONE) / whole for j in range(d)]
    return V, sum((c.multiplier * value for c, (_, value) in parts), NONE) / whole


def _bounds(view: View, constraints: list[Constraint], evidence: Certificate) -> list[Part]:
    """For each constraint: sum_i pi_i k_i - k_a, and a lower bound of H(pi) + ln p_a; pi is softmax at the query."""
    wish, scale = view.statement.wish, view.statement.scale
    up = {b: view.worst_place(b, (evidence.scales or {}).get(b), 1) for b in wish}
    down = {c.target: view.worst_place(c.target, (evidence.own_scales or {}).get(c.target), -1) for c in constraints}
    reference = max(math.floor(scale * view.query.dot(place) * view.unit) for place in down.values())
    slack = min((1 / p - 1 for p in wish.values() if p < 1), default=Fraction(1))
    bits = 80 + max(0, slack.denominator.bit_length() - slack.numerator.bit_length())

    def share(score: int) -> int:
        """e <= 2^bits exp(score - reference)."""
        x = score - reference
        return int(EXACT.multiply(exp_between(x, view.unit)[0], 2**bits)) if x > -bits * view.unit else 0

    def share_at(place: Place) -> int:
        return share(math.floor(scale * view.query.dot(place) * view.unit))

    total, mean = _distractors(view, evidence.scales or {}, share, share_at)
    found = []
    for c in constraints:
        places = [up[b] for b in wish if b != c.target] + [down[c.target]]
        shares = [share_at(place) for place in places]
        Z = total + sum(shares)
        centre = [
            (m + sum(map(mul, shares, column))) / Z for m, column in zip(mean, zip(*places, strict=True), strict=True)
        ]
        entropy = ln_below(Fraction(Z, 2**bits)) + Fraction(reference, view.unit) - scale * view.query.dot(centre)
        found.append(([x - y for x, y in zip(centre, down[c.target], strict=True)], entropy + ln_below(wish[c.target])))
    return found


def _distractors(
    view: View, scales: dict[int, Fraction], share: Callable[[int], int], share_at: Callable[[Place], int]
) -> tuple[int, Place]:
    """sum_i e_i and sum_i e_i k_i over the keys that are no targets, at their worst places."""
    total, certain, moved = 0, [0] * view.keys.d, [NONE] * view.keys.d
    for start in range(0, view.keys.n, BLOCK):
        rows, shares = [], []
        for i in range(start, min(start + BLOCK, view.keys.n)):
            if i in view.statement.wish:
                continue
            if view.spread(i) is CERTAIN:
                rows.append(view.keys.row(i))
                shares.append(share(view.score(rows[-1])))
            else:
                place = view.worst_place(i, scales.get(i), 1)
                e = share_at(place)
                total += e
                moved = [m + e * x for m, x in zip(moved, place, strict=True)]
        total += sum(shares)
        if rows:
            certain = [c + sum(map(mul, column, shares)) for c, *column in zip(certain, *rows, strict=True)]
    return total, [Fraction(c, 2**view.keys.bits) + m for c, m in zip(certain, moved, strict=True)]


def _check_impossible(certificate: Certificate, keys: list[Keys]) -> None:
    """V must be 0, or made 0 by moving each rival and the target within their balls, in proportion to their radii."""
    statement, parts, room = certificate.statement, [], NONE
    for c in certificate.constraints:
        view, mass = View(statement, keys[c.scenario], Query((), 0)), sum(c.distribution.values(), NONE)
        if mass == 0:
            raise Reject("a distribution has no mass")
        for key in (*c.distribution, c.target):
            if not view.spread(key).low <= 1 <= view.spread(key).high:
                raise Reject(f"key {key} is not admissible at its given place")
        radii = sum(x * (view.radius(i) + view.radius(c.target)) for i, x in c.distribution.items() if i != c.target)
        room += c.multiplier * radii / mass
        centre, place = _weighted(view.keys, c.distribution), _weighted(view.keys, {c.target: mass})
        direction = [(x - y) / mass for x, y in zip(centre, place, strict=True)]
        entropy = sum((x * ln_below(mass / x) for x in c.distribution.values() if x), NONE) / mass
        parts.append((c, (direction, entropy + ln_below(statement.wish[c.target]))))
    V, right = _combined(parts, keys[0].d)
    if not sum(v * v for v in V) * sum(c.multiplier for c in certificate.constraints) ** 2 <= room**2:
        raise Reject("the keys do not cancel exactly")
    if not right > 0:
        raise Reject("the entropy is not certain to exceed what the wish leaves open")


def _weighted(keys: Keys, shares: dict[int, Fraction]) -> Place:
    """sum_i x_i k_i, exactly: whole numbers for each denominator, fractions only at the end."""
    total = [NONE] * keys.d
    for below in {x.denominator for x in shares.values()}:
        chosen = {i: x.numerator for i, x in shares.items() if x.denominator == below}
        columns = zip(*map(keys.row, chosen), strict=True)
        sums = (sum(map(mul, column, chosen.values())) for column in columns)
        total = [t + Fraction(x, below * 2**keys.bits) for t, x in zip(total, sums, strict=True)]
    return total


def in_words(certificate: Certificate) -> str:  # noqa: D103
    s, heads = certificate.statement, len(certificate.queries)
    digests = ", ".join(f"sha256 {k.digest[:16]}..." for k in s.keys)
    about = f"For these {s.keys[0].n} keys in R^{s.keys[0].d} ({digests})"
    about += ", wherever in the stated world they are" if s.world or len(s.keys) > 1 else ""
    wish = " and ".join(f"key {a} a weight of at least {shown(p)}" for a, p in s.wish.items())
    guard = f", guarding against {shown(s.deviations)} standard deviations" if s.deviations else ""
    if s.claim == "impossible":
        return f"{about}, no query whatever gives {wish}{guard}."
    gives = "this query gives" if heads == 1 else f"these {heads} queries give, on average over the heads,"
    sure = f" with probability at least {shown(s.confidence)}" if s.deviations else ""
    nobody = "no query" if heads == 1 else f"no {heads} queries all"
    none = f"; {nobody} shorter than {shown(s.none_shorter)} can{guard}" if s.none_shorter else ""
    return f"{about}, {gives} {wish}{sure}{none}."


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, Reject) else f"the checker stopped: {type(error).__name__} {error}"[:300]

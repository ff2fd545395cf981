"""Whole heads: do these weights keep the rules, and can no smaller ones?

With M = W_K^T W_Q, token x_i gives token x_j the score x_j^T M x_i. A token may be any c x + e with c in a range that
holds 1 and |e| <= ball, so it is within some rho of x; then its score, less one number for all j, is off by at most
rho_j |M x_i| + rho_i |M^T (x_j - centre)| + rho_i rho_j |M|_F. From lower bounds a_j of a pattern alpha,

    |sum_j alpha_j u_j| <= |sum_j a_j u_j| + (1 - sum_j a_j) max_j |u_j|,

which says how far an output is from what is wanted: u_j = W_V x_j - wanted. exp is bounded, everything else is exact.

None smaller: for multipliers lambda_c >= 0 of targets in rules, and any distributions pi, every M that gives these
their least weights p has <M, G> <= -right, G = sum_c lambda_c (sum_l pi^c_l x_l - x_a) x_i^T, right = sum_c lambda_c
(H(pi^c) + ln p_c). So |M|_F |G|_F >= right, and |M|_* |G|_2 >= right for the sum |M|_* of the singular values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import mul

from headwright.trusted.certificate import Json, Vector, listed, named, table, vector, whole
from headwright.trusted.dimension import View, check_dimension
from headwright.trusted.numbers import Reject, exp_between, ln_below, rational, shown, sqrt_above

NONE = Fraction(0)
FINE = 2**256  # weights are rounded down to so many parts
MOST = 4096  # tokens, and rules: more is refused before any work
TYPES = {"float64": ("<d", b""), "float32": ("<f", b""), "bfloat16": ("<f", b"\0\0")}  # bytes, and what they begin with
Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True)
class Rule:
    """What one token does in one head: least weights, and (unless it is empty) an output within a tolerance."""

    sequence: int
    token: int
    head: int
    attend: dict[int, Fraction]
    output: Vector
    tolerance: Fraction
    seen: int  # it sees the first so many tokens of its sequence

    def __str__(self) -> str:
        return f"token {self.token} of sequence {self.sequence} in head {self.head}"


class Run:
    """A head applied to all tokens, which may be so far from their places: in exact numbers."""

    def __init__(self, sequences: Sequence[Rows], rooms: Sequence[Vector], Q: Rows, K: Rows, V: Rows) -> None:
        """Queries, keys and values are computed once."""
        self.sequences, self.rooms, self.Q, self.K, self.V = sequences, rooms, Q, K, V
        self.queries, self.keys, self.values = ([_product(X, W) for X in sequences] for W in (Q, K, V))

    def pattern_below(self, rule: Rule) -> list[Fraction]:
        """A lower bound of each weight: its own score at the lowest, all others at the highest."""
        query, keys = self.queries[rule.sequence][rule.token], self.keys[rule.sequence][: rule.seen]
        scores, off = _product([query], keys)[0], self._off(rule, query, keys)
        top = max(scores)
        low = [Fraction(_exp(s - o - top)[0]) for s, o in zip(scores, off, strict=True)]
        high = [Fraction(_exp(s + o - top)[1]) for s, o in zip(scores, off, strict=True)]
        total = sum(high, NONE)
        return [Fraction(int(FINE * a / (total - b + a)), FINE) for a, b in zip(low, high, strict=True)]

    def _off(self, rule: Rule, query: Sequence[Fraction], keys: Rows) -> list[Fraction]:
        """How far each score may be from its place, once the same number is taken off all of them."""
        rooms = self.rooms[rule.sequence]
        if not any(rooms):
            return [NONE] * len(keys)
        centre = [sum(column, NONE) / len(keys) for column in zip(*keys, strict=True)]
        along = _length(_product([query], _turned(self.K))[0])  # |M x_i|
        size = sqrt_above(sum(map(_dot, _product(self.K, self.K), _product(self.Q, self.Q)), NONE))  # |M|_F
        apart = [[x - y for x, y in zip(key, centre, strict=True)] for key in keys]
        back = map(_length, _product(apart, _turned(self.Q)))
        own = rooms[rule.token]
        return [room * along + own * b + own * room * size for room, b in zip(rooms, back, strict=False)]

    def error(self, rule: Rule, below: list[Fraction]) -> Fraction:
        """How far the output is from what is wanted, at most."""
        values = self.values[rule.sequence][: rule.seen]
        u = [[v - w for v, w in zip(value, rule.output, strict=True)] for value in values]
        mixed = _length(_product([below], _turned(u))[0])
        moved = max(self.rooms[rule.sequence]) * sqrt_above(sum(map(_dot, self.V, self.V), NONE))  # <= |W_V|_F |e|
        return mixed + (1 - sum(below, NONE)) * max(map(_length, u)) + moved


def check_heads(said: Json, proof: Json) -> str:
    """What is proved, in words; or Reject."""
    s = named(said, "the statement", "claim", "causal", "sequences", "world", "rules", "dtype", "heads", "bounds")
    D = len(listed(listed(listed(s["sequences"], "sequences", 1)[0], "tokens", 1)[0], "a token", 1))
    sequences = [_matrix(X, D, "a token") for X in listed(s["sequences"], "sequences")]
    world, causal = named(s["world"], "the world", "ball", "scale"), s["causal"]
    ball, (low, high) = rational(world["ball"]), vector(world["scale"], 2, "a scale")
    if ball < 0 or not 0 < low <= 1 <= high or type(causal) is not bool:
        raise Reject("expected a ball of 0 or more, a scale that holds 1, and a mask that is causal or not")
    if sum(map(len, sequences)) > MOST or len(listed(s["rules"], "rules", 1)) > MOST:
        raise Reject(f"expected at most {MOST} tokens, and as many rules")
    stretch = max(1 - low, high - 1)
    rooms = [tuple(ball + (stretch and stretch * _length(x)) for x in X) for X in sequences]
    rules = [_rule(rule, sequences, causal) for rule in listed(s["rules"], "rules")]
    runs = []
    for head in listed(s["heads"], "heads", 1):
        h = named(head, "a head", "W_Q", "W_K", "W_V")
        Q, K, V = (_matrix(h[name], D, name, str(s["dtype"])) for name in ("W_Q", "W_K", "W_V"))
        if len(Q) != len(K):
            raise Reject(f"W_Q has {len(Q)} rows and W_K has {len(K)}: expected as many")
        runs.append(Run(sequences, rooms, Q, K, V))
    claims, proofs = listed(s["bounds"], "bounds"), listed(named(proof, "the evidence", "bounds")["bounds"], "bounds")
    words = [_check_rule(rule, runs) for rule in rules]
    words += [_check_bound(claim, shown, rules, runs) for claim, shown in zip(claims, proofs, strict=True)]
    about = f"For these {' and '.join(str(len(X)) for X in sequences)} tokens in R^{D}"
    about += " under a causal mask" * causal + ", wherever in the stated world they are" * any(map(any, rooms))
    return f"{about}, these W_Q, W_K, W_V of type {s['dtype']} make sure that {'; '.join(words)}."


def _rule(given: Json, sequences: list[Rows], causal: bool) -> Rule:
    r = named(given, "a rule", "sequence", "token", "head", "attend", "output", "tolerance")
    sequence = whole(r["sequence"], 0, len(sequences) - 1, "a sequence")
    token = whole(r["token"], 0, len(sequences[sequence]) - 1, "a token")
    seen = token + 1 if causal else len(sequences[sequence])
    attend, tolerance = table(r["attend"], seen, "attend"), rational(r["tolerance"])
    output = vector(r["output"], len(listed(r["output"], "an output")), "an output")
    if not all(0 < p <= 1 for p in attend.values()) or tolerance < 0 or not (attend or output):
        raise Reject("a rule has a least weight that is not above 0 and at most 1, a tolerance below 0, or no wish")
    return Rule(sequence, token, whole(r["head"], 0, MOST, "a head"), attend, output, tolerance, seen)


def _check_rule(rule: Rule, runs: list[Run]) -> str:
    if rule.head >= len(runs) or len(rule.output) not in (0, len(runs[rule.head].V)):
        raise Reject(f"{rule}: there is no such head, or its values are not as long as the output")
    below, said = runs[rule.head].pattern_below(rule), []
    for target, least in rule.attend.items():
        if not below[target] >= least:
            raise Reject(f"{rule} is not certain to attend to token {target} with {shown(least)}")
        said.append(f"attends to token {target} with at least {shown(least)}")
    if rule.output:
        if not runs[rule.head].error(rule, below) <= rule.tolerance:
            raise Reject(f"{rule} is not certain to output what is wanted within {shown(rule.tolerance)}")
        said.append(f"outputs what is wanted within {shown(-rule.tolerance).lstrip('-')}")  # rounded up
    return f"{rule} {' and '.join(said)}"


def _check_bound(claimed: Json, evidence: Json, rules: list[Rule], runs: list[Run]) -> str:
    claim = named(claimed, "a bound", "head", "norm", "least")
    if claim["norm"] == "dimension":
        return _check_rows(claim, evidence, rules, runs)
    e = named(evidence, "a bound's evidence", "W_Q", "W_K", "constraints")
    head, least, norm = whole(claim["head"], 0, len(runs) - 1, "a head"), rational(claim["least"]), claim["norm"]
    sequences, D = runs[head].sequences, len(runs[head].sequences[0][0])
    Q, K = (
        W if e[name] is None else _matrix(e[name], D, name)
        for name, W in (("W_Q", runs[head].Q), ("W_K", runs[head].K))
    )
    run = Run(sequences, [()] * len(sequences), Q, K, Q)
    used: dict[int, dict[int, Fraction]] = {}
    for entry in listed(e["constraints"], "constraints", 1):
        c = named(entry, "a constraint", "rule", "target", "multiplier")
        rule, multiplier = whole(c["rule"], 0, len(rules) - 1, "a rule"), rational(c["multiplier"])
        mine, target = used.setdefault(rule, {}), whole(c["target"], 0, MOST, "a target")
        if rules[rule].head != head or target not in rules[rule].attend or target in mine or multiplier < 0:
            raise Reject("a constraint is of another head or no rule, or used twice, or has a negative multiplier")
        mine[target] = multiplier
    parts = [_part(run, rules[rule], mine) for rule, mine in used.items()]
    lefts, right = [left for left, _ in parts], sum((value for _, value in parts), NONE)
    tokens = [sequences[rules[rule].sequence][rules[rule].token] for rule in used]
    # G = sum_c left_c x_c^T: all that is needed of it are the inner products of its parts.
    A, B = (_product(rows, rows) for rows in (lefts, tokens))
    if norm not in ("frobenius", "nuclear") or least <= 0 or right <= 0:
        raise Reject("a bound is of no known norm, is not above 0, or rests on nothing that is certain to be above 0")
    squared = sum(map(_dot, A, B), NONE)  # |G|_F^2
    if not (least**2 * squared <= right**2 if norm == "frobenius" else _spectral(A, B, right / least)):
        raise Reject(f"it is not certain that the {str(norm)[:20]} norm in head {head} is at least {shown(least)}")
    return f"no W_K^T W_Q whose {norm} norm is below {shown(least)} makes head {head} attend as much"


def _check_rows(claim: dict[str, Json], evidence: Json, rules: list[Rule], runs: list[Run]) -> str:
    head, least = whole(claim["head"], 0, len(runs) - 1, "a head"), rational(claim["least"])
    views = {}
    for number, rule in enumerate(rules):
        tokens = runs[head].sequences[rule.sequence]
        if rule.head == head:
            views[number] = View(tuple(tokens[rule.token]), [tuple(x) for x in tokens[: rule.seen]], rule.attend)
    check_dimension(least, evidence, views)
    return f"no W_Q and W_K with fewer than {least} rows make head {head} attend as much"


def _part(run: Run, rule: Rule, mine: dict[int, Fraction]) -> tuple[Vector, Fraction]:
    """sum_a lambda_a (sum_l pi_l x_l - x_a), and sum_a lambda_a (H(pi) + ln p_a) from below."""
    tokens, mass = run.sequences[rule.sequence][: rule.seen], sum(mine.values(), NONE)
    pi = run.pattern_below(rule)
    pi[pi.index(max(pi))] += 1 - sum(pi, NONE)  # any distribution will do
    entropy = sum((a * ln_below(1 / a) for a in pi if a), NONE)
    pull = [mass * a - mine.get(j, NONE) for j, a in enumerate(pi)]
    left = _product([pull], _turned(tokens))[0]
    return tuple(left), sum((m * (entropy + ln_below(rule.attend[a])) for a, m in mine.items()), NONE)


def _spectral(A: Rows, B: Rows, most: Fraction) -> bool:
    """|G|_2 <= most for G = L^T R, A = L L^T, B = R R^T. With u = L^T c, |G^T u|^2 = c^T A B A c and |u|^2 = c^T A c:
    most^2 A - A B A must have no negative eigenvalue, which elimination in whole numbers tells (// is exact)."""
    ABA = _product(A, _product(A, B))  # all of these are symmetric
    N, _ = _whole([[most**2 * a - x for a, x in zip(*rows, strict=True)] for rows in zip(A, ABA, strict=True)])
    before = 1
    while N:
        at = max(range(len(N)), key=lambda i: N[i][i])
        pivot = N.pop(at)
        if pivot[at] <= 0:
            return not any(map(any, [pivot, *N]))  # with no diagonal entry above 0, only the matrix 0 has none
        N = [[(pivot[at] * x - row[at] * y) // before for x, y in zip(row, pivot, strict=True)] for row in N]
        N, before = [row[:at] + row[at + 1 :] for row in N], pivot[at]
    return True


def _matrix(given: Json, width: int, what: str, dtype: str = "float64") -> Rows:
    rows, (code, zeros) = [vector(row, width, what) for row in listed(given, what, 1)], TYPES[dtype]
    for x in (x for row in rows for x in row if x):
        content = struct.pack(code, float(x))  # an exception, and so no, where x is too large
        if struct.unpack(code, content)[0] != x or not content.startswith(zeros):
            raise Reject(f"{what} holds {shown(x)}, which is not a number of type {dtype}")
    return rows


def _whole(rows: Rows) -> tuple[list[list[int]], int]:
    """Whole numbers, and what to divide them by."""
    below = math.lcm(*(x.denominator for row in rows for x in row))
    return [[x.numerator * (below // x.denominator) for x in row] for row in rows], below


def _product(A: Rows, B: Rows) -> list[list[Fraction]]:
    """A B^T."""
    (left, a), (right, b) = _whole(A), _whole(B)
    if len({len(row) for row in (*left, *right)}) > 1:
        raise Reject("matrices do not fit together")
    return [[Fraction(sum(map(mul, row, column)), a * b) for column in right] for row in left]


def _turned(rows: Rows) -> Rows:
    return list(zip(*rows, strict=True))


def _dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return _product([x], [y])[0][0]


def _length(x: Sequence[Fraction]) -> Fraction:
    return sqrt_above(_dot(x, x))


def _exp(x: Fraction) -> tuple[Decimal, Decimal]:
    return exp_between(x.numerator, x.denominator)

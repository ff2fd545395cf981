"""Whole heads: do these weights keep the rules, can no smaller ones, or can none at all? run.py runs them.

None smaller: for multipliers lambda_c >= 0 of targets in rules, and any distributions pi, every M that gives these
their least weights p has <M, G> <= -right, G = sum_c lambda_c (sum_l pi^c_l x_l - x_a) x_i^T, right = sum_c lambda_c
(H(pi^c) + ln p_c). So |M|_F |G|_F >= right, and |M|_* |G|_2 >= right for the sum |M|_* of the singular values. If G is
exactly 0 and right > 0, there is no such M at all.

Outputs: a token attends to a mixture y_i of the tokens it sees and outputs W_V y_i. Equal tokens that see the same have
the same y_i; it is known where all that is seen is equal, and for the token 0, which sees all alike. If so
sum_i mu_i y_i = 0 whatever the head, the outputs cancel as well: |sum_i mu_i wanted_i| <= sum_i |mu_i| tolerance_i.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction

from headwright.trusted.certificate import Json, Vector, listed, named, table, vector, whole
from headwright.trusted.numbers import Reject, ln_below, rational, shown
from headwright.trusted.run import CERTAIN, NONE, Rows, Rule, Run, World, dot, error_above, product, turned
from headwright.trusted.run import whole_numbers as _whole

MOST = 4096  # tokens, and rules: more is refused before any work
TYPES = {"float64": ("<d", b""), "float32": ("<f", b""), "bfloat16": ("<f", b"\0\0")}  # bytes, and what they begin with
SHORT = 160  # bits of an output that is written out in words
ABOUT = ("claim", "mask", "sequences", "world", "rules")


def check_heads(said: Json, proof: Json) -> str:
    """What is proved, in words; or Reject."""
    none = isinstance(said, dict) and said.get("claim") == "no heads"
    s = named(said, "the statement", *ABOUT, *(() if none else ("dtype", "heads", "bounds")))
    D = len(listed(listed(listed(s["sequences"], "sequences", 1)[0], "tokens", 1)[0], "a token", 1))
    sequences = [_matrix(X, D, "a token") for X in listed(s["sequences"], "sequences")]
    if sum(map(len, sequences)) > MOST or len(listed(s["rules"], "rules", 1)) > MOST:
        raise Reject(f"expected at most {MOST} tokens, and as many rules")
    world = _world(s["world"])
    rules = [_rule(rule, sequences, s["mask"]) for rule in listed(s["rules"], "rules")]
    sizes, digest = " and ".join(str(len(X)) for X in sequences), _digest(map(_written, sequences))
    about = f"For these {sizes} tokens in R^{D} ({digest})" + _mask_in_words(s["mask"]) + _world_in_words(world)
    if none:
        _check_none(proof, rules, sequences)
        words = f"no W_Q, W_K and W_V whatever make sure that {'; '.join(map(_in_words, rules))}."
    else:
        words = _check_some(s, proof, rules, sequences, world)
    whole_digest = hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return f"{about}, {words} (Statement: sha256 {whole_digest}.)"


def _check_some(s: dict[str, Json], proof: Json, rules: list[Rule], sequences: Sequence[Rows], world: World) -> str:
    runs, D = [], len(sequences[0][0])
    for head in listed(s["heads"], "heads", 1):
        h = named(head, "a head", "W_Q", "W_K", "W_V")
        Q, K, V = (_matrix(h[name], D, name, str(s["dtype"])) for name in ("W_Q", "W_K", "W_V"))
        if len(Q) != len(K):
            raise Reject(f"W_Q has {len(Q)} rows and W_K has {len(K)}: expected as many")
        runs.append(Run(sequences, world, Q, K, V))
    claims, proofs = listed(s["bounds"], "bounds"), listed(named(proof, "the evidence", "bounds")["bounds"], "bounds")
    for rule in rules:
        _check_rule(rule, runs)
    words = [_in_words(rule) for rule in rules]
    words += [_check_bound(claim, shown, rules, runs) for claim, shown in zip(claims, proofs, strict=True)]
    digest = _digest(_written(W) for run in runs for W in (run.Q, run.K, run.V))
    return f"these W_Q, W_K, W_V of type {s['dtype']} ({digest}) make sure that {'; '.join(words)}."


def _world(given: Json) -> World:
    w = named(given, "the world", "ball", "scale")
    ball, (low, high) = rational(w["ball"]), vector(w["scale"], 2, "a scale")
    if ball < 0 or not 0 < low <= 1 <= high:
        raise Reject("expected a ball of 0 or more, and a scale above 0 that holds 1")
    return World(ball, low, high)


def _seen(mask: Json, token: int, T: int) -> tuple[int, ...]:
    """The tokens that a token sees: all, or those up to itself, or those with a 1 in its row."""
    if mask in ("none", "causal"):
        return tuple(range(token + 1 if mask == "causal" else T))
    row = listed(mask, "a mask", T)[token]
    if not isinstance(row, str) or len(row) < T or not set(row) <= {"0", "1"} or "1" not in row[:T]:
        raise Reject(f"the mask is not 'none', 'causal' or rows of 0 and 1, or token {token} sees nothing")
    return tuple(j for j in range(T) if row[j] == "1")


def _rule(given: Json, sequences: Sequence[Rows], mask: Json) -> Rule:
    r = named(given, "a rule", "sequence", "token", "head", "attend", "at_most", "output", "tolerance")
    sequence = whole(r["sequence"], 0, len(sequences) - 1, "a sequence")
    T = len(sequences[sequence])
    token = whole(r["token"], 0, T - 1, "a token")
    head = None if r["head"] == "sum" else whole(r["head"], 0, MOST, "a head")
    attend, at_most, tolerance = (
        table(r["attend"], T, "attend"),
        table(r["at_most"], T, "at_most"),
        rational(r["tolerance"]),
    )
    output, seen = vector(r["output"], len(listed(r["output"], "an output")), "an output"), _seen(mask, token, T)
    weights = {**attend, **at_most}
    if not all(0 < p <= 1 for p in (*attend.values(), *at_most.values())) or tolerance < 0 or not (weights or output):
        raise Reject("a rule has a weight that is not above 0 and at most 1, a tolerance below 0, or no wish")
    if not set(weights) <= set(seen) or (head is None and weights):
        raise Reject("a rule is about a token that the mask hides, or about weights in the sum of all heads")
    return Rule(sequence, token, head, attend, at_most, output, tolerance, seen)


def _check_rule(rule: Rule, runs: list[Run]) -> None:
    mine = runs if rule.head is None else runs[rule.head : rule.head + 1]
    if not mine or any(len(rule.output) not in (0, len(run.V)) for run in mine):
        raise Reject(f"{rule}: there is no such head, or its values are not as long as the output")
    below = dict(zip(rule.seen, mine[0].pattern_below(rule), strict=True)) if rule.attend else {}
    for target, least in rule.attend.items():
        if not below[target] >= least:
            raise Reject(f"{rule} is not certain to attend to token {target} with {shown(least)}")
    for token, most in rule.at_most.items():
        if not mine[0].weight_above(rule, token) <= most:
            raise Reject(f"{rule} is not certain to attend to token {token} with at most {shown(most)}")
    if rule.output and not error_above(rule, mine) <= rule.tolerance:
        raise Reject(f"{rule} is not certain to output what is wanted within {shown(rule.tolerance)}")


def _check_bound(claimed: Json, evidence: Json, rules: list[Rule], runs: list[Run]) -> str:
    claim = named(claimed, "a bound", "head", "norm", "least")
    e = named(evidence, "a bound's evidence", "W_Q", "W_K", "constraints")
    head, least, norm = whole(claim["head"], 0, len(runs) - 1, "a head"), rational(claim["least"]), claim["norm"]
    sequences, D = runs[head].sequences, len(runs[head].sequences[0][0])
    Q, K = (
        W if e[name] is None else _matrix(e[name], D, name)
        for name, W in (("W_Q", runs[head].Q), ("W_K", runs[head].K))
    )
    run = Run(sequences, CERTAIN, Q, K, Q)
    used: dict[int, dict[int, Fraction]] = {}
    for entry in listed(e["constraints"], "constraints", 1):
        c = named(entry, "a constraint", "rule", "target", "multiplier")
        rule, multiplier = whole(c["rule"], 0, len(rules) - 1, "a rule"), rational(c["multiplier"])
        mine, target = used.setdefault(rule, {}), whole(c["target"], 0, MOST, "a target")
        if rules[rule].head != head or target not in rules[rule].attend or target in mine or multiplier < 0:
            raise Reject("a constraint is of another head or no rule, or used twice, or has a negative multiplier")
        mine[target] = multiplier
    parts = []
    for rule, mine in used.items():
        pi = run.pattern_below(rules[rule])
        pi[pi.index(max(pi))] += 1 - sum(pi, NONE)  # any distribution will do
        parts.append(_part(rules[rule], sequences, dict(zip(rules[rule].seen, pi, strict=True)), mine))
    A, B, right = _gram(parts, [rules[rule] for rule in used], sequences)
    if norm not in ("frobenius", "nuclear") or least <= 0 or right <= 0:
        raise Reject("a bound is of no known norm, is not above 0, or rests on nothing that is certain to be above 0")
    squared = sum(map(dot, A, B), NONE)  # |G|_F^2
    if not (least**2 * squared <= right**2 if norm == "frobenius" else _spectral(A, B, right / least)):
        raise Reject(f"it is not certain that the {str(norm)[:20]} norm in head {head} is at least {shown(least)}")
    return f"no W_K^T W_Q whose {norm} norm is below {shown(least)} makes head {head} attend as much"


def _check_none(proof: Json, rules: list[Rule], sequences: Sequence[Rows]) -> None:
    """No head at all keeps the rules: either what they attend to cancels, or what they output does."""
    e = named(proof, "the evidence", "attend", "output")
    if len({rule.head for rule in rules}) > 1 or rules[0].head is None:
        raise Reject("the rules are not of one head")
    if e["output"] != []:
        return _check_outputs(e["output"], rules, sequences)
    parts, used = [], []
    for entry in listed(e["attend"], "attend", 1):
        c = named(entry, "an entry", "rule", "multipliers", "distribution")
        used.append(rules[whole(c["rule"], 0, len(rules) - 1, "a rule")])
        mine, shares = table(c["multipliers"], MOST, "multipliers"), table(c["distribution"], MOST, "a distribution")
        if not set(shares) <= set(used[-1].seen) or not set(mine) <= set(used[-1].attend):
            raise Reject("a distribution is over tokens that are not seen, or a multiplier has no target")
        if any(x < 0 for x in (*shares.values(), *mine.values())) or sum(shares.values()) != 1:
            raise Reject("a multiplier or a share is below 0, or shares do not sum to 1")
        parts.append(_part(used[-1], sequences, shares, mine))
    A, B, right = _gram(parts, used, sequences)
    if sum(map(dot, A, B), NONE) != 0 or right <= 0:
        raise Reject("the tokens do not cancel exactly, or the entropy does not exceed what the rules leave open")
    return None


def _check_outputs(given: Json, rules: list[Rule], sequences: Sequence[Rows]) -> None:
    mixed: dict[tuple[object, ...], Fraction] = {}
    off, room = [NONE] * len(rules[0].output), NONE
    total = [NONE] * len(sequences[0][0])
    for entry in listed(given, "output", 1):
        c = named(entry, "an entry", "rule", "multiplier")
        rule, mu = rules[whole(c["rule"], 0, len(rules) - 1, "a rule")], rational(c["multiplier"])
        x, seen = sequences[rule.sequence][rule.token], [sequences[rule.sequence][j] for j in rule.seen]
        off = [o + mu * w for o, w in zip(off, rule.output, strict=True)]
        room += abs(mu) * rule.tolerance
        if any(x) and any(y != seen[0] for y in seen):  # its mixture is not known, only who shares it
            same = (tuple(x), *sorted(map(tuple, seen)))
            mixed[same] = mixed.get(same, NONE) + mu
        else:
            total = [t + mu * sum(column, NONE) / len(seen) for t, column in zip(total, turned(seen), strict=True)]
    if any(total) or any(mixed.values()) or not dot(off, off) > room**2:
        raise Reject("what the tokens attend to does not cancel, or the outputs do within their tolerances")


def _part(
    rule: Rule, sequences: Sequence[Rows], pi: dict[int, Fraction], mine: dict[int, Fraction]
) -> tuple[Vector, Fraction]:
    """sum_a lambda_a (sum_l pi_l x_l - x_a), and sum_a lambda_a (H(pi) + ln p_a) from below."""
    mass, X = sum(mine.values(), NONE), sequences[rule.sequence]
    entropy = sum((a * ln_below(1 / a) for a in pi.values() if a), NONE)
    pull = {j: mass * pi.get(j, NONE) - mine.get(j, NONE) for j in rule.seen}
    left = product([list(pull.values())], turned([X[j] for j in pull]))[0]
    return tuple(left), sum((m * (entropy + ln_below(rule.attend[a])) for a, m in mine.items()), NONE)


def _gram(
    parts: list[tuple[Vector, Fraction]], rules: list[Rule], sequences: Sequence[Rows]
) -> tuple[Rows, Rows, Fraction]:
    """G = sum_c left_c x_c^T: all that is needed of it are the inner products of its parts; and the right side."""
    lefts, tokens = [left for left, _ in parts], [sequences[rule.sequence][rule.token] for rule in rules]
    return product(lefts, lefts), product(tokens, tokens), sum((value for _, value in parts), NONE)


def _spectral(A: Rows, B: Rows, most: Fraction) -> bool:
    """|G|_2 <= most for G = L^T R, A = L L^T, B = R R^T. With u = L^T c, |G^T u|^2 = c^T A B A c and |u|^2 = c^T A c:
    most^2 A - A B A must have no negative eigenvalue, which elimination in whole numbers tells (// is exact)."""
    ABA = product(A, product(A, B))  # all of these are symmetric
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


def _in_words(rule: Rule) -> str:
    said = [f"attends to token {a} with at least {shown(p)}" for a, p in rule.attend.items()]
    said += [f"attends to token {a} with at most {_shown_above(p)}" for a, p in rule.at_most.items()]
    if rule.output:
        short = sum(x.numerator.bit_length() + x.denominator.bit_length() for x in rule.output) <= SHORT
        wanted = f"({', '.join(map(str, rule.output))})" if short else _digest([_written([rule.output])])
        said.append(f"outputs {wanted} within {_shown_above(rule.tolerance)}")
    return f"{rule} {' and '.join(said)}"


def _mask_in_words(mask: Json) -> str:
    if mask in ("none", "causal"):
        return " under a causal mask" if mask == "causal" else ""
    rows = " ".join(map(str, listed(mask, "a mask")))
    return f" under the mask {rows if len(rows) <= 80 else _digest([rows])}"


def _world_in_words(world: World) -> str:
    if world == CERTAIN:
        return ""
    ball, low, high = (
        text if len(text := str(x)) <= 40 else _digest([text]) for x in (world.ball, world.low, world.high)
    )
    return f", wherever in this world they are (any c x + e with {low} <= c <= {high} and |e| <= {ball})"


def _shown_above(x: Fraction) -> str:
    return shown(-x).lstrip("-")


def _written(rows: Rows) -> str:
    """Numbers in decimal digits, or, where these would be many, in hexadecimal ones."""
    return ";".join(
        ",".join(
            str(x) if x.denominator < 10**9 and abs(x) < 10**9 else f"{x.numerator:#x}/{x.denominator:#x}" for x in row
        )
        for row in rows
    )


def _digest(texts: Iterable[str]) -> str:
    """The beginning of a digest of numbers, however these were written."""
    return f"sha256 {hashlib.sha256('|'.join(texts).encode()).hexdigest()[:16]}..."

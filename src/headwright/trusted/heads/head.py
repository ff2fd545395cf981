"""Whole heads: do these weights keep the rules, can no smaller ones, or can none at all? run.py runs them.

None smaller: for multipliers lambda_c >= 0 of targets in rules, and any distributions pi, every M that gives these
their least weights p has <M, G> <= -right, G = sum_c lambda_c (sum_l pi^c_l x_l - x_a) x_i^T, right = sum_c lambda_c
(H(pi^c) + ln p_c + sum_l pi^c_l bias_il - bias_ia). So |M|_F |G|_F >= right, and |M|_* |G|_2 >= right for the sum |M|_*
of the singular values. If G is exactly 0 and right > 0, there is no such M at all. Where heads have biases b_Q and b_V,
all this holds for M = W_K^T (W_Q | b_Q), with (x_i, 1) for x_i.

Outputs: a token attends to a mixture y_i of the tokens it sees and outputs W_V y_i. Equal tokens that see the same have
the same y_i; it is known where all that is seen is equal, and for the token 0, which sees all alike unless there are
biases (b_Q, or of places: then only equal tokens count). If so sum_i mu_i y_i = 0 (and sum_i mu_i = 0 for b_V) whatever
the head, the outputs cancel as well: |sum_i mu_i wanted_i| <= sum_i |mu_i| tolerance_i.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from headwright.trusted.certificate import Json, Vector, listed, named, rational, table, vector, whole
from headwright.trusted.heads.dimension import View, check_dimension
from headwright.trusted.heads.matrices import NONE, Rows, dot, length, product, turned, whole_numbers
from headwright.trusted.heads.run import CERTAIN, Head, Rule, Run, World, added_to, error_above
from headwright.trusted.keys import Malformed, Reject
from headwright.trusted.numbers import ln_below
from headwright.trusted.words import shown, told

MOST = 4096  # tokens, and rules: more is refused before any work
TYPES = {"float64": ("<d", b""), "float32": ("<f", b""), "bfloat16": ("<f", b"\0\0")}  # bytes, and what they begin with
SHORT = 160  # bits of numbers that are written out in words
ABOUT = ("claim", "mask", "sequences", "world", "biases", "bias", "rules")


@dataclass(frozen=True)
class Scene:
    """What a statement is about: tokens, a world, rules, and what heads have besides W_Q, W_K and W_V."""

    sequences: Sequence[Rows]
    world: World
    rules: Sequence[Rule]
    biases: bool  # heads have b_Q and b_V
    bias: Sequence[Rows]  # for each head, or none: what is added to scores, by place

    def asking(self, rule: Rule) -> Vector:
        """x_i of a rule's token; (x_i, 1) where there are biases."""
        return (*self.sequences[rule.sequence][rule.token], *([Fraction(1)] if self.biases else []))

    def bias_of(self, head: int) -> Rows:
        """What is added to scores in a head."""
        return self.bias[head] if self.bias else ()


def check_heads(said: Json, proof: Json) -> str:
    """What is proved, in words; or Reject."""
    claim = said.get("claim") if isinstance(said, dict) else None
    if claim == "circuit":
        return _check_circuit(said, proof)
    s = named(said, "the statement", *ABOUT, *(() if claim == "no heads" else ("dtype", "heads", "bounds")))
    scene = _scene(s)
    D = len(scene.sequences[0][0])
    sizes, digest = " and ".join(str(len(X)) for X in scene.sequences), _digest(map(_written, scene.sequences))
    about = "For this one token" if sizes == "1" else f"For these {sizes} tokens"
    about += f" in R^{D} (float64, {digest}){_mask_in_words(s['mask'])}{_world_in_words(scene.world)}"
    about += f", with biases of places in the scores ({_digest(map(_written, scene.bias))})" if scene.bias else ""
    if claim == "no heads":
        _check_none(proof, scene)
        which = "W_Q, W_K, W_V and biases b_Q and b_V" if scene.biases else "W_Q, W_K and W_V"
        words = f"no {which} whatever make sure that {'; '.join(map(_in_words, scene.rules))}."
    else:
        words = _check_some(s, proof, scene)
    return f"{about}, {words} {_whole_digest(said)}"


def _check_circuit(said: Json, proof: Json) -> str:
    """Layers one after the other: what comes out of each must be in the world of the next."""
    layers = listed(named(said, "the statement", "claim", "layers")["layers"], "layers", 2)
    proofs = listed(named(proof, "the evidence", "layers")["layers"], "layers")
    given = [named(layer, "a layer", *ABOUT, "dtype", "heads", "bounds") for layer in layers]
    if any(layer["claim"] != "heads" for layer in given):
        raise Reject("a layer of a circuit does not claim heads")
    if len(layers) != len(proofs):
        raise Reject(f"there is evidence for {len(proofs)} layers: expected it for {len(layers)}")
    words = [check_heads(layer, evidence) for layer, evidence in zip(layers, proofs, strict=True)]
    for before, after in pairwise(given):
        _check_joined(_scene(before), len(listed(before["heads"], "heads")), _scene(after))
    about = f"In a circuit of {len(words)} layers, each of which adds its output to its tokens and hands them on"
    return f"{about}: {' And after that: '.join(words)} {_whole_digest(said)}"


def _check_joined(before: Scene, heads: int, after: Scene) -> None:
    """Tokens that matter to the next layer are where it expects them: x + output, within its ball."""
    made = {(r.sequence, r.token): r for r in before.rules if r.output and (r.head is None or heads == 1)}
    if [len(X) for X in before.sequences] != [len(X) for X in after.sequences]:
        raise Reject("the layers of a circuit have sequences of different lengths")
    for s, t in {(rule.sequence, t) for rule in after.rules for t in (rule.token, *rule.seen)}:
        if (s, t) not in made:
            raise Reject(f"what a layer makes of token {t} of sequence {s} is not known, and the next one sees it")
        x, rule = before.sequences[s][t], made[s, t]
        if not len(x) == len(rule.output) == len(after.sequences[s][t]):
            raise Reject("the layers of a circuit have tokens or outputs of different lengths")
        off = length([a + b - c for a, b, c in zip(x, rule.output, after.sequences[s][t], strict=True)])
        room = before.world.ball + (before.world.stretch and before.world.stretch * length(x))
        if not off + rule.tolerance + room <= after.world.ball:
            raise Reject(f"token {t} of sequence {s} may come out further off than the next layer's ball")


def _scene(s: dict[str, Json]) -> Scene:
    D = len(listed(listed(listed(s["sequences"], "sequences", 1)[0], "tokens", 1)[0], "a token", 1))
    sequences = [_matrix(X, D, "a token") for X in listed(s["sequences"], "sequences")]
    if sum(map(len, sequences)) > MOST or len(listed(s["rules"], "rules", 1)) > MOST:
        raise Reject(f"expected at most {MOST} tokens, and as many rules")
    if type(s["biases"]) is not bool:
        raise Reject("expected true or false for biases")
    T = max(map(len, sequences))
    bias = [[vector(row, T, "a bias") for row in listed(B, "a bias", T)] for B in listed(s["bias"], "bias")]
    _check_mask(s["mask"], T)
    rules = [_rule(rule, sequences, s["mask"]) for rule in listed(s["rules"], "rules")]
    if bias and any(rule.head is not None and rule.head >= len(bias) for rule in rules):
        raise Reject("a rule is of a head without biases of places, and others have them")
    return Scene(sequences, _world(s["world"]), rules, s["biases"], bias)


def _check_some(s: dict[str, Json], proof: Json, scene: Scene) -> str:
    given, dtype = listed(s["heads"], "heads", 1), s["dtype"]
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise Reject(f"the weights are of type {ascii(dtype)[:40]}: expected one of {', '.join(TYPES)}")
    if len(scene.bias) not in (0, len(given)):
        raise Reject("expected biases of places for each head, or none")
    claims, proofs = listed(s["bounds"], "bounds"), listed(named(proof, "the evidence", "bounds")["bounds"], "bounds")
    if len(claims) != len(proofs):
        raise Reject(f"there is evidence for {len(proofs)} bounds: expected it for {len(claims)}")
    heads = [_head(head, dtype, scene, h) for h, head in enumerate(given)]
    runs = [Run(scene.sequences, scene.world, head) for head in heads]
    for rule in scene.rules:
        _check_rule(rule, runs)
    words = [_in_words(rule) for rule in scene.rules]
    words += [_check_bound(claim, shown, scene, heads) for claim, shown in zip(claims, proofs, strict=True)]
    digest = _digest(_written(W) for head in heads for W in (head.Q, head.K, head.V, [head.b_Q], [head.b_V]))
    names = "W_Q, W_K, W_V, b_Q, b_V" if scene.biases else "W_Q, W_K, W_V"
    return f"these {names} of type {dtype} ({digest}) make sure that {'; '.join(words)}."


def _head(given: Json, dtype: str, scene: Scene, number: int) -> Head:
    h, D = named(given, "a head", "W_Q", "W_K", "W_V", "b_Q", "b_V"), len(scene.sequences[0][0])
    Q, K, V = (_matrix(h[name], D, name, dtype) for name in ("W_Q", "W_K", "W_V"))
    if len(Q) != len(K):
        raise Reject(f"W_Q has {len(Q)} rows and W_K has {len(K)}: expected as many")
    long = (len(Q), len(V)) if scene.biases else (0, 0)
    b_Q, b_V = (_matrix([h[name]], n, name, dtype)[0] for name, n in zip(("b_Q", "b_V"), long, strict=True))
    return Head(Q, K, V, tuple(b_Q), tuple(b_V), scene.bias_of(number))


def _world(given: Json) -> World:
    w = named(given, "the world", "ball", "scale")
    ball, (low, high) = rational(w["ball"]), vector(w["scale"], 2, "a scale")
    if ball < 0 or not 0 < low <= 1 <= high:
        raise Reject("expected a ball of 0 or more, and a scale above 0 that holds 1")
    return World(ball, low, high)


def _check_mask(mask: Json, T: int) -> None:
    """No mask, a causal one, or a square of 0 and 1 for the longest sequence: nothing else is said in words."""
    if mask not in ("none", "causal"):
        fits = [isinstance(row, str) and len(row) == T and set(row) <= {"0", "1"} for row in listed(mask, "a mask")]
        if fits != [True] * T:
            raise Malformed(f"the mask is not 'none', 'causal' or {T} rows of {T} digits 0 and 1")


def _seen(mask: Json, token: int, T: int) -> tuple[int, ...]:
    """The tokens that a token sees: all, or those up to itself, or those with a 1 in its row."""
    if mask in ("none", "causal"):
        return tuple(range(token + 1 if mask == "causal" else T))
    row = listed(mask, "a mask")[token]
    if not (seen := tuple(j for j, digit in enumerate(str(row)[:T]) if digit == "1")):
        raise Reject(f"a rule is about token {token}, which sees nothing under the mask")
    return seen


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
    if not all(0 < p <= 1 for p in (*attend.values(), *at_most.values())) or not (weights or output):
        raise Reject("a rule has a weight that is not above 0 and at most 1, or no wish")
    if tolerance < 0 or (tolerance and not output):
        raise Reject("a rule has a tolerance that is below 0, or one without an output")
    if not set(weights) <= set(seen) or (head is None and weights):
        raise Reject("a rule is about a token that the mask hides, or about weights in the sum of all heads")
    return Rule(sequence, token, head, attend, at_most, output, tolerance, seen)


def _check_rule(rule: Rule, runs: Sequence[Run]) -> None:
    mine = runs if rule.head is None else runs[rule.head : rule.head + 1]
    if not mine or any(len(rule.output) not in (0, len(run.head.V)) for run in mine):
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


def _check_bound(claimed: Json, evidence: Json, scene: Scene, heads: Sequence[Head]) -> str:
    claim, rules = named(claimed, "a bound", "head", "norm", "least"), scene.rules
    if claim["norm"] == "dimension":
        return _check_rows(claim, evidence, scene, len(heads))
    e = named(evidence, "a bound's evidence", "W_Q", "W_K", "constraints")
    number, least, norm = whole(claim["head"], 0, len(heads) - 1, "a head"), rational(claim["least"]), claim["norm"]
    head, D = heads[number], len(scene.sequences[0][0])
    if (e["W_Q"], e["W_K"]) != (None, None):
        K, QB = _matrix(e["W_K"], D, "W_K"), _matrix(e["W_Q"], D + scene.biases, "W_Q")  # a witness: (W_Q | b_Q)
        b_Q = tuple(row[D] for row in QB) if scene.biases else ()
        head = Head([row[:D] for row in QB], K, head.V, b_Q, head.b_V, head.bias)
    run = Run(scene.sequences, CERTAIN, head)
    used: dict[int, dict[int, Fraction]] = {}
    for entry in listed(e["constraints"], "constraints", 1):
        c = named(entry, "a constraint", "rule", "target", "multiplier")
        rule, multiplier = whole(c["rule"], 0, len(rules) - 1, "a rule"), rational(c["multiplier"])
        mine, target = used.setdefault(rule, {}), whole(c["target"], 0, MOST, "a target")
        if rules[rule].head != number or target not in rules[rule].attend or target in mine or multiplier < 0:
            raise Reject("a constraint is of another head or no rule, or used twice, or has a negative multiplier")
        mine[target] = multiplier
    parts = []
    for rule, mine in used.items():
        pi = run.pattern_below(rules[rule])
        pi[pi.index(max(pi))] += 1 - sum(pi, NONE)  # any distribution will do
        parts.append(_part(rules[rule], scene, dict(zip(rules[rule].seen, pi, strict=True)), mine))
    A, B, right = _gram(parts)
    if norm not in ("frobenius", "nuclear") or least <= 0 or right <= 0:
        raise Reject("a bound is of no known norm, is not above 0, or rests on nothing that is certain to be above 0")
    squared = sum(map(dot, A, B), NONE)  # |G|_F^2
    if not (least**2 * squared <= right**2 if norm == "frobenius" else _spectral(A, B, right / least)):
        raise Reject(f"it is not certain that the {str(norm)[:20]} norm in head {number} is at least {shown(least)}")
    product_of = "W_K^T (W_Q | b_Q)" if scene.biases else "W_K^T W_Q"
    return f"no {product_of} whose {norm} norm is below {told(least, '')} makes head {number} attend as much"


def _check_rows(claim: dict[str, Json], evidence: Json, scene: Scene, heads: int) -> str:
    head, least = whole(claim["head"], 0, heads - 1, "a head"), rational(claim["least"])
    views = {}
    for number, rule in enumerate(scene.rules):
        X = scene.sequences[rule.sequence]
        if rule.head == head:
            views[number] = View(scene.asking(rule), {j: tuple(X[j]) for j in rule.seen}, rule.attend)
    if any(map(any, scene.bias_of(head))):
        raise Reject("scores that depend on places say nothing of a head's dimension")
    check_dimension(least, evidence, views)
    return f"no W_Q and W_K with fewer than {least} rows make head {head} attend as much"


def _check_none(proof: Json, scene: Scene) -> None:
    """No head at all keeps the rules: either what they attend to cancels, or what they output does."""
    e, rules = named(proof, "the evidence", "attend", "output"), scene.rules
    if len({rule.head for rule in rules}) > 1 or rules[0].head is None:
        raise Reject("the rules are not of one head")
    if e["output"] != []:
        return _check_outputs(e["output"], scene, scene.bias_of(rules[0].head))
    parts = []
    for entry in listed(e["attend"], "attend", 1):
        c = named(entry, "an entry", "rule", "multipliers", "distribution")
        rule = rules[whole(c["rule"], 0, len(rules) - 1, "a rule")]
        mine, shares = table(c["multipliers"], MOST, "multipliers"), table(c["distribution"], MOST, "a distribution")
        if not set(shares) <= set(rule.seen) or not set(mine) <= set(rule.attend):
            raise Reject("a distribution is over tokens that are not seen, or a multiplier has no target")
        if any(x < 0 for x in (*shares.values(), *mine.values())) or sum(shares.values()) != 1:
            raise Reject("a multiplier or a share is below 0, or shares do not sum to 1")
        parts.append(_part(rule, scene, shares, mine))
    A, B, right = _gram(parts)
    if sum(map(dot, A, B), NONE) != 0 or right <= 0:
        raise Reject("the tokens do not cancel exactly, or the entropy does not exceed what the rules leave open")
    return None


def _check_outputs(given: Json, scene: Scene, bias: Rows) -> None:
    mixed: dict[tuple[object, ...], Fraction] = {}
    entries = [named(entry, "an entry", "rule", "multiplier") for entry in listed(given, "output", 1)]
    using = [scene.rules[whole(entry["rule"], 0, len(scene.rules) - 1, "a rule")] for entry in entries]
    if len({len(rule.output) for rule in using}) > 1:
        raise Reject("the outputs that should cancel are not of one length")
    off, room, total = [NONE] * len(using[0].output), NONE, [NONE] * (len(scene.sequences[0][0]) + 1)
    for rule, mu in zip(using, (rational(entry["multiplier"]) for entry in entries), strict=True):
        x, seen = scene.sequences[rule.sequence][rule.token], [scene.sequences[rule.sequence][j] for j in rule.seen]
        off = [o + mu * w for o, w in zip(off, rule.output, strict=True)]
        room += abs(mu) * rule.tolerance
        if (any(x) or scene.biases or bias) and any(y != seen[0] for y in seen):  # not known, but who shares it is
            same = (tuple(x), *sorted(zip(map(tuple, seen), added_to(rule, bias), strict=True)))
            mixed[same] = mixed.get(same, NONE) + mu
        else:
            mean = [sum(column, NONE) / len(seen) for column in turned(seen)]
            total = [t + mu * y for t, y in zip(total, [*mean, Fraction(scene.biases)], strict=True)]
    if any(total) or any(mixed.values()) or not dot(off, off) > room**2:
        raise Reject("what the tokens attend to does not cancel, or the outputs do within their tolerances")


def _part(
    rule: Rule, scene: Scene, pi: dict[int, Fraction], mine: dict[int, Fraction]
) -> tuple[Vector, Vector, Fraction]:
    """sum_a lambda_a (sum_l pi_l x_l - x_a); x_i; and sum_a lambda_a (H(pi) + ln p_a) with the bias, from below."""
    mass, X = sum(mine.values(), NONE), scene.sequences[rule.sequence]
    entropy = sum((a * ln_below(1 / a) for a in pi.values() if a), NONE)
    pull = [mass * pi.get(j, NONE) - mine.get(j, NONE) for j in rule.seen]
    left = product([pull], turned([X[j] for j in rule.seen]))[0]
    moved = dot(pull, added_to(rule, scene.bias_of(rule.head or 0)))
    right = sum((m * (entropy + ln_below(rule.attend[a])) for a, m in mine.items()), NONE) + moved
    return tuple(left), scene.asking(rule), right


def _gram(parts: Sequence[tuple[Vector, Vector, Fraction]]) -> tuple[Rows, Rows, Fraction]:
    """G = sum_c left_c x_c^T: all that is needed of it are the inner products of its parts; and the right side."""
    lefts, tokens, values = zip(*parts, strict=True)
    return product(lefts, lefts), product(tokens, tokens), sum(values, NONE)


def _spectral(A: Rows, B: Rows, most: Fraction) -> bool:
    """|G|_2 <= most for G = L^T R, A = L L^T, B = R R^T. With u = L^T c, |G^T u|^2 = c^T A B A c and |u|^2 = c^T A c:
    most^2 A - A B A must have no negative eigenvalue, which elimination in whole numbers tells (// is exact)."""
    ABA = product(A, product(A, B))  # all of these are symmetric
    N, _ = whole_numbers([[most**2 * a - x for a, x in zip(*rows, strict=True)] for rows in zip(A, ABA, strict=True)])
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
    said = [f"attends to token {a} with at least {told(p)}" for a, p in rule.attend.items()]
    said += [f"attends to token {a} with at most {told(p)}" for a, p in rule.at_most.items()]
    if rule.output:
        said.append(f"outputs ({_short(rule.output)}) within {told(rule.tolerance)}")
    return f"{rule} {' and '.join(said)}"


def _mask_in_words(mask: Json) -> str:
    if mask in ("none", "causal"):
        return " under a causal mask" if mask == "causal" else ""
    rows = " ".join(map(str, listed(mask, "a mask")))
    return f" under the mask {rows if len(rows) <= 80 else _digest([rows])}"


def _world_in_words(world: World) -> str:
    if world == CERTAIN:
        return ""
    ball, low, high = (_short([x]) for x in (world.ball, world.low, world.high))
    return f", wherever in this world they are (any c x + e with {low} <= c <= {high} and |e| <= {ball})"


def _short(numbers: Sequence[Fraction]) -> str:
    """Numbers as they are, or their digest where these are long."""
    few = sum(x.numerator.bit_length() + x.denominator.bit_length() for x in numbers) <= SHORT
    return ", ".join(map(str, numbers)) if few else _digest([_written([numbers])])


def _written(rows: Rows) -> str:
    """Numbers in decimal digits, or, where these would be many, in hexadecimal ones."""
    return ";".join(
        ",".join(
            str(x) if x.denominator < 10**9 and abs(x) < 10**9 else f"{x.numerator:#x}/{x.denominator:#x}" for x in row
        )
        for row in rows
    )


def _whole_digest(said: Json) -> str:
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return f"(Statement: sha256 {hashlib.sha256(text.encode()).hexdigest()}.)"


def _digest(texts: Iterable[str]) -> str:
    """The beginning of a digest of numbers, however these were written."""
    return f"sha256 {hashlib.sha256('|'.join(texts).encode()).hexdigest()[:16]}..."

"""Whole heads: do these weights keep the rules, can no smaller ones, or can none at all?

None smaller: for multipliers lambda_c >= 0 of targets in rules, and any distributions pi, every M
that gives these their least weights p has <M, G> <= -right,

    G = sum_c lambda_c (sum_l pi^c_l x_l - x_a) x_i^T,
    right = sum_c lambda_c (H(pi^c) + ln p_c + sum_l pi^c_l bias_il - bias_ia).

So |M|_F |G|_F >= right, and |M|_* |G|_2 >= right for the sum |M|_* of the singular values. If G is
exactly 0 and right > 0, there is no such M at all. Where heads have biases b_Q and b_V, all this
holds for M = W_K^T (W_Q | b_Q), with (x_i, 1) for x_i.
"""

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from headwright.trusted.certificate import Json, listed, named, rational, table, vector, whole
from headwright.trusted.heads.dimension import View, check_dimension
from headwright.trusted.heads.matrices import NONE, Rows, dot, length, mix, plus, product, spectral
from headwright.trusted.heads.run import CERTAIN, Head, Rule, Run, World, added, error_above
from headwright.trusted.keys import Malformed, Reject
from headwright.trusted.numbers import ln_below
from headwright.trusted.words import digest_of, shown, told

MOST = 4096  # tokens, and rules: more is refused before any work
TYPES = {"float64": ("<d", b""), "float32": ("<f", b""), "bfloat16": ("<f", b"\0\0")}
ABOUT = ("claim", "mask", "sequences", "world", "biases", "bias", "rules")
WEIGHTS = ("dtype", "heads", "bounds")
Shares = dict[int, Fraction]
Term = tuple[Sequence[Fraction], Sequence[Fraction], Fraction]  # see `_term`


@dataclass(frozen=True)
class Scene:
    """What a statement is about: tokens, a world, rules, and what heads have besides weights."""

    sequences: Sequence[Rows]
    world: World
    rules: Sequence[Rule]
    biases: bool  # heads have b_Q and b_V
    bias: Sequence[Rows]  # for each head, or none: what is added to scores, by place

    def asking(self, rule: Rule) -> tuple[Fraction, ...]:
        """x_i of a rule's token; (x_i, 1) where there are biases."""
        x = self.sequences[rule.sequence][rule.token]
        return (*x, Fraction(1)) if self.biases else tuple(x)

    def bias_of(self, head: int) -> Rows:
        """What is added to scores in a head."""
        return self.bias[head] if self.bias else ()


def check_heads(said: Json, proof: Json) -> str:
    """What is proved, in words; or Reject."""
    claim = said.get("claim") if isinstance(said, dict) else None
    if claim == "circuit":
        return _check_circuit(said, proof)
    s = named(said, "the statement", *ABOUT, *(() if claim == "no heads" else WEIGHTS))
    scene = read_scene(s)
    words = (_check_none if claim == "no heads" else _check_some)(s, proof, scene)
    return f"{_scene_in_words(scene, s['mask'])}, {words} {_statement_digest(said)}"


def _check_circuit(said: Json, proof: Json) -> str:
    """Each layer keeps its rules, and what comes out of it is in the world of the next."""
    layers = listed(named(said, "the statement", "claim", "layers")["layers"], "layers", 2)
    proofs = listed(named(proof, "the evidence", "layers")["layers"], "layers")
    given = [named(layer, "a layer", *ABOUT, *WEIGHTS) for layer in layers]
    if any(layer["claim"] != "heads" for layer in given) or len(layers) != len(proofs):
        raise Reject("a layer of a circuit does not claim heads, or there is no evidence for it")
    words = [check_heads(layer, evidence) for layer, evidence in zip(layers, proofs, strict=True)]
    for before, after in pairwise(given):
        one = len(listed(before["heads"], "heads")) == 1
        _check_joined(read_scene(before), one, read_scene(after))
    about = f"In a circuit of {len(words)} layers, each of which adds its output to its tokens"
    return f"{about} and hands them on: {' And after that: '.join(words)} {_statement_digest(said)}"


def _check_joined(before: Scene, one: bool, after: Scene) -> None:
    """Reject, unless |x + output - x'| + tolerance + rho <= ball' for all that the next layer sees.

    The output is known where a rule is about the sum of all heads, or about the only head.
    """
    made = {(r.sequence, r.token): r for r in before.rules if r.output and (one or r.head is None)}
    if [len(X) for X in before.sequences] != [len(X) for X in after.sequences]:
        raise Reject("the layers of a circuit have sequences of different lengths")
    for s, t in {(rule.sequence, t) for rule in after.rules for t in (rule.token, *rule.seen)}:
        if (s, t) not in made:
            raise Reject(f"what becomes of token {t} of sequence {s} is not known, but seen")
        x, after_x, rule = before.sequences[s][t], after.sequences[s][t], made[s, t]
        if not len(x) == len(rule.output) == len(after_x):
            raise Reject("the layers of a circuit have tokens or outputs of different lengths")
        off = length(plus(plus(x, 1, rule.output), -1, after_x))
        if not off + rule.tolerance + before.world.rho(x) <= after.world.ball:
            raise Reject(f"token {t} of sequence {s} may leave the ball of the next layer")


def _check_some(s: dict[str, Json], proof: Json, scene: Scene) -> str:
    """These heads keep all rules, and their bounds hold: in words; or Reject."""
    heads, claims = read_heads(s, scene), listed(s["bounds"], "bounds")
    proofs = listed(named(proof, "the evidence", "bounds")["bounds"], "bounds")
    if len(claims) != len(proofs):
        raise Reject(f"there is evidence for {len(proofs)} bounds: expected it for {len(claims)}")
    runs = [Run(scene.sequences, scene.world, head) for head in heads]
    words = [_check_rule(rule, runs) for rule in scene.rules]
    words += [_check_bound(*both, scene, heads) for both in zip(claims, proofs, strict=True)]
    weights = [W for h in heads for W in (h.Q, h.K, h.V, [h.b_Q], [h.b_V])]
    names = "W_Q, W_K, W_V, b_Q, b_V" if scene.biases else "W_Q, W_K, W_V"
    these = f"these {names} of type {s['dtype']} ({_numbers_digest(weights)})"
    return f"{these} make sure that {'; '.join(words)}."


def _check_rule(rule: Rule, runs: Sequence[Run]) -> str:
    """Its heads keep a rule, as bounds of weights and of outputs say: in words; or Reject."""
    mine = runs if rule.head is None else runs[rule.head : rule.head + 1]
    if not mine or any(len(rule.output) not in (0, len(run.head.V)) for run in mine):
        raise Reject(f"{rule}: there is no such head, or its values are not as long as the output")
    below = dict(zip(rule.seen, mine[0].pattern_below(rule), strict=True)) if rule.attend else {}
    for token, p in rule.attend.items():
        if not below[token] >= p:
            raise Reject(f"{rule} is not certain to attend to token {token} with {shown(p)}")
    for token, p in rule.at_most.items():
        if not mine[0].weight_above(rule, token) <= p:
            raise Reject(f"{rule} is not certain to attend to {token} with at most {shown(p)}")
    if rule.output and not error_above(rule, mine) <= rule.tolerance:
        raise Reject(f"{rule} is not certain to output it within {shown(rule.tolerance)}")
    return _rule_in_words(rule)


def _check_bound(claimed: Json, evidence: Json, scene: Scene, heads: Sequence[Head]) -> str:
    """No smaller W_K^T W_Q gives the targets of its rules their weights: in words; or Reject."""
    claim, rules = named(claimed, "a bound", "head", "norm", "least"), scene.rules
    number, least = whole(claim["head"], 0, len(heads) - 1, "a head"), rational(claim["least"])
    if claim["norm"] == "dimension":
        return _check_rows(number, least, evidence, scene)
    e = named(evidence, "a bound's evidence", "W_Q", "W_K", "constraints")
    norm, head, D = str(claim["norm"])[:20], heads[number], len(scene.sequences[0][0])
    if (e["W_Q"], e["W_K"]) != (None, None):  # a witness, with (W_Q | b_Q) for W_Q
        K, QB = _matrix(e["W_K"], D, "W_K"), _matrix(e["W_Q"], D + scene.biases, "W_Q")
        b_Q = tuple(row[D] for row in QB) if scene.biases else ()
        head = Head([row[:D] for row in QB], K, head.V, b_Q, head.b_V, head.bias)
    used: dict[int, Shares] = {}
    for entry in listed(e["constraints"], "constraints", 1):
        c = named(entry, "a constraint", "rule", "target", "multiplier")
        i, multiplier = whole(c["rule"], 0, len(rules) - 1, "a rule"), rational(c["multiplier"])
        mine, target = used.setdefault(i, {}), whole(c["target"], 0, MOST, "a target")
        fits = rules[i].head == number and target in rules[i].attend and target not in mine
        if not fits or multiplier < 0:
            raise Reject("a constraint is of another head, of no target, used twice, or negative")
        mine[target] = multiplier
    run, terms = Run(scene.sequences, CERTAIN, head), []
    for i, mine in used.items():
        pi = run.pattern_below(rules[i])
        pi[pi.index(max(pi))] += 1 - sum(pi, NONE)  # any distribution will do
        terms.append(_term(rules[i], scene, dict(zip(rules[i].seen, pi, strict=True)), mine))
    A, B, right = _gram(terms)
    if norm not in ("frobenius", "nuclear") or least <= 0 or right <= 0:
        raise Reject("a bound is of no known norm, is not above 0, or rests on nothing above 0")
    holds = least**2 * sum(map(dot, A, B), NONE) <= right**2  # least |G|_F <= right
    if not (holds if norm == "frobenius" else spectral(A, B, right / least)):
        raise Reject(f"the {norm} norm in head {number} is not certain to reach {shown(least)}")
    which = f"{'W_K^T (W_Q | b_Q)' if scene.biases else 'W_K^T W_Q'} whose {norm} norm is below"
    return f"no {which} {told(least, '')} makes head {number} attend as much"


def _check_rows(head: int, least: Fraction, evidence: Json, scene: Scene) -> str:
    """No head of fewer rows gives the targets their weights: in words; or Reject."""
    if any(map(any, scene.bias_of(head))):
        raise Reject("scores that depend on places say nothing of a head's dimension")
    views = {}
    for number, rule in enumerate(scene.rules):
        if rule.head == head:
            seen = {j: tuple(scene.sequences[rule.sequence][j]) for j in rule.seen}
            views[number] = View(scene.asking(rule), seen, rule.attend)
    check_dimension(least, evidence, views)
    return f"no W_Q and W_K with fewer than {least} rows make head {head} attend as much"


def _check_none(_: dict[str, Json], proof: Json, scene: Scene) -> str:
    """No head keeps the rules: in words; or Reject."""
    e, rules = named(proof, "the evidence", "attend", "output"), scene.rules
    if len({rule.head for rule in rules}) > 1 or rules[0].head is None:
        raise Reject("the rules are not of one head")
    if e["output"] != []:
        _check_outputs(e["output"], scene, scene.bias_of(rules[0].head))
    else:
        _check_attended(e["attend"], scene)
    which = "W_Q, W_K, W_V and biases b_Q and b_V" if scene.biases else "W_Q, W_K and W_V"
    return f"no {which} whatever make sure that {'; '.join(map(_rule_in_words, rules))}."


def _check_attended(given: Json, scene: Scene) -> None:
    """Reject, unless G is exactly 0 and right > 0 for these multipliers and distributions."""
    terms = []
    for entry in listed(given, "attend", 1):
        c = named(entry, "an entry", "rule", "multipliers", "distribution")
        rule = scene.rules[whole(c["rule"], 0, len(scene.rules) - 1, "a rule")]
        mine, shares = (table(c[x], MOST, x) for x in ("multipliers", "distribution"))
        fits = set(shares) <= set(rule.seen) and set(mine) <= set(rule.attend)
        negative = any(x < 0 for x in (*shares.values(), *mine.values()))
        if not fits or negative or sum(shares.values()) != 1:
            raise Reject("a token is not seen, or no target, or has a number that does not fit")
        terms.append(_term(rule, scene, shares, mine))
    A, B, right = _gram(terms)
    if sum(map(dot, A, B), NONE) != 0 or right <= 0:
        raise Reject("the tokens do not cancel exactly, or the entropy is not large enough")


def _check_outputs(given: Json, scene: Scene, bias: Rows) -> None:
    """Reject, unless outputs that cancel in every head are wanted not to cancel.

    A token attends to a mixture y_i of the tokens it sees and outputs W_V y_i + b_V. Equal tokens
    that see the same have the same y_i. It is known where all that is seen is equal, and for the
    token 0, which sees all alike unless there are biases (b_Q, or of places: then only equal tokens
    count). If so sum_i mu_i y_i = 0 (and sum_i mu_i = 0 for b_V) whatever the head, the outputs
    cancel as well: |sum_i mu_i wanted_i| <= sum_i |mu_i| tolerance_i.
    """
    entries = [named(e, "an entry", "rule", "multiplier") for e in listed(given, "output", 1)]
    rules = [scene.rules[whole(e["rule"], 0, len(scene.rules) - 1, "a rule")] for e in entries]
    factors, outputs = [rational(e["multiplier"]) for e in entries], [r.output for r in rules]
    if len({len(output) for output in outputs}) > 1:
        raise Reject("the outputs that should cancel are not of one length")
    unknown: dict[tuple[object, ...], Fraction] = {}
    known, off, room = [NONE] * (len(scene.sequences[0][0]) + 1), mix(factors, outputs), NONE
    for rule, mu in zip(rules, factors, strict=True):
        X = scene.sequences[rule.sequence]
        x, seen, room = X[rule.token], [X[j] for j in rule.seen], room + abs(mu) * rule.tolerance
        if (any(x) or scene.biases or bias) and any(y != seen[0] for y in seen):
            same = (tuple(x), *sorted(zip(map(tuple, seen), added(rule, bias), strict=True)))
            unknown[same] = unknown.get(same, NONE) + mu
        else:
            mean = mix([mu / len(seen)] * len(seen), seen)
            known = plus(known, 1, [*mean, mu * scene.biases])
    if any(known) or any(unknown.values()) or not dot(off, off) > room**2:
        raise Reject("the tokens do not cancel, or the outputs do within their tolerances")


def _term(rule: Rule, scene: Scene, pi: Shares, mine: Shares) -> Term:
    """sum_a lambda_a (sum_l pi_l x_l - x_a); x_i; and right of these targets, from below."""
    mass, X = sum(mine.values(), NONE), scene.sequences[rule.sequence]
    entropy = sum((a * ln_below(1 / a) for a in pi.values() if a), NONE)
    weights = [mass * pi.get(j, NONE) - mine.get(j, NONE) for j in rule.seen]
    right = dot(weights, added(rule, scene.bias_of(rule.head or 0)))
    right += sum((m * (entropy + ln_below(rule.attend[a])) for a, m in mine.items()), NONE)
    return tuple(mix(weights, [X[j] for j in rule.seen])), scene.asking(rule), right


def _gram(terms: Sequence[Term]) -> tuple[Rows, Rows, Fraction]:
    """For G = sum_c left_c x_c^T, the inner products of all left_c and of all x_c; and right."""
    lefts, tokens, values = zip(*terms, strict=True)
    return product(lefts, lefts), product(tokens, tokens), sum(values, NONE)


def read_scene(s: dict[str, Json]) -> Scene:
    """Tokens, mask, world, biases and rules; Malformed or Reject if they do not fit together."""
    given, rules = listed(s["sequences"], "sequences", 1), listed(s["rules"], "rules", 1)
    D = len(listed(listed(given[0], "tokens", 1)[0], "a token", 1))
    sequences = [_matrix(X, D, "a token") for X in given]
    T, biases = max(map(len, sequences)), s["biases"]
    if sum(map(len, sequences)) > MOST or len(rules) > MOST or type(biases) is not bool:
        raise Reject(f"expected at most {MOST} tokens and rules, and true or false for biases")
    tables, mask = [listed(B, "a bias", T) for B in listed(s["bias"], "bias")], _mask(s["mask"], T)
    bias = [[vector(row, T, "a bias") for row in rows] for rows in tables]
    read = [_rule(rule, sequences, mask) for rule in rules]
    if bias and any(rule.head is not None and rule.head >= len(bias) for rule in read):
        raise Reject("a rule is of a head without biases of places, and others have them")
    w = named(s["world"], "the world", "ball", "scale")
    ball, (low, high) = rational(w["ball"]), vector(w["scale"], 2, "a scale")
    if ball < 0 or not 0 < low <= 1 <= high:
        raise Reject("expected a ball of 0 or more, and a scale above 0 that holds 1")
    return Scene(sequences, World(ball, low, high), read, biases, bias)


def _mask(mask: Json, T: int) -> list[str]:
    """For each token a row of digits: 1 for those that it sees."""
    if mask in ("none", "causal"):
        return [("1" * (T if mask == "none" else i + 1)).ljust(T, "0") for i in range(T)]
    rows = [row if isinstance(row, str) else "" for row in listed(mask, "a mask")]
    if len(rows) != T or not all(re.fullmatch(f"[01]{{{T}}}", row) for row in rows):
        raise Malformed(f"the mask is not 'none', 'causal' or {T} rows of {T} digits 0 and 1")
    return rows


def _rule(given: Json, sequences: Sequence[Rows], mask: list[str]) -> Rule:
    names = ("sequence", "token", "head", "attend", "at_most", "output", "tolerance")
    r = named(given, "a rule", *names)
    sequence = whole(r["sequence"], 0, len(sequences) - 1, "a sequence")
    token = whole(r["token"], 0, (T := len(sequences[sequence])) - 1, "a token")
    head = None if r["head"] == "sum" else whole(r["head"], 0, MOST, "a head")
    attend, at_most = (table(r[x], T, x) for x in ("attend", "at_most"))
    output = vector(r["output"], len(listed(r["output"], "an output")), "an output")
    tolerance, weights = rational(r["tolerance"]), (*attend.values(), *at_most.values())
    seen = tuple(j for j in range(T) if mask[token][j] == "1")
    if not {*attend, *at_most} <= set(seen) or not seen or (head is None and weights):
        raise Reject("a rule is about what its token does not see, or weights in a sum of heads")
    fits = all(0 < p <= 1 for p in weights) and bool(weights or output)
    if not fits or tolerance < 0 or (tolerance and not output):
        raise Reject("a rule has no wish, or a weight or a tolerance that does not fit")
    return Rule(sequence, token, head, attend, at_most, output, tolerance, seen)


def read_heads(s: dict[str, Json], scene: Scene) -> list[Head]:
    """The weights of all heads, of which each is a number of the type."""
    given, dtype, D = listed(s["heads"], "heads", 1), s["dtype"], len(scene.sequences[0][0])
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise Reject(f"the weights are of type {ascii(dtype)[:40]}: expected {', '.join(TYPES)}")
    if len(scene.bias) not in (0, len(given)):
        raise Reject("expected biases of places for each head, or none")
    heads = []
    for number, entry in enumerate(given):
        h = named(entry, "a head", "W_Q", "W_K", "W_V", "b_Q", "b_V")
        Q, K, V = (_matrix(h[name], D, name, dtype) for name in ("W_Q", "W_K", "W_V"))
        if len(Q) != len(K):
            raise Reject(f"W_Q has {len(Q)} rows and W_K has {len(K)}: expected as many")
        b_Q = _matrix([h["b_Q"]], len(Q) * scene.biases, "b_Q", dtype)[0]
        b_V = _matrix([h["b_V"]], len(V) * scene.biases, "b_V", dtype)[0]
        heads.append(Head(Q, K, V, tuple(b_Q), tuple(b_V), scene.bias_of(number)))
    return heads


def _matrix(given: Json, width: int, what: str, dtype: str = "float64") -> Rows:
    """Rows of so many numbers of a type. A bfloat16 is a float32 that begins with 16 zeros."""
    rows, (code, zeros) = [vector(row, width, what) for row in listed(given, what, 1)], TYPES[dtype]
    for x in (x for row in rows for x in row if x):
        content = struct.pack(code, float(x))  # an exception, and so no, where x is too large
        if struct.unpack(code, content)[0] != x or not content.startswith(zeros):
            raise Reject(f"{what} holds {shown(x)}, which is not a number of type {dtype}")
    return rows


def _rule_in_words(rule: Rule) -> str:
    """What a rule says."""
    said = [f"attends to token {a} with at least {told(p)}" for a, p in rule.attend.items()]
    said += [f"attends to token {a} with at most {told(p)}" for a, p in rule.at_most.items()]
    if rule.output:
        said.append(f"outputs ({_short(rule.output)}) within {told(rule.tolerance)}")
    return f"{rule} {' and '.join(said)}"


def _scene_in_words(scene: Scene, mask: Json) -> str:
    """Tokens, mask, world and biases of places."""
    sizes, world = " and ".join(str(len(X)) for X in scene.sequences), scene.world
    about = "For this one token" if sizes == "1" else f"For these {sizes} tokens"
    about += f" in R^{len(scene.sequences[0][0])} (float64, {_numbers_digest(scene.sequences)})"
    if mask == "causal":
        about += " under a causal mask"
    elif mask != "none":
        rows = " ".join(map(str, listed(mask, "a mask")))
        about += f" under the mask {rows if len(rows) <= 80 else digest_of(rows.encode())}"
    if world != CERTAIN:
        ball, low, high = (_short([x]) for x in (world.ball, world.low, world.high))
        where = f"any c x + e with {low} <= c <= {high} and |e| <= {ball}"
        about += f", wherever in this world they are ({where})"
    if scene.bias:
        about += f", with biases of places in the scores ({_numbers_digest(scene.bias)})"
    return about


def _short(numbers: Sequence[Fraction]) -> str:
    """Numbers as they are, or their digest where these are long."""
    bits = sum(x.numerator.bit_length() + x.denominator.bit_length() for x in numbers)
    return ", ".join(map(str, numbers)) if bits <= 160 else _numbers_digest([[numbers]])


def _numbers_digest(matrices: Iterable[Rows]) -> str:
    """The beginning of a digest of numbers, however these were written."""
    texts = (";".join(",".join(map(_number, row)) for row in rows) for rows in matrices)
    return digest_of("|".join(texts).encode())


def _number(x: Fraction) -> str:
    """In decimal digits, or, where these would be many, in hexadecimal ones."""
    long = x.denominator >= 10**9 or abs(x) >= 10**9
    return f"{x.numerator:#x}/{x.denominator:#x}" if long else str(x)


def _statement_digest(said: Json) -> str:
    """The digest of a statement, with sorted names and no spaces."""
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return f"(Statement: sha256 {hashlib.sha256(text.encode()).hexdigest()}.)"

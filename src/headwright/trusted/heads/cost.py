"""What checking a certificate about whole heads will take, estimated from sizes alone."""

from fractions import Fraction

from headwright.trusted.certificate import Json, named, rational
from headwright.trusted.cost import (
    ENTRY,
    EXPONENTIAL,
    LOGARITHM,
    Cost,
    bits_of,
    fraction_seconds,
    product_seconds,
)
from headwright.trusted.heads.head import ABOUT, WEIGHTS, Scene, read_heads, read_scene
from headwright.trusted.heads.matrices import Rows
from headwright.trusted.heads.run import FINE, PIECES, Head, Rule
from headwright.trusted.keys import Malformed

FRACTION_BYTES = 120  # of a fraction with short numbers


def heads_cost(said: Json, proof: Json) -> Cost:
    """Of a certificate about whole heads; of a circuit, all of its layers."""
    if not isinstance(said, dict) or said.get("claim") != "circuit":
        return _layer_cost(said, proof)
    layers = _listed(said.get("layers"))
    proofs = _listed(proof.get("layers")) if isinstance(proof, dict) else []
    total = Cost()
    for layer, evidence in zip(layers, proofs, strict=False):
        total += _layer_cost(layer, evidence)
    return total


def _layer_cost(said: Json, proof: Json) -> Cost:
    """Of one layer. A statement that is not of the format is refused as it is when it is checked.

    Evidence that is not costs nothing, and is refused when it is checked.
    """
    some = not isinstance(said, dict) or said.get("claim") != "no heads"
    s = named(said, "the statement", *ABOUT, *(WEIGHTS if some else ()))
    scene = read_scene(s)
    heads = read_heads(s, scene) if some else []
    tokens = bits_of_rows([row for X in scene.sequences for row in X])
    total = Cost()
    for head in heads:
        total += _run_cost(scene, head, tokens)
    for rule in scene.rules:
        mine = heads if rule.head is None else heads[rule.head : rule.head + 1]
        for head in mine:
            total += Cost(_rule_seconds(scene, rule, head, tokens))
    evidence = proof if isinstance(proof, dict) else {}
    for entry in _listed(evidence.get("bounds")):
        total += _bound_cost(scene, heads, entry, tokens)
    total += Cost(_none_seconds(scene, evidence, tokens))
    return total


def bits_of_rows(rows: Rows) -> int:
    """The binary digits of the numbers of a matrix, as whole numbers; row by row, the most."""
    return max((bits_of(row) for row in rows), default=0)


def _run_cost(scene: Scene, head: Head, tokens: int) -> Cost:
    """Queries, keys and values of all tokens: fractions that are kept."""
    count, width = sum(map(len, scene.sequences)), len(scene.sequences[0][0])
    total = Cost()
    for matrix in (head.Q, head.K, head.V):
        bits = bits_of_rows(matrix)
        made = count * len(matrix)
        each = width * product_seconds(tokens, bits) + fraction_seconds(tokens + bits)
        total += Cost(made * each, made * (FRACTION_BYTES + (tokens + bits) / 4))
    return total


def _rule_seconds(scene: Scene, rule: Rule, head: Head, tokens: int) -> float:
    """The scores of one rule's token in one head, and what follows from them."""
    world, seen, rows = scene.world, len(rule.seen), len(head.Q)
    width = len(scene.sequences[0][0])
    query = tokens + bits_of_rows(head.Q)
    key = tokens + bits_of_rows(head.K)
    # Scores are inner products of the query with all keys that are seen.
    each_look = seen * rows * (2 * ENTRY + product_seconds(query, key))
    # They are bounded at both ends of each piece of the scale's range, with exponentials.
    pieces = PIECES if world.low < world.high and not world.ball else 1
    score = query + key + bits_of([world.low, world.high, world.ball])
    each_score = 2 * EXPONENTIAL + 6 * fraction_seconds(score)
    each_look += 2 * pieces * seen * each_score
    if world.ball:  # |M^T (x_j - centre)| for each token that is seen, |M|_F, and all |x|
        bits = product_seconds(query, key)
        each_look += (seen + 2 * rows) * rows * width * (2 * ENTRY + bits)
        each_look += len(scene.sequences[rule.sequence]) * width * fraction_seconds(2 * tokens)
    # Least weights are one look, each largest weight is another, and so is an output.
    looks = bool(rule.attend) + len(rule.at_most) + bool(rule.output)
    value = FINE + tokens + bits_of_rows(head.V) + bits_of(rule.output)
    output = seen * len(rule.output) * 6 * fraction_seconds(value)
    return looks * each_look + output


def _bound_cost(scene: Scene, heads: list[Head], entry: Json, tokens: int) -> Cost:
    """A bound: a witness is run, and a matrix made of its patterns is bounded."""
    evidence = entry if isinstance(entry, dict) else {}
    constraints = [c for c in _listed(evidence.get("constraints")) if isinstance(c, dict)]
    numbers = {number for c in constraints if isinstance(number := c.get("rule"), int)}
    rules = [rule for number, rule in enumerate(scene.rules) if number in numbers]
    rows = max((len(head.Q) for head in heads), default=1)
    rows = max(rows, len(_listed(evidence.get("W_Q"))), len(_listed(evidence.get("W_K"))))
    # A witness has numbers of float64, and as many columns as tokens have: as the largest head.
    witness = max(heads, key=lambda head: bits_of_rows(head.Q), default=Head((), (), ()))
    row = witness.Q[0] if witness.Q else ()
    like = Head([row] * rows, [row] * rows, witness.V, witness.b_Q, witness.b_V, witness.bias)
    total = _run_cost(scene, like, tokens)
    seconds = sum(_rule_seconds(scene, rule, like, tokens) for rule in rules)
    bits = tokens + FINE + _multiplier_bits(constraints)
    seconds += sum(_term_seconds(scene, len(rule.seen), bits) for rule in rules)
    return total + Cost(seconds + _gram_seconds(scene, len(rules), bits))


def _none_seconds(scene: Scene, evidence: dict[str, Json], tokens: int) -> float:
    """No heads at all: distributions that are written out, or outputs that cancel."""
    entries = [e for e in _listed(evidence.get("attend")) if isinstance(e, dict)]
    tables = [e.get("distribution") for e in entries]
    shares = [_numbers(table) for table in tables]
    bits = tokens + max(map(bits_of, shares), default=0) + _multiplier_bits(entries)
    seconds = sum(_term_seconds(scene, len(table), bits) for table in shares)
    seconds += _gram_seconds(scene, len(entries), bits)
    width = len(scene.sequences[0][0])
    longest = max(map(len, scene.sequences))
    outputs = len(_listed(evidence.get("output")))
    return seconds + outputs * longest * width * 2 * fraction_seconds(tokens)


def _term_seconds(scene: Scene, seen: int, bits: int) -> float:
    """The entropy of a distribution, and the mixture of tokens that it makes."""
    width = len(scene.sequences[0][0])
    each = LOGARITHM + 4 * fraction_seconds(bits) + width * product_seconds(bits, bits)
    return seen * each


def _gram_seconds(scene: Scene, terms: int, bits: int) -> float:
    """All inner products of mixtures, and of tokens; then a product of three such matrices."""
    width = len(scene.sequences[0][0]) + 1
    each = width * product_seconds(bits, bits) + 2 * fraction_seconds(2 * bits)
    return 2 * terms**2 * each + 2 * terms**3 * product_seconds(2 * bits, 2 * bits)


def _multiplier_bits(entries: list[dict[str, Json]]) -> int:
    """Of all multipliers in the evidence, over a common denominator."""
    found: list[Fraction] = []
    for entry in entries:
        found += _numbers([entry.get("multiplier")])
        found += _numbers(entry.get("multipliers"))
    return bits_of(found)


def _numbers(given: Json) -> list[Fraction]:
    """The numbers in a list or a table; what is no number is refused later."""
    values = given.values() if isinstance(given, dict) else _listed(given)
    found = []
    for value in values:
        try:
            found.append(rational(value))
        except Malformed:
            continue
    return found


def _listed(given: Json) -> list[Json]:
    return given if isinstance(given, list) else []

"""What checking a certificate about whole heads will take, estimated from sizes alone."""

from fractions import Fraction

from headwright.certificates.exact.cost import (
    ENTRY,
    EXPONENTIAL,
    LOGARITHM,
    Cost,
    bits_of,
    fraction_seconds,
    product_seconds,
)
from headwright.certificates.exact.heads.head_statement import (
    HeadStatement,
    read_head_statement,
    read_heads,
    statement_fields,
)
from headwright.certificates.exact.heads.matrices import Rows
from headwright.certificates.exact.heads.run import FINE, PIECES, ExactHead, HeadRule
from headwright.certificates.exact.keys import Malformed
from headwright.certificates.exact.values import Json, read_fraction

FRACTION_BYTES = 120  # of a fraction with short numbers


def heads_cost(statement: Json, evidence: Json) -> Cost:
    """Of a certificate about whole heads; of a circuit, all of its layers."""
    if not isinstance(statement, dict) or statement.get("claim") != "circuit":
        return _layer_cost(statement, evidence)
    layers = _list_or_nothing(statement.get("layers"))
    evidence_of_layers = []
    if isinstance(evidence, dict):
        evidence_of_layers = _list_or_nothing(evidence.get("layers"))
    total = Cost()
    for layer, of_layer in zip(layers, evidence_of_layers, strict=False):
        total += _layer_cost(layer, of_layer)
    return total


def _layer_cost(statement_json: Json, evidence_json: Json) -> Cost:
    """Of one layer. A statement that is not of the format is refused as it is when it is checked.

    Evidence that is not costs nothing, and is refused when it is checked.
    """
    fields = statement_fields(statement_json)
    statement = read_head_statement(fields)
    heads = read_heads(fields, statement) if "heads" in fields else []
    token_bits = 0
    for X in statement.sequences:
        token_bits = max(token_bits, bits_of_rows(X))
    total = Cost()
    for head in heads:
        total += _run_cost(statement, head, token_bits)
    for rule in statement.rules:
        heads_of_rule = heads
        if rule.head is not None:
            heads_of_rule = heads[rule.head : rule.head + 1]
        for head in heads_of_rule:
            total += Cost(_rule_seconds(statement, rule, head, token_bits))
    evidence = evidence_json if isinstance(evidence_json, dict) else {}
    for entry in _list_or_nothing(evidence.get("bounds")):
        total += _bound_cost(statement, heads, entry, token_bits)
    total += Cost(_no_heads_seconds(statement, evidence, token_bits))
    return total


def bits_of_rows(rows: Rows) -> int:
    """The binary digits of the numbers of a matrix, as whole numbers; row by row, the most."""
    return max(map(bits_of, rows), default=0)


def _run_cost(statement: HeadStatement, head: ExactHead, token_bits: int) -> Cost:
    """Queries, keys and values of all tokens: fractions that are kept."""
    tokens = sum(map(len, statement.sequences))
    total = Cost()
    for matrix in (head.Q, head.K, head.V):
        bits = bits_of_rows(matrix)
        numbers = tokens * len(matrix)
        each_seconds = statement.width() * product_seconds(token_bits, bits)
        each_seconds += fraction_seconds(token_bits + bits)
        each_bytes = FRACTION_BYTES + (token_bits + bits) / 4
        total += Cost(numbers * each_seconds, numbers * each_bytes)
    return total


def _rule_seconds(
    statement: HeadStatement, rule: HeadRule, head: ExactHead, token_bits: int
) -> float:
    """The scores of one rule's token in one head, and what follows from them."""
    uncertainty = statement.uncertainty
    width = statement.width()
    seen = len(rule.seen)
    rows = len(head.Q)
    query_bits = token_bits + bits_of_rows(head.Q)
    key_bits = token_bits + bits_of_rows(head.K)
    score_product_seconds = product_seconds(query_bits, key_bits)
    # Scores are inner products of the query with all keys that are seen.
    look_seconds = seen * rows * (2 * ENTRY + score_product_seconds)
    # They are bounded at both ends of each piece of the scale's range, with exponentials.
    pieces = (
        PIECES if uncertainty.low < uncertainty.high and not uncertainty.ball else 1
    )
    score_bits = (
        query_bits
        + key_bits
        + bits_of([uncertainty.low, uncertainty.high, uncertainty.ball])
    )
    score_seconds = 2 * EXPONENTIAL + 6 * fraction_seconds(score_bits)
    look_seconds += 2 * pieces * seen * score_seconds
    if uncertainty.ball:
        # |M^T (x_j - centre)| for each token that is seen, |M|_F, and all |x|
        tokens = len(statement.sequences[rule.sequence])
        entries = (seen + 2 * rows) * rows * width
        look_seconds += entries * (2 * ENTRY + score_product_seconds)
        look_seconds += tokens * width * fraction_seconds(2 * token_bits)
    # Least weights are one look, each largest weight is another, and so is an output.
    looks = bool(rule.attend) + len(rule.at_most) + bool(rule.output)
    value_bits = FINE + token_bits + bits_of_rows(head.V) + bits_of(rule.output)
    output_seconds = seen * len(rule.output) * 6 * fraction_seconds(value_bits)
    return looks * look_seconds + output_seconds


def _bound_cost(
    statement: HeadStatement, heads: list[ExactHead], entry: Json, token_bits: int
) -> Cost:
    """A bound: a witness is run, and a matrix made of its patterns is bounded."""
    evidence = entry if isinstance(entry, dict) else {}
    constraints = _objects_in(evidence.get("constraints"))
    numbers = set()
    for constraint in constraints:
        number = constraint.get("rule")
        if isinstance(number, int):
            numbers.add(number)
    rules = []
    for number, rule in enumerate(statement.rules):
        if number in numbers:
            rules.append(rule)
    witness = _largest_witness(heads, evidence)
    total = _run_cost(statement, witness, token_bits)
    bits = token_bits + FINE + _multiplier_bits(constraints)
    seconds = 0.0
    for rule in rules:
        seconds += _rule_seconds(statement, rule, witness, token_bits)
        seconds += _term_seconds(statement, len(rule.seen), bits)
    seconds += _gram_seconds(statement, len(rules), bits)
    return total + Cost(seconds)


def _largest_witness(heads: list[ExactHead], evidence: dict[str, Json]) -> ExactHead:
    """As long numbers as those of any head, and as many rows as any head or the witness has.

    A witness has numbers of float64, and as many columns as tokens have: as the largest head.
    """
    rows = max((len(head.Q) for head in heads), default=1)
    for name in ("W_Q", "W_K"):
        rows = max(rows, len(_list_or_nothing(evidence.get(name))))
    if not heads:
        return ExactHead([()] * rows, [()] * rows, ())
    largest = max(heads, key=lambda head: bits_of_rows(head.Q))
    row = largest.Q[0]
    return ExactHead(
        [row] * rows, [row] * rows, largest.V, largest.b_Q, largest.b_V, largest.bias
    )


def _no_heads_seconds(
    statement: HeadStatement, evidence: dict[str, Json], token_bits: int
) -> float:
    """No heads at all: distributions that are written out, or outputs that cancel."""
    entries = _objects_in(evidence.get("attend"))
    distributions = [_numbers_in(entry.get("distribution")) for entry in entries]
    share_bits = max(map(bits_of, distributions), default=0)
    bits = token_bits + share_bits + _multiplier_bits(entries)
    seconds = 0.0
    for shares in distributions:
        seconds += _term_seconds(statement, len(shares), bits)
    seconds += _gram_seconds(statement, len(entries), bits)
    outputs = len(_list_or_nothing(evidence.get("output")))
    numbers = outputs * statement.longest() * statement.width()
    return seconds + numbers * 2 * fraction_seconds(token_bits)


def _term_seconds(statement: HeadStatement, seen: int, bits: int) -> float:
    """The entropy of a distribution, and the mixture of tokens that it makes."""
    each_seconds = LOGARITHM + 4 * fraction_seconds(bits)
    each_seconds += statement.width() * product_seconds(bits, bits)
    return seen * each_seconds


def _gram_seconds(statement: HeadStatement, terms: int, bits: int) -> float:
    """All inner products of mixtures, and of tokens; then a product of three such matrices."""
    width = statement.width() + 1
    entry_seconds = width * product_seconds(bits, bits) + 2 * fraction_seconds(2 * bits)
    cube_seconds = 2 * terms**3 * product_seconds(2 * bits, 2 * bits)
    return 2 * terms**2 * entry_seconds + cube_seconds


def _multiplier_bits(entries: list[dict[str, Json]]) -> int:
    """Of all multipliers in the evidence, over a common denominator."""
    multipliers: list[Fraction] = []
    for entry in entries:
        multipliers += _numbers_in([entry.get("multiplier")])
        multipliers += _numbers_in(entry.get("multipliers"))
    return bits_of(multipliers)


def _numbers_in(value: Json) -> list[Fraction]:
    """The numbers in a list or a table; what is no number is refused later."""
    entries = value.values() if isinstance(value, dict) else _list_or_nothing(value)
    numbers = []
    for entry in entries:
        try:
            numbers.append(read_fraction(entry))
        except Malformed:
            continue
    return numbers


def _objects_in(value: Json) -> list[dict[str, Json]]:
    return [entry for entry in _list_or_nothing(value) if isinstance(entry, dict)]


def _list_or_nothing(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []

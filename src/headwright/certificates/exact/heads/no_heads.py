"""No head keeps the rules, of whatever weights, dimension and size."""

from collections.abc import Sequence
from fractions import Fraction

from headwright.certificates.exact.heads.gram import gram_inequality, gram_term
from headwright.certificates.exact.heads.head_statement import MOST, HeadStatement
from headwright.certificates.exact.heads.matrices import (
    ZERO,
    Rows,
    add_multiple,
    dot,
    weighted_sum,
)
from headwright.certificates.exact.heads.run import HeadRule, added_bias
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.values import (
    Json,
    read_fraction,
    read_integer,
    read_list,
    read_object,
    read_table,
)

Look = tuple[object, ...]  # a token and what it sees: the same look, the same mixture


def check_no_heads(evidence_json: Json, statement: HeadStatement) -> None:
    """Reject, unless no head keeps all rules, which are of one head."""
    evidence = read_object(evidence_json, "the evidence", "attend", "output")
    head = statement.rules[0].head
    if head is None or any(rule.head != head for rule in statement.rules):
        raise Reject("the rules are not of one head")
    if evidence["output"] != []:
        _check_outputs(evidence["output"], statement, statement.bias_of(head))
    else:
        _check_attended(evidence["attend"], statement)


def _check_attended(value: Json, statement: HeadStatement) -> None:
    """Reject, unless G is exactly 0 and right > 0: then 0 = <M, G> <= -right < 0 cannot be."""
    terms = []
    for entry in read_list(value, "attend", 1):
        fields = read_object(entry, "an entry", "rule", "multipliers", "distribution")
        rule = _read_rule_number(fields["rule"], statement)
        multipliers = read_table(fields["multipliers"], MOST, "multipliers")
        distribution = read_table(fields["distribution"], MOST, "distribution")
        are_seen = set(distribution) <= set(rule.seen)
        are_targets = set(multipliers) <= set(rule.attend)
        numbers = (*distribution.values(), *multipliers.values())
        negative = any(x < 0 for x in numbers)
        if (
            not are_seen
            or not are_targets
            or negative
            or sum(distribution.values()) != 1
        ):
            raise Reject(
                "a token is not seen, or no target, or has a number that does not fit"
            )
        terms.append(gram_term(rule, statement, distribution, multipliers))
    inequality = gram_inequality(terms)
    if not inequality.is_zero() or inequality.right <= 0:
        raise Reject(
            "the tokens do not cancel exactly, or the entropy is not large enough"
        )


def _check_outputs(value: Json, statement: HeadStatement, bias: Rows) -> None:
    """Reject, unless outputs that cancel in every head are wanted not to cancel.

    A token attends to a mixture y_i of the tokens it sees and outputs W_V y_i + b_V. Equal tokens
    that see the same have the same y_i. It is known where all that is seen is equal, and for the
    token 0, which sees all alike unless there are biases (b_Q, or of places: then only equal tokens
    count). If so sum_i mu_i y_i = 0 (and sum_i mu_i = 0 for b_V) whatever the head, the outputs
    cancel as well: |sum_i mu_i wanted_i| <= sum_i |mu_i| tolerance_i.
    """
    entries = []
    for entry in read_list(value, "output", 1):
        entries.append(read_object(entry, "an entry", "rule", "multiplier"))
    rules = [_read_rule_number(fields["rule"], statement) for fields in entries]
    multipliers = [read_fraction(fields["multiplier"]) for fields in entries]
    outputs = [rule.output for rule in rules]
    if len({len(output) for output in outputs}) > 1:
        raise Reject("the outputs that should cancel are not of one length")
    cancel = _mixtures_cancel(rules, multipliers, statement, bias)
    # By the triangle inequality the wanted outputs may miss 0 by the tolerances.
    wanted = weighted_sum(multipliers, outputs)
    tolerance = ZERO
    for rule, multiplier in zip(rules, multipliers, strict=True):
        tolerance += abs(multiplier) * rule.tolerance
    if not cancel or dot(wanted, wanted) <= tolerance**2:
        raise Reject(
            "the tokens do not cancel, or the outputs do within their tolerances"
        )


def _mixtures_cancel(
    rules: Sequence[HeadRule],
    multipliers: Sequence[Fraction],
    statement: HeadStatement,
    bias: Rows,
) -> bool:
    """sum_i mu_i y_i = 0 in every head, and sum_i mu_i = 0 where there are biases b_V."""
    # The sum of mu (y, 1) over known mixtures, and that of mu for each of the others.
    known_sum = [ZERO] * (statement.width() + 1)
    unknown_sums: dict[Look, Fraction] = {}
    for rule, multiplier in zip(rules, multipliers, strict=True):
        X = statement.sequences[rule.sequence]
        x = X[rule.token]
        seen = [X[j] for j in rule.seen]
        sees_all_alike = not any(x) and not statement.biases and not bias
        if sees_all_alike or all(y == seen[0] for y in seen):
            # A known mixture: all weights are equal, or it does not matter what they are.
            mean = weighted_sum([multiplier / len(seen)] * len(seen), seen)
            of_b_V = multiplier if statement.biases else ZERO
            known_sum = add_multiple(known_sum, 1, [*mean, of_b_V])
        else:
            seen_with_bias = zip(map(tuple, seen), added_bias(rule, bias), strict=True)
            look = (tuple(x), *sorted(seen_with_bias))
            unknown_sums[look] = unknown_sums.get(look, ZERO) + multiplier
    # A mixture that nobody knows cancels only with itself.
    return not any(known_sum) and not any(unknown_sums.values())


def _read_rule_number(value: Json, statement: HeadStatement) -> HeadRule:
    number = read_integer(value, 0, len(statement.rules) - 1, "a rule")
    return statement.rules[number]

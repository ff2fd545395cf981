"""No smaller W_K^T W_Q gives the targets of its rules their weights, or none of fewer rows."""

from collections.abc import Sequence
from fractions import Fraction

from headwright.certificates.exact.heads.dimension import RuleView, check_dimension
from headwright.certificates.exact.heads.gram import gram_inequality, gram_term
from headwright.certificates.exact.heads.head_statement import (
    MOST,
    HeadStatement,
    read_matrix,
)
from headwright.certificates.exact.heads.matrices import ZERO
from headwright.certificates.exact.heads.run import CERTAIN, ExactHead, HeadRun
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.values import (
    Json,
    read_fraction,
    read_integer,
    read_list,
    read_object,
)
from headwright.certificates.exact.words import number_in_words, six_digits

Multipliers = dict[int, dict[int, Fraction]]  # by rule, and by target


def check_norm_bound(
    claim_json: Json,
    evidence_json: Json,
    statement: HeadStatement,
    heads: Sequence[ExactHead],
) -> str:
    """The bound holds: in words; or Reject."""
    claim = read_object(claim_json, "a bound", "head", "norm", "least")
    number = read_integer(claim["head"], 0, len(heads) - 1, "a head")
    least = read_fraction(claim["least"])
    if claim["norm"] == "dimension":
        return _check_rows(number, least, evidence_json, statement)
    evidence = read_object(
        evidence_json, "a bound's evidence", "W_Q", "W_K", "constraints"
    )
    norm = str(claim["norm"])[:20]
    witness = _read_witness(evidence, statement, heads[number])
    multipliers = _read_constraints(evidence["constraints"], statement, number)
    # Any distributions prove the inequality: here they are the patterns of the witness, where
    # what their lower bounds leave open is given to the token with the most.
    run = HeadRun(statement.sequences, CERTAIN, witness)
    terms = []
    for rule_number, of_targets in multipliers.items():
        rule = statement.rules[rule_number]
        shares = run.pattern_below(rule)
        largest = shares.index(max(shares))
        shares[largest] += 1 - sum(shares, ZERO)
        distribution = dict(zip(rule.seen, shares, strict=True))
        terms.append(gram_term(rule, statement, distribution, of_targets))
    inequality = gram_inequality(terms)
    right = inequality.right
    if norm not in ("frobenius", "nuclear") or least <= 0 or right <= 0:
        raise Reject(
            "a bound is of no known norm, is not above 0, or rests on nothing above 0"
        )
    if norm == "frobenius":
        # right <= |M|_F |G|_F: no |M|_F below `least` if least |G|_F <= right.
        holds = least**2 * inequality.frobenius_squared() <= right**2
    else:
        # right <= |M|_* |G|_2
        holds = inequality.spectral_norm_at_most(right / least)
    if not holds:
        raise Reject(
            f"the {norm} norm in head {number} is not certain to reach {six_digits(least)}"
        )
    matrix = "W_K^T (W_Q | b_Q)" if statement.biases else "W_K^T W_Q"
    below = f"whose {norm} norm is below {number_in_words(least, '')}"
    return f"no {matrix} {below} makes head {number} attend as much"


def _read_witness(
    evidence: dict[str, Json], statement: HeadStatement, head: ExactHead
) -> ExactHead:
    """The head itself, or one with other queries and keys; with biases W_Q is (W_Q | b_Q)."""
    if evidence["W_Q"] is None and evidence["W_K"] is None:
        return head
    width = statement.width()
    query_width = width + 1 if statement.biases else width
    K = read_matrix(evidence["W_K"], width, "W_K")
    Q_and_b = read_matrix(evidence["W_Q"], query_width, "W_Q")
    Q = [row[:width] for row in Q_and_b]
    b_Q: tuple[Fraction, ...] = ()
    if statement.biases:
        b_Q = tuple(row[width] for row in Q_and_b)
    return ExactHead(Q, K, head.V, b_Q, head.b_V, head.bias)


def _read_constraints(value: Json, statement: HeadStatement, head: int) -> Multipliers:
    """The multipliers of targets, of rules of this head, each once."""
    rules = statement.rules
    multipliers: Multipliers = {}
    for entry in read_list(value, "constraints", 1):
        fields = read_object(entry, "a constraint", "rule", "target", "multiplier")
        number = read_integer(fields["rule"], 0, len(rules) - 1, "a rule")
        multiplier = read_fraction(fields["multiplier"])
        target = read_integer(fields["target"], 0, MOST, "a target")
        of_targets = multipliers.setdefault(number, {})
        is_target = rules[number].head == head and target in rules[number].attend
        if not is_target or target in of_targets or multiplier < 0:
            raise Reject(
                "a constraint is of another head, of no target, used twice, or negative"
            )
        of_targets[target] = multiplier
    return multipliers


def _check_rows(
    head: int, least: Fraction, evidence: Json, statement: HeadStatement
) -> str:
    """No head of fewer rows gives the targets their weights: in words; or Reject."""
    if any(map(any, statement.bias_of(head))):
        raise Reject("scores that depend on places say nothing of a head's dimension")
    views = {}
    for number, rule in enumerate(statement.rules):
        if rule.head == head:
            X = statement.sequences[rule.sequence]
            seen = {j: tuple(X[j]) for j in rule.seen}
            views[number] = RuleView(statement.query_token(rule), seen, rule.attend)
    check_dimension(least, evidence, views)
    return (
        f"no W_Q and W_K with fewer than {least} rows make head {head} attend as much"
    )

"""Whole heads: do these weights keep the rules, can no smaller ones, or can none at all?"""

from collections.abc import Sequence
from itertools import pairwise

from headwright.certificates.exact.heads.head_statement import (
    STATEMENT_NAMES,
    WEIGHT_NAMES,
    HeadStatement,
    read_head_statement,
    read_heads,
    statement_fields,
)
from headwright.certificates.exact.heads.head_words import (
    rule_in_words,
    statement_digest,
    tokens_in_words,
    weights_in_words,
)
from headwright.certificates.exact.heads.matrices import add_multiple, length_above
from headwright.certificates.exact.heads.no_heads import check_no_heads
from headwright.certificates.exact.heads.norm_bounds import check_norm_bound
from headwright.certificates.exact.heads.run import HeadRule, HeadRun, error_above
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.values import Json, read_list, read_object
from headwright.certificates.exact.words import six_digits


def check_heads(statement: Json, evidence: Json) -> str:
    """What is proved, in words; or Reject."""
    if isinstance(statement, dict) and statement.get("claim") == "circuit":
        return _check_circuit(statement, evidence)
    return _check_layer(statement, evidence)


def _check_layer(statement_json: Json, evidence: Json) -> str:
    """Of one layer: its heads keep their rules, or no head does."""
    fields = statement_fields(statement_json)
    statement = read_head_statement(fields)
    if fields["claim"] == "no heads":
        check_no_heads(evidence, statement)
        claim = _no_heads_in_words(statement)
    else:
        claim = _check_weights(fields, evidence, statement)
    about = tokens_in_words(statement, fields["mask"])
    return f"{about}, {claim} {statement_digest(statement_json)}"


def _no_heads_in_words(statement: HeadStatement) -> str:
    weights = "W_Q, W_K and W_V"
    if statement.biases:
        weights = "W_Q, W_K, W_V and biases b_Q and b_V"
    rules = "; ".join(map(rule_in_words, statement.rules))
    return f"no {weights} whatever make sure that {rules}."


def _check_weights(
    fields: dict[str, Json], evidence_json: Json, statement: HeadStatement
) -> str:
    """These heads keep all rules, and their bounds hold: in words; or Reject."""
    heads = read_heads(fields, statement)
    bound_claims = read_list(fields["bounds"], "bounds")
    evidence = read_object(evidence_json, "the evidence", "bounds")
    bound_evidence = read_list(evidence["bounds"], "bounds")
    if len(bound_claims) != len(bound_evidence):
        raise Reject(
            f"there is evidence for {len(bound_evidence)} bounds: "
            f"expected it for {len(bound_claims)}"
        )
    runs = []
    for head in heads:
        runs.append(HeadRun(statement.sequences, statement.uncertainty, head))
    proved = []
    for rule in statement.rules:
        _check_rule(rule, runs)
        proved.append(rule_in_words(rule))
    for claim, of_claim in zip(bound_claims, bound_evidence, strict=True):
        proved.append(check_norm_bound(claim, of_claim, statement, heads))
    weights = weights_in_words(statement, heads, fields["dtype"])
    return f"{weights} make sure that {'; '.join(proved)}."


def _check_rule(rule: HeadRule, runs: Sequence[HeadRun]) -> None:
    """Reject, unless its head, or the sum of all, keeps a rule, as bounds of weights say."""
    of_rule = runs if rule.head is None else runs[rule.head : rule.head + 1]
    if not of_rule or not _outputs_fit(rule, of_rule):
        raise Reject(
            f"{rule}: there is no such head, or its values are not as long as the output"
        )
    if rule.attend:
        # alpha_a >= a_a >= p_a for each target a
        pattern_below = of_rule[0].pattern_below(rule)
        weights = dict(zip(rule.seen, pattern_below, strict=True))
        for token, least in rule.attend.items():
            if weights[token] < least:
                raise Reject(
                    f"{rule} is not certain to attend to token {token} "
                    f"with {six_digits(least)}"
                )
    for token, most in rule.at_most.items():
        if of_rule[0].weight_above(rule, token) > most:
            raise Reject(
                f"{rule} is not certain to attend to {token} with at most {six_digits(most)}"
            )
    if rule.output and error_above(rule, of_rule) > rule.tolerance:
        tolerance = six_digits(rule.tolerance)
        raise Reject(f"{rule} is not certain to output it within {tolerance}")


def _outputs_fit(rule: HeadRule, runs: Sequence[HeadRun]) -> bool:
    """W_V has as many rows as the output has numbers, if there is one."""
    if not rule.output:
        return True
    return all(len(run.head.V) == len(rule.output) for run in runs)


def _check_circuit(statement: Json, evidence: Json) -> str:
    """Each layer keeps its rules, and what comes out of it is in the uncertainty of the next."""
    layers_json = read_object(statement, "the statement", "claim", "layers")["layers"]
    layers = read_list(layers_json, "layers", 2)
    evidence_json = read_object(evidence, "the evidence", "layers")["layers"]
    evidence_of_layers = read_list(evidence_json, "layers")
    fields_of_layers = []
    for layer in layers:
        fields_of_layers.append(
            read_object(layer, "a layer", *STATEMENT_NAMES, *WEIGHT_NAMES)
        )
    claim_heads = all(fields["claim"] == "heads" for fields in fields_of_layers)
    if not claim_heads or len(layers) != len(evidence_of_layers):
        raise Reject(
            "a layer of a circuit does not claim heads, or there is no evidence for it"
        )
    proved = []
    for layer, of_layer in zip(layers, evidence_of_layers, strict=True):
        proved.append(_check_layer(layer, of_layer))
    for before, after in pairwise(fields_of_layers):
        has_one_head = len(read_list(before["heads"], "heads")) == 1
        _check_joined(
            read_head_statement(before), has_one_head, read_head_statement(after)
        )
    about = f"In a circuit of {len(proved)} layers, each of which adds its output to its tokens"
    sentences = " And after that: ".join(proved)
    return f"{about} and hands them on: {sentences} {statement_digest(statement)}"


def _check_joined(
    before: HeadStatement, has_one_head: bool, after: HeadStatement
) -> None:
    """Reject, unless |x + output - x'| + tolerance + rho <= ball' for all that the next layer sees.

    The output is known where a rule is about the sum of all heads, or about the only head.
    """
    if [len(X) for X in before.sequences] != [len(X) for X in after.sequences]:
        raise Reject("the layers of a circuit have sequences of different lengths")
    rule_of_token = {}
    for rule in before.rules:
        if rule.output and (has_one_head or rule.head is None):
            rule_of_token[rule.sequence, rule.token] = rule
    for sequence, token in sorted(_tokens_used(after)):
        known = rule_of_token.get((sequence, token))
        if known is None:
            raise Reject(
                f"what becomes of token {token} of sequence {sequence} "
                "is not known, but seen"
            )
        x = before.sequences[sequence][token]
        next_x = after.sequences[sequence][token]
        if not len(x) == len(known.output) == len(next_x):
            raise Reject(
                "the layers of a circuit have tokens or outputs of different lengths"
            )
        # By the triangle inequality; rho is how far the token was from x to begin with.
        sum_of_layer = add_multiple(x, 1, known.output)
        distance = length_above(add_multiple(sum_of_layer, -1, next_x))
        reach = distance + known.tolerance + before.uncertainty.rho(x)
        if reach > after.uncertainty.ball:
            raise Reject(
                f"token {token} of sequence {sequence} "
                "may leave the ball of the next layer"
            )


def _tokens_used(statement: HeadStatement) -> set[tuple[int, int]]:
    """All tokens that a rule is about or sees, as sequence and place in it."""
    used = set()
    for rule in statement.rules:
        for token in (rule.token, *rule.seen):
            used.add((rule.sequence, token))
    return used

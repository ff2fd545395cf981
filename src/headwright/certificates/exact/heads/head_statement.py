"""A statement about whole heads, read from JSON: tokens, mask, rules, and weights.

docs/reference/certificate.md, 'Whole heads', says what each name means. What is not of the format,
or does not fit together, is Malformed or Reject.
"""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.certificates.exact.heads.matrices import Rows
from headwright.certificates.exact.heads.run import ExactHead, HeadRule, TokenRange
from headwright.certificates.exact.keys import Malformed, Reject
from headwright.certificates.exact.values import (
    Json,
    read_fraction,
    read_integer,
    read_list,
    read_object,
    read_table,
    read_vector,
)
from headwright.certificates.exact.words import six_digits

MOST = 4096  # tokens, and rules: more is refused before any work
# How `struct` writes a number of each type, and the bytes with which it must then begin:
# a bfloat16 is a float32 that begins, in little-endian order, with 16 zeros.
TYPES = {"float64": ("<d", b""), "float32": ("<f", b""), "bfloat16": ("<f", b"\0\0")}
STATEMENT_NAMES = (
    "claim",
    "mask",
    "sequences",
    "uncertainty",
    "biases",
    "bias",
    "rules",
)
WEIGHT_NAMES = ("dtype", "heads", "bounds")


@dataclass(frozen=True)
class HeadStatement:
    """Tokens, what they may be, rules, and what heads have besides weights."""

    sequences: Sequence[Rows]
    uncertainty: TokenRange
    rules: Sequence[HeadRule]
    biases: bool  # heads have b_Q and b_V
    bias: Sequence[Rows]  # for each head, or none: what is added to scores, by place

    def width(self) -> int:
        """The numbers of a token."""
        return len(self.sequences[0][0])

    def longest(self) -> int:
        """The tokens of the longest sequence."""
        return max(map(len, self.sequences))

    def query_token(self, rule: HeadRule) -> tuple[Fraction, ...]:
        """x_i of a rule's token; (x_i, 1) where there are biases, so that W_Q holds b_Q."""
        x = self.sequences[rule.sequence][rule.token]
        return (*x, Fraction(1)) if self.biases else tuple(x)

    def bias_of(self, head: int) -> Rows:
        """What is added to scores in a head."""
        return self.bias[head] if self.bias else ()


def statement_fields(statement: Json) -> dict[str, Json]:
    """Exactly the names that a statement with its claim has; there are no weights of no heads."""
    claim = statement.get("claim") if isinstance(statement, dict) else None
    if claim == "no heads":
        return read_object(statement, "the statement", *STATEMENT_NAMES)
    return read_object(statement, "the statement", *STATEMENT_NAMES, *WEIGHT_NAMES)


def read_head_statement(fields: dict[str, Json]) -> HeadStatement:
    """Tokens, mask, uncertainty, biases and rules."""
    sequence_entries = read_list(fields["sequences"], "sequences", 1)
    rule_entries = read_list(fields["rules"], "rules", 1)
    first_token = read_list(sequence_entries[0], "tokens", 1)[0]
    width = len(read_list(first_token, "a token", 1))
    sequences = [read_matrix(entry, width, "a token") for entry in sequence_entries]
    tokens = sum(map(len, sequences))
    biases = fields["biases"]
    if tokens > MOST or len(rule_entries) > MOST or not isinstance(biases, bool):
        raise Reject(
            f"expected at most {MOST} tokens and rules, and true or false for biases"
        )
    longest = max(map(len, sequences))
    bias_entries = []
    for entry in read_list(fields["bias"], "bias"):
        bias_entries.append(read_list(entry, "a bias", longest))
    mask = _read_mask(fields["mask"], longest)
    bias = []
    for rows in bias_entries:
        bias.append([read_vector(row, longest, "a bias") for row in rows])
    rules = [_read_rule(entry, sequences, mask) for entry in rule_entries]
    for rule in rules:
        if bias and rule.head is not None and rule.head >= len(bias):
            raise Reject(
                "a rule is of a head without biases of places, and others have them"
            )
    uncertainty = _read_token_range(fields["uncertainty"])
    return HeadStatement(sequences, uncertainty, rules, biases, bias)


def _read_token_range(value: Json) -> TokenRange:
    fields = read_object(value, "the uncertainty", "ball", "scale")
    ball = read_fraction(fields["ball"])
    low, high = read_vector(fields["scale"], 2, "a scale")
    if ball < 0 or not 0 < low <= 1 <= high:
        raise Reject("expected a ball of 0 or more, and a scale above 0 that holds 1")
    return TokenRange(ball, low, high)


def _read_mask(value: Json, length: int) -> list[str]:
    """For each token a row of digits: 1 for those that it sees."""
    if value == "none":
        return ["1" * length] * length
    if value == "causal":
        return [("1" * (i + 1)).ljust(length, "0") for i in range(length)]
    rows = []
    for row in read_list(value, "a mask"):
        rows.append(row if isinstance(row, str) else "")
    are_rows = all(re.fullmatch(f"[01]{{{length}}}", row) for row in rows)
    if len(rows) != length or not are_rows:
        raise Malformed(
            f"the mask is not 'none', 'causal' or {length} rows of {length} digits 0 and 1"
        )
    return rows


def _read_rule(value: Json, sequences: Sequence[Rows], mask: Sequence[str]) -> HeadRule:
    names = ("sequence", "token", "head", "attend", "at_most", "output", "tolerance")
    fields = read_object(value, "a rule", *names)
    sequence = read_integer(fields["sequence"], 0, len(sequences) - 1, "a sequence")
    tokens = len(sequences[sequence])
    token = read_integer(fields["token"], 0, tokens - 1, "a token")
    head = None
    if fields["head"] != "sum":
        head = read_integer(fields["head"], 0, MOST, "a head")
    attend = read_table(fields["attend"], tokens, "attend")
    at_most = read_table(fields["at_most"], tokens, "at_most")
    output_length = len(read_list(fields["output"], "an output"))
    output = read_vector(fields["output"], output_length, "an output")
    tolerance = read_fraction(fields["tolerance"])
    seen = tuple(j for j in range(tokens) if mask[token][j] == "1")
    weights = (*attend.values(), *at_most.values())
    about_seen = {*attend, *at_most} <= set(seen)
    if not about_seen or not seen or (head is None and weights):
        raise Reject(
            "a rule is about what its token does not see, or weights in a sum of heads"
        )
    asks_something = bool(weights or output)
    weights_fit = all(0 < weight <= 1 for weight in weights)
    tolerance_fits = tolerance == 0 or (tolerance > 0 and bool(output))
    if not (asks_something and weights_fit and tolerance_fits):
        raise Reject(
            "a rule has no target, or a weight or a tolerance that does not fit"
        )
    return HeadRule(sequence, token, head, attend, at_most, output, tolerance, seen)


def read_heads(fields: dict[str, Json], statement: HeadStatement) -> list[ExactHead]:
    """The weights of all heads, of which each is a number of the type."""
    entries = read_list(fields["heads"], "heads", 1)
    dtype = fields["dtype"]
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise Reject(
            f"the weights are of type {ascii(dtype)[:40]}: expected {', '.join(TYPES)}"
        )
    if len(statement.bias) not in (0, len(entries)):
        raise Reject("expected biases of places for each head, or none")
    heads = []
    for number, entry in enumerate(entries):
        bias = statement.bias_of(number)
        heads.append(_read_head(entry, statement, dtype, bias))
    return heads


def _read_head(
    value: Json, statement: HeadStatement, dtype: str, bias: Rows
) -> ExactHead:
    fields = read_object(value, "a head", "W_Q", "W_K", "W_V", "b_Q", "b_V")
    width = statement.width()
    Q = read_matrix(fields["W_Q"], width, "W_Q", dtype)
    K = read_matrix(fields["W_K"], width, "W_K", dtype)
    V = read_matrix(fields["W_V"], width, "W_V", dtype)
    if len(Q) != len(K):
        raise Reject(f"W_Q has {len(Q)} rows and W_K has {len(K)}: expected as many")
    query_biases = len(Q) if statement.biases else 0
    value_biases = len(V) if statement.biases else 0
    b_Q = read_matrix([fields["b_Q"]], query_biases, "b_Q", dtype)[0]
    b_V = read_matrix([fields["b_V"]], value_biases, "b_V", dtype)[0]
    return ExactHead(Q, K, V, tuple(b_Q), tuple(b_V), bias)


def read_matrix(value: Json, width: int, what: str, dtype: str = "float64") -> Rows:
    """Rows of so many numbers of a type."""
    rows = [read_vector(row, width, what) for row in read_list(value, what, 1)]
    code, first_bytes = TYPES[dtype]
    for row in rows:
        for x in row:
            if x == 0:
                continue
            # An exception, and so a refusal, where x is too large.
            content = struct.pack(code, float(x))
            written = struct.unpack(code, content)[0]
            if written != x or not content.startswith(first_bytes):
                raise Reject(
                    f"{what} holds {six_digits(x)}, which is not a number of type {dtype}"
                )
    return rows

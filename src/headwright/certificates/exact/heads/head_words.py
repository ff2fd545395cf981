"""What was proved about whole heads, in words: all that the statement says, and no more."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from headwright.certificates.exact.heads.head_statement import HeadStatement
from headwright.certificates.exact.heads.matrices import Rows
from headwright.certificates.exact.heads.run import CERTAIN, ExactHead, HeadRule
from headwright.certificates.exact.values import Json, digest_of_json, read_list
from headwright.certificates.exact.words import digest_of, number_in_words

SHORT_BITS = 160  # numbers of no more binary digits are told one by one
SHORT_MASK = 80  # characters of a mask that is told


def rule_in_words(rule: HeadRule) -> str:
    """What a rule says."""
    clauses = []
    for token, least in rule.attend.items():
        clauses.append(
            f"attends to token {token} with at least {number_in_words(least)}"
        )
    for token, most in rule.at_most.items():
        clauses.append(f"attends to token {token} with at most {number_in_words(most)}")
    if rule.output:
        output = _numbers_in_words(rule.output)
        clauses.append(f"outputs ({output}) within {number_in_words(rule.tolerance)}")
    return f"{rule} {' and '.join(clauses)}"


def tokens_in_words(statement: HeadStatement, mask: Json) -> str:
    """Tokens, mask, what tokens may be, and biases of places."""
    lengths = " and ".join(str(len(X)) for X in statement.sequences)
    about = "For this one token" if lengths == "1" else f"For these {lengths} tokens"
    digest = numbers_digest(statement.sequences)
    about += f" in R^{statement.width()} (float64, {digest})"
    if mask == "causal":
        about += " under a causal mask"
    elif mask != "none":
        rows = " ".join(map(str, read_list(mask, "a mask")))
        if len(rows) > SHORT_MASK:
            rows = digest_of(rows.encode())
        about += f" under the mask {rows}"
    uncertainty = statement.uncertainty
    if uncertainty != CERTAIN:
        ball = _numbers_in_words([uncertainty.ball])
        low = _numbers_in_words([uncertainty.low])
        high = _numbers_in_words([uncertainty.high])
        where = f"any c x + e with {low} <= c <= {high} and |e| <= {ball}"
        about += f", wherever in this uncertainty they are ({where})"
    if statement.bias:
        digest = numbers_digest(statement.bias)
        about += f", with biases of places in the scores ({digest})"
    return about


def weights_in_words(
    statement: HeadStatement, heads: Sequence[ExactHead], dtype: Json
) -> str:
    """Names, type and digest of the weights of all heads."""
    weights: list[Rows] = []
    for head in heads:
        weights += [head.Q, head.K, head.V, [head.b_Q], [head.b_V]]
    names = "W_Q, W_K, W_V, b_Q, b_V" if statement.biases else "W_Q, W_K, W_V"
    return f"these {names} of type {dtype} ({numbers_digest(weights)})"


def _numbers_in_words(numbers: Sequence[Fraction]) -> str:
    """Numbers as they are, or their digest where these are long."""
    bits = 0
    for x in numbers:
        bits += x.numerator.bit_length() + x.denominator.bit_length()
    if bits > SHORT_BITS:
        return numbers_digest([[numbers]])
    return ", ".join(map(str, numbers))


def numbers_digest(matrices: Iterable[Rows]) -> str:
    """The beginning of a digest of numbers, however these were written."""
    texts = []
    for rows in matrices:
        row_texts = [",".join(map(_canonical_number, row)) for row in rows]
        texts.append(";".join(row_texts))
    return digest_of("|".join(texts).encode())


def _canonical_number(x: Fraction) -> str:
    """In decimal digits, or, where these would be many, in hexadecimal ones."""
    if x.denominator >= 10**9 or abs(x) >= 10**9:
        return f"{x.numerator:#x}/{x.denominator:#x}"
    return str(x)


def statement_digest(statement: Json) -> str:
    """The digest of a statement, in words."""
    return f"(Statement: sha256 {digest_of_json(statement)}.)"

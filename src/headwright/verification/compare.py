"""Compare the statement of a certificate with what was expected of it, in exact numbers."""

from __future__ import annotations

from headwright.certificates.exact.certificate import (
    about_heads,
    read_certificate,
    read_document,
)
from headwright.verification.compare_heads import compare_heads
from headwright.verification.compare_keys import compare_keys
from headwright.verification.comparison import Expected, StatementComparison


def compare(text: str, asked: Expected) -> StatementComparison:
    """The statement of a certificate that was verified, against what was asked."""
    statement, evidence = read_document(text)
    if isinstance(statement, dict) and about_heads(statement):
        return compare_heads(statement, asked)
    if asked.rules is not None:
        return StatementComparison(
            ["it is about keys, and not about the tokens and weights of whole heads"]
        )
    return compare_keys(read_certificate(statement, evidence).statement, asked)

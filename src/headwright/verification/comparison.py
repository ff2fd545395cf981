"""What a certificate is expected to prove, and how its statement differs from that.

A statement may say more than was asked for: a higher least weight, a higher confidence, other targets besides. That is
agreed to, and told. Where it says less, or something else, the certificate does not answer the question. Where it says
that something is impossible, more and less change places. What it speaks of beside, and nobody asked about
(uncertainty, a probability, a scale, several heads), is neither: it is told, since without it the answer may differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from headwright.certificates.exact.words import six_digits

if TYPE_CHECKING:
    from headwright.head_design import Rules
    from headwright.head_design.circuit import CircuitRules
    from headwright.query_design import Targets
    from headwright.uncertainty import Uncertainty

SHORT_BITS = 64  # of a number that may be short enough to be written out
SHORT_LENGTH = 16  # characters of a number that is written out


@dataclass(frozen=True)
class Expected:
    """What a certificate is expected to prove; None where nothing was said."""

    targets: Targets | None = None
    uncertainty: Uncertainty | None = None
    scale: Fraction | None = None
    confidence: Fraction | None = None
    rules: Rules | CircuitRules | None = None


@dataclass
class StatementComparison:
    """Where the statement differs from what was asked, where it says more, and what it speaks of that nobody asked."""

    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)

    def add(self, sentence: str, *, says_more: bool) -> None:
        """A note where the statement says more than was asked for, and a difference where it says less."""
        if says_more:
            self.notes.append(sentence)
        else:
            self.differences.append(sentence)


def number_for_people(x: Fraction) -> str:
    """A short number exactly, and the first six digits of others."""
    return str(x) if is_short(x) else f"{six_digits(x)}..."


def is_short(x: Fraction) -> bool:
    """It has few characters; bits are counted first, since Python does not write numbers of many digits."""
    bits = x.numerator.bit_length() + x.denominator.bit_length()
    return bits < SHORT_BITS and len(str(x)) < SHORT_LENGTH

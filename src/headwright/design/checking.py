"""The checker that closes a design, with the keys as it takes them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from headwright.design.statement import INLINE_NUMBERS, Question
from headwright.trusted.verify import Verdict
from headwright.trusted.verify import verify as verify_trusted


@dataclass(frozen=True)
class Checker:
    """The trusted checker, or the fast one: then the words say so.

    >>> from fractions import Fraction
    >>> from headwright.design.wish import copy
    >>> from headwright.noise import World
    >>> Checker(Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))).verify("{}").word
    'unreadable'
    """

    question: Question
    fast: bool = False

    @property
    def name(self) -> str:
        """'trusted' or 'fast'."""
        return "fast" if self.fast else "trusted"

    @cached_property
    def contents(self) -> list[bytes]:
        """A .npy file for each scenario; none where the keys are written into the certificate."""
        return [as_npy(keys) for keys in self.question.keys if keys.size > INLINE_NUMBERS]

    def verify(self, text: str, progress: Callable[[float], None] | None = None) -> Verdict:
        """The verdict on a certificate about these keys."""
        if self.fast:
            from headwright.fast import verify as verify_fast

            return verify_fast(text, self.contents)
        return verify_trusted(text, self.contents, progress)


def as_npy(matrix: Float[np.ndarray, "n d"]) -> bytes:
    """The content of a .npy file, which is how the checker takes keys.

    >>> as_npy(np.eye(2))[1:6]
    b'NUMPY'
    """
    content = io.BytesIO()
    np.save(content, np.ascontiguousarray(matrix, "<f8"))
    return content.getvalue()

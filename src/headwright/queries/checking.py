"""The checkers that close a design, with the keys as they take them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float

from headwright.errors import ContradictionError
from headwright.queries.statement import INLINE_NUMBERS, Question
from headwright.verification import Verdict, verify, which


@dataclass(frozen=True)
class Checker:
    """The checkers that must all accept a certificate about a question, as `verification` chooses them.

    >>> from fractions import Fraction
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> Checker(Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))).verify("{}").word
    'unreadable'
    """

    question: Question
    choice: str | None = None  # 'both', 'exact', 'float', 'proved'; None: by the size of the keys
    unconfirmed: list[str] = field(default_factory=list)  # why certificates that one checker accepts were not confirmed

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The checkers that run."""
        return which(self.choice, sum(keys.size for keys in self.question.keys))

    @cached_property
    def contents(self) -> list[bytes]:
        """A .npy file for each scenario; none where the keys are written into the certificate."""
        return [as_npy(keys) for keys in self.question.keys if keys.size > INLINE_NUMBERS]

    def verify(self, text: str, progress: Callable[[float], None] | None = None) -> Verdict:
        """The verdict on a certificate about these keys."""
        verdict = verify(text, self.contents, self.choice, progress)
        if verdict.word == "internal error":
            raise ContradictionError(verdict.words)
        if verdict.word == "not confirmed":
            self.unconfirmed.append(verdict.words)
        return verdict


def as_npy(matrix: Float[np.ndarray, "n d"]) -> bytes:
    """The content of a .npy file, which is how the checkers take keys.

    >>> as_npy(np.eye(2))[1:6]
    b'NUMPY'
    """
    content = io.BytesIO()
    np.save(content, np.ascontiguousarray(matrix, "<f8"))
    return content.getvalue()

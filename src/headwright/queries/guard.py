"""Chance, guarded against: so many standard deviations that all ways to fail together are improbable enough.

Key by key, every random rival may rise and every random target may sink by z deviations of its own. Pair by pair, the
difference of two independent scores may grow by z deviations of the difference, sqrt(v_i + v_a), which is less than
sqrt(v_i) + sqrt(v_a); but there are more pairs than keys. Either is safe, by the union bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from headwright.queries.statement import Question

HAIR = 1e-13  # of the deviations: more than rounding in them


@dataclass(frozen=True)
class Guard:
    """How chance is dealt with: 'keys' or 'pairs', and how many standard deviations are guarded against.

    >>> Guard("keys", Fraction(2)).kind
    'keys'
    """

    kind: str
    deviations: Fraction


def guards(question: Question) -> tuple[Guard, ...]:
    """Both guards that make the wish as probable as asked, or none if nothing is random.

    >>> import numpy as np
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import Isotropic, Noise, World
    >>> world = World({0: Noise(spread=Isotropic(1.0))})
    >>> [(guard.kind, round(float(guard.deviations), 3)) for guard in
    ...  guards(Question((np.eye(2),), copy(0), world, Fraction(1), Fraction(19, 20)))]
    [('keys', 1.645)]
    """
    if not question.random:
        return ()
    keys, pairs = ways_to_fail(question, "keys"), ways_to_fail(question, "pairs")
    exact = Guard("keys", _deviations(question, keys))
    if pairs == keys == 1:  # one random key is guarded alike
        return (exact,)
    return exact, Guard("pairs", _deviations(question, pairs))


def ways_to_fail(question: Question, kind: str) -> int:
    """How many one-sided failures of a normal variable there are, over all heads.

    >>> import numpy as np
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import Isotropic, Noise, World
    >>> question = Question((np.eye(8),), copy(0), World(others=Noise(spread=Isotropic(1.0))), Fraction(1), Fraction(1))
    >>> ways_to_fail(question, "keys"), ways_to_fail(question, "pairs")
    (8, 7)
    """
    random, targets = question.random_keys, set(question.wish.targets)
    if kind == "keys":
        return question.heads * sum(2 if len(targets) > 1 and i in targets else 1 for i in random)
    certain = question.n - len(random)
    return question.heads * sum(len(random) - (a in random) + (a in random and certain > 0) for a in targets)


def deviations_of_any(question: Question) -> Fraction:
    """The deviations that every query withstands which succeeds as often as asked: P(N(0, 1) > z) = 1 - confidence.

    >>> import numpy as np
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import Isotropic, Noise, World
    >>> world = World({0: Noise(spread=Isotropic(1.0))})
    >>> float(deviations_of_any(Question((np.eye(2),), copy(0), world, Fraction(1), Fraction(19, 20)))) < 1.644853627
    True
    """
    if not question.random:
        return Fraction(0)
    z = _quantile(float(1 - question.confidence)) * (1 - HAIR)
    return Fraction(f"{max(z, 0.0):.15g}")


def _deviations(question: Question, ways: int) -> Fraction:
    if ways == 0:  # one key has no rival
        return Fraction(0)
    z = _quantile(float(1 - question.confidence) / ways) * (1 + HAIR)
    return Fraction(f"{max(z, 0.0):.15g}")


def _quantile(tail: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(tail))

"""Evidence as data, written as a certificate that the checkers read, and the checkers' verdict on it.

Where keys are random, a guard says how many standard deviations z a design withstands. Key by key, every random rival
may rise and every random target may fall by z of its own deviations. Pair by pair, the difference of two independent
scores may grow by z deviations sqrt(v_i + v_a), which is less than sqrt(v_i) + sqrt(v_a); but there are more pairs than
keys. Either is safe, by the union bound.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.certificates.checkers import CertificateVerdict, run_checkers, which
from headwright.certificates.formats import certificate_text
from headwright.errors import ContradictionError
from headwright.query_design.statement import (
    INLINE_NUMBERS,
    DesignQuestion,
    hex_floats,
    statement,
)

QUANTILE_ERROR = 1e-13  # of the deviations: more than rounding in them
Exact = Fraction | float
NOTHING = Fraction(0)


@dataclass(frozen=True)
class GuardEvidence:
    """How chance is dealt with: 'keys' or 'pairs', and how many standard deviations are guarded against."""

    kind: str
    deviations: Fraction


def guards(question: DesignQuestion) -> tuple[GuardEvidence, ...]:
    """Both guards that make the targets as probable as asked, or none if nothing is random."""
    if not question.random:
        return ()
    by_keys = ways_to_fail(question, "keys")
    by_pairs = ways_to_fail(question, "pairs")
    exact = GuardEvidence("keys", _deviations(question, by_keys))
    if by_pairs == by_keys == 1:  # one random key is guarded alike
        return (exact,)
    return exact, GuardEvidence("pairs", _deviations(question, by_pairs))


def ways_to_fail(question: DesignQuestion, kind: str) -> int:
    """How many one-sided failures of a normal variable there are, over all heads."""
    random = question.random_keys
    targets = set(question.targets.indices)
    ways = 0
    if kind == "keys":
        # Each is too high as a rival; a random one of several targets may be too low as well.
        ways = len(random)
        if len(targets) > 1:
            ways += len(random & targets)
        return question.heads * ways
    certain_keys = question.n - len(random)
    for target in targets:
        if target in random:
            # Each random rival, and all certain ones together.
            ways += len(random) - 1 + (1 if certain_keys > 0 else 0)
        else:
            ways += len(random)
    return question.heads * ways


def deviations_of_any(question: DesignQuestion) -> Fraction:
    """The deviations that every query withstands which succeeds as often as asked: P(N(0, 1) > z) = 1 - confidence."""
    if not question.random:
        return Fraction(0)
    z = _quantile(float(1 - question.confidence)) * (1 - QUANTILE_ERROR)
    return Fraction(f"{max(z, 0.0):.15g}")


def _deviations(question: DesignQuestion, ways: int) -> Fraction:
    if ways == 0:  # one key has no rival
        return Fraction(0)
    z = _quantile(float(1 - question.confidence) / ways) * (1 + QUANTILE_ERROR)
    return Fraction(f"{max(z, 0.0):.15g}")


def _quantile(tail: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(tail))


@dataclass(frozen=True)
class Constraint:
    """One target in one scenario, with its multiplier and its distribution over the keys."""

    scenario: int
    target: int
    multiplier: Exact
    distribution: Mapping[int, Exact] | None = None


@dataclass(frozen=True, eq=False)
class PartEvidence:
    """Constraints that are combined at one query; the lifts, moves and push say where the keys stand."""

    query: Float[np.ndarray, " d"]
    constraints: tuple[Constraint, ...]
    # One for each entry of the uncertainty; None: 0.
    lifts: Sequence[Exact] | None = None
    # The same, with a number for each column of its factor; None: 0.
    moves: Sequence[Sequence[Exact]] | None = None
    push: Sequence[Exact] | None = None


@dataclass(frozen=True, eq=False)
class BoundEvidence:
    """Why no query is shorter, or why there is none: one part for one head, one for each target `among` for several."""

    parts: tuple[PartEvidence, ...]
    among: tuple[int, ...] | None = None
    deviations: Fraction = NOTHING
    scales: Mapping[int, Exact] = field(default_factory=dict)
    own_scales: Mapping[int, Exact] = field(default_factory=dict)


def certificate(
    question: DesignQuestion,
    claim: str,
    bound: BoundEvidence | None = None,
    *,
    queries: Float[np.ndarray, "heads d"] | None = None,
    none_shorter: Fraction = NOTHING,
    guard: GuardEvidence | None = None,
) -> str:
    """The document: that these queries meet the targets (and why none is shorter), or that none does."""
    about = statement(question, claim, queries, none_shorter)
    evidence: dict[str, Any] = {"guard": None, "bound": None}
    if guard is not None:
        evidence["guard"] = {
            "kind": guard.kind,
            "deviations": str(guard.deviations),
        }
    if bound is not None:
        # Random keys are pushed together, and not moved one by one.
        widths = []
        for entry in about["uncertainty"]:
            widths.append(0 if entry["random"] else len(entry["factor"]))
        evidence["bound"] = _bound(bound, widths)
    return certificate_text(about, evidence)


def number(x: Exact) -> str:
    """Written exactly: a float as a float, a fraction as a ratio.

    >>> number(0.5), number(Fraction(1, 3))
    ('0x1.0000000000000p-1', '0x1/0x3')
    """
    if isinstance(x, Fraction):
        return f"{hex(x.numerator)}/{hex(x.denominator)}"
    return float(x).hex()


def _bound(bound: BoundEvidence, widths: list[int]) -> dict[str, Any]:
    return {
        "among": None if bound.among is None else list(bound.among),
        "deviations": str(bound.deviations),
        "scales": _table(bound.scales),
        "own_scales": _table(bound.own_scales),
        "parts": [_part(part, widths) for part in bound.parts],
    }


def _part(part: PartEvidence, widths: list[int]) -> dict[str, Any]:
    """With zeros for lifts and moves of which nothing is said."""
    lifts = part.lifts
    if lifts is None:
        lifts = [0.0] * len(widths)
    moves = part.moves
    if moves is None:
        moves = [[0.0] * width for width in widths]
    return {
        "query": hex_floats(part.query),
        "lifts": list(map(number, lifts)),
        "moves": [list(map(number, move)) for move in moves],
        "push": None if part.push is None else list(map(number, part.push)),
        "constraints": list(map(_constraint, part.constraints)),
    }


def _constraint(constraint: Constraint) -> dict[str, Any]:
    distribution = None
    if constraint.distribution is not None:
        distribution = _table(constraint.distribution)
    return {
        "scenario": constraint.scenario,
        "target": constraint.target,
        "multiplier": number(constraint.multiplier),
        "distribution": distribution,
    }


def _table(numbers: Mapping[int, Exact]) -> dict[str, str]:
    return {str(key): number(x) for key, x in numbers.items()}


@dataclass(frozen=True)
class Checker:
    """The checkers that must all accept a certificate about a question, as `verification` chooses them."""

    question: DesignQuestion
    # 'both', 'exact', 'float', 'proved'; None: by the size of the keys.
    choice: str | None = None
    # Why certificates that one checker accepts were not confirmed.
    unconfirmed: list[str] = field(default_factory=list)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The checkers that run."""
        return which(self.choice, sum(keys.size for keys in self.question.keys))

    @cached_property
    def contents(self) -> list[bytes]:
        """A .npy file for each scenario; none where the keys are written into the certificate."""
        large = [keys for keys in self.question.keys if keys.size > INLINE_NUMBERS]
        return list(map(as_npy, large))

    def verify(
        self, text: str, progress: Callable[[float], None] | None = None
    ) -> CertificateVerdict:
        """The verdict on a certificate about these keys."""
        verdict = run_checkers(text, self.contents, self.choice, progress)
        if verdict.word == "internal error":
            raise ContradictionError(verdict.words)
        if verdict.word == "not confirmed":
            self.unconfirmed.append(verdict.words)
        return verdict


def as_npy(matrix: Float[np.ndarray, "n d"]) -> bytes:
    """The content of a .npy file, which is how the checkers take keys."""
    content = io.BytesIO()
    np.save(content, np.ascontiguousarray(matrix, "<f8"))
    return content.getvalue()

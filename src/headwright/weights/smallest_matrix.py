"""The smallest matrix of scores that meets attention targets (untrusted, in floating point).

    minimise |N|_F   subject to   ln sum_{l != a} exp(<N, (k_l - k_a) z^T>) <= ln slack_a     for each wish, target a

Each wish has keys k_l and a query z of its own, and all share N: scores are k_l^T N z. With tokens for keys and
query this is the smallest M = W_K^T W_Q; with queries B x it is the smallest W_K for a given W_Q = B, and so on.

method_of_multipliers.py has the method; here the wishes become its constraints, on as few unknowns as matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.weights.method_of_multipliers import Term, by_multipliers, from_near, squared, worst

EVENED = 1e-4  # what is left to others, from which on the weights of several targets are fixed
LARGEST = 6000  # unknowns; a Newton step costs their cube
Cap = tuple[Float[np.ndarray, " n"], float]  # a combination of the keys' scores, and what it may be at most


@dataclass(frozen=True, eq=False)
class Aim:
    """One wish: keys seen by one query, and the slack 1/p - 1 of each target."""

    keys: Float[np.ndarray, "n p"]
    query: Float[np.ndarray, " r"]
    targets: tuple[int, ...]
    slacks: Float[np.ndarray, " m"]
    left: float | None = None  # by all targets together to others, where it is known better than from the slacks
    caps: tuple[Cap, ...] = ()  # more constraints, which are linear
    added: Float[np.ndarray, " n"] | None = None  # to the scores of the keys

    @property
    def shifts(self) -> Float[np.ndarray, " n"]:
        """What is added to the scores of the keys."""
        return np.zeros(len(self.keys)) if self.added is None else self.added

    @property
    def over(self) -> float:
        """What the floors together leave to others."""
        return 1.0 - float((1 / (1 + self.slacks)).sum()) if self.left is None else self.left

    @property
    def evened(self) -> bool:
        """Several targets leave so little that their weights are fixed: the scores of these are then set equal."""
        return len(self.targets) > 1 and 0 < self.over < EVENED


@dataclass(frozen=True, eq=False)
class Found:
    """What was found: nothing here is proven."""

    matrix: Float[np.ndarray, "p r"]
    multipliers: tuple[Float[np.ndarray, " m"], ...]  # one for each target of each wish, of the constraint as above
    violation: float  # the largest; at most 0 if all is granted

    @property
    def granted(self) -> bool:
        """All wishes are granted, as far as floating point can tell."""
        return self.violation <= 1e-12


def smallest(aims: Sequence[Aim], near: Float[np.ndarray, "p r"] | None = None) -> Found:
    """The matrix of smallest Frobenius norm that grants all wishes; sooner where one is given that is near to it."""
    task = reduced(aims)
    if task is None or task.too_large:
        p, r = aims[0].keys.shape[1], len(aims[0].query)
        none = tuple(np.zeros(len(aim.targets)) for aim in aims)
        return Found(np.zeros((p, r)), none, -np.inf if task is None else np.inf)
    nothing, ones = np.zeros(task.shape), np.ones(len(task.terms))
    if worst(task.terms, nothing) <= 0:
        return task.found(aims, nothing, 0 * ones, 0.0)
    ended = None if near is None else from_near(task.terms, squared, task.inside(near))
    return task.found(aims, *(ended or by_multipliers(task.terms, squared, nothing, ones)))


@dataclass(frozen=True, eq=False)
class Reduced:
    """The wishes as constraints on N in the span of what matters, in a unit that suits them."""

    terms: list[Term]
    left: Float[np.ndarray, "p k"]  # orthonormal columns, as in right
    right: Float[np.ndarray, "r l"]
    unit: float

    @property
    def shape(self) -> tuple[int, int]:
        """Of the unknown matrix."""
        return self.left.shape[1], self.right.shape[1]

    @property
    def too_large(self) -> bool:
        """There are more unknowns than a Newton step can be taken with."""
        return self.shape[0] * self.shape[1] > LARGEST

    def inside(self, N: Float[np.ndarray, "p r"]) -> Float[np.ndarray, "k l"]:
        """The coordinates of a matrix."""
        X: Float[np.ndarray, "k l"] = self.left.T @ N @ self.right * self.unit
        return X

    def found(
        self, aims: Sequence[Aim], X: Float[np.ndarray, "k l"], multipliers: Float[np.ndarray, " m"], violation: float
    ) -> Found:
        """The matrix with these coordinates, with the multipliers of each wish."""
        shares = iter(_settled(self.terms, multipliers).tolist())
        N = self.left @ (X / self.unit) @ self.right.T
        mine = tuple(
            np.zeros(len(aim.targets)) if len(aim.keys) == 1
            else _evened_multipliers(aim, N, [next(shares) for _ in _evened(aim)]) if aim.evened
            else np.array([next(shares) for _ in aim.targets])
            for aim in aims
        )  # fmt: skip
        return Found(N, mine, violation)


def reduced(aims: Sequence[Aim]) -> Reduced | None:
    """The constraints; None if there are none, since every target is alone with itself."""
    terms = [term for aim in aims if len(aim.keys) > 1 for term in (_evened(aim) if aim.evened else _plain(aim))]
    terms += [Term((cap @ aim.keys)[None], aim.query, b - cap @ aim.shifts) for aim in aims for cap, b in aim.caps]
    if not terms:
        return None
    left, right = span([term.rows for term in terms]), span([term.query[None] for term in terms])
    unit = max(float(np.linalg.norm(t.rows, axis=1).max() * np.linalg.norm(t.query)) for t in terms) or 1.0
    inside = [replace(t, rows=t.rows @ left / unit, query=t.query @ right) for t in terms]
    return Reduced(inside, left, right, unit)


def _plain(aim: Aim) -> list[Term]:
    return [
        Term(
            np.delete(aim.keys, a, axis=0) - aim.keys[a],
            aim.query,
            float(np.log(slack)),
            shifts=np.delete(aim.shifts, a) - aim.shifts[a],
        )
        for a, slack in zip(aim.targets, aim.slacks, strict=True)
    ]


def _evened(aim: Aim) -> list[Term]:
    """Targets with weights in the ratio of their floors, and all others together below what is left.

    As inequalities these would hold in a sliver that is as thin as what is left, where Newton's steps get lost.
    """
    first, *rest = aim.targets
    p = 1 / (1 + aim.slacks)
    others, by = np.delete(aim.keys, aim.targets, axis=0) - aim.keys[first], aim.shifts - aim.shifts[first]
    held = [
        Term((aim.keys[a] - aim.keys[first])[None], aim.query, float(np.log(x / p[0]) - by[a]), equal=True)
        for a, x in zip(rest, p[1:], strict=True)
    ]
    rivals = Term(others, aim.query, float(np.log(aim.over / p[0])), shifts=np.delete(by, aim.targets))
    return [rivals, *held] if len(others) else held


def _settled(terms: list[Term], multipliers: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    """The same slope, where equalities of several wishes say the same: borne by those whose others push most.

    What others push bounds what equalities may bear, if the plain constraints are to have multipliers of 0 or more.
    """
    equal = np.array([term.equal for term in terms])
    if not equal.any():
        return multipliers
    pushes = np.maximum.accumulate(np.where(equal, 0, np.arange(len(terms))))  # the number of the wish's first term
    weights = np.maximum(np.abs(multipliers[pushes]), 1e-9 * np.abs(multipliers).max() + 1e-300)[equal]
    slopes = np.array([np.outer(t.rows[0], t.query).ravel() for t in terms if t.equal])
    share = np.linalg.lstsq((slopes * weights[:, None]).T, multipliers[equal] @ slopes, rcond=1e-12)[0]
    settled = multipliers.copy()
    settled[equal] = weights * share
    return settled


def _evened_multipliers(aim: Aim, N: Float[np.ndarray, "p r"], found: list[float]) -> Float[np.ndarray, " m"]:
    """Multipliers of the plain constraints that add up to the same slope as those of `_evened`."""
    scores = (aim.keys - aim.keys[aim.targets[0]]) @ N @ aim.query + aim.shifts
    alpha = np.exp(scores - scores.max())
    alpha /= alpha.sum()
    push, *held = found if len(found) == len(aim.targets) else [0.0, *found]  # there may be no others
    mine = alpha[list(aim.targets)]
    whole = push / max(float(np.delete(alpha, aim.targets).sum()), 1e-300)
    shares = whole * mine - np.array([-push - sum(held), *held])
    plain: Float[np.ndarray, " m"] = np.maximum(shares, 0.0) * aim.slacks / (1 + aim.slacks)
    return plain


def span(parts: list[Float[np.ndarray, "some d"]]) -> Float[np.ndarray, "d k"]:
    """An orthonormal basis of the rows; at least one column."""
    _, sizes, basis = np.linalg.svd(np.vstack(parts), full_matrices=False)
    rank = max(1, int((sizes > 1e-13 * sizes[0]).sum()))
    return np.ascontiguousarray(basis[:rank].T)

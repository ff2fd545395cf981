"""Proofs that no head keeps the rules: its attention targets cancel exactly, or its outputs do.

No M gives the targets of some rules their least weights p if with multipliers lambda_a and distributions pi

    sum over rules (sum_a lambda_a) (sum_l pi_l x_l) x_i^T - sum_a lambda_a x_a x_i^T = 0,    right > 0,

right = sum_a lambda_a (H(pi) + ln p_a). With f_c(M) = ln(p_c / weight of c), what is minimised is the smoothed largest
of them, t ln sum_c exp(f_c / t) + r |M|^2 / 2: where that is least, pi are the patterns, lambda the shares of the f_c,
the sum above is -r M, and right >= sum_c lambda_c f_c. Both t and r fall; exact rationals then take r M away.

Outputs: where sum_i mu_i y_i = 0 for the mixtures y_i that tokens attend to, whatever the head, the outputs must cancel
as well. The checker's head.py says when a mixture is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from jaxtyping import Float

from headwright.trusted.verify import verify
from headwright.weights.certify import none_at_all
from headwright.weights.method_of_multipliers import Matrix, State, Term, violations
from headwright.weights.rules import Rule, Rules
from headwright.weights.smallest_matrix import span

ONE = 2**120  # guesses are whole numbers of 1 / ONE: rounding them is free, since they are corrected anyway
CUTS = (0.0, 1e-30, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3)  # shares below are taken as 0
SMOOTH, RIDGES, STEPS = (0.5, 0.1, 0.02, 0.004), (1e-2, 1e-4, 1e-6, 1e-8, 1e-10), 60
MOST_EQUATIONS = 400  # more would take exact arithmetic too long


def prove_impossible(rules: Rules, mine: Sequence[Rule]) -> tuple[str, str] | None:
    """Words and a verified certificate that no head keeps these rules of one head; None where none was found."""
    for claims, evidence in (*_outputs(rules, mine), *_attending(rules, mine)):
        text = none_at_all(rules, claims, evidence)
        verdict = verify(text)
        if verdict.word == "verified":
            return verdict.words, text
    return None


def _attending(rules: Rules, mine: Sequence[Rule]) -> Iterator[tuple[list[Rule], dict[str, Any]]]:
    """Guesses: rules with the evidence that they contradict each other."""
    told = [rule for rule in mine if rule.attend]
    if not told or _equations(rules, told) > MOST_EQUATIONS:
        return
    descent = Descent.of(rules, told)
    M = np.zeros(descent.shape)
    for t in SMOOTH:
        for ridge in RIDGES:
            M, values, multipliers = descent.lowest(M, t, ridge)
            if values.max() <= 0:
                return  # there is such a head, as far as floating point can tell
            if multipliers @ values <= 0:
                break  # smoothed too much
            for cut in CUTS:
                evidence = _cancelling(rules, told, descent, M, multipliers, cut)
                if evidence:
                    used = [rule for rule, entry in zip(told, evidence, strict=True) if entry["multipliers"]]
                    kept = [entry for entry in evidence if entry["multipliers"]]
                    claims = [replace(rule, output=None, at_most=None) for rule in used]
                    yield claims, {"attend": [{"rule": n, **entry} for n, entry in enumerate(kept)], "output": []}


@dataclass(frozen=True, eq=False)
class Descent:
    """The f_c as terms of M in the span of what matters, each with the number of its rule and its target."""

    terms: list[Term]
    places: list[tuple[int, int]]

    @classmethod
    def of(cls, rules: Rules, told: Sequence[Rule]) -> Descent:
        """Of all targets of some rules; the unit of M is such that scores are near 1."""
        terms, places = [], []
        for number, rule in enumerate(told):
            X, added, seen = rules.sequences[rule.sequence], rules.added(rule), rules.seen(rule)
            x = rules.asking(X[rule.token])
            for a, p in (rule.attend or {}).items():
                by = added - added[seen.index(a)]
                terms.append(Term(rules.tokens(rule) - X[a], x, -math.log(p), shifts=by))
                places.append((number, a))
        left, right = span([term.rows for term in terms]), span([term.query[None] for term in terms])
        unit = max(float(np.linalg.norm(t.rows, axis=1).max() * np.linalg.norm(t.query)) for t in terms) or 1.0
        inside = [replace(term, rows=term.rows @ left / unit, query=term.query @ right) for term in terms]
        return cls(inside, places)

    @property
    def shape(self) -> tuple[int, int]:
        """Of M."""
        return self.terms[0].rows.shape[1], len(self.terms[0].query)

    def lowest(
        self, M: Matrix, t: float, ridge: float
    ) -> tuple[Matrix, Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Newton's method: where it ends, the f_c there, and their shares."""
        Z = np.array([term.query for term in self.terms])

        def merit(at: Matrix) -> float:
            values = violations(self.terms, at)
            return float(
                values.max() + t * np.log(np.exp((values - values.max()) / t).sum()) + ridge * (at * at).sum() / 2
            )

        now = merit(M)
        for _ in range(STEPS):
            state = State.of(self.terms, M)
            shares = np.exp((state.values - state.values.max()) / t)
            shares /= shares.sum()
            slopes = np.einsum("cp,cr->cpr", state.lefts, Z).reshape(len(Z), -1)
            slope = shares @ slopes + ridge * M.ravel()
            curve = np.einsum("c,cpq,cr,cs->prqs", shares, state.spreads, Z, Z, optimize=True).reshape(M.size, M.size)
            curve += (slopes.T * shares) @ slopes / t - np.outer(shares @ slopes, shares @ slopes) / t
            step = -np.linalg.solve(curve + ridge * np.eye(M.size), slope)
            fall, size = float(slope @ step), 1.0
            if -fall <= 1e-15 * max(1.0, abs(now)):
                break
            while (new := merit(M + size * step.reshape(M.shape))) > now + 1e-4 * size * fall and size > 1e-8:
                size /= 2
            M, now = M + size * step.reshape(M.shape), min(now, new)
        return M, state.values, shares


def _cancelling(
    rules: Rules, told: Sequence[Rule], descent: Descent, M: Matrix, multipliers: Float[np.ndarray, " m"], cut: float
) -> list[dict[str, Any]]:
    """For each rule multipliers and a distribution, so that all cancels exactly; nothing where that makes one negative.

    Unknowns are the shares of tokens, times the rule's multipliers together, and the multipliers of its targets.
    """
    unknowns: list[tuple[int, int, int, int]] = []  # rule, token, sign, guess
    for number, rule in enumerate(told):
        mine = [c for c, place in enumerate(descent.places) if place[0] == number and multipliers[c] > cut]
        if mine:
            e = descent.terms[mine[0]].at(M)[1]  # the pattern
            pi = np.where(e > cut * e.max(), e, 0.0)
            shares = zip(rules.seen(rule), sum(multipliers[mine]) * pi / pi.sum(), strict=True)
            unknowns += [(number, j, 1, round(x * ONE)) for j, x in shares if x > 0]
            unknowns += [(number, descent.places[c][1], -1, round(multipliers[c] * ONE)) for c in mine]
    left = _independent(np.vstack([rules.tokens(rule) for rule in told]))
    right = _independent(np.vstack([rules.asking(rules.sequences[rule.sequence][rule.token]) for rule in told]))

    def column(number: int, token: int, sign: int) -> list[fmpq]:
        X = rules.sequences[told[number].sequence]
        x = rules.asking(X[told[number].token])
        keys, query = [_exact(X[token, p]) for p in left], [_exact(x[q]) * sign for q in right]
        same = [fmpq(sign if n == number else 0) for n in range(len(told))]
        return [*(k * z for k in keys for z in query), *same, fmpq(int(sign < 0))]

    columns = [column(*unknown[:3]) for unknown in unknowns]
    total = [sum((fmpq(u[3], ONE) * c[i] for u, c in zip(unknowns, columns, strict=True)), fmpq(0))
             for i in range(len(left) * len(right) + len(told) + 1)]  # fmt: skip
    total[-1] -= 1
    order = sorted(range(len(unknowns)), key=lambda k: -unknowns[k][3])[: 3 * len(total)]
    correction = _solve([columns[k] for k in order], [-x for x in total])
    if correction is None:
        return []
    values = [fmpq(u[3], ONE) for u in unknowns]
    for k, delta in zip(order, correction, strict=True):
        values[k] += delta
    if any(x < 0 for x in values):
        return []
    return _as_evidence(len(told), unknowns, values)


def _as_evidence(rules: int, unknowns: list[tuple[int, int, int, int]], values: list[fmpq]) -> list[dict[str, Any]]:
    found = []
    for number in range(rules):
        mine = [(u, x) for u, x in zip(unknowns, values, strict=True) if u[0] == number and x > 0]
        mass = sum((x for u, x in mine if u[2] < 0), fmpq(0))
        found.append({
            "multipliers": {str(u[1]): _written(x) for u, x in mine if u[2] < 0},
            "distribution": {str(u[1]): _written(x / mass) for u, x in mine if u[2] > 0 and mass > 0},
        })  # fmt: skip
    return found


def _outputs(rules: Rules, mine: Sequence[Rule]) -> Iterator[tuple[list[Rule], dict[str, Any]]]:
    """Guesses: relations between the mixtures of tokens with output rules, each the simplest for its last token."""
    told = [rule for rule in mine if rule.output is not None]
    if not told:
        return
    X = [rules.tokens(rule) for rule in told]
    own = [rules.sequences[rule.sequence][rule.token] for rule in told]
    plain = not rules.biases and not rules.bias
    known = [(plain and not x.any()) or bool((S[0] == S).all()) for x, S in zip(own, X, strict=True)]
    places = [np.column_stack([S, rules.added(rule)]) for S, rule in zip(X, told, strict=True)]
    kinds = [(tuple(x.tolist()), tuple(sorted(map(tuple, S.tolist())))) for x, S in zip(own, places, strict=True)]
    unknown = sorted({kind for kind, sure in zip(kinds, known, strict=True) if not sure})
    columns = []
    for S, kind, sure in zip(X, kinds, known, strict=True):
        y = [sum((_exact(v) for v in column), fmpq(0)) / len(S) if sure else fmpq(0) for column in S.T]
        y.append(fmpq(int(rules.biases and sure)))
        columns.append(y + [fmpq(int(kind == other and not sure)) for other in unknown])
    for last in range(len(told)):
        mu = _solve(columns[:last], [-v for v in columns[last]])
        if mu is not None:
            used = {n: x for n, x in enumerate([*mu, fmpq(1)]) if x != 0}
            claims = [replace(told[n], attend=None, at_most=None) for n in used]
            entries = [{"rule": k, "multiplier": _written(x)} for k, x in enumerate(used.values())]
            yield claims, {"attend": [], "output": entries}


def _equations(rules: Rules, told: Sequence[Rule]) -> int:
    keys = np.vstack([rules.tokens(rule) for rule in told])
    queries = np.vstack([rules.asking(rules.sequences[rule.sequence][rule.token]) for rule in told])
    return int(np.linalg.matrix_rank(keys) * np.linalg.matrix_rank(queries)) + len(told) + 1


def _independent(X: Float[np.ndarray, "n d"]) -> list[int]:
    """Coordinates in which a combination of these rows must be 0 for it to be 0 in all."""
    table = fmpq_mat(*X.shape)
    for i, row in enumerate(X.tolist()):
        for j, x in enumerate(row):
            table[i, j] = _exact(x)
    reduced, rank = table.rref()
    return [next(j for j in range(X.shape[1]) if reduced[i, j] != 0) for i in range(rank)]


def _solve(columns: list[list[fmpq]], right: list[fmpq]) -> list[fmpq] | None:
    """Some exact x with sum_j x_j columns_j = right, using the first columns that suffice; None if there is none."""
    table = fmpq_mat(len(right), len(columns) + 1)
    for j, column in enumerate([*columns, right]):
        for i, entry in enumerate(column):
            table[i, j] = entry
    reduced, rank = table.rref()
    x = [fmpq(0)] * len(columns)
    for i in range(rank):
        pivot = next(j for j in range(len(columns) + 1) if reduced[i, j] != 0)
        if pivot == len(columns):
            return None
        x[pivot] = reduced[i, len(columns)]
    return x


def _exact(x: float) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())


def _written(x: fmpq) -> str:
    return f"{'-' if x < 0 else ''}{hex(abs(int(x.p)))}/{hex(int(x.q))}"

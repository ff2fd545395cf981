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
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq
from jaxtyping import Float

from headwright.certificates.exact.verify import verify
from headwright.head_design.certify import none_at_all
from headwright.head_design.matrix_program import (
    MatrixState,
    ReducedProgram,
    ScoreConstraint,
)
from headwright.head_design.rules import Rule, Rules
from headwright.numerics.exact_linear import (
    exact,
    independent_coordinates,
    solve_exactly,
)
from headwright.optimisation.newton import SmoothedMaximum, minimise_maximum

# Guesses are whole numbers of 1 / FINE: rounding them is free, since they are corrected anyway
FINE = 2**120
CUTS = (0.0, 1e-30, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3)  # shares below are taken as 0
SMOOTHINGS = (0.5, 0.1, 0.02, 0.004)  # t
RIDGES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # r
MAX_STEPS = 60
FLAT = 1e-15  # a slope; gradients are of size 1
MOST_EQUATIONS = 400  # more would take exact arithmetic too long
ROOM = 3  # unknowns that are corrected, for each equation
Guess = tuple[list[Rule], dict[str, Any]]  # claims, and evidence that they contradict


def prove_impossible(
    rules: Rules, head_rules: Sequence[Rule]
) -> tuple[str, str] | None:
    """Words and a verified certificate that no head keeps these rules of one head; None where none was found."""
    guesses = chain(
        _relate_outputs(rules, head_rules), _contradict_floors(rules, head_rules)
    )
    for claims, evidence in guesses:
        text = none_at_all(rules, claims, evidence)
        verdict = verify(text)
        if verdict.word == "verified":
            return verdict.words, text
    return None


def _contradict_floors(rules: Rules, head_rules: Sequence[Rule]) -> Iterator[Guess]:
    """Rules with multipliers and distributions by which their attention targets cancel."""
    asked = [rule for rule in head_rules if rule.attend]
    if not asked or _count_equations(rules, asked) > MOST_EQUATIONS:
        return
    floors = FloorProgram.of(rules, asked)
    program = floors.reduced.program
    M = np.zeros(program.dimension)
    for smoothing in SMOOTHINGS:
        for ridge in RIDGES:
            lowest = minimise_maximum(
                program,
                M,
                1 / smoothing,
                ridge=ridge,
                is_done=_is_flat,
                max_steps=MAX_STEPS,
            )
            M = lowest.point
            values = lowest.state.values
            if values.max() <= 0:
                return  # there is such a head, as far as floating point can tell
            if lowest.shares @ values <= 0:
                break  # smoothed too much
            for cut in CUTS:
                evidence = _cancel(rules, asked, floors, lowest, cut)
                if evidence:
                    yield _as_claims(asked, evidence)


def _is_flat(lowest: SmoothedMaximum[MatrixState]) -> bool:
    """The slope is rounding."""
    return float(np.abs(lowest.slope).max()) <= FLAT


def _as_claims(asked: Sequence[Rule], evidence: Sequence[dict[str, Any]]) -> Guess:
    """The rules that have multipliers, each with its evidence."""
    claims: list[Rule] = []
    entries: list[dict[str, Any]] = []
    for rule, entry in zip(asked, evidence, strict=True):
        if entry["multipliers"]:
            entries.append({"rule": len(claims), **entry})
            claims.append(replace(rule, output=None, at_most=None))
    return claims, {"attend": entries, "output": []}


@dataclass(frozen=True, eq=False)
class FloorProgram:
    """The f_c of all targets of some rules as constraints on M, each with the number of its rule and its target."""

    reduced: ReducedProgram
    places: list[tuple[int, int]]

    @classmethod
    def of(cls, rules: Rules, asked: Sequence[Rule]) -> FloorProgram:
        """In a unit such that scores are near 1."""
        constraints = []
        places = []
        for number, rule in enumerate(asked):
            X = rules.sequences[rule.sequence]
            added = rules.added(rule)
            seen = rules.seen(rule)
            query = rules.asking(X[rule.token])
            for a, p in (rule.attend or {}).items():
                differences = rules.tokens(rule) - X[a]
                shifts = added - added[seen.index(a)]
                constraints.append(
                    ScoreConstraint(differences, query, -math.log(p), shifts=shifts)
                )
                places.append((number, a))
        return cls(ReducedProgram.of(constraints), places)


class UnknownNumber(NamedTuple):
    """An unknown of the equations: the share of a token in a rule, or the multiplier of a target."""

    rule: int
    token: int
    is_multiplier: bool
    guess: int  # in units of 1 / FINE


def _cancel(
    rules: Rules,
    asked: Sequence[Rule],
    floors: FloorProgram,
    lowest: SmoothedMaximum[MatrixState],
    cut: float,
) -> list[dict[str, Any]]:
    """For each rule multipliers and a distribution, so that all cancels exactly; nothing where that makes one negative.

    Unknowns are the shares of tokens, times the rule's multipliers together, and the multipliers of its targets.
    """
    amounts = _guess_amounts(rules, asked, floors, lowest, cut)
    tokens = np.vstack([rules.tokens(rule) for rule in asked])
    queries = np.vstack([_query(rules, rule) for rule in asked])
    left = independent_coordinates(tokens)
    right = independent_coordinates(queries)

    # The equations: sum_l shares_l x_l x_i^T - sum_a lambda_a x_a x_i^T = 0, in the coordinates that matter; shares and
    # multipliers of a rule have the same sum; all multipliers together are 1.
    columns = []
    for amount in amounts:
        rule = asked[amount.rule]
        sign = -1 if amount.is_multiplier else 1
        key = rules.sequences[rule.sequence][amount.token]
        query = _query(rules, rule)
        column = []
        for p in left:
            column += [exact(key[p]) * exact(query[q]) * sign for q in right]
        for number in range(len(asked)):
            column.append(fmpq(sign if number == amount.rule else 0))
        column.append(fmpq(int(amount.is_multiplier)))
        columns.append(column)
    right_side = [fmpq(0)] * (len(left) * len(right) + len(asked)) + [fmpq(1)]
    values = _corrected(amounts, columns, right_side)
    if values is None or any(x < 0 for x in values):
        return []
    return _as_evidence(len(asked), amounts, values)


def _corrected(
    amounts: Sequence[UnknownNumber],
    columns: Sequence[Sequence[fmpq]],
    right_side: Sequence[fmpq],
) -> list[fmpq] | None:
    """The guesses, of which the largest are changed so that they solve the equations exactly; None where that fails."""
    values = [fmpq(amount.guess, FINE) for amount in amounts]
    missing = list(right_side)
    for value, column in zip(values, columns, strict=True):
        missing = [x - value * entry for x, entry in zip(missing, column, strict=True)]
    by_size = sorted(range(len(amounts)), key=lambda k: -amounts[k].guess)
    largest = by_size[: ROOM * len(missing)]
    correction = solve_exactly([columns[k] for k in largest], missing)
    if correction is None:
        return None
    for k, change in zip(largest, correction, strict=True):
        values[k] += change
    return values


def _guess_amounts(
    rules: Rules,
    asked: Sequence[Rule],
    floors: FloorProgram,
    lowest: SmoothedMaximum[MatrixState],
    cut: float,
) -> list[UnknownNumber]:
    """Shares in proportion to the patterns, and the multipliers; those below the cut are 0."""
    multipliers = lowest.shares
    amounts = []
    for number, rule in enumerate(asked):
        used = []
        for c, (rule_of_c, _) in enumerate(floors.places):
            if rule_of_c == number and multipliers[c] > cut:
                used.append(c)
        if not used:
            continue
        pattern = lowest.state.shares[used[0]]  # the same for all targets of the rule
        pattern = np.where(pattern > cut * pattern.max(), pattern, 0.0)
        shares = multipliers[used].sum() * pattern / pattern.sum()
        for token, share in zip(rules.seen(rule), shares.tolist(), strict=True):
            if share > 0:
                amounts.append(UnknownNumber(number, token, False, round(share * FINE)))
        for c in used:
            target = floors.places[c][1]
            guess = round(float(multipliers[c]) * FINE)
            amounts.append(UnknownNumber(number, target, True, guess))
    return amounts


def _as_evidence(
    rules: int, amounts: Sequence[UnknownNumber], values: Sequence[fmpq]
) -> list[dict[str, Any]]:
    """The amounts as the checker takes them."""
    evidence = []
    for number in range(rules):
        multipliers: dict[str, fmpq] = {}
        shares: dict[str, fmpq] = {}
        for amount, value in zip(amounts, values, strict=True):
            if amount.rule == number and value > 0:
                table = multipliers if amount.is_multiplier else shares
                table[str(amount.token)] = value
        mass = sum(multipliers.values(), fmpq(0))
        entry = {
            "multipliers": {a: _written(x) for a, x in multipliers.items()},
            "distribution": {},
        }
        if mass > 0:
            entry["distribution"] = {j: _written(x / mass) for j, x in shares.items()}
        evidence.append(entry)
    return evidence


def _relate_outputs(rules: Rules, head_rules: Sequence[Rule]) -> Iterator[Guess]:
    """Relations between the mixtures of tokens with output rules, each the simplest for its last token."""
    asked = [rule for rule in head_rules if rule.output is not None]
    if not asked:
        return
    columns = _mixture_columns(rules, asked)
    for last, column in enumerate(columns):
        relation = solve_exactly(columns[:last], [-x for x in column])
        if relation is None:
            continue
        used = {n: x for n, x in enumerate([*relation, fmpq(1)]) if x != 0}
        claims = [replace(asked[n], attend=None, at_most=None) for n in used]
        entries = [
            {"rule": k, "multiplier": _written(x)} for k, x in enumerate(used.values())
        ]
        yield claims, {"attend": [], "output": entries}


def _mixture_columns(rules: Rules, asked: Sequence[Rule]) -> list[list[fmpq]]:
    """The mixture that each token attends to, whatever the head; one unknown vector for all that see the same.

    It is known, the mean, where the query is 0 and nothing is added to scores, or where all that is seen is the same.
    """
    asks_nothing = not rules.biases and not rules.bias
    is_known = []
    kinds = []
    for rule in asked:
        X = rules.tokens(rule)
        own = rules.sequences[rule.sequence][rule.token]
        no_query = asks_nothing and not own.any()
        is_known.append(no_query or bool((X[0] == X).all()))
        places = np.column_stack([X, rules.added(rule)]).tolist()
        kinds.append((tuple(own.tolist()), tuple(sorted(map(tuple, places)))))
    unknown = sorted(
        {kind for kind, known in zip(kinds, is_known, strict=True) if not known}
    )

    columns = []
    for rule, kind, known in zip(asked, kinds, is_known, strict=True):
        X = rules.tokens(rule)
        column = [fmpq(0)] * X.shape[1]
        if known:
            column = [sum(map(exact, x), fmpq(0)) / len(X) for x in X.T.tolist()]
        column.append(fmpq(int(rules.biases and known)))
        column += [fmpq(int(kind == other and not known)) for other in unknown]
        columns.append(column)
    return columns


def _count_equations(rules: Rules, asked: Sequence[Rule]) -> int:
    tokens = np.vstack([rules.tokens(rule) for rule in asked])
    queries = np.vstack([_query(rules, rule) for rule in asked])
    products = np.linalg.matrix_rank(tokens) * np.linalg.matrix_rank(queries)
    return int(products) + len(asked) + 1


def _query(rules: Rules, rule: Rule) -> Float[np.ndarray, " D"]:
    """What the rule's token asks with."""
    return rules.asking(rules.sequences[rule.sequence][rule.token])


def _written(x: fmpq) -> str:
    return f"{'-' if x < 0 else ''}{hex(abs(int(x.p)))}/{hex(int(x.q))}"

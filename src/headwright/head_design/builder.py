"""Build heads from rules: plan, solve, round, certify, check. What the checker does not verify is undecided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from numpy.linalg import LinAlgError
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from headwright.certificates.exact.verify import verify
from headwright.errors import InputError
from headwright.extras import require
from headwright.head_design.assignment import divide_sum_outputs
from headwright.head_design.certify import DimensionBound, NormBound, certificate
from headwright.head_design.dimension import dimension_bound
from headwright.head_design.exact_bounds import (
    check_against_run,
    frobenius_above,
    nuclear_above,
    proven_facts,
)
from headwright.head_design.head import DTYPES, Head, HeadLayer
from headwright.head_design.head_design import (
    UnroundedHead,
    design_head,
    lower_bound,
    too_many_unknowns,
)
from headwright.head_design.heads_result import HeadsResult
from headwright.head_design.impossible import prove_impossible
from headwright.head_design.rules import Rule, Rules
from headwright.head_design.smallest_matrix import LARGEST
from headwright.numerics.enclosure import float_below

MINIMISE = {"size": "frobenius", "rank": "nuclear"}
# The part of what rules leave open that is given away, until rounding does no harm.
ROOMS = {
    "float64": (1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 0.5),
    "float32": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
    "bfloat16": (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8),
}
# Of a bound, until the checker takes it.
SHRINKS = (
    "1e-11",
    "1e-9",
    "1e-7",
    "1e-5",
    "1e-3",
    "0.1",
)
HAIR = 2.0**-50


def build(
    rules: Rules,
    *,
    minimise: str = "size",
    head_dim: int | None = None,
    dtype: str = "float64",
    progress: Callable[[float], None] | None = None,
) -> HeadsResult:
    """Weights that keep the rules, of the smallest size or the smallest head dimension that was found; verified.

    >>> from headwright.head_design.rules_file import parse_rules
    >>> rules = parse_rules('''
    ... directions = { a = 2.0, b = 2.0, c = 2.0, d = 2.0 }
    ... tokens = ["d + b", "a", "c + b"]
    ... rule = [{ token = 0, output = "b - c" }, { token = 1, output = "b" }]
    ... ''')
    >>> found = build(rules)
    >>> found.word, found.assignment
    ('designed', ('token 0 attends to token 0', 'token 1 attends to token 2'))
    """
    require("design", "heads")
    _check_asked(rules, minimise, head_dim, dtype)
    # Matrices are small here, and threads would wait for each other.
    with threadpool_limits(1, "blas"):
        return _build(rules, minimise, head_dim, dtype, progress or (lambda _: None))


def _build(
    rules: Rules,
    minimise: str,
    head_dim: int | None,
    dtype: str,
    report: Callable[[float], None],
) -> HeadsResult:
    shared = divide_sum_outputs(rules)
    if shared is None:
        proved = _proved_none(rules, range(rules.heads), minimise)
        if proved is not None:
            return proved
        why = (
            "no W_V side by side make what the sum of heads should output of what these attend to: expected other "
            "targets, or larger tolerances"
        )
        return HeadsResult(rules, "undecided", why, minimise=minimise)
    heads: list[UnroundedHead] = []
    for number in range(rules.heads):
        of_head = tuple(rule for rule in shared.rules if rule.head == number)
        designed = _designed(shared, of_head, minimise, head_dim, dtype)
        if designed is None:
            return _without(rules, number, minimise, head_dim, dtype)
        heads.append(designed)
        report(0.6 * (number + 1) / rules.heads)
    return _deployed(rules, heads, minimise, head_dim, dtype, report)


def _designed(
    rules: Rules,
    of_head: tuple[Rule, ...],
    minimise: str,
    head_dim: int | None,
    dtype: str,
) -> UnroundedHead | None:
    """A head for these rules; None where none was found, or where the numbers get too large or too small for it."""
    try:
        return design_head(rules, of_head, minimise, head_dim, dtype, ROOMS[dtype][0])
    except LinAlgError:
        return None


def _deployed(
    rules: Rules,
    heads: list[UnroundedHead],
    minimise: str,
    head_dim: int | None,
    dtype: str,
    report: Callable[[float], None],
) -> HeadsResult:
    """Rounded and verified; with more and more room where rounding does harm, and only then with more rows."""
    limits: list[int | None] = [head_dim]
    if minimise == "rank" and head_dim is None:
        limits = [max(designed.rank for designed in heads), None]
    needs_rows = minimise == "rank" or head_dim is not None
    tries = [(limit, room) for limit in limits for room in ROOMS[dtype]]
    for number, (limit, room) in enumerate(tries):
        report(0.6 + 0.4 * number / len(tries))
        rounded = _rounded(heads, room, dtype, limit)
        if rounded is None:
            continue
        with_room, layer_heads = rounded
        layer = HeadLayer(layer_heads, rules.causal, dtype, rules.mask, rules.bias)
        claims = _claims(rules, with_room)
        rows = _rows(rules, claims) if needs_rows else []
        bounds = _bounds(with_room, minimise)
        proof = _verified(rules, claims, layer, bounds, rows)
        if proof is not None:
            report(1.0)
            return _result(rules, with_room, layer, claims, minimise, proof)
    why = f"weights were found, but none in numbers of type {dtype} that the checker agrees keep the rules"
    return HeadsResult(rules, "undecided", why, minimise=minimise)


def _rounded(
    heads: list[UnroundedHead], room: float, dtype: str, limit: int | None
) -> tuple[list[UnroundedHead], tuple[Head, ...]] | None:
    """All heads with so much room, and their weights in numbers of the type; None where one of them has none."""
    with_room = []
    layer_heads = []
    for designed in heads:
        roomier = designed.with_room(room)
        head = None if roomier is None else roomier.deployed(dtype, limit)
        if roomier is None or head is None:
            return None
        with_room.append(roomier)
        layer_heads.append(head)
    return with_room, tuple(layer_heads)


def _claims(rules: Rules, heads: list[UnroundedHead]) -> tuple[Rule, ...]:
    """The rules with all floors that are relied on; what a head was given to output as its share is not claimed."""
    asked = {rule.place: rule for rule in rules.rules}
    claims = []
    for head in heads:
        for claim in head.claims:
            rule = asked[claim.place]
            claims.append(replace(claim, output=rule.output, tolerance=rule.tolerance))
    of_sums = [rule for rule in rules.rules if rule.head is None]
    return (*claims, *of_sums)


@dataclass(frozen=True)
class LayerProof:
    """What the checker says of a layer, with the bounds that it took."""

    words: str
    certificate: str
    bounds: list[NormBound]
    rows: list[DimensionBound]


def _result(
    rules: Rules,
    heads: list[UnroundedHead],
    layer: HeadLayer,
    claims: tuple[Rule, ...],
    minimise: str,
    proof: LayerProof,
) -> HeadsResult:
    facts = proven_facts(rules, claims, layer)
    check_against_run(rules, claims, layer, facts)
    frobenius = [frobenius_above(head) for head in layer.heads]
    nuclear = [nuclear_above(head) for head in layer.heads]
    least = [float_below(bound.least) for bound in proof.bounds]
    lower_bound = math.hypot(*least) if minimise == "size" else math.fsum(least)
    if len(least) > 1:
        lower_bound *= 1 - HAIR
    assignment: list[str] = []
    for head in heads:
        assignment += head.assignment
    return HeadsResult(
        rules=rules,
        word="designed",
        words=proof.words,
        layer=layer,
        certificate=proof.certificate,
        minimise=minimise,
        head_dim=max(head.head_dim for head in layer.heads),
        head_dim_lower_bound=max((bound.least for bound in proof.rows), default=1),
        frobenius=_above(math.hypot(*frobenius), frobenius),
        nuclear=_above(math.fsum(nuclear), nuclear),
        lower_bound=lower_bound,
        outputs=tuple(of_claim.error for of_claim in facts),
        patterns=tuple(of_claim.least for of_claim in facts),
        claims=claims,
        assignment=tuple(assignment),
    )


def _above(together: float, of_heads: list[float]) -> float:
    """A sum or a root of several numbers, rounded up; a single number is itself."""
    return of_heads[0] if len(of_heads) == 1 else together * (1 + HAIR)


def _bounds(heads: list[UnroundedHead], minimise: str) -> list[NormBound]:
    """A lower bound on the norm of each head, where one is found."""
    bounds = []
    first = 0
    for number, head in enumerate(heads):
        places = range(first, first + len(head.plans))
        first += len(head.plans)
        norm = MINIMISE[minimise]
        bound = lower_bound(head.space, head.plans, places, number, norm)
        if bound is not None:
            bounds.append(bound)
    return bounds


def _rows(rules: Rules, claims: tuple[Rule, ...]) -> list[DimensionBound]:
    """What is known of the dimension of each head, where it is more than 1."""
    bounds = [dimension_bound(rules, claims, head) for head in range(rules.heads)]
    return [bound for bound in bounds if bound is not None]


def _verified(
    rules: Rules,
    claims: tuple[Rule, ...],
    layer: HeadLayer,
    bounds: list[NormBound],
    rows: list[DimensionBound],
) -> LayerProof | None:
    """With all bounds slightly lower; or each as high as the checker takes it, or left out; None if nothing helps."""

    def accepted(some: list[NormBound]) -> LayerProof | None:
        text = certificate(rules, claims, layer, [*some, *rows])
        verdict = verify(text)
        if verdict.word != "verified":
            return None
        return LayerProof(verdict.words, text, some, rows)

    proof = accepted([_lowered(bound, SHRINKS[0]) for bound in bounds])
    if proof is not None or not bounds or accepted([]) is None:
        return proof
    taken = []
    for bound in bounds:
        for shrink in SHRINKS:
            lowered = _lowered(bound, shrink)
            if accepted([lowered]) is not None:
                taken.append(lowered)
                break
    return accepted(taken)


def _lowered(bound: NormBound, shrink: str) -> NormBound:
    """The bound less a part of it, as a decimal of 15 digits."""
    least = float(bound.least * (1 - Fraction(shrink)))
    return replace(bound, least=Fraction(f"{least:.15g}"))


def _without(
    rules: Rules, head: int, minimise: str, head_dim: int | None, dtype: str
) -> HeadsResult:
    """No head was found: perhaps no head keeps the rules at all."""
    proved = _proved_none(rules, [head], minimise)
    if proved is not None:
        return proved
    if head_dim is not None:
        larger = _only_larger(rules, head_dim, dtype)
        if larger is not None:
            return larger
    of_head = tuple(rule for rule in rules.rules if rule.head == head)
    why = f"neither a head for the rules of head {head} nor a proof that there is none was found"
    if minimise == "size" and too_many_unknowns(rules, of_head, dtype):
        tokens = sum(map(len, rules.sequences))
        why += (
            f": more than {LARGEST} unknowns ({tokens} tokens in {rules.dimension} dimensions): not tried; "
            "--minimise rank (in Python, minimise='rank') has no such limit"
        )
    elif head_dim is not None and _designed(rules, of_head, "size", None, dtype):
        why += f"; there is one of a larger dimension than {head_dim}"
    elif dtype != "float64" and _designed(
        rules, of_head, minimise, head_dim, "float64"
    ):
        why += f"; there is one in float64, so the tolerances are too tight for values in {dtype}"
    return HeadsResult(rules, "undecided", why, minimise=minimise)


def _only_larger(rules: Rules, head_dim: int, dtype: str) -> HeadsResult | None:
    """There are heads, but the weights that the rules themselves ask for are beyond any of this dimension."""
    rows = [bound for bound in _rows(rules, rules.rules) if bound.least > head_dim]
    if not rows:
        return None
    larger = _build(rules, "rank", None, dtype, lambda _: None)
    if larger.layer is None:
        return None
    proof = _verified(rules, rules.rules, larger.layer, [], rows)
    if proof is None:
        return None
    words = f"there is no head of dimension {head_dim}, and there is one of dimension {larger.head_dim}. {proof.words}"
    return HeadsResult(
        rules, "impossible", words, certificate=proof.certificate, minimise="rank"
    )


def _proved_none(
    rules: Rules, heads: Iterable[int], minimise: str
) -> HeadsResult | None:
    """What no head keeps, with the proof; None where none was found for any of these."""
    for head in heads:
        of_head = [rule for rule in rules.rules if rule.head == head]
        proof = prove_impossible(rules, of_head)
        if proof is not None:
            words, text = proof
            return HeadsResult(
                rules, "impossible", words, certificate=text, minimise=minimise
            )
    return None


def _check_asked(rules: Rules, minimise: str, head_dim: int | None, dtype: str) -> None:
    if not isinstance(rules, Rules):
        raise InputError(
            f"the rules are {rules!r}: expected such as read_rules(path) gives"
        )
    if minimise not in MINIMISE:
        raise InputError(
            f"minimise is {minimise!r}: expected one of {', '.join(MINIMISE)}",
            field="minimise",
        )
    if head_dim is not None and head_dim < 1:
        raise InputError(f"head_dim is {head_dim}: expected at least 1")
    if dtype not in DTYPES:
        raise InputError(
            f"dtype is {dtype!r}: expected one of {', '.join(DTYPES)}", field="dtype"
        )

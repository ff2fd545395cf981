"""Build heads from rules: plan, solve, round, certify, check. What the checker does not verify is undecided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from headwright.certificates.checkers import in_words
from headwright.certificates.exact.verify import verify
from headwright.errors import InputError, typed_errors
from headwright.extras import install_line, is_installed, require
from headwright.head_design.assignment import divide_sum_outputs
from headwright.head_design.certify import DimensionBound, NormBound, certificate
from headwright.head_design.dimension import dimension_bound
from headwright.head_design.exact_bounds import (
    check_against_run,
    frobenius_above,
    nuclear_above,
    proven_facts,
)
from headwright.head_design.head import DTYPES, HeadLayer
from headwright.head_design.head_design import (
    UnroundedHead,
    design_head,
    lower_bound,
    too_many_unknowns,
)
from headwright.head_design.impossible import prove_impossible
from headwright.head_design.rules import Rule, Rules
from headwright.head_design.smallest_matrix import LARGEST
from headwright.notebook import card, lines
from headwright.numerics.enclosure import float_below, shown_above

if TYPE_CHECKING:
    from headwright.pictures import Chart

MINIMISE = {"size": "frobenius", "rank": "nuclear"}
ROOMS = {
    "float64": (1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 0.5),
    "float32": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
    "bfloat16": (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8),
}  # the part of what rules leave open that is given away, until rounding does no harm
SHRINKS = (
    "1e-11",
    "1e-9",
    "1e-7",
    "1e-5",
    "1e-3",
    "0.1",
)  # of a bound, until the checker takes it
HAIR = 2.0**-50
COARSE = (
    "The certificate is about these bfloat16 weights in exact arithmetic. Sums that are themselves rounded to bfloat16 "
    "may miss tight tolerances; exports run these weights in float32."
)


@dataclass(frozen=True, eq=False)
class HeadsResult:
    """What `build` found. All numbers are proven by the certificate or in exact arithmetic.

    With several heads, frobenius^2 is the sum of their squares, nuclear and head_dim the sum and the largest.

    >>> from headwright.head_design.rules_file import parse_rules
    >>> found = build(parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\\n[[rule]]\\ntoken = 0\\ncopy = 1"))
    >>> found.word, found.head_dim, found.frobenius / found.lower_bound - 1 < 1e-9
    ('designed', 1, True)
    """

    rules: Rules
    word: str  # "designed", "impossible" or "undecided"
    words: str  # what was proved, or why nothing was
    layer: HeadLayer | None = (
        None  # the weights as they are deployed; None unless designed
    )
    certificate: str | None = None  # JSON, as the checker accepted it
    minimise: str = "size"
    head_dim: int = 0
    head_dim_lower_bound: int = 1  # no smaller head gives the claimed weights; looked for where the dimension matters
    frobenius: float = math.inf  # |W_K^T W_Q|_F, rounded up
    nuclear: float = (
        math.inf
    )  # (|W_Q|_F^2 + |W_K|_F^2) / 2, rounded up: at least the nuclear norm of W_K^T W_Q
    lower_bound: float = 0.0  # for the norm that is minimised: none smaller gives the claimed weights; 0 if not proven
    outputs: tuple[
        float, ...
    ] = ()  # for each claim, how far its output is from what is wanted at most; 0 if no output
    patterns: tuple[
        dict[int, float], ...
    ] = ()  # for each claim, what each target gets at least
    claims: tuple[Rule, ...] = ()  # the rules, with all floors that are claimed
    assignment: tuple[str, ...] = ()  # who attends to whom, in words

    @property
    def checkers(self) -> tuple[str, ...]:
        """Who verified the certificate: the exact checker, which is the one that whole heads have."""
        return () if self.certificate is None else ("exact",)

    def to_json(
        self, certificate: str | None = None, exported: Sequence[str] = ()
    ) -> dict[str, Any]:
        """All of it in JSON's own types; the caller says where the certificate and the exports are."""
        designed = self.layer is not None
        return {
            "verdict": self.word,
            "head_dim": self.head_dim if designed else None,
            "head_dim_lower_bound": self.head_dim_lower_bound if designed else None,
            "frobenius": self.frobenius if designed else None,
            "nuclear": self.nuclear if designed else None,
            "minimised": self.minimise,
            "lower_bound": self.lower_bound if designed else None,
            "outputs": [
                {
                    "sequence": rule.sequence,
                    "token": rule.token,
                    "head": rule.head,
                    "error": error,
                }
                for rule, error in zip(self.claims, self.outputs, strict=True)
                if rule.output is not None
            ],
            "patterns": [
                {
                    "sequence": rule.sequence,
                    "token": rule.token,
                    "head": rule.head,
                    "least": {str(key): least for key, least in pattern.items()},
                }
                for rule, pattern in zip(self.claims, self.patterns, strict=True)
            ],
            "assignment": list(self.assignment),
            "dtype": self.layer.dtype if self.layer else None,
            "heads": self.layer.to_json() if self.layer else [],
            "checkers": list(self.checkers),
            "certificate": certificate,
            "exported": list(exported),
            "note": COARSE if self.layer and self.layer.dtype == "bfloat16" else None,
            "words": self.words,
            "kinds": {
                "frobenius": "proven",
                "nuclear": "proven",
                "lower_bound": "proven",
                "outputs": "proven",
                "patterns": "proven",
                "heads": "exact",
            },
        }

    @property
    def _facts(self) -> list[tuple[str, str]]:
        facts = (
            []
            if self.certificate is None
            else [("certificate", f"verified by the {in_words(self.checkers)}")]
        )
        if self.layer is not None:
            facts += [
                ("head dimension", str(self.head_dim)),
                ("norm of W_K^T W_Q, at most", shown_above(self.frobenius, 4)),
            ]
            if any(rule.output is not None for rule in self.claims):
                facts.append(
                    ("errors of outputs, at most", shown_above(max(self.outputs), 4))
                )
        return facts

    def __repr__(self) -> str:
        """The verdict and the sizes in a few lines, never the weights."""
        return lines(self.word, self.words, self._facts)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card, with the picture of the first head."""
        if self.layer is None:
            return card(
                self.word, self.words, self._facts, certificate=self.certificate
            )
        if not is_installed("plots"):
            facts = [*self._facts, ("picture", install_line("plots"))]
            return card(self.word, self.words, facts, certificate=self.certificate)
        from headwright.pictures import render, told

        chart = self.picture()
        return card(
            self.word,
            self.words,
            self._facts,
            render(chart, ".svg"),
            told(chart),
            self.certificate,
        )

    def picture(self, head: int = 0, sequence: int = 0) -> Chart:
        """One head as a chart: its pattern for one sequence, and its queries and keys."""
        from headwright.head_design.picture import picture

        if self.layer is None:
            raise InputError(
                f"there is no head to draw, since the verdict is {self.word}: {self.words}"
            )
        norm = f"norm of W_K^T W_Q at most {shown_above(frobenius_above(self.layer.heads[head]), 3)}"
        errors = [
            e
            for rule, e in zip(self.claims, self.outputs, strict=True)
            if rule.output and rule.head == head
        ]
        worst = (
            f"; outputs proven to be within {shown_above(max(errors), 3)}"
            if errors
            else ""
        )
        X = self.rules.sequences[sequence]
        bound = {
            rule.token
            for rule in self.claims
            if rule.sequence == sequence and rule.head in (head, None)
        }
        free = set(range(len(X))) - bound
        return picture(
            self.layer, X, head, self.rules.labels(sequence), norm + worst, free
        )


@typed_errors
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
    with threadpool_limits(
        1, "blas"
    ):  # matrices are small here, and threads would wait for each other
        return _build(rules, minimise, head_dim, dtype, progress or (lambda _: None))


def _build(
    rules: Rules,
    minimise: str,
    head_dim: int | None,
    dtype: str,
    report: Callable[[float], None],
) -> HeadsResult:
    heads: list[UnroundedHead] = []
    shared = divide_sum_outputs(rules)
    if shared is None:
        why = (
            "no W_V side by side make what the sum of heads should output of what these attend to: expected other "
            "targets, or larger tolerances"
        )
        return _proved_none(rules, range(rules.heads), minimise) or HeadsResult(
            rules, "undecided", why, minimise=minimise
        )
    for number in range(rules.heads):
        mine = tuple(rule for rule in shared.rules if rule.head == number)
        designed = _designed(shared, mine, minimise, head_dim, dtype)
        if designed is None:
            return _without(rules, number, minimise, head_dim, dtype)
        heads.append(designed)
        report(0.6 * (number + 1) / rules.heads)
    return _deployed(rules, heads, minimise, head_dim, dtype, report)


def _designed(
    rules: Rules,
    mine: tuple[Rule, ...],
    minimise: str,
    head_dim: int | None,
    dtype: str,
) -> UnroundedHead | None:
    """A head for these rules; None where none was found, or where the numbers get too large or too small for it."""
    try:
        return design_head(rules, mine, minimise, head_dim, dtype, ROOMS[dtype][0])
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
    limits = (
        [max(designed.rank for designed in heads), None]
        if minimise == "rank" and head_dim is None
        else [head_dim]
    )
    tries = [(limit, room) for limit in limits for room in ROOMS[dtype]]
    for tried, (limit, room) in enumerate(tries):
        report(0.6 + 0.4 * tried / len(tries))
        again = [designed.with_room(room) for designed in heads]
        ready = [designed for designed in again if designed is not None]
        done = [designed.deployed(dtype, limit) for designed in ready]
        layer_heads = tuple(head for head in done if head is not None)
        if len(layer_heads) < len(heads):
            continue
        layer = HeadLayer(layer_heads, rules.causal, dtype, rules.mask, rules.bias)
        claims = _claims(rules, ready)
        rows = (
            _rows(rules, claims) if minimise == "rank" or head_dim is not None else []
        )
        verified = _verified(rules, claims, layer, _bounds(ready, minimise), rows)
        if verified is not None:
            report(1.0)
            return _built(rules, ready, layer, claims, minimise, *verified)
    why = f"weights were found, but none in numbers of type {dtype} that the checker agrees keep the rules"
    return HeadsResult(rules, "undecided", why, minimise=minimise)


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


def _built(
    rules: Rules,
    heads: list[UnroundedHead],
    layer: HeadLayer,
    claims: tuple[Rule, ...],
    minimise: str,
    words: str,
    text: str,
    taken: list[NormBound],
    rows: list[DimensionBound],
) -> HeadsResult:
    facts = proven_facts(rules, claims, layer)
    check_against_run(rules, claims, layer, facts)
    frobenius = [frobenius_above(head) for head in layer.heads]
    nuclear = [nuclear_above(head) for head in layer.heads]
    least = [float_below(bound.least) for bound in taken]
    together = math.hypot(*least) if minimise == "size" else math.fsum(least)
    return HeadsResult(
        rules,
        "designed",
        words,
        layer,
        text,
        minimise,
        head_dim=max(head.head_dim for head in layer.heads),
        head_dim_lower_bound=max((bound.least for bound in rows), default=1),
        frobenius=frobenius[0]
        if len(frobenius) == 1
        else math.hypot(*frobenius) * (1 + HAIR),
        nuclear=nuclear[0] if len(nuclear) == 1 else math.fsum(nuclear) * (1 + HAIR),
        lower_bound=together if len(least) <= 1 else together * (1 - HAIR),
        outputs=tuple(error for error, _ in facts),
        patterns=tuple(pattern for _, pattern in facts),
        claims=claims,
        assignment=tuple(words for designed in heads for words in designed.assignment),
    )


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
) -> tuple[str, str, list[NormBound], list[DimensionBound]] | None:
    """Words and certificate, with all bounds slightly lower, or each as high as the checker takes it, or none."""

    def accepted(
        some: list[NormBound],
    ) -> tuple[str, str, list[NormBound], list[DimensionBound]] | None:
        text = certificate(rules, claims, layer, [*some, *rows])
        verdict = verify(text)
        return (verdict.words, text, some, rows) if verdict.word == "verified" else None

    def lowered(bound: NormBound, by: str) -> NormBound:
        return replace(
            bound, least=Fraction(f"{float(bound.least * (1 - Fraction(by))):.15g}")
        )

    whole = accepted([lowered(bound, SHRINKS[0]) for bound in bounds])
    if whole is not None or not bounds or accepted([]) is None:
        return whole
    tries = [
        next((b for by in SHRINKS if accepted([b := lowered(bound, by)])), None)
        for bound in bounds
    ]
    return accepted([bound for bound in tries if bound is not None])


def _without(
    rules: Rules, head: int, minimise: str, head_dim: int | None, dtype: str
) -> HeadsResult:
    """No head was found: perhaps no head keeps the rules at all."""
    proved = _proved_none(rules, [head], minimise)
    if proved is not None:
        return proved
    mine = tuple(rule for rule in rules.rules if rule.head == head)
    if (
        head_dim is not None
        and (larger := _only_larger(rules, head_dim, dtype)) is not None
    ):
        return larger
    why = f"neither a head for the rules of head {head} nor a proof that there is none was found"
    if minimise == "size" and too_many_unknowns(rules, mine, dtype):
        tokens = sum(map(len, rules.sequences))
        why += (
            f": more than {LARGEST} unknowns ({tokens} tokens in {rules.dimension} dimensions): not tried; "
            "--minimise rank (in Python, minimise='rank') has no such limit"
        )
        return HeadsResult(rules, "undecided", why, minimise=minimise)
    if head_dim is not None and _designed(rules, mine, "size", None, dtype) is not None:
        why += f"; there is one of a larger dimension than {head_dim}"
    elif (
        dtype != "float64"
        and _designed(rules, mine, minimise, head_dim, "float64") is not None
    ):
        why += f"; there is one in float64, so the tolerances are too tight for values in {dtype}"
    return HeadsResult(rules, "undecided", why, minimise=minimise)


def _only_larger(rules: Rules, head_dim: int, dtype: str) -> HeadsResult | None:
    """There are heads, but the weights that the rules themselves ask for are beyond any of this dimension."""
    rows = [bound for bound in _rows(rules, rules.rules) if bound.least > head_dim]
    found = _build(rules, "rank", None, dtype, lambda _: None) if rows else None
    if found is None or found.layer is None:
        return None
    verified = _verified(rules, rules.rules, found.layer, [], rows)
    if verified is None:
        return None
    words = f"there is no head of dimension {head_dim}, and there is one of dimension {found.head_dim}. {verified[0]}"
    return HeadsResult(
        rules, "impossible", words, certificate=verified[1], minimise="rank"
    )


def _proved_none(
    rules: Rules, heads: Iterable[int], minimise: str
) -> HeadsResult | None:
    """What no head keeps, with the proof; None where none was found for any of these."""
    for head in heads:
        proof = prove_impossible(
            rules, [rule for rule in rules.rules if rule.head == head]
        )
        if proof is not None:
            return HeadsResult(
                rules, "impossible", proof[0], certificate=proof[1], minimise=minimise
            )
    return None


def _check_asked(rules: Rules, minimise: str, head_dim: int | None, dtype: str) -> None:
    if not isinstance(rules, Rules):
        raise InputError(
            f"the rules are {rules!r}: expected such as read_rules(path) gives"
        )
    if minimise not in MINIMISE:
        raise InputError(
            f"minimise is {minimise!r}: expected one of {', '.join(MINIMISE)}"
        )
    if head_dim is not None and head_dim < 1:
        raise InputError(f"head_dim is {head_dim}: expected at least 1")
    if dtype not in DTYPES:
        raise InputError(f"dtype is {dtype!r}: expected one of {', '.join(DTYPES)}")

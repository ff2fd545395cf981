"""The seam: a `Claim` goes to a `Prover` and comes back as an `Outcome`; the worst word is that of the verdict.

Statements are taken apart into claims here (`claims`), and what was decided is put into the words that a person reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from flint import arb

from headwright.formulas import tree as t
from headwright.grading.answer import MisfitError, Said, comparisons
from headwright.grading.decision import Decision
from headwright.grading.scalars.numbers import shown_name

Role = Literal["goal", "statement", "step", "condition", "definition"]
Found = Literal["proved", "refuted", "holds", "undecided"]  # what a decision says


@dataclass(frozen=True)
class Claim:
    """One comparison; or a statement that nothing takes apart, where a setting decides such as a whole.

    `under` is what it is said for: 'for all i != a', 'if g > 1'. A negated claim denies the comparison.
    """

    node: t.Node
    role: Role
    said: Said | None = None  # None: a goal of the exercise
    under: tuple[t.Node, ...] = ()
    negated: bool = False

    @property
    def link(self) -> t.Relation:
        """The comparison, for showing: a whole statement stands alone in it."""
        return (
            self.node
            if isinstance(self.node, t.Relation)
            else t.Relation((self.node,), (), span=self.node.span)
        )

    @property
    def scope(self) -> t.Node:
        """All of the statement that it is part of."""
        return self.node if self.said is None else self.said.node


def claims(
    node: t.Node,
    role: Role,
    said: Said | None = None,
    *,
    whole: bool = False,
    under: tuple[t.Node, ...] = (),
    negated: bool = False,
) -> Iterator[Claim]:
    """The claims of a statement, in order; with `whole` only chains are taken apart."""
    match node:
        case t.Relation():
            role = "step" if role == "statement" and len(node.terms) > 2 else role
            yield from (
                Claim(link, role, said, under, negated) for link in comparisons(node)
            )
        case _ if whole:
            yield Claim(node, role, said, under, negated)
        case t.Logic("and", items) if not negated:
            for item in items:
                yield from claims(item, role, said, under=under)
        case t.Logic("implies", (condition, conclusion)) if not negated:
            yield from claims(conclusion, role, said, under=(*under, condition))
        case t.Logic("not", (t.Relation((_, _), ("~" | "->",)) as near,)):
            yield from claims(near, role, said, under=under, negated=not negated)
        case t.Logic("not", (t.Relation((_, _), (sign,)) as denied,)) if (
            sign in t.FLIPPED and not negated
        ):
            yield from claims(t.flipped(denied), role, said, under=under)
        case t.Quantified(body, conditions):
            yield from claims(
                body, role, said, under=(*under, *conditions), negated=negated
            )
        case t.Exists() | t.Bond():
            raise MisfitError(
                "this is read, and nothing is known of such statements in this exercise",
                node,
            )
        case _:
            raise MisfitError(
                "this is not a statement",
                node,
                fix="write a comparison: ... = ..., ... \\ge ...",
            )


DIGITS, MOST_DIGITS = 4, 12  # of a number that is written out
MOST_BITS = 13_000
LOG_2 = 0.30103
SIGNS = {
    "=": "equal to",
    "!=": "different from",
    "<": "less than",
    ">": "more than",
    "<=": "at most",
    ">=": "at least",
    "~": "close to",
    "->": "close to",
}


class Prover(Protocol):
    """A kind of exercise under one answer: it decides one claim at a time."""

    @property
    def claims(self) -> tuple[Said, ...]:
        """What is left to judge."""

    @property
    def conditions(self) -> tuple[Outcome, ...]:
        """Doubts about what the answer says of its own names."""

    def decide(self, claim: Claim) -> list[Outcome]:
        """What is found about a claim: one part for each case of it."""


@dataclass(frozen=True)
class Outcome:
    """What was found of a claim, and why, in words."""

    claim: Claim
    decision: Decision
    link: t.Relation  # the comparison that was decided, in one of several cases
    reason: str
    counterexample: Mapping[str, Any] | None = None
    replayed: int = 0  # explicit instances that agree

    @property
    def word(self) -> Found:
        """What was found."""
        return self.decision.word

    @property
    def role(self) -> Role:
        """What the claim is in the answer."""
        return self.claim.role

    @property
    def used(self) -> str:
        """What proved it."""
        return self.decision.used


def proved(found: Collection[Outcome]) -> bool:
    """Whether something was found, and all of it is proved."""
    return bool(found) and all(one.word == "proved" for one in found)


def refuted(found: Iterable[Outcome]) -> bool:
    """Whether some of it is refuted."""
    return any(one.word == "refuted" for one in found)


def judged(
    claim: Claim, decision: Decision, words: str, link: t.Relation | None = None
) -> Outcome:
    """A decided comparison as a part of a verdict; `link`: where it was decided for one of several cases."""
    counterexample: dict[str, Any] | None = None
    if decision.word == "refuted":
        counterexample = {
            shown_name(name): plain_number(value)
            for name, value in decision.values.items()
        }
        if decision.left is not None and decision.right is not None:
            digits = min(MOST_DIGITS, telling_digits(decision.left, decision.right))
            counterexample |= {
                "left": shown(decision.left, digits),
                "right": shown(decision.right, digits),
            }
        if not counterexample:
            counterexample = {"words": words}
    decided = claim.link if link is None else link
    return Outcome(claim, decision, decided, words, counterexample)


def plain_number(value: Fraction) -> int | str:
    """A number for people and JSON: 3, '1/10', '10^-44'."""
    power = _long_power_of_ten(value)
    if power is not None:
        return f"10^{power}"
    below = _long_power_of_ten(1 / value) if value > 0 else None
    if below is not None:
        return f"10^-{below}"
    bits = value.numerator.bit_length()
    digits = round(bits * LOG_2)
    if bits > MOST_BITS:
        return f"about 10^{digits}"
    return value.numerator if value.denominator == 1 else str(value)


def _long_power_of_ten(value: Fraction) -> int | None:
    """The exponent of a power of ten with more digits than are written out."""
    # Python does not write out very long numbers, so digits are counted by bits.
    digits = round(value.numerator.bit_length() * LOG_2)
    if digits <= MOST_DIGITS:
        return None
    return next((p for p in (digits - 1, digits) if value == 10**p), None)


def shown(ball: arb, digits: int = DIGITS) -> str:
    """A ball as the digits that are certain."""
    text: str = ball.str(digits, radius=False)
    return text if "." not in text or "e" in text else text.rstrip("0").rstrip(".")


def telling_digits(left: arb, right: arb) -> int:
    """How many digits show that two numbers differ; the usual ones where none do."""
    if left.overlaps(right) or shown(left) != shown(right):
        return DIGITS
    return next(
        (
            d + 1
            for d in range(DIGITS + 1, MOST_DIGITS)
            if shown(left, d) != shown(right, d)
        ),
        MOST_DIGITS + 1,
    )


def contrasted(left: arb, sign: str, right: arb) -> str:
    """What a side is, and what it is not, with as many digits as show that."""
    digits = telling_digits(left, right)
    is_hair = shown(left) == shown(right) and left.overlaps(right)
    is_hair &= not (left.is_exact() and right.is_exact())
    if digits <= MOST_DIGITS and not is_hair:
        return f"{shown(left, digits)}, not {SIGNS[sign]} {shown(right, digits)}"
    gap = shown(abs(left - right), 2)
    if is_hair:  # the enclosures of the two overlap
        gap = f"less than {shown(abs(left - right).upper(), 2)}"
    how = {
        "<": "too much",
        "<=": "too much",
        ">": "too little",
        ">=": "too little",
    }.get(sign, "beside it")
    return f"about {shown(right)}, {gap} {how}"


def at(values: Mapping[str, Fraction | str]) -> str:
    """'n = 3 and epsilon = 1/10'."""
    plainly = (
        (name, value if isinstance(value, str) else plain_number(value))
        for name, value in values.items()
    )
    said = [f"{shown_name(name)} = {value}" for name, value in plainly]
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 2 else said)


def decided_instead(outcome: Outcome, decision: Decision) -> Outcome:
    """The same claim with another decision, whose reason says all."""
    counterexample = {"words": decision.reason} if decision.word == "refuted" else None
    return Outcome(
        outcome.claim, decision, outcome.link, decision.reason, counterexample
    )


def undecided(outcome: Outcome, reason: str) -> Outcome:
    """The same claim, left open for a reason."""
    return decided_instead(outcome, Decision("undecided", reason))

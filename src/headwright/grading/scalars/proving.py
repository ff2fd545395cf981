"""prove(): comparisons of scalars, proved for all values of their names, with what is known of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from headwright.grading.scalars import assumptions, forms
from headwright.grading.scalars.functions import exp, factored, ln, power
from headwright.grading.scalars.numbers import POSITIVE, Symbol, TooBig
from headwright.grading.scalars.solver import cannot_fail


@dataclass(frozen=True)
class Cleared:
    """value compared with 0, which is the same as what was asked."""

    value: forms.Scalar
    comparison: assumptions.Comparison

    def __str__(self) -> str:
        """With as few minus signs as possible: what is negative goes to the other side."""
        left: forms.Terms = {}
        right: forms.Terms = {}
        for monomial, coefficient in self.value.over.items():
            side = left if coefficient > 0 else right
            side[monomial] = abs(coefficient)
        if left.keys() - {()} and right.keys() - {()} and () in left:
            right[()] = -left.pop(())
        if not left:
            return f"{forms.Scalar(right)} {assumptions.MIRRORED[self.comparison]} 0"
        return f"{forms.Scalar(left)} {self.comparison} {forms.Scalar(right)}"


def without_known_factors(
    value: forms.Scalar, comparison: assumptions.Comparison
) -> Cleared:
    """value compared with 0, without the factors that are certainly positive or negative."""
    if value == 0:
        return Cleared(value, comparison)
    coefficient, parts = factored(value)
    rest = forms.number(1)
    for part in parts:
        place = forms.interval(part.base)
        odd = part.exponent.denominator == 1 and part.exponent.numerator % 2 == 1
        if place.positive or (place.negative and not odd):
            continue
        if place.negative:
            coefficient = -coefficient
        else:
            rest = rest * power(part.base, part.exponent)
    if not rest.whole:
        return Cleared(value, comparison)
    if coefficient < 0:
        comparison = assumptions.MIRRORED[comparison]
    whole = without_denominators(rest)
    return Cleared(
        whole / forms.content(whole.over) if whole.over else whole, comparison
    )


def without_denominators(value: forms.Scalar) -> forms.Scalar:
    """Times such powers of positive atoms that no exponent of theirs is negative."""
    powers = {
        atom: -least
        for atom, least in forms.shared_powers(value.over).items()
        if least < 0 and not atom.folds and forms.interval_of_atom(atom).positive
    }
    return forms.folded(
        forms.terms_product(value.over, {forms.monomial_of(powers): Fraction(1)})
    )


def certainly(cleared: Cleared) -> bool:
    """Whether the ranges alone decide the comparison in the affirmative, term by term."""
    place = forms.interval_of_terms(cleared.value.over)
    return {
        ">": place.positive,
        ">=": place.low >= 0,
        "<": place.negative,
        "<=": place.high <= 0,
        "=": not cleared.value.over,
        "!=": place.positive or place.negative,
    }[cleared.comparison]


INSTANCES = 6  # at which a comparison is looked at before a proof is sought


def fails_somewhere(
    cleared: Cleared, hypotheses: Sequence[assumptions.Hypothesis]
) -> bool:
    """Whether the comparison certainly fails at one of a few plain instances that satisfy the hypotheses."""
    gaps = [(left - right, comparison) for left, comparison, right in hypotheses]
    atoms = dict.fromkeys(
        atom for value, _ in [(cleared.value, ""), *gaps] for atom in value.atoms()
    )
    if any(isinstance(atom, forms.Thing) for atom in atoms):
        return False
    numbers = {
        atom.name: assumptions.plain_numbers(atom.range)
        for atom in atoms
        if isinstance(atom, forms.Parameter)
    }
    if not all(numbers.values()):
        return False
    asked = [(cleared.value, assumptions.OPPOSITE[cleared.comparison]), *gaps]
    for instance in range(INSTANCES):
        values = {
            name: tried[(instance + place) % len(tried)]
            for place, (name, tried) in enumerate(sorted(numbers.items()))
        }
        balls = (
            (value.value(values, bits=64), comparison) for value, comparison in asked
        )
        if all(
            (-1 if x < 0 else 1 if x > 0 else 0 if x == 0 else None)
            in assumptions.SIGNS[sign]
            for x, sign in balls
        ):
            return True
    return False


ALGEBRA = "exact algebra"
SOLVER = "exact algebra and the solver z3"
SHORT = 90  # characters of an inequality that is shown


@dataclass(frozen=True)
class Proof:
    """That a comparison holds for all values in question: by what means, and what it comes to."""

    used: str
    left: forms.Scalar
    says: Cleared | None = None  # None: both sides are the same
    whole: bool = True  # there was nothing to clear it of

    @property
    def comes_to(self) -> str:
        """What the comparison comes down to, where that is short."""
        text = "" if self.says is None else str(self.says)
        return text if len(text) <= SHORT else ""

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        if self.says is None:
            text = str(self.left)
            return f"both sides are {text if len(text) <= SHORT else 'the same number'}"
        if not self.comes_to:
            return "cleared of denominators it is an inequality between sums that holds everywhere"
        cleared = "" if self.whole else "cleared of denominators "
        return f"{cleared}it says {self.comes_to}"


def prove(
    left: forms.Scalar | forms.Number,
    comparison: str,
    right: forms.Scalar | forms.Number,
    where: assumptions.Where = assumptions.ANYTHING,
    *,
    seconds: float = 2.0,
) -> Proof | None:
    """A proof that the comparison holds for all values of the names; None where none was found (it may hold or not)."""
    sign, given = assumptions.checked(comparison), where.all_hypotheses()
    left, right = where.settled(left), where.settled(right)
    try:
        if not all(
            _holds(Cleared(*need), given, seconds) for need in needs(left, right)
        ):
            return None
        difference = left - right
        if difference == 0:
            return Proof(ALGEBRA, left) if sign in ("=", "<=", ">=") else None
        over, under = forms.Scalar(difference.over), forms.Scalar(difference.under)
        if sign in ("=", "!=") or _holds(Cleared(under, ">"), given, seconds):
            asked = Cleared(over, sign)
        elif _holds(Cleared(under, "<"), given, seconds):
            asked = Cleared(over, assumptions.MIRRORED[sign])
        else:
            asked = Cleared(over * under, sign)  # it is not 0: that was among the needs
        used = _holds(asked, given, seconds)
    except TooBig:
        return None
    if used is None:
        return None
    says = without_known_factors(asked.value, asked.comparison)
    if says.value.rational is not None:  # everything but a number had a known sign
        says = Cleared(without_denominators(asked.value), asked.comparison)
    return Proof(used, left, says, difference.whole)


def _holds(
    asked: Cleared, hypotheses: Sequence[assumptions.Hypothesis], seconds: float
) -> str | None:
    """By what means it is proved of a number without denominator: z3 is not asked about what fails at an instance.

    It is told hypotheses between logarithms, and on exponents, also as what they say of the exponentials.
    """
    cleared = without_known_factors(asked.value, asked.comparison)
    if certainly(cleared):
        return ALGEBRA
    if fails_somewhere(cleared, hypotheses):
        return None
    facts = list(hypotheses)
    powers = [
        atom.power for atom in cleared.value.atoms() if isinstance(atom, forms.Exp)
    ]
    for left, sign, right in hypotheses:
        gap = left - right
        alone = [one[0] for one in gap.over if gap.whole and len(one) == 1]
        if any(
            isinstance(atom, forms.Function) and atom.kind == "ln" and by == 1
            for atom, by in alone
        ):
            facts.append((exp(left), sign, exp(right)))
        for monomial in powers:
            facts += _exponential(gap, sign, monomial)
    return (
        SOLVER
        if cannot_fail((cleared.value, cleared.comparison), facts, seconds)
        else None
    )


def _exponential(
    gap: forms.Scalar, comparison: assumptions.Comparison, monomial: forms.Monomial
) -> Iterator[assumptions.Hypothesis]:
    """From x >= y, of which gap >= 0 is a multiple, exp(w x) >= exp(w y): w x is a monomial, and w is positive."""
    for atom, exponent in monomial:
        name = atom.name if isinstance(atom, forms.Parameter) and exponent == 1 else ""
        place = forms.rebuilt(monomial) / forms.rebuilt(((atom, Fraction(1)),))
        if (
            name not in gap.names()
            or name in place.names()
            or not forms.interval(place).positive
        ):
            continue
        found = solved(gap, comparison, name)
        grown = None if found is None else exp(place * found[1])
        if (
            found is not None
            and grown is not None
            and not any(
                isinstance(one, forms.Exp) and one.power for one in grown.atoms()
            )
        ):
            yield exp(forms.rebuilt(monomial)), found[0], grown


def solved(
    gap: forms.Scalar,
    comparison: assumptions.Comparison,
    name: str,
    where: assumptions.Where = assumptions.ANYTHING,
) -> tuple[assumptions.Comparison, forms.Scalar] | None:
    """gap compared with 0, solved for a name that enters as itself; None where it does not."""
    found = linear(gap, name)
    if found is None or found[0] == 0:
        return None
    slope, rest = found
    place = forms.interval(slope)
    if (
        comparison in ("=", "!=")
        or place.positive
        or prove(slope, ">", 0, where) is not None
    ):
        return comparison, -rest / slope
    if place.negative or prove(slope, "<", 0, where) is not None:
        return assumptions.MIRRORED[comparison], -rest / slope
    return None


def linear(value: forms.Scalar, name: str) -> tuple[forms.Scalar, forms.Scalar] | None:
    """The slope and the rest of a number that is a multiple of a name, plus something without it; None if it is not."""
    own = next(
        (
            one
            for one in value.atoms()
            if isinstance(one, forms.Parameter) and one.name == name
        ),
        None,
    )
    if own is None:
        return forms.number(0), value
    slope = value.put({name: 2}) - value.put({name: 1})
    rest = value.put({name: 1}) - slope
    return (
        (slope, rest)
        if name not in slope.names() and value == rest + slope * forms.of_atom(own)
        else None
    )


STAND_IN = Symbol("exponential")


def isolated(
    gap: forms.Scalar,
    comparison: assumptions.Comparison,
    name: str,
    where: assumptions.Where,
) -> tuple[assumptions.Comparison, forms.Scalar] | None:
    """gap compared with 0 as a bound on a name that enters as itself, as an exponential, or as its inverse."""
    own, y = where.name(name), forms.parameter(STAND_IN, POSITIVE)
    known = replace(where, ranges={**where.ranges, STAND_IN: POSITIVE})
    found = solved(gap, comparison, name, where)
    if found is not None:
        return found
    powers = [*gap.over, *gap.under]
    rates = [
        forms.rebuilt(atom.power) / own * abs(by)
        for one in powers
        for atom, by in one
        if isinstance(atom, forms.Exp)
    ]
    for rate in dict.fromkeys(rates):
        if name in rate.names() or prove(rate, ">", 0, where) is None:
            continue
        grown = gap.put({name: ln(y) / rate})
        under = prove(forms.Scalar(grown.under), ">", 0, known) is not None
        for one in (forms.Scalar(grown.over) if under else grown, grown * y):
            found = solved(one, comparison, STAND_IN, known)
            if found is not None and name not in found[1].names():
                return found[0], ln(found[1]) / rate
    return None


def needs(
    *values: forms.Scalar,
) -> Iterator[tuple[forms.Scalar, assumptions.Comparison]]:
    """What must hold for the numbers to be defined, beyond what the ranges say at once."""
    found: dict[tuple[forms.Scalar, assumptions.Comparison], None] = {}
    for value in values:
        for atom, exponent in forms.powers_in((*value.over, *value.under)):
            if isinstance(atom, forms.Function):
                if not atom.body.whole:
                    found[forms.Scalar(atom.body.under), "!="] = None
                if atom.kind == "ln" and not forms.interval(atom.body).positive:
                    found[atom.body, ">"] = None
            place = forms.interval_of_atom(atom)
            if exponent < 0 and not (place.positive or place.negative):
                found[forms.rebuilt(((atom, Fraction(1)),)), "!="] = None
            if exponent.denominator > 1 and not place.low >= 0:
                found[forms.rebuilt(((atom, Fraction(1)),)), ">="] = None
        if not value.whole:
            found[forms.Scalar(value.under), "!="] = None
    for (
        need,
        comparison,
    ) in found:  # the product is of one sign with over / under, where under is not 0
        yield forms.Scalar(need.over) * forms.Scalar(need.under), comparison

"""prove(): comparisons of scalars, proved for all values of their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from headwright.check.scalars.atoms import Atom, Exp, Function, Monomial
from headwright.check.scalars.cleared import Cleared, certainly, without_denominators, without_known_factors
from headwright.check.scalars.functions import exp, rebuilt
from headwright.check.scalars.normal import ONE
from headwright.check.scalars.ranges import Range
from headwright.check.scalars.scalar import Number, Scalar
from headwright.check.scalars.signs import interval, interval_of_atom
from headwright.check.scalars.sizes import TooBig
from headwright.check.scalars.solver import cannot_fail
from headwright.check.scalars.where import ANYTHING, MIRRORED, Comparison, Hypothesis, Where, checked
from headwright.errors import InputError

ALGEBRA = "exact algebra"
SOLVER = "exact algebra and z3"
SHORT = 90  # characters of an inequality that is shown
SPLIT = 3  # so many values of an integer are looked at one by one
SPLIT_NAMES = 2


@dataclass(frozen=True)
class Proof:
    """That a comparison holds for all values in question: why, in one sentence, and by what means."""

    reason: str
    used: str


def prove(
    left: Scalar | Number, comparison: str, right: Scalar | Number, where: Where = ANYTHING, *, seconds: float = 2.0
) -> Proof | None:
    """A proof that the comparison holds for all values of the names; None where none was found (it may hold or not).

    >>> from headwright.check.scalars import parameter
    >>> n, where = parameter("n"), Where({"n": Range(2, integer=True)})
    >>> prove(1 / n, "<=", 1 / (n - 1), where)
    Proof(reason='cleared of denominators it says 1 >= 0', used='exact algebra')
    >>> prove(n, ">", 2, where) is None
    True
    """
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    try:
        found = _Prover(where, seconds).prove(left, comparison, right)
        return found or _by_cases(left, comparison, right, where, seconds)
    except TooBig:
        return None


class _Prover:
    def __init__(self, where: Where, seconds: float) -> None:
        self.hypotheses: tuple[Hypothesis, ...] = where.all_hypotheses()
        self.seconds = seconds

    def prove(self, left: Scalar, comparison: Comparison, right: Scalar) -> Proof | None:
        if not all(self.holds(value, need) for value, need in needs(left, right)):
            return None
        difference = left - right
        if difference == 0:
            return Proof(f"both sides are {_shown(left)}", ALGEBRA) if comparison in ("=", "<=", ">=") else None
        return self._compared(difference, comparison) or self._exponentials(difference, comparison)

    def _compared(self, difference: Scalar, comparison: Comparison) -> Proof | None:
        cleared = self._cleared(difference, comparison)
        if cleared is None:
            return None
        if certainly(cleared):
            return _proof(difference, comparison, cleared, ALGEBRA)
        if cannot_fail((cleared.value, cleared.comparison), self._facts(), self.seconds):
            return _proof(difference, comparison, cleared, SOLVER)
        return None

    def _cleared(self, difference: Scalar, comparison: Comparison) -> Cleared | None:
        over, under = Scalar(difference.over, ONE), Scalar(difference.under, ONE)
        if comparison in ("=", "!=") or self.holds(under, ">"):
            return without_known_factors(over, comparison)
        if self.holds(under, "<"):
            return without_known_factors(over, MIRRORED[comparison])
        return without_known_factors(over * under, comparison)  # it is not 0: that was among the needs

    def _exponentials(self, difference: Scalar, comparison: Comparison) -> Proof | None:
        """a < b means e^a < e^b, which helps where a and b are made of logarithms."""
        if not _logarithms(difference):
            return None
        return self._compared(exp(difference) - 1, comparison)

    def holds(self, value: Scalar, comparison: Comparison) -> bool:
        """Whether a number without denominator compares so with 0."""
        cleared = without_known_factors(value, comparison)
        return certainly(cleared) or cannot_fail((cleared.value, cleared.comparison), self._facts(), self.seconds)

    def _facts(self) -> list[Hypothesis]:
        """The hypotheses; those between logarithms also as what they say of the numbers themselves."""
        found = list(self.hypotheses)
        for left, comparison, right in self.hypotheses:
            if _logarithms(left - right):
                found.append((exp(left), comparison, exp(right)))
        return found


def needs(*values: Scalar) -> Iterator[tuple[Scalar, Comparison]]:
    """What must hold for the numbers to be defined, beyond what the ranges say at once."""
    seen: set[tuple[Scalar, Comparison]] = set()

    def of_monomial(monomial: Monomial) -> Iterator[tuple[Scalar, Comparison]]:
        for atom, exponent in monomial:
            inner = atom.body if isinstance(atom, Function) else None
            if inner is not None:
                yield from of_scalar(inner)
                if atom.kind == "ln" and not interval(inner).positive:  # type: ignore[attr-defined]
                    yield inner, ">"
            if isinstance(atom, Exp):
                yield from of_monomial(atom.power)
            place = interval_of_atom(atom)
            if exponent < 0 and not (place.positive or place.negative):
                yield rebuilt(((atom, Fraction(1)),)), "!="
            if exponent.denominator > 1 and not place.not_negative:
                yield rebuilt(((atom, Fraction(1)),)), ">="

    def of_scalar(value: Scalar) -> Iterator[tuple[Scalar, Comparison]]:
        for terms in (value.over, value.under):
            for monomial in terms:
                yield from of_monomial(monomial)
        if not value.whole:
            yield Scalar(value.under, ONE), "!="

    for value in values:
        for need in of_scalar(value):
            if need not in seen:
                seen.add(need)
                yield need if need[0].whole else (_cleared_of_square(need[0]), need[1])


def _cleared_of_square(value: Scalar) -> Scalar:
    """over * under: the sign of over / under, where under is not 0."""
    return Scalar(value.over, ONE) * Scalar(value.under, ONE)


def _is_logarithm(atom: Atom) -> bool:
    return isinstance(atom, Function) and atom.kind == "ln"


def _logarithms(value: Scalar) -> bool:
    """Whether a term of a sum is a rational times one logarithm."""
    return value.whole and any(
        len(monomial) == 1 and monomial[0][1] == 1 and _is_logarithm(monomial[0][0]) for monomial in value.over
    )


def _proof(difference: Scalar, asked: Comparison, cleared: Cleared, used: str) -> Proof:
    if cleared.value.rational is not None:  # everything but a number had a known sign
        cleared = Cleared(without_denominators(Scalar(difference.over, ONE)), asked)
    says = str(cleared)
    if len(says) > SHORT:
        return Proof("cleared of denominators it is an inequality between sums that holds everywhere", used)
    return Proof(f"{'it says' if difference.whole else 'cleared of denominators it says'} {says}", used)


def _shown(value: Scalar) -> str:
    text = str(value)
    return text if len(text) <= SHORT else "the same number"


def _by_cases(left: Scalar, comparison: Comparison, right: Scalar, where: Where, seconds: float) -> Proof | None:
    """The first few values of an integer one by one, then the others together."""
    names = [
        name
        for name in sorted(left.names() | right.names())
        if where.range(name).numeric.integer and where.range(name).numeric.lower is not None
    ][:SPLIT_NAMES]
    if not names:
        return None
    options = [[*(_lower(where, name) + step for step in range(SPLIT)), None] for name in names]
    for choice in product(*options):
        case = where
        values: dict[str, Scalar | Number] = {}
        empty = False
        for name, value in zip(names, choice, strict=True):
            upper = where.range(name).numeric.upper
            least = _lower(where, name) + SPLIT if value is None else value
            if isinstance(upper, Fraction) and least > upper:
                empty = True
            elif value is None:
                case = case.ranged(
                    name, Range(least, where.range(name).upper, upper_open=where.range(name).upper_open, integer=True)
                )
            else:
                values[name] = value
        if empty:
            continue
        try:
            if not _one_case(left, comparison, right, case, values, seconds):
                return None
        except InputError:  # the numbers are not defined there
            return None
    return Proof(f"{', '.join(names)} taken value by value up to where exact bounds decide", SOLVER)


def _one_case(
    left: Scalar,
    comparison: Comparison,
    right: Scalar,
    where: Where,
    values: dict[str, Scalar | Number],
    seconds: float,
) -> bool:
    case = where.put(values)
    prover = _Prover(case, seconds)
    return prover.prove(case.settled(left.put(values)), comparison, case.settled(right.put(values))) is not None


def _lower(where: Where, name: str) -> int:
    lower = where.range(name).numeric.lower
    if not isinstance(lower, Fraction):
        raise InputError(f"{name} has no lower end; expected one to count from")
    return lower.numerator

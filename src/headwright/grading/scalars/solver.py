"""All that is said to z3: whether a comparison can fail (only its 'no' is used), and statements about integers.

Scalars become terms of real arithmetic, with a variable for (a root of) every atom, and true statements about roots,
logarithms and exponentials for z3 to reason with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from flint import arb, fmpq

from headwright.errors import InputError
from headwright.formulas.evaluate import precision
from headwright.grading.scalars import forms
from headwright.grading.scalars.assumptions import OPPOSITE, Comparison, Hypothesis
from headwright.grading.scalars.numbers import ball_of, ends

HIGHEST = 64  # power of one variable; higher ones become variables of their own
SAID = {
    "=": eq,
    "!=": ne,
    "<": lt,
    ">": gt,
    "<=": le,
    ">=": ge,
}  # of z3's terms, which become formulas
FINEST_ROOT = 12  # finer roots become variables of their own, tied to nothing


class Encoder:
    """z3 terms for scalars, in one z3 context; the facts that define its variables are collected in `facts`."""

    def __init__(self, z3: Any, context: Any, values: Iterable[forms.Scalar]) -> None:
        """One variable for every atom of the scalars, inner ones first: a root of it that makes all exponents whole."""
        self.z3 = z3
        self.context = context
        found: dict[forms.Atom, int] = {}
        for atom, exponent in forms.powers_in(
            monomial for value in values for monomial in (*value.over, *value.under)
        ):
            found[atom] = math.lcm(found.get(atom, 1), exponent.denominator)
        self.roots = {
            atom: root if root <= FINEST_ROOT else 1 for atom, root in found.items()
        }
        self.facts: list[Any] = []
        self.variables = {
            atom: z3.Real(f"a{place}", context) for place, atom in enumerate(self.roots)
        }
        self._others: dict[
            tuple[forms.Atom, Fraction], Any
        ] = {}  # inverses (at 0), and powers that are too high or too fine

    def rational(self, value: Fraction) -> Any:
        """A rational number."""
        return self.z3.RealVal(f"{value.numerator}/{value.denominator}", self.context)

    def power(self, atom: forms.Atom, exponent: Fraction = Fraction(1)) -> Any:
        """A power of an atom."""
        steps = exponent * self.roots[atom]
        if steps.denominator > 1 or abs(steps) > HIGHEST:
            return self._loose_power(atom, exponent)
        variable, times = self.variables[atom], abs(steps.numerator)
        if steps < 0:
            if (atom, Fraction(0)) not in self._others:
                self._others[atom, Fraction(0)] = self.z3.Real(
                    f"p{len(self._others)}", self.context
                )
                self.facts.append(variable * self._others[atom, Fraction(0)] == 1)
            variable = self._others[atom, Fraction(0)]
        return variable**times if times > 1 else variable

    def _loose_power(self, atom: forms.Atom, exponent: Fraction) -> Any:
        if (atom, exponent) in self._others:
            return self._others[atom, exponent]
        variable = self._others[atom, exponent] = self.z3.Real(
            f"p{len(self._others)}", self.context
        )
        if forms.interval_of_atom(atom).positive:
            base = self.power(atom)
            lower, higher = (base, variable) if exponent > 0 else (variable * base, 1)
            self.facts.append(variable > 0)
            if (
                abs(exponent) >= 1
            ):  # x^1000 lies above x where x > 1, and below where x < 1
                self.facts += [
                    self.z3.Implies(base >= 1, higher >= lower),
                    self.z3.Implies(base <= 1, higher <= lower),
                ]
        elif exponent.denominator > 1 or exponent.numerator % 2 == 0:
            self.facts.append(variable >= 0)
        return variable

    def terms(self, terms: forms.Terms) -> Any:
        """A sum of terms."""
        result = self.rational(Fraction(0))
        for place, (monomial, coefficient) in enumerate(terms.items()):
            part = self.rational(coefficient)
            for atom, exponent in monomial:
                part = part * self.power(atom, exponent)
            result = result + part if place else part
        return result

    def scalar(self, value: forms.Scalar) -> Any:
        """A number; a quotient is anything where its denominator is 0."""
        over = self.terms(value.over)
        return over if value.whole else over / self.terms(value.under)


def is_constant(atom: forms.Atom) -> bool:
    """Whether no name occurs in it."""
    return not any(
        isinstance(part, forms.Parameter | forms.Thing)
        for part, _ in forms.powers_in((((atom, Fraction(1)),),))
    )


GRAIN = 10**12  # constants are known to so many parts of 1
MOST_PAIRS = 60


def plain_facts(encoder: Encoder) -> Iterator[Any]:
    """What defines each atom: its range, its sign, whose root it is."""
    for atom, root in encoder.roots.items():
        variable, value, place = (
            encoder.variables[atom],
            encoder.power(atom),
            forms.interval_of_atom(atom),
        )
        if root > 1:
            yield variable >= 0
        if isinstance(place.low, Fraction) and not isinstance(atom, forms.Prime):
            yield (
                (value > encoder.rational(place.low))
                if place.low_open
                else (value >= encoder.rational(place.low))
            )
        if isinstance(place.high, Fraction) and not isinstance(atom, forms.Prime):
            yield (
                (value < encoder.rational(place.high))
                if place.high_open
                else (value <= encoder.rational(place.high))
            )
        if isinstance(atom, forms.Exp | forms.Prime) or (
            isinstance(atom, forms.Parameter) and atom.range.positive
        ):
            yield variable > 0
        if isinstance(atom, forms.Prime):
            yield value == atom.number
        elif isinstance(atom, forms.Function) and atom.kind == "sum":
            yield value == encoder.scalar(atom.body)
        elif isinstance(atom, forms.Function) and atom.kind == "abs":
            body = encoder.scalar(atom.body)
            yield encoder.z3.Or(value == body, value == -body)
        if is_constant(atom):  # it lies between two short rationals
            with precision(100):
                ball = forms.rebuilt(((atom, Fraction(1)),)).value({}, bits=100)
                ball = ball ** arb(fmpq(1, root)) if root > 1 else ball
            if (
                abs(ball) < GRAIN
            ):  # the digits of a tiny one may be too many to write out
                tiny = abs(ball) < ball_of(Fraction(1, GRAIN))
                low, high = (
                    (Fraction(-1, GRAIN), Fraction(1, GRAIN)) if tiny else ends(ball)
                )
                yield variable >= encoder.rational(
                    Fraction(math.floor(low * GRAIN), GRAIN)
                )
                yield variable <= encoder.rational(
                    Fraction(math.ceil(high * GRAIN), GRAIN)
                )


def sign_facts(encoder: Encoder) -> Iterator[Any]:
    """ln x against x = 1, e^m against m = 0."""
    for atom in encoder.roots:
        if isinstance(atom, forms.Exp) or (
            isinstance(atom, forms.Function) and atom.kind == "ln"
        ):
            small, large = _pair(encoder, atom)
            large = (
                encoder.variables[atom] if isinstance(atom, forms.Exp) else large
            )  # a root of it, which is 1 where it is
            if not is_constant(atom):
                yield large > 0
                yield (small > 0) == (large > 1)
                yield (small < 0) == (large < 1)


def size_facts(encoder: Encoder) -> Iterator[Any]:
    """x - 1 >= ln x >= 1 - 1/x; e^m >= 1 + m, and more where m >= 0; sines and cosines."""
    for atom, root in encoder.roots.items():
        if is_constant(atom):
            continue
        if isinstance(atom, forms.Exp):
            variable, power = (
                encoder.variables[atom],
                encoder.terms({atom.power: Fraction(1, root)}),
            )
            yield variable >= 1 + power
            yield variable * (1 - power) <= 1
            yield encoder.z3.Implies(
                power >= 0, variable >= 1 + power + power**2 / 2 + power**3 / 6
            )
        elif isinstance(atom, forms.Function) and atom.kind == "ln":
            value, body = _pair(encoder, atom)
            yield value <= body - 1
            yield value * body >= body - 1
        elif isinstance(atom, forms.Function) and atom.kind == "sin":
            other = forms.Function("cos", atom.body)
            if other in encoder.variables:
                yield encoder.power(atom) ** 2 + encoder.power(other) ** 2 == 1


def order_facts(encoder: Encoder) -> Iterator[Any]:
    """Larger numbers have larger logarithms and larger exponentials; e^m lies below x when m lies below ln x."""
    exps = [atom for atom in encoder.roots if isinstance(atom, forms.Exp)]
    lns = [
        atom
        for atom in encoder.roots
        if isinstance(atom, forms.Function) and atom.kind == "ln"
    ]
    pairs: list[tuple[forms.Exp | forms.Function, forms.Exp | forms.Function]] = [
        *combinations(exps, 2),
        *combinations(lns, 2),
    ]
    pairs += [(low, high) for low in exps for high in lns]
    for left, right in pairs[:MOST_PAIRS]:
        if not (is_constant(left) and is_constant(right)):
            (a, x), (b, y) = _pair(encoder, left), _pair(encoder, right)
            yield (a < b) == (x < y)
            yield (a > b) == (x > y)


def _pair(encoder: Encoder, atom: forms.Exp | forms.Function) -> tuple[Any, Any]:
    """The exponent and the exponential, the logarithm and what it is of."""
    if isinstance(atom, forms.Exp):
        return encoder.terms({atom.power: Fraction(1)}), encoder.power(atom)
    return encoder.power(atom), encoder.scalar(atom.body)


STEPS_PER_SECOND = (
    200_000  # of z3's own counting, which does not depend on the machine's load
)
NEAR = sorted(
    range(-5, 6), key=lambda value: (abs(value), -value)
)  # integers that counterexamples prefer
LONGEST_SUM = 60  # terms; longer ones are not worth the wait

Sign = tuple[forms.Scalar, Comparison]  # a whole scalar compared with 0


def bounded(solver: Any, seconds: float) -> Any:
    """The solver, which gives up after about so long."""
    solver.set("rlimit", int(STEPS_PER_SECOND * seconds))
    solver.set("timeout", int(4_000 * seconds))  # a last resort: it depends on the load
    return solver


def cannot_fail(goal: Sign, hypotheses: Sequence[Hypothesis], seconds: float) -> bool:
    """Whether z3 proves the goal for all values of the names."""
    if len(goal[0].over) > LONGEST_SUM:
        return False
    for facts in (
        (plain_facts, sign_facts),
        (plain_facts, sign_facts, order_facts, size_facts),
    ):
        if _unsatisfiable(goal, hypotheses, facts, seconds / 2):
            return True
    return False


def _unsatisfiable(
    goal: Sign, hypotheses: Sequence[Hypothesis], facts: Sequence[Any], seconds: float
) -> bool:
    z3: Any = import_module(
        "z3"
    )  # heavy, and not needed for what exact algebra decides
    context = z3.Context()
    solver = bounded(z3.SolverFor("QF_NRA", ctx=context), seconds)
    differences = [(left - right, comparison) for left, comparison, right in hypotheses]
    encoder = Encoder(
        z3, context, [goal[0], *(difference for difference, _ in differences)]
    )
    for difference, comparison in differences:
        under = encoder.terms(difference.under)
        if not difference.whole:
            solver.add(under != 0)
        solver.add(SAID[comparison](encoder.terms(difference.over) * under, 0))
    value = encoder.terms(goal[0].over) * encoder.terms(goal[0].under)
    solver.add(SAID[OPPOSITE[goal[1]]](value, 0))
    solver.add(*(fact for kind in facts for fact in kind(encoder)))
    solver.add(*encoder.facts)
    return bool(solver.check() == z3.unsat)


PI_LOW = Fraction("3.1415926535897932384626433832795028841971")
PI_HIGH = PI_LOW + Fraction(1, 10**40)
MOST_PI = 6  # power of pi


class NotWhole(InputError):  # noqa: N818  it says what is wrong
    """A number that is no polynomial in integers and pi."""


class Whole:
    """Comparisons of polynomials in integers and pi, for z3.

    p(pi) = 0 with rational coefficients holds only if every coefficient is 0, since pi is transcendental (Lindemann).
    Inequalities use 40 digits of pi from both sides; a term that is no polynomial, such as 10000^(2/d), is enclosed
    where its names are among the values, and may be anything in its range elsewhere. So may a name that is no integer.
    """

    def __init__(self, values: Mapping[str, int]) -> None:
        """`values` are names that are numbers for now."""
        self.z3: Any = import_module("z3")
        self.values = values
        self.names: dict[str, Any] = {}
        self.opaque: set[str] = set()  # names in terms that are no polynomials
        self.pi = self.z3.Real("pi")
        self.conditions = [
            self.pi > self._rational(PI_LOW),
            self.pi < self._rational(PI_HIGH),
        ]

    def name(self, name: str) -> Any:
        """The variable of an integer."""
        if name not in self.names:
            self.names[name] = self.z3.Int(name)
            if name in self.values:
                self.conditions.append(self.names[name] == self.values[name])
        return self.names[name]

    def _rational(self, value: Fraction) -> Any:
        return self.z3.RealVal(f"{value.numerator}/{value.denominator}")

    def whole(self, value: forms.Scalar) -> Any:
        """An integer; NotWhole where it may be something else."""
        parts = self._by_pi(value)
        if set(parts) - {0} or any(
            x.denominator > 1 for x in parts.get(0, {}).values()
        ):
            raise NotWhole(f"{value} need not be an integer")
        return self._polynomial(parts.get(0, {}))

    def vanishes(self, value: forms.Scalar) -> Any:
        """That a polynomial in integers and pi is 0."""
        said = []
        for part in self._by_pi(value).values():
            common = math.lcm(
                *(coefficient.denominator for coefficient in part.values())
            )
            said.append(
                self._polynomial({monomial: x * common for monomial, x in part.items()})
                == 0
            )
        return self.z3.And(*said)

    def compared(self, value: forms.Scalar, sign: str) -> Any:
        """value compared with 0."""
        total = self.z3.RealVal(0)
        terms = (
            [forms.Scalar({monomial: x}) for monomial, x in value.over.items()]
            if value.whole
            else [value]
        )
        for summand in terms:
            try:
                for power, part in self._by_pi(summand).items():
                    for monomial, coefficient in part.items():
                        whole = self.z3.ToReal(
                            self._polynomial({monomial: Fraction(1)})
                        )
                        total = (
                            total + self._rational(coefficient) * whole * self.pi**power
                        )
            except NotWhole:
                total = total + self._enclosed(summand)
        return SAID[sign](total, 0)

    def _by_pi(self, value: forms.Scalar) -> dict[int, forms.Terms]:
        """The coefficients by powers of pi."""
        if not value.whole:
            raise NotWhole(f"{value} is no polynomial")
        parts: dict[int, forms.Terms] = {}
        for monomial, coefficient in value.over.items():
            power = next(
                (exponent for atom, exponent in monomial if isinstance(atom, forms.Pi)),
                Fraction(0),
            )
            rest = tuple(pair for pair in monomial if not isinstance(pair[0], forms.Pi))
            known = all(
                isinstance(atom, forms.Parameter) and atom.range.integer
                for atom, _ in rest
            )
            if (
                not known
                or any(
                    by.denominator > 1 or by < 0
                    for _, by in (*rest, (forms.Pi("#pi"), power))
                )
                or power > MOST_PI
            ):
                raise NotWhole(f"{value} is no polynomial")
            parts.setdefault(int(power), {})[rest] = coefficient
        return parts

    def _polynomial(self, terms: forms.Terms) -> Any:
        """With whole coefficients."""
        total = self.z3.IntVal(0)
        for monomial, coefficient in terms.items():
            product = self.z3.IntVal(coefficient.numerator)
            for atom, exponent in monomial:
                for _ in range(int(exponent)):
                    product = product * self.name(
                        atom.name if isinstance(atom, forms.Parameter) else atom
                    )
            total = total + product
        return total

    def _enclosed(self, term: forms.Scalar) -> Any:
        variable = self.z3.Real(f"[{term.key}]")
        integers = {
            atom.name
            for atom in term.atoms()
            if isinstance(atom, forms.Parameter) and atom.range.integer
        }
        self.opaque |= integers
        for name in integers:
            self.name(
                name
            )  # what is given of it counts, although only its values are seen
        known = forms.interval(term)  # a sine is at most 1, wherever it is taken
        self.conditions += (
            [variable >= self._rational(known.low)]
            if isinstance(known.low, Fraction)
            else []
        )
        self.conditions += (
            [variable <= self._rational(known.high)]
            if isinstance(known.high, Fraction)
            else []
        )
        if term.names() <= set(self.values):
            ball = term.value({name: self.values[name] for name in term.names()})
            if not ball.is_finite():
                raise NotWhole(f"{term} could not be computed")
            low, high = ends(ball)
            self.conditions += [
                variable >= self._rational(low),
                variable <= self._rational(high),
            ]
        return variable

    def unsatisfiable(self, formulas: Sequence[Any], seconds: float) -> bool:
        """Whether no integers satisfy them, under the conditions; False where that is not known."""
        return bool(self._solver(formulas, seconds).check() == self.z3.unsat)

    def model(self, formulas: Sequence[Any], seconds: float) -> dict[str, int] | None:
        """Integers that satisfy them for some value of what is only enclosed; None where none were found.

        Each is as near to 0 as the ones before it allow, so that versions of z3 agree.
        """
        solver = self._solver(formulas, seconds)
        if solver.check() != self.z3.sat:
            return None
        model, values = solver.model(), dict[str, int]()
        bounded(solver, seconds / 20)
        for name, x in sorted(self.names.items()):
            values[name] = model.eval(x, model_completion=True).as_long()
            for value in NEAR:
                if (
                    abs(value) <= abs(values[name])
                    and solver.check(x == value) == self.z3.sat
                ):
                    model, values[name] = solver.model(), value
                    break
            solver.add(x == values[name])
        return values

    def _solver(self, formulas: Sequence[Any], seconds: float) -> Any:
        solver = bounded(self.z3.Solver(), seconds)
        solver.add(*self.conditions, *formulas)
        return solver

"""Scalars as a teacher would write them: as formulas, the shorter of two equal ways."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.scalars import forms
from headwright.grading.scalars.functions import power
from headwright.grading.scalars.numbers import shown_name

HALF = Fraction(1, 2)
HIGHEST = 6  # power of a name inside a logarithm that is taken together
LARGEST = 10**6  # number inside one
TIDY = 40  # terms; longer sums are written as they stand


def written(value: forms.Scalar) -> str:
    """The number in plain text."""
    return plain(formula_of(value))


def formula_of(value: forms.Scalar) -> t.Node:
    """The number as a formula."""
    lowest = forms.shared_powers(value.over) if len(value.over) > 1 else {}
    below = forms.monomial_of(
        {
            a: -least
            for a, least in lowest.items()
            if least < 0 and not a.folds and not isinstance(a, forms.Exp)
        }
    )
    over, under = (
        forms.folded(forms.terms_product(terms, {below: Fraction(1)}))
        for terms in (value.over, value.under)
    )
    if not (over.whole and under.whole):
        over, under = forms.Scalar(value.over), forms.Scalar(value.under)
    if under != 1:  # (x/2 + 1/2)/y is (x + 1)/(2 y)
        common = math.lcm(
            *(coefficient.denominator for coefficient in over.over.values())
        )
        over, under = over * common, under * common
    upper, lower = _shortest(over.over), _shortest(under.over)
    if under == 1:
        return upper
    negative = isinstance(upper, t.Negative)
    found = t.Quotient(upper.body if isinstance(upper, t.Negative) else upper, lower)
    return t.Negative(found) if negative else found


def _shortest(terms: forms.Terms) -> t.Node:
    """The shorter of: as it stands, as a product. A minus in front is worth a few characters."""
    options = [_sum(terms)]
    parts = forms.factors(terms) if 1 < len(terms) <= TIDY else None
    if parts is not None:
        ((monomial, coefficient),) = parts[0][0].items()
        sums: list[t.Node] = []
        for part, count in parts[1:]:
            turned = forms.interval_of_terms(part).high <= 0
            coefficient = -coefficient if turned and count % 2 else coefficient
            inner = _sum(
                {key: -value if turned else value for key, value in part.items()}
            )
            sums.append(
                t.Power(inner, t.Number(Fraction(count))) if count > 1 else inner
            )
        front = _term(monomial, abs(coefficient))
        over, under = (
            (front.over, front.under)
            if isinstance(front, t.Quotient)
            else (front, None)
        )
        factors_over = [over] if over != t.Number(Fraction(1)) else []
        whole = _product([*sums, *factors_over] if monomial else [*factors_over, *sums])
        whole = whole if under is None else t.Quotient(whole, under)
        options.append(t.Negative(whole) if coefficient < 0 else whole)
    return min(
        options, key=lambda one: len(plain(one)) + 10 * plain(one).startswith("-")
    )


def _sum(terms: forms.Terms) -> t.Node:
    """Exponentials first, then higher powers, constants last; the first term positive, if any is."""

    def weight(row: tuple[forms.Monomial, Fraction]) -> tuple[int, Fraction, str]:
        monomial = row[0]
        constant = all(
            isinstance(atom, forms.Prime)
            or not (atom.depth or isinstance(atom, forms.Parameter))
            for atom, _ in monomial
        )
        kind = (
            2
            if not monomial
            else 1
            if constant
            else -any(isinstance(atom, forms.Exp) for atom, _ in monomial)
        )
        return (
            kind,
            -sum((exponent for _, exponent in monomial), Fraction(0)),
            "".join(atom for atom, _ in monomial),
        )

    rows = sorted(_with_logs_together(terms).items(), key=weight)
    first = next(
        (place for place, (_, coefficient) in enumerate(rows) if coefficient > 0), 0
    )
    found = [
        t.Negative(_term(monomial, -coefficient))
        if coefficient < 0
        else _term(monomial, coefficient)
        for monomial, coefficient in [
            *rows[first : first + 1],
            *rows[:first],
            *rows[first + 1 :],
        ]
    ]
    return (
        t.Sum(tuple(found))
        if len(found) > 1
        else found[0]
        if found
        else t.Number(Fraction(0))
    )


def _with_logs_together(terms: forms.Terms) -> forms.Terms:
    """The same sum, for writing only: logarithms with the same factor in front have become one."""
    groups: dict[forms.Monomial, dict[forms.Function, Fraction]] = {}
    for monomial, coefficient in terms.items():
        logs = [
            (atom, exponent)
            for atom, exponent in monomial
            if isinstance(atom, forms.Function) and atom.kind == "ln"
        ]
        if len(logs) == 1 and logs[0][1] == 1:
            rest = forms.monomial_of(
                {atom: exponent for atom, exponent in monomial if atom != logs[0][0]}
            )
            groups.setdefault(rest, {})[logs[0][0]] = coefficient
    result = dict(terms)
    for rest, group in groups.items():
        front = forms.content(
            {((atom, Fraction(1)),): coefficient for atom, coefficient in group.items()}
        )
        front = (
            -front if all(coefficient < 0 for coefficient in group.values()) else front
        )
        exponents = {atom: coefficient / front for atom, coefficient in group.items()}
        numbers = [
            (atom.body.rational, int(abs(by)))
            for atom, by in exponents.items()
            if atom.body.rational is not None
        ]
        if len(group) == 1 or any(abs(by) > HIGHEST for by in exponents.values()):
            continue
        if (
            math.prod(max(one.numerator, one.denominator) ** by for one, by in numbers)
            > LARGEST
        ):
            continue
        inside = forms.number(1)
        for atom, by in exponents.items():
            inside = inside * power(atom.body, by)
            del result[forms.monomial_of({**dict(rest), atom: Fraction(1)})]
        if inside != 1:
            result[
                forms.monomial_of(
                    {**dict(rest), forms.Function("ln", inside): Fraction(1)}
                )
            ] = front
    return result


def _term(monomial: forms.Monomial, coefficient: Fraction) -> t.Node:
    """A product of powers with a positive rational in front: number, roots, powers, exponentials."""
    rooted, coefficient = _square_roots(monomial, coefficient)
    numerator, denominator = coefficient.as_integer_ratio()
    above, below = [_whole(numerator)], [_whole(denominator)]
    roots_above = [_atom(atom) for atom, by in rooted.items() if by > 0]
    roots_below = [_atom(atom) for atom, by in rooted.items() if by < 0]
    if roots_above and roots_below:
        quotient = t.Quotient(_product(roots_above), _product(roots_below))
        above.append([t.Call("sqrt", (quotient,))])
    else:
        above.append(_root_of(roots_above))
        below.append(_root_of(roots_below))
    for atom, exponent in monomial:
        if atom not in rooted and not isinstance(atom, forms.Exp):
            side = above if exponent > 0 else below
            side.append([_power(atom, abs(exponent))])
    above.append(_exponentials(monomial))
    over = _product([factor for group in above for factor in group])
    under = [factor for group in below for factor in group]
    return t.Quotient(over, _product(under)) if under else over


def _square_roots(
    monomial: forms.Monomial, coefficient: Fraction
) -> tuple[dict[forms.Atom, Fraction], Fraction]:
    """The atoms of which the square root is taken; sqrt(2)/2 is 1/sqrt(2)."""
    rooted = {
        atom: exponent
        for atom, exponent in monomial
        if abs(exponent) == HALF and not isinstance(atom, forms.Exp)
    }
    for prime in [atom for atom in rooted if isinstance(atom, forms.Prime)]:
        if coefficient.denominator % prime.number == 0:
            coefficient *= prime.number
            rooted[prime] = -HALF
    return rooted, coefficient


def _whole(number: int) -> list[t.Node]:
    """A whole number as a factor; none where it is 1."""
    return [t.Number(Fraction(number))] if number > 1 else []


def _root_of(factors: Sequence[t.Node]) -> list[t.Node]:
    return [t.Call("sqrt", (_product(factors),))] if factors else []


def _power(atom: forms.Atom, exponent: Fraction) -> t.Node:
    if exponent == 1:
        return _atom(atom)
    return t.Power(_atom(atom), _sum({forms.UNIT: exponent}))


def _exponentials(monomial: forms.Monomial) -> list[t.Node]:
    """e to a power, and powers of other numbers by themselves: 2^n."""
    exponents = {
        atom.power: exponent
        for atom, exponent in monomial
        if isinstance(atom, forms.Exp)
    }
    factors: list[t.Node] = []
    together: forms.Terms = {}
    for inner, exponent in _with_logs_together(exponents).items():
        logs = [
            atom
            for atom, by in inner
            if isinstance(atom, forms.Function) and atom.kind == "ln" and by == 1
        ]
        if len(logs) == 1:
            rest = forms.monomial_of({one: by for one, by in inner if one != logs[0]})
            factors.append(t.Power(formula_of(logs[0].body), _sum({rest: exponent})))
        else:
            together[inner] = exponent
    if together == {forms.UNIT: 1}:
        factors.append(t.Name("e"))
    elif together:
        power = formula_of(forms.Scalar(together))
        factors.append(t.Power(t.Name("e"), power))
    return factors


def _product(factors: Sequence[t.Node]) -> t.Node:
    return (
        t.Product(tuple(factors))
        if len(factors) > 1
        else factors[0]
        if factors
        else t.Number(Fraction(1))
    )


def _atom(atom: forms.Atom) -> t.Node:
    match atom:
        case forms.Parameter(name=name):
            return t.Name(shown_name(name))
        case forms.Thing():
            return t.Name("x")
        case forms.Prime(number=whole):
            return t.Number(Fraction(whole))
        case forms.Function(kind=kind, body=body):
            inside = formula_of(body)
            if kind == "abs":
                return t.Name(f"|{plain(inside)}|")
            return inside if kind == "sum" else t.Call(kind, (inside,))
    return t.Name("pi")

"""A typed formula into its form; sums over columns and singular values closed, spectral norms and ranks where known.

With u_i = U e_i, the sum of m_i u_i v_i^T over i = 1 .. b is U D V^T, where D has the entries m_1, ..., m_b and then
zeros. For L D R with orthonormal columns in L and rows in R the largest singular value is the largest entry of D.

Inequalities of singular values: for x_1 >= x_2 >= ... >= x_d >= 0 and weights w_i, summation by parts gives
sum_i w_i x_i = sum_p (w_1 + ... + w_p) (x_p - x_{p+1}) with x_{d+1} = 0: never negative for all such x if and only if
all prefix sums of w are >= 0. The weights are constant on blocks, so a prefix sum is linear in p inside a block, and
it is enough to look at the ends of blocks: polynomials in the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from itertools import pairwise

from headwright.formulas import tree as t
from headwright.formulas.shapes import SCALAR, spelt
from headwright.grading.kinds.matrices import forms as f
from headwright.grading.kinds.matrices.known import Known, NoForm
from headwright.grading.scalars import (
    Scalar,
    Thing,
    absolute,
    cos,
    exp,
    ln,
    number,
    pi,
    prove,
    sin,
    sqrt,
)
from headwright.grading.scalars.assumptions import Where
from headwright.grading.scalars.forms import ONE as UNDER
from headwright.grading.scalars.forms import Monomial, rebuilt
from headwright.grading.scalars.solver import bounded

MIRRORED: dict[str, str] = {
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
    "!=": "!=",
    "=": "=",
}
ELEMENTARY = {
    "sqrt": sqrt,
    "exp": exp,
    "ln": ln,
    "sin": sin,
    "cos": cos,
    "abs": absolute,
}


def links(relation: t.Relation) -> list[tuple[t.Node, str, t.Node]]:
    """The comparisons of a chain, one by one."""
    return list(
        zip(relation.terms, relation.comparisons, relation.terms[1:], strict=False)
    )


@dataclass(frozen=True)
class Normal:
    """Brings formulas to forms; bound says what the indices of the sums around stand for."""

    known: Known
    algebra: f.Algebra
    bound: dict[str, Scalar] = field(default_factory=dict)

    def of(self, node: t.Node) -> f.Form:
        """The form of a typed formula; NoForm where there is none."""
        algebra = self.algebra
        match node:
            case t.Number(value):
                return f.numeral(value)
            case t.Name():
                return self.name(node)
            case t.Sum(terms):
                forms = [self.of(term) for term in terms]
                tall = any(
                    not one.is_scalar for one in forms
                )  # a written 0 takes the shape of the others
                return f.plus(
                    *(
                        one
                        for one in forms
                        if not (tall and one.is_scalar and one.is_zero)
                    )
                )
            case t.Negative(body):
                return f.scaled(self.of(body), -1)
            case t.Product(factors):
                return algebra.product(*(self.of(factor) for factor in factors))
            case t.Quotient(over, under):
                return algebra.times(
                    self.of(over), algebra.power(self.of(under), Fraction(-1))
                )
            case t.Power(base, exponent):
                power = self.of(exponent).scalar
                if power.rational is None:
                    return f.numeral(self.of(base).scalar ** power)
                return algebra.power(self.of(base), power.rational)
            case t.Transpose(body):
                return algebra.transposed(self.of(body))
            case t.Inner(left, right):
                first, second = (
                    algebra.transposed(x) if x.rows == 1 else x
                    for x in map(self.of, (left, right))
                )
                return algebra.times(algebra.transposed(first), second)
            case t.Norm(body, kind):
                return f.numeral(self.norm(self.of(body), kind))
            case t.Call("diag", (t.BigSum() as run, t.Name("I", size))) if (
                size is not None
            ):
                return self.big_sum(run, along=self.of(t.Name("I", size)).rows)
            case t.Call(function, (argument,)):
                return self.call(function, self.of(argument))
            case t.BigSum():
                return self.big_sum(node)
            case _:
                raise NoForm(f"a {type(node).__name__.lower()} has no form")

    # Names

    def name(self, node: t.Name) -> f.Form:
        """A definition, a member of a family, an entry, the identity, a number or a matrix."""
        key, algebra, known = spelt(node), self.algebra, self.known
        if node.index is None and not node.primes and node.base in self.bound:
            return f.numeral(self.bound[node.base])
        if node.base in ("oo", "infinity", "infty"):
            raise NoForm("infinity is not a number")
        family, shape = known.family(node), known.shape_of(node)
        if (
            family is None and isinstance(node.index, t.Listing) and shape == SCALAR
        ):  # A_ij = e_i^T A e_j
            whole = replace(self, bound={}).of(t.Name(node.base))
            left, right = map(self.unit, node.index.items, (whole.rows, whole.columns))
            return algebra.product(algebra.transposed(left), whole, right)
        depends = node.index is not None and not self.bound.keys().isdisjoint(
            n.base for n in t.every_name(node.index)
        )
        if family is None and depends:
            raise NoForm(f"{key} inside a sum over its index")
        definition = known.definition(node)
        if definition is not None:
            return replace(self, bound={}).of(definition)
        if family is not None and family.kind == "singular values":
            return f.numeral(
                algebra.members(
                    ((family.base, Fraction(1)),), self.place(node.index, family.size)
                )
            )
        if family is not None and node.index is not None:  # u_k = U e_k
            return algebra.times(
                self.of(t.Name(family.of)), self.unit(node.index, family.size)
            )
        if known.is_cut(node):
            return self.cut(node)
        if shape is None and node.base == "I" and node.index is not None:
            size = (
                int(node.index.value)
                if isinstance(node.index, t.Number)
                else spelt(node.index)
            )
            return f.word_form((), size, size)
        if shape is None or shape == SCALAR:
            if key in ("pi", "e"):
                return f.numeral(pi() if key == "pi" else exp(f.ONE))
            return f.numeral(algebra.sizes.name(key))
        if key not in known.given.shapes:
            raise NoForm(f"nothing is known of {key}")
        factor: f.Factor = f.Letter(key, shape.rows, shape.columns)
        if known.fact(key, "diagonal"):
            values = [
                one.base
                for one in known.families.values()
                if one.of == key and one.kind == "singular values"
            ]
            powers = ((values[0] if values else key, Fraction(1)),)
            factor = f.Diagonal(powers, algebra.sizes.of(shape.rows), shape.rows)
        return f.word_form((factor,), shape.rows, shape.columns)

    def place(self, node: t.Node | None, size: f.Size) -> Scalar:
        """An index, which lies between 1 and the number of members: otherwise there is none."""
        sizes = self.algebra.sizes
        index = sizes.index(node, self.bound)
        if not any(index == symbol for symbol in self.bound.values()):
            sizes.exists(f.ONE, index)
            sizes.exists(index, sizes.of(size))
        return index

    def unit(self, node: t.Node, size: f.Size) -> f.Form:
        """The unit vector e_i."""
        return f.word_form((f.Unit(self.place(node, size), size),), size, 1)

    def cut(self, node: t.Name) -> f.Form:
        """U_k, the first k columns of U; S_k, the first k rows and columns of S."""
        algebra, sizes, whole = (
            self.algebra,
            self.algebra.sizes,
            self.of(t.Name(node.base)),
        )
        upto, columns = sizes.index(node.index, self.bound), spelt(node.index or node)
        sizes.exists(f.ZERO, upto)
        sizes.exists(upto, sizes.of(whole.columns))
        first = f.word_form(
            (f.Cut(upto, whole.columns, columns),), whole.columns, columns
        )
        cut = algebra.times(whole, first)
        return (
            algebra.times(algebra.transposed(first), cut)
            if self.known.fact(node.base, "diagonal")
            else cut
        )

    # Functions

    def norm(self, given: f.Form, kind: str) -> Scalar:
        """|X|_F = sqrt(trace(X^T X)); |v| likewise; |A|_2 where it is known."""
        if kind == "F" or 1 in (given.rows, given.columns):
            return sqrt(
                self.algebra.trace(
                    self.algebra.times(self.algebra.transposed(given), given)
                )
            )
        with suppress(NoForm):
            found = candidates(given, self.algebra)
            if not found or (
                len(found) == 1 and self.algebra.sizes.at_most(*found[0][:2])
            ):
                return found[0][2] if found else f.ZERO
        size, body = _upright(given)  # |c X| = |c| |X|
        return size * f.thing(f.Applied("norm", (body,)), f.NONNEGATIVE)

    def call(self, function: str, given: f.Form) -> f.Form:
        """softmax and relu of matrices, traces, ranks (of which only bounds are known), and functions of numbers."""
        match function:
            case "trace":
                return f.numeral(self.algebra.trace(given))
            case "softmax" | "relu" if not given.is_scalar:
                return f.image(function, given, self.algebra)
            case "rank" if given.is_zero:
                return f.numeral(0)
            case "rank" if not given.is_scalar:
                return f.numeral(
                    f.thing(f.Applied("rank", (_upright(given)[1],)), f.NONNEGATIVE)
                )
            case "sqrt" | "exp" | "ln" | "sin" | "cos" | "abs":
                return f.numeral(ELEMENTARY[function](given.scalar))
            case _:
                raise NoForm(f"{function} has no form")

    # Sums over an index

    def big_sum(self, node: t.BigSum, along: f.Size | None = None) -> f.Form:
        """A sum with its conditions turned into bounds; or its terms along the diagonal of a matrix of a size."""
        if node.lower is None or node.upper is None:
            raise NoForm(f"the sum over {node.index} has no bounds")
        lower, upper = self.of(node.lower).scalar, self.of(node.upper).scalar
        index, at_most = t.Name(node.index), self.algebra.sizes.at_most
        for condition in node.conditions:
            if not isinstance(condition, t.Relation):
                raise NoForm(f"the sum over {node.index} is over a set")
            for left, sign, right in links(condition):
                if right == index:
                    left, sign, right = right, MIRRORED.get(sign, sign), left
                if left != index or any(part == index for part in t.walk(right)):
                    raise NoForm(
                        "a condition of a sum that does not compare its index with something else"
                    )
                bound = self.of(right).scalar
                end = bound - 1 if sign == "<" else bound + 1 if sign == ">" else bound
                if sign in ("<", "<=") and at_most(end, upper):
                    upper = end
                elif sign in (">", ">=") and at_most(lower, end):
                    lower = end
                else:
                    raise NoForm(
                        "a condition of a sum that is not known to lie inside its bounds"
                    )
        symbol = f.Index(len(self.bound))
        body = replace(self, bound={**self.bound, node.index: f.thing(symbol)}).of(
            node.body
        )
        if along is not None:  # the sum of x_i e_i e_i^T
            unit = f.Unit(f.thing(symbol), along)
            body = f.form(
                along, along, [((unit, replace(unit, turned=True)), body.scalar)]
            )
        return Summation(self.algebra, symbol, lower, upper).of(body)


def _upright(given: f.Form) -> tuple[Fraction, f.Form]:
    """A form without its size and its sign."""
    size, body = f.measured(given)
    return size, min(body, f.scaled(body, -1), key=f.text)


@dataclass(frozen=True)
class Summation:
    """A sum over an index from lower to upper."""

    algebra: f.Algebra
    index: f.Index
    lower: Scalar
    upper: Scalar

    def of(self, body: f.Form) -> f.Form:
        """The sum of a form; NoForm where it cannot be closed."""
        sizes, before = self.algebra.sizes, self.lower - 1
        if not (sizes.at_most(f.ZERO, before) and sizes.at_most(before, self.upper)):
            raise NoForm(
                "a sum whose first place may lie below 1 or beyond its last one"
            )
        parts = []
        for word, value in body.terms:
            under = Scalar(value.under, UNDER)
            if f.mentions(under, self.index):
                raise NoForm("a sum over quotients that depend on its index")
            parts += [
                f.scaled(self._term(product, factor, word, body), 1 / under)
                for product, factor in value.over.items()
            ]
        return f.plus(*parts) if parts else body

    def _term(
        self, monomial: Monomial, coefficient: Fraction, word: f.Word, body: f.Form
    ) -> f.Form:
        """The sum of one term: a number times a word, each perhaps with e_i in it."""
        powers, strings, kept = self._sorted(monomial)
        algebra, sizes, mine = self.algebra, self.algebra.sizes, f.thing(self.index)
        units = [
            factor
            for part in (word, *strings)
            for factor in part
            if f.mentions(factor, self.index)
        ]
        if units and (
            len(units) != 2
            or not all(
                isinstance(unit, f.Unit) and unit.index == mine for unit in units
            )
        ):
            raise NoForm("a sum over products of columns that do not come in pairs")
        known = algebra.known.families
        lengths = (
            {units[0].rows}
            if units
            else {known[base].size for base, _ in powers if base in known}
        )
        if len(lengths) != 1 and powers:
            raise NoForm("a sum over a family whose length is not known")
        whole, closed = self._paired(word, strings) if units else ((), True)
        total = f.form(1, 1, []) if closed else f.form(body.rows, body.columns, [])
        for upto, sign in ((self.upper, 1), (self.lower - 1, -1)):
            if upto == 0:
                continue
            for size in lengths:  # a sum that goes beyond the last column or singular value has no meaning
                if not sizes.at_most(self.lower - 1, sizes.of(size)):
                    raise NoForm(
                        "a sum that may begin beyond the last column or singular value"
                    )
                sizes.exists(upto, sizes.of(size))
                diagonal = algebra.diagonal(powers, upto, size)
            if not units:
                part = f.numeral(algebra.partial(powers, upto))
            elif closed:
                front, back = algebra.reduced(whole + diagonal)
                part = f.numeral(algebra.trace(f.form(size, size, [(back, front)])))
            else:
                place = whole.index(GAP)
                front, back = algebra.reduced(
                    whole[:place] + diagonal + whole[place + 1 :]
                )
                part = f.form(body.rows, body.columns, [(back, front)])
            total = f.plus(total, f.scaled(part, sign))
        summed = (
            f.form(body.rows, body.columns, [(word, total.scalar)]) if closed else total
        )
        return f.scaled(summed, Scalar({kept: coefficient}, UNDER))

    def _sorted(self, monomial: Monomial) -> tuple[f.Powers, list[f.Word], Monomial]:
        """The powers of members with the index, the numbers that are words with e_i in them, and all other factors."""
        powers: f.Powers = ()
        strings: list[f.Word] = []
        kept = []
        for atom, exponent in monomial:
            of = atom.of if isinstance(atom, Thing) else None
            if not f.mentions(rebuilt(((atom, Fraction(1)),)), self.index):
                kept.append((atom, exponent))
            elif isinstance(of, f.Member) and of.index == f.thing(self.index):
                powers = f.multiplied(powers, ((of.family, exponent),))
            elif isinstance(of, f.Traced) and exponent in (1, 2):
                strings += [of.word] * int(exponent)
            else:
                raise NoForm(
                    "a sum over something that depends on its index in a way that is not known"
                )
        return powers, strings, tuple(kept)

    def _paired(self, word: f.Word, strings: list[f.Word]) -> tuple[f.Word, bool]:
        """The word with a gap where e_i e_i^T stood; or the inside of e_i^T W e_i, which is closed to a trace."""
        places = [
            place for place, factor in enumerate(word) if f.mentions(factor, self.index)
        ]
        if len(places) == 2:
            first, second = places
            if second == first + 1 and not word[first].turned and word[second].turned:
                return (*word[:first], GAP, *word[second + 1 :]), False
        elif len(places) == 1 and len(strings) == 1:
            (place,) = places
            if not word[place].turned:
                back = self._facing(strings[0], first=True)
                return (*word[:place], GAP, *back[1:], *word[place + 1 :]), False
            front = self._facing(strings[0], first=False)
            return (*word[:place], *front[:-1], GAP, *word[place + 1 :]), False
        elif not places and len(strings) == 1:
            inside = strings[0]
            ends = inside[0], inside[-1]
            if (
                all(f.mentions(end, self.index) for end in ends)
                and ends[0].turned
                and not ends[1].turned
            ):
                return inside[1:-1], True
        elif not places and len(strings) == 2:
            back, front = (
                self._facing(strings[1], first=True),
                self._facing(strings[0], first=False),
            )
            # x^T e_i e_i^T y is a number: the trace of (y x^T) with the gap between them
            return back[1:] + front[:-1], True
        raise NoForm("a sum over products of columns that do not meet")

    def _facing(self, string: f.Word, *, first: bool) -> f.Word:
        """A number's word turned so that it begins with e_i^T, or ends with e_i."""
        for candidate in (string, self.algebra.turned(string)):
            end = candidate[0] if first else candidate[-1]
            if f.mentions(end, self.index) and end.turned == first:
                return candidate
        raise NoForm("a sum over products of columns that do not meet")


GAP = f.Unit(f.ZERO, 0)  # marks the place of e_i e_i^T while a word is put together


Block = tuple[
    Scalar, Scalar, dict[f.Powers, Scalar]
]  # first and last place, and what multiplies each power of sigma_i


def blocks(given: f.Form, algebra: f.Algebra) -> list[Block]:
    """The singular values of a form L D R, up to order and sign: what is on the diagonal; NoForm if it is none."""
    found = [(*_split(word, given, algebra), value) for word, value in given.terms]
    at_most = algebra.sizes.at_most
    if any((left, right) != (found[0][0], found[0][2]) for left, _, right, _ in found):
        raise NoForm("singular values of a sum of different kinds of matrices")
    every = {diagonal.upto for _, diagonal, _, _ in found}
    ends = sorted(every, key=lambda end: sum(at_most(one, end) for one in every))
    if not all(at_most(one, other) for one, other in pairwise(ends)):
        raise NoForm("two sums end at places of which neither is known to come first")
    cut_at: list[Block] = []
    for first, end in pairwise([f.ZERO, *ends]):
        entry: dict[f.Powers, Scalar] = {}
        for _, diagonal, _, value in found:
            if at_most(end, diagonal.upto):
                entry[diagonal.powers] = entry.get(diagonal.powers, f.ZERO) + value
        entry = {powers: value for powers, value in entry.items() if value != 0}
        cut_at += [(first + 1, end, entry)] if entry else []
    return cut_at


def candidates(
    given: f.Form, algebra: f.Algebra
) -> list[tuple[Scalar, Scalar, Scalar]]:
    """Numbers of which the largest is |L D R|_2, each where a first place is not beyond a last one.

    With one falling power of sigma_i in them the entries of a block fall: the first is the largest.
    """
    found = []
    for first, last, entry in blocks(given, algebra):
        (powers, value), *others = entry.items()
        families = [
            (algebra.known.families.get(family), exponent)
            for family, exponent in powers
        ]
        falling = all(
            family and family.kind == "singular values" and exponent > 0
            for family, exponent in families
        )
        sizes = [one for one in (value, -value) if algebra.sizes.at_most(f.ZERO, one)]
        if others or not falling or not sizes:
            raise NoForm("the largest of numbers that are not known to decrease")
        found.append((first, last, sizes[0] * algebra.members(powers, first)))
    return found


def _split(
    word: f.Word, given: f.Form, algebra: f.Algebra
) -> tuple[f.Word, f.Diagonal, f.Word]:
    """The factors L, D and R, where L and R^T keep all lengths."""
    fact = algebra.known.fact
    middle = next(
        (place for place, factor in enumerate(word) if isinstance(factor, f.Diagonal)),
        None,
    )
    for place in range(len(word) + 1) if middle is None else (middle,):
        left, right = word[:place], word[place + (middle is not None) :]
        upright = all(
            isinstance(one, f.Letter)
            and (
                fact(one.name, *f.ORTHOGONAL)
                or (not one.turned and fact(one.name, "orthonormal columns"))
            )
            for one in (*left, *algebra.turned(right))
        )
        size = (
            f.columns_of(left[-1])
            if left
            else f.rows_of(right[0])
            if right
            else given.rows
        )
        factor = (
            word[place]
            if middle is not None
            else f.Diagonal((), algebra.sizes.of(size), size)
        )
        if upright and isinstance(factor, f.Diagonal):
            return left, factor, right
    raise NoForm("singular values of a matrix about which too little is known")


# Inequalities

TERMS = "the signs of its terms"
SIZES = "an inequality between sizes"
ABEL = "summation by parts"
SQUARED = "squares of both sides, "
SECONDS = 1


def at_most(
    low: Scalar, high: Scalar, algebra: f.Algebra, *, strict: bool
) -> str | None:
    """How low <= high (or low < high) was proved for all allowed values; None if it was not."""
    how = None
    for bound, first, last in bounds(low, algebra):
        sizes = algebra.sizes.where(bound, high, first, last).given((first, "<=", last))
        how = _at_most(bound, high, algebra, sizes, strict)
        if how is None:
            return None
    return how


def _at_most(
    low: Scalar, high: Scalar, algebra: f.Algebra, where: Where, strict: bool
) -> str | None:
    how = nonnegative(high - low, algebra, where, strict=strict)
    if how is None and all(surely(side, where) for side in (low, high)):
        how = nonnegative(high * high - low * low, algebra, where, strict=strict)
        how = None if how is None else SQUARED + how
    return how


def bounds(low: Scalar, algebra: f.Algebra) -> Iterator[tuple[Scalar, Scalar, Scalar]]:
    """Numbers that low is at most, each for sizes where a first place is not beyond a last.

    A rank that stands alone is at most the number of places; |X|_2 is one of a few numbers, or at most |X|_F.
    """
    of, factor = _alone(low)
    places = [(low, f.ZERO, f.ZERO)]
    if isinstance(of, f.Applied) and of.function == "rank" and factor == 1:
        with suppress(NoForm):
            counted = (
                last - first + 1 for first, last, _ in blocks(of.arguments[0], algebra)
            )  # whose factor is not 0
            places = [(sum(counted, f.ZERO), f.ZERO, f.ZERO)]
    if isinstance(of, f.Applied) and of.function == "norm":
        (body,) = of.arguments
        try:
            places = [
                (factor * value, first, last)
                for first, last, value in candidates(body, algebra)
            ]
        except NoForm:
            square = algebra.trace(algebra.times(algebra.transposed(body), body))
            places = [(factor * sqrt(square), f.ZERO, f.ZERO)]
        if places and not any(
            algebra.sizes.at_most(first, last) for _, first, last in places
        ):
            _, first, last = places[0]
            places.append(
                (f.ZERO, last + 1, first)
            )  # no place may be left: then the norm is 0
    yield from places


def _alone(value: Scalar) -> tuple[object, Fraction]:
    """What a positive multiple of one thing is of."""
    match list(value.over.items()) if value.whole else []:
        case [(((Thing() as atom, exponent),), factor)] if exponent == 1 and factor > 0:
            return atom.of, factor
    return None, Fraction(0)


def nonnegative(
    value: Scalar, algebra: f.Algebra, where: Where, *, strict: bool
) -> str | None:
    """How a number was proved to be >= 0 (or > 0); None if it was not."""
    if not strict and surely(value, where):
        return TERMS
    try:
        weights = weighted(value, algebra)
    except NoForm:
        return None
    if not weights.never_negative(where, strict=strict):
        return None
    return ABEL if weights.parts else SIZES


def adds_up(
    whole: f.Form,
    equal: Sequence[f.Form],
    above: Sequence[f.Form],
    sizes: Sequence[Scalar],
) -> bool:
    """Whether a form is a sum of multiples, by rational numbers and sizes, of others; none negative of the second."""
    z3 = import_module("z3")
    solver = bounded(z3.Solver(), SECONDS)
    total = {term: -z3.RealVal(str(factor)) for term, factor in _by_term(whole)}
    alike = [
        (one, free) for free, ones in ((True, equal), (False, above)) for one in ones
    ]
    for place, (one, free) in enumerate(
        (one, free) for one, free in alike if one.rows == whole.rows
    ):
        for times in (
            (number(1), *sizes, *(1 / size for size in sizes))
            if one.is_scalar
            else (number(1),)
        ):
            factor = z3.Real(f"{place} {times}")
            if not free:
                solver.add(factor >= 0)
            for term, value in _by_term(f.scaled(one, times)):
                total[term] = total.get(term, z3.RealVal(0)) + factor * z3.RealVal(
                    str(value)
                )
    solver.add(*(value == 0 for value in total.values()))
    return bool(solver.check() == z3.sat)


def _by_term(given: f.Form) -> Iterator[tuple[object, Fraction]]:
    """The rational numbers in a form, and what each multiplies."""
    for word, value in given.terms:
        under = tuple(value.under.items())
        yield from (
            ((word, monomial, under), factor) for monomial, factor in value.over.items()
        )


def surely(value: Scalar, where: Where) -> bool:
    """Whether a number is never negative, by the signs of what it is made of."""
    return prove(value, ">=", 0, where, seconds=0.2) is not None


@dataclass(frozen=True)
class Weights:
    """constant + sum of weight x (x_1 + ... + x_place), or of weight x x_place where it is one alone."""

    constant: Scalar
    parts: tuple[tuple[Scalar, Scalar, bool], ...] = ()  # weight, place, alone

    def ends(self) -> list[Scalar]:
        """Where prefix sums have to be looked at."""
        found = [place for _, place, _ in self.parts] + [
            place - 1 for _, place, alone in self.parts if alone
        ]
        return list(dict.fromkeys(found))

    def never_negative(self, where: Where, *, strict: bool) -> bool:
        """Whether it is proved for all sizes, and all x that decrease."""
        if prove(self.constant, ">" if strict else ">=", 0, where) is None:
            return False
        return all(
            self._prefix(end, where.given((end, ">=", 1)), f.ZERO, 0)
            for end in self.ends()
        )

    def _prefix(self, end: Scalar, where: Where, total: Scalar, done: int) -> bool:
        """Whether the sum of the weights up to an end is never negative: part by part, before or beyond it."""
        if done == len(self.parts):
            return prove(total, ">=", 0, where) is not None
        weight, place, alone = self.parts[done]
        before, beyond = (place, "<=", end), (place, ">=", end + 1 if alone else end)
        inside = total + weight * (number(1) if alone else place)
        outside = total if alone else total + weight * end
        if prove(*before, where) is not None:
            return self._prefix(end, where, inside, done + 1)
        if prove(*beyond, where) is not None:
            return self._prefix(end, where, outside, done + 1)
        return self._prefix(
            end, where.given(before), inside, done + 1
        ) and self._prefix(end, where.given(beyond), outside, done + 1)


def weighted(value: Scalar, algebra: f.Algebra) -> Weights:
    """A number as a weighted sum of powers of singular values."""
    under = Scalar(value.under, UNDER)
    constant = f.ZERO
    parts: list[tuple[Scalar, Scalar, bool]] = []
    kinds: set[tuple[str, Fraction]] = set()
    if (
        any(isinstance(atom, Thing) for atom in under.atoms())
        or prove(under, ">", 0, algebra.sizes.where(under)) is None
    ):
        raise NoForm("an inequality with a denominator whose sign is not known")
    for monomial, coefficient in value.over.items():
        things = [
            (atom.of, exponent)
            for atom, exponent in monomial
            if isinstance(atom, Thing)
        ]
        rest = tuple(pair for pair in monomial if not isinstance(pair[0], Thing))
        weight = Scalar({rest: coefficient}, UNDER) / under
        if not weight.names() <= set(algebra.known.integers):
            raise NoForm("an inequality whose weights are not made of sizes")
        match things:
            case []:
                constant = constant + weight
            case [(f.Partial(((family, power),), upto), exponent)] if exponent == 1:
                kinds.add((family, power))
                parts.append((weight, upto, False))
            case [(f.Member(family, index), power)]:
                kinds.add((family, power))
                parts.append((weight, index, True))
            case _:
                raise NoForm(
                    "an inequality that is not linear in powers of singular values"
                )
    for base, power in kinds:
        found = algebra.known.families.get(base)
        if (
            found is None
            or found.kind != "singular values"
            or power <= 0
            or len(kinds) > 1
        ):
            raise NoForm(
                "an inequality that is not linear in one power of singular values"
            )
    return Weights(constant, tuple(parts))

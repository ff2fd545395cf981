"""A typed formula into its form; sums over columns and singular values closed, spectral norms and ranks where known.

With u_i = U e_i, the sum of m_i u_i v_i^T over i = 1 .. b is U D V^T, where D has the entries m_1, ..., m_b and then
zeros. For L D R with orthonormal columns in L and rows in R the largest singular value is the largest entry of D.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise

from headwright.check.scalars import Scalar, Thing, absolute, cos, exp, ln, number, pi, sin, sqrt
from headwright.check.scalars.forms import ONE as UNDER
from headwright.check.scalars.forms import Monomial, Terms, rebuilt
from headwright.check.settings.matrices.forms import (
    NONNEGATIVE,
    ONE,
    ZERO,
    Algebra,
    Applied,
    Cut,
    Diagonal,
    Factor,
    Form,
    Index,
    Letter,
    Member,
    Powers,
    Size,
    Traced,
    Unit,
    Word,
    columns_of,
    form,
    image,
    measured,
    mentions,
    minus,
    multiplied,
    numeral,
    plus,
    rows_of,
    scaled,
    text,
    thing,
    word_form,
)
from headwright.check.settings.matrices.known import Known, NoForm
from headwright.formula import tree as t
from headwright.formula.shapes import SCALAR, spelt

MIRRORED: dict[str, str] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "=": "="}
LARGEST = ("max", "min")
Ends = tuple[Scalar, Scalar]
ELEMENTARY = {"exp": exp, "ln": ln, "sin": sin, "cos": cos, "abs": absolute}


def links(relation: t.Relation) -> list[tuple[t.Node, str, t.Node]]:
    """The comparisons of a chain, one by one."""
    return list(zip(relation.terms, relation.comparisons, relation.terms[1:], strict=False))


@dataclass(frozen=True)
class Normal:
    """Brings formulas to forms; bound says what the indices of the sums around stand for."""

    known: Known
    algebra: Algebra
    bound: dict[str, Scalar] = field(default_factory=dict)

    def of(self, node: t.Node) -> Form:
        """The form of a typed formula; NoForm where there is none."""
        algebra = self.algebra
        match node:
            case t.Number(value):
                return numeral(value)
            case t.Name():
                return self.name(node)
            case t.Sum(terms):
                return self.sum([self.of(term) for term in terms])
            case t.Negative(body):
                return scaled(self.of(body), -1)
            case t.Product(factors):
                return algebra.product(*(self.of(factor) for factor in factors))
            case t.Quotient(over, under):
                return algebra.times(self.of(over), algebra.power(self.of(under), Fraction(-1)))
            case t.Power(base, exponent):
                return self.power(self.of(base), self.of(exponent).scalar)
            case t.Transpose(body):
                return algebra.transposed(self.of(body))
            case t.Inner(left, right):
                first, second = (self.column(self.of(side)) for side in (left, right))
                return algebra.times(algebra.transposed(first), second)
            case t.Norm(body, kind):
                return numeral(self.norm(self.of(body), kind))
            case t.Call("diag", (t.BigSum() as run, t.Name("I", size))) if size is not None:
                return self.big_sum(run, along=self.of(t.Name("I", size)).rows)
            case t.Call(function, arguments):
                return self.call(function, [self.of(part) for part in arguments])
            case t.BigSum():
                return self.big_sum(node)
            case t.BigCall("max" | "min"):
                return self.extreme(node)
            case _:
                raise NoForm(f"a {type(node).__name__.lower()} has no form")

    def sum(self, forms: list[Form]) -> Form:
        """A sum; a written 0 takes the shape of the others."""
        tall = next((one for one in forms if not one.is_scalar), None)
        return plus(*(one for one in forms if tall is None or not one.is_scalar or not one.is_zero))

    def column(self, given: Form) -> Form:
        """A vector, standing."""
        return self.algebra.transposed(given) if given.rows == 1 else given

    # Names

    def name(self, node: t.Name) -> Form:
        """A definition, a member of a family, an entry, the identity, a number or a matrix."""
        key = spelt(node)
        if node.index is None and not node.primes and node.base in self.bound:
            return numeral(self.bound[node.base])
        if node.base in ("oo", "infinity", "infty"):
            raise NoForm("infinity is not a number")
        family = self.known.family(node)
        shape = self.known.shape_of(node)
        if family is None and isinstance(node.index, t.Listing) and shape == SCALAR:
            return self.entry(node.base, node.index.items)
        if family is None and node.index is not None and self._depends(node.index):
            if shape == SCALAR and key not in self.known.given.shapes:
                return numeral(self.algebra.members(((node.base, Fraction(1)),), self.index(node.index)))
            raise NoForm(f"{key} inside a sum over its index")
        definition = self.known.definition(node)
        if definition is not None:
            return replace(self, bound={}).of(definition)
        if family is not None and node.index is not None:
            return self.member(family.base, self.index(node.index))
        if self.known.is_cut(node):
            return self.cut(node)
        if shape is None and node.base == "I" and node.index is not None:
            size = int(node.index.value) if isinstance(node.index, t.Number) else spelt(node.index)
            return word_form((), size, size)
        if shape is None or shape == SCALAR:
            if node.index is not None and key not in self.known.given.shapes and shape is not None:
                return numeral(self.algebra.members(((node.base, Fraction(1)),), self.index(node.index)))
            if key in ("pi", "e"):
                return numeral(pi() if key == "pi" else exp(ONE))
            return numeral(self.algebra.sizes.name(key))
        return self.matrix(node)

    def index(self, node: t.Node | None) -> Scalar:
        """An index, as a number."""
        return self.algebra.sizes.index(node, self.bound)

    def _depends(self, node: t.Node) -> bool:
        """Whether the index of a sum around occurs here."""
        return any(isinstance(part, t.Name) and part.base in self.bound for part in t.walk(node))

    def matrix(self, node: t.Name) -> Form:
        """A letter, or the diagonal matrix that it is."""
        key = spelt(node)
        shape = self.known.given.shapes.get(key)
        label = key
        if shape is None:
            shape = self.known.given.shapes[f"{node.base}_*"]
            label = f"{node.base}_{self.index(node.index)}"
        if self.known.fact(key, "diagonal"):
            values = [f.base for f in self.known.families.values() if f.of == key and f.kind == "singular values"]
            powers = ((values[0] if values else key, Fraction(1)),)
            factor: Factor = Diagonal(powers, self.algebra.sizes.of(shape.rows), shape.rows)
        else:
            factor = Letter(label, shape.rows, shape.columns)
        return word_form((factor,), shape.rows, shape.columns)

    def member(self, base: str, index: Scalar) -> Form:
        """sigma_k, or u_k = U e_k. The index lies between 1 and the number of members: otherwise there is none."""
        family = self.known.families[base]
        if family.kind == "singular values":
            self._exists(index, family.size)
            return numeral(self.algebra.members(((base, Fraction(1)),), index))
        return self.algebra.times(self.of(t.Name(family.of)), self._unit(index, family.size))

    def entry(self, base: str, places: Sequence[t.Node]) -> Form:
        """A_ij = e_i^T A e_j."""
        whole = replace(self, bound={}).of(t.Name(base))
        left, right = (
            self._unit(self.index(place), size) for place, size in zip(places, (whole.rows, whole.columns), strict=True)
        )
        return self.algebra.product(self.algebra.transposed(left), whole, right)

    def _unit(self, index: Scalar, size: Size) -> Form:
        self._exists(index, size)
        return word_form((Unit(index, size),), size, 1)

    def _exists(self, index: Scalar, size: Size) -> None:
        if not any(index == symbol for symbol in self.bound.values()):
            self.algebra.sizes.exists(number(1), index)
            self.algebra.sizes.exists(index, self.algebra.sizes.of(size))

    def cut(self, node: t.Name) -> Form:
        """U_k, the first k columns of U; S_k, the first k rows and columns of S."""
        whole, upto, columns = self.of(t.Name(node.base)), self.index(node.index), written_size(node)
        self.algebra.sizes.exists(ZERO, upto)
        self.algebra.sizes.exists(upto, self.algebra.sizes.of(whole.columns))
        first = word_form((Cut(upto, whole.columns, columns),), whole.columns, columns)
        cut = self.algebra.times(whole, first)
        return (
            self.algebra.times(self.algebra.transposed(first), cut) if self.known.fact(node.base, "diagonal") else cut
        )

    # Functions

    def power(self, base: Form, exponent: Scalar) -> Form:
        """A rational power, or any power of a number."""
        if exponent.rational is None:
            return numeral(base.scalar**exponent)
        return self.algebra.power(base, exponent.rational)

    def norm(self, given: Form, kind: str) -> Scalar:
        """|X|_F = sqrt(trace(X^T X)); |v| likewise; |A|_2 where it is known."""
        if kind == "F" or 1 in (given.rows, given.columns):
            return sqrt(self.algebra.trace(self.algebra.times(self.algebra.transposed(given), given)))
        try:
            return spectral_norm(given, self.algebra)
        except NoForm:
            size, body = _upright(given)  # |c X| = |c| |X|
            return size * thing(Applied("norm", (body,)), NONNEGATIVE)

    def call(self, function: str, forms: list[Form]) -> Form:
        """softmax and relu of matrices, traces, and functions of numbers."""
        given = forms[0]
        match function:
            case "trace":
                return numeral(self.algebra.trace(given))
            case "softmax" | "relu" if not given.is_scalar:
                return image(function, given, self.algebra)
            case "sqrt":
                return numeral(sqrt(given.scalar))
            case "exp" | "ln" | "sin" | "cos" | "abs":
                return numeral(ELEMENTARY[function](given.scalar))
            case "rank" if given.is_zero or not given.is_scalar:
                return numeral(self.rank(given))
            case function if function in LARGEST:
                return numeral(thing(Applied(function, tuple(sorted(forms, key=text)))))
            case _:
                raise NoForm(f"{function} has no form")

    def rank(self, given: Form) -> Scalar:
        """The number of singular values that are not 0, where that is certain."""
        if given.is_zero:
            return ZERO
        try:
            return exact_rank(given, self.algebra)
        except NoForm:
            return thing(Applied("rank", (_upright(given)[1],)), NONNEGATIVE)

    # Sums over an index

    def big_sum(self, node: t.BigSum, along: Size | None = None) -> Form:
        """A sum with its conditions turned into bounds; or its terms along the diagonal of a matrix of a size."""
        symbol = Index(len(self.bound))
        inside = replace(self, bound={**self.bound, node.index: thing(symbol)})
        ends, left_out = self.ends(node)
        parts = [(node.body, ends)]
        for choice in [part for part in t.walk(node.body) if isinstance(part, t.Call) and part.function in LARGEST]:
            parts = [one for body, inner in parts for one in inside.split(body, choice, symbol, inner)]
        summed = [Summation(self.algebra, symbol, *inner).of(inside.term(body, symbol, along)) for body, inner in parts]
        total = plus(*summed)
        for place in left_out:
            without = replace(self, bound={**self.bound, node.index: place}).of(node.body)
            total = minus(total, without)
        return total

    def ends(self, node: t.BigSum | t.BigCall) -> tuple[Ends, list[Scalar]]:
        """From where to where an index runs, and the places that are left out."""
        if node.lower is None or node.upper is None:
            raise NoForm(f"the sum over {node.index} has no bounds")
        ends = self.of(node.lower).scalar, self.of(node.upper).scalar
        left_out: list[Scalar] = []
        for condition in node.conditions:
            if not isinstance(condition, t.Relation):
                raise NoForm(f"the sum over {node.index} is over a set")
            for left, sign, right in links(condition):
                ends = self.restricted(t.Name(node.index), (left, sign, right), ends, left_out)
        return ends, left_out

    def extreme(self, node: t.BigCall) -> Form:
        """The largest or smallest of powers of singular values, which fall with their index: the first, or the last."""
        (low, high), left_out = self.ends(node)
        symbol = Index(len(self.bound))
        inside = replace(self, bound={**self.bound, node.index: thing(symbol)}).of(node.body)
        body = inside.scalar if inside.is_scalar else ZERO
        match list(body.over.items()) if body.whole else []:
            case [(((Thing(of=Member(family, place)), power),), factor)] if power > 0 and place == thing(symbol):
                kind = self.known.families.get(family)
                falls = kind is not None and kind.kind == "singular values"
                if falls and not left_out and self.algebra.sizes.at_most(low, high):
                    end = low if (factor > 0) == (node.word == "max") else high
                    return replace(self, bound={**self.bound, node.index: end}).of(node.body)
        raise NoForm("this largest or smallest has no form")

    def term(self, body: t.Node, symbol: Index, along: Size | None) -> Form:
        """What is summed."""
        found = self.of(body)
        if along is not None:  # the sum of x_i e_i e_i^T
            unit = Unit(thing(symbol), along)
            found = form(along, along, [((unit, replace(unit, turned=True)), found.scalar)])
        return found

    def split(self, body: t.Node, choice: t.Call, symbol: Index, ends: Ends) -> Iterator[tuple[t.Node, Ends]]:
        """max(x_i, y_i) is x_i up to the place k, and y_i beyond it, where x_i - y_i = c (sigma_i - sigma_k), c > 0."""
        if len(choice.arguments) != 2:
            raise NoForm("a largest or smallest of more than two")
        x, y = choice.arguments
        gap, mine = minus(self.of(x), self.of(y)).scalar, thing(symbol)
        match list(gap.over.items()) if gap.whole else []:
            case [
                (((Thing(of=Member(family, first)), p),), c),
                (((Thing(of=Member(like, second)), q),), d),
            ] if (family, p, c) == (like, q, -d) and p > 0 and mine in (first, second):
                place, factor = (second, c) if first == mine else (first, d)
                kind = self.known.families.get(family)
                if kind is not None and kind.kind == "singular values" and not mentions(place, symbol):
                    early, late = (x, y) if (factor > 0) == (choice.function == "max") else (y, x)
                    yield _with(body, choice, early), (ends[0], place - 1)  # at k the two are equal
                    yield _with(body, choice, late), (place, ends[1])
                    return
        yield body, ends

    def restricted(
        self, index: t.Name, condition: tuple[t.Node, str, t.Node], ends: Ends, left_out: list[Scalar]
    ) -> Ends:
        """The bounds of a sum after one more condition on its index; a place that is left out is added to left_out."""
        left, sign, right = condition
        lower, upper = ends
        if right == index:
            left, sign, right = right, MIRRORED.get(sign, sign), left
        if left != index or any(part == index for part in t.walk(right)):
            raise NoForm("a condition of a sum that does not compare its index with something else")
        bound = self.of(right).scalar
        at_most = self.algebra.sizes.at_most
        if sign in ("<", "<="):
            bound = bound - 1 if sign == "<" else bound
            if at_most(bound, upper):
                return lower, bound
        elif sign in (">", ">="):
            bound = bound + 1 if sign == ">" else bound
            if at_most(lower, bound):
                return bound, upper
        elif sign == "!=" and at_most(lower, bound) and at_most(bound, upper) and bound not in left_out:
            left_out.append(bound)
            return lower, upper
        raise NoForm("a condition of a sum that is not known to lie inside its bounds")


def _with(node: t.Node, old: t.Node, new: t.Node) -> t.Node:
    return new if node == old else t.mapped(node, lambda part: _with(part, old, new))


def written_size(node: t.Name) -> Size:
    """The index of a cut as a size: k - 1."""
    return spelt(node.index) if node.index is not None else 0


def _upright(given: Form) -> tuple[Fraction, Form]:
    """A form without its size and its sign."""
    size, body = measured(given)
    return size, min(body, scaled(body, -1), key=text)


@dataclass(frozen=True)
class Summation:
    """A sum over an index from lower to upper."""

    algebra: Algebra
    index: Index
    lower: Scalar
    upper: Scalar

    @property
    def before(self) -> Scalar:
        """The place before the first."""
        return self.lower - 1

    def of(self, body: Form) -> Form:
        """The sum of a form; NoForm where it cannot be closed."""
        sizes = self.algebra.sizes
        if not (sizes.at_most(ZERO, self.before) and sizes.at_most(self.before, self.upper)):
            raise NoForm("a sum whose first place may lie below 1 or beyond its last one")
        parts = []
        for word, value in body.terms:
            under = Scalar(value.under, UNDER)
            if mentions(under, self.index):
                raise NoForm("a sum over quotients that depend on its index")
            parts += [scaled(self._term(m, c, word, body), 1 / under) for m, c in value.over.items()]
        return plus(*parts) if parts else body

    def _term(self, monomial: Monomial, coefficient: Fraction, word: Word, body: Form) -> Form:
        powers: Powers = ()
        strings: list[Word] = []  # numbers that are words with e_i in them
        outside: Terms = {}
        kept = []
        for atom, exponent in monomial:
            of = atom.of if isinstance(atom, Thing) else None
            if not mentions(rebuilt(((atom, Fraction(1)),)), self.index):
                kept.append((atom, exponent))
            elif isinstance(of, Member) and of.index == thing(self.index):
                powers = multiplied(powers, ((of.family, exponent),))
            elif isinstance(of, Traced) and exponent in (1, 2):
                strings += [of.word] * int(exponent)
            else:
                raise NoForm("a sum over something that depends on its index in a way that is not known")
        outside[tuple(kept)] = coefficient
        return scaled(self._joined(word, strings, powers, body), Scalar(outside, UNDER))

    def _joined(self, word: Word, strings: list[Word], powers: Powers, body: Form) -> Form:
        units = [factor for part in (word, *strings) for factor in part if mentions(factor, self.index)]
        alone = form(body.rows, body.columns, [(word, ONE)])
        if not units:
            size = self._family_size(powers)
            return scaled(alone, self._count(powers, self.upper, size) - self._count(powers, self.before, size))
        if len(units) != 2 or not all(isinstance(unit, Unit) and unit.index == thing(self.index) for unit in units):
            raise NoForm("a sum over products of columns that do not come in pairs")
        size = units[0].rows
        whole, closed = self._paired(word, strings)
        total = form(1, 1, []) if closed else form(body.rows, body.columns, [])
        for upto, sign in ((self.upper, 1), (self.before, -1)):
            if upto == 0:
                continue
            self._inside(upto, size)
            diagonal = self.algebra.diagonal(powers, upto, size)
            if closed:
                part = numeral(self.algebra.trace(self._reduced(whole + diagonal, size, size)))
            else:
                place = whole.index(GAP)
                part = self._reduced(whole[:place] + diagonal + whole[place + 1 :], body.rows, body.columns)
            total = plus(total, scaled(part, sign))
        return scaled(alone, total.scalar) if closed else total

    def _reduced(self, word: Word, rows: Size, columns: Size) -> Form:
        front, back = self.algebra.reduced(word)
        return form(rows, columns, [(back, front)])

    def _paired(self, word: Word, strings: list[Word]) -> tuple[Word, bool]:
        """The word with a gap where e_i e_i^T stood; or the inside of e_i^T W e_i, which is closed to a trace."""
        places = [place for place, factor in enumerate(word) if mentions(factor, self.index)]
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
            if all(mentions(end, self.index) for end in ends) and ends[0].turned and not ends[1].turned:
                return inside[1:-1], True
        elif not places and len(strings) == 2:
            back, front = self._facing(strings[1], first=True), self._facing(strings[0], first=False)
            # x^T e_i e_i^T y is a number: the trace of (y x^T) with the gap between them
            return back[1:] + front[:-1], True
        raise NoForm("a sum over products of columns that do not meet")

    def _facing(self, string: Word, *, first: bool) -> Word:
        """A number's word turned so that it begins with e_i^T, or ends with e_i."""
        for candidate in (string, self.algebra.turned(string)):
            end = candidate[0] if first else candidate[-1]
            if mentions(end, self.index) and end.turned == first:
                return candidate
        raise NoForm("a sum over products of columns that do not meet")

    def _count(self, powers: Powers, upto: Scalar, size: Size | None) -> Scalar:
        if upto == 0:
            return ZERO
        if size is not None:
            self._inside(upto, size)
        return self.algebra.partial(powers, upto)

    def _inside(self, upto: Scalar, size: Size) -> None:
        """A sum that goes beyond the last column or singular value has no meaning: its places lie inside."""
        if not self.algebra.sizes.at_most(self.before, self.algebra.sizes.of(size)):
            raise NoForm("a sum that may begin beyond the last column or singular value")
        self.algebra.sizes.exists(upto, self.algebra.sizes.of(size))

    def _family_size(self, powers: Powers) -> Size | None:
        if not powers:
            return None
        sizes = {family.size for base, _ in powers if (family := self.algebra.known.families.get(base)) is not None}
        if len(sizes) != 1:
            raise NoForm("a sum over a family whose length is not known")
        return sizes.pop()


GAP = Unit(ZERO, 0)  # marks the place of e_i e_i^T while a word is put together


@dataclass(frozen=True)
class Block:
    """Places first .. last of a diagonal, and what multiplies each power of sigma_i there."""

    first: Scalar
    last: Scalar
    entry: tuple[tuple[Powers, Scalar], ...]

    def at(self, place: Scalar, algebra: Algebra) -> Scalar:
        """The number at a place."""
        return sum((factor * algebra.members(powers, place) for powers, factor in self.entry), ZERO)


def blocks(given: Form, algebra: Algebra) -> list[Block]:
    """The singular values of a form L D R, up to order and sign: what is on the diagonal; NoForm if it is none."""
    terms = [term for word, value in given.terms for term in _spread(word, value)]
    found = [(*_split(word, given, algebra), value) for word, value in terms]
    if any((left, right) != (found[0][0], found[0][2]) for left, _, right, _ in found):
        raise NoForm("singular values of a sum of different kinds of matrices")
    first, cut_at = ONE, []
    for end in _sorted({diagonal.upto for _, diagonal, _, _ in found}, algebra):
        entry: dict[Powers, Scalar] = {}
        for _, diagonal, _, value in found:
            if algebra.sizes.at_most(end, diagonal.upto):
                entry[diagonal.powers] = entry.get(diagonal.powers, ZERO) + value
        block = Block(first, end, tuple((powers, value) for powers, value in entry.items() if value != 0))
        if first == end:  # one place alone
            block = replace(block, entry=tuple(((), value) for value in (block.at(end, algebra),) if value != 0))
        cut_at += [block] if block.entry else []
        first = end + 1
    return cut_at


def _spread(word: Word, value: Scalar) -> Iterator[tuple[Word, Scalar]]:
    """A word with e_k e_k^T in it as two, one with the first k places on the diagonal and one with the first k - 1."""
    for place, pair in enumerate(pairwise(word)):
        match pair:
            case Unit(index, rows, False), Unit(same, _, True) if index == same:
                before, after = word[:place], word[place + 2 :]
                yield (*before, Diagonal((), index, rows), *after), value
                yield (*before, Diagonal((), index - 1, rows), *after), -value
                return
    yield word, value


def spectral_norm(given: Form, algebra: Algebra) -> Scalar:
    """|L D R|_2 where one block is certain to hold the largest singular value."""
    found = blocks(given, algebra)
    if not found:
        return ZERO
    values, sizes = candidates(given, algebra), [_size(block, algebra) for block in found]
    if len({block.entry[0][0] for block in found}) > 1 or not algebra.sizes.at_most(found[0].first, found[0].last):
        raise NoForm("a spectral norm that may be found in two places")
    if not all(algebra.sizes.at_most(size, sizes[0]) for size in sizes):
        raise NoForm("a spectral norm that may be found in two places")
    return values[0][2]


def candidates(given: Form, algebra: Algebra) -> list[tuple[Scalar, Scalar, Scalar]]:
    """Numbers of which the largest is |L D R|_2, each where a first place is not beyond a last one.

    With one falling power of sigma_i in them the entries of a block all rise or all fall: their sizes are largest at
    its ends.
    """
    found = []
    for block in blocks(given, algebra):
        moving = [powers for powers, _ in block.entry if powers]
        families = [(algebra.known.families.get(family), exponent) for powers in moving for family, exponent in powers]
        falling = all(family and family.kind == "singular values" and exponent > 0 for family, exponent in families)
        if len(moving) > 1 or not falling:
            raise NoForm("the largest of numbers that are not known to decrease")
        try:
            ends = [_size(block, algebra) * algebra.members(block.entry[0][0], block.first)]
        except NoForm:
            if not all(value.names() <= set(algebra.known.integers) for _, value in block.entry):
                raise
            ends = [sign * block.at(place, algebra) for place in (block.first, block.last) for sign in (1, -1)]
        found += [(block.first, block.last, end) for end in dict.fromkeys(ends)]
    return found


def _size(block: Block, algebra: Algebra) -> Scalar:
    """|value|, for the one number of a block, where its sign is known."""
    for _, value in block.entry if len(block.entry) == 1 else ():
        for one in (value, -value):
            if algebra.sizes.at_most(ZERO, one):
                return one
    raise NoForm("a spectral norm that depends on numbers that are not known")


def exact_rank(given: Form, algebra: Algebra) -> Scalar:
    """The rank of L D R where it is certain which entries of D are 0; NoForm elsewhere."""
    for block in blocks(given, algebra):
        if len(block.entry) > 1 or block.entry[0][1].rational is None:
            raise NoForm("a rank that depends on numbers that are not known")
        if not all(algebra.known.fact(f"{family}_*", "positive") for family, _ in block.entry[0][0]):
            raise NoForm("a rank that depends on which singular values are 0")
    return rank_bound(given, algebra)


def rank_bound(given: Form, algebra: Algebra) -> Scalar:
    """What the rank of L D R is at most: the number of places whose coefficient is not 0."""
    return sum((block.last - block.first + 1 for block in blocks(given, algebra)), ZERO)


def _split(word: Word, given: Form, algebra: Algebra) -> tuple[Word, Diagonal, Word]:
    middle = next((place for place, factor in enumerate(word) if isinstance(factor, Diagonal)), None)
    for place in range(len(word) + 1) if middle is None else (middle,):
        left, right = word[:place], word[place + (middle is not None) :]
        if _isometry(left, algebra) and _isometry(algebra.turned(right), algebra):
            size = columns_of(left[-1]) if left else rows_of(right[0]) if right else given.rows
            factor = word[place] if middle is not None else Diagonal((), algebra.sizes.of(size), size)
            if isinstance(factor, Diagonal):
                return left, factor, right
    raise NoForm("singular values of a matrix about which too little is known")


def _isometry(word: Word, algebra: Algebra) -> bool:
    """Whether a product keeps all lengths: W^T W = I."""
    fact = algebra.known.fact
    return all(
        isinstance(factor, Letter)
        and (
            fact(factor.name, "permutation", "orthogonal")
            or (not factor.turned and fact(factor.name, "orthonormal columns"))
        )
        for factor in word
    )


def _sorted(ends: set[Scalar], algebra: Algebra) -> list[Scalar]:
    def order(left: Scalar, right: Scalar) -> int:
        if algebra.sizes.at_most(left, right):
            return -1
        if algebra.sizes.at_most(right, left):
            return 1
        raise NoForm("two sums end at places of which neither is known to come first")

    return sorted(ends, key=cmp_to_key(order))

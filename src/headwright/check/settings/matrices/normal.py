"""A typed formula into its form; sums over columns and singular values closed, spectral norms and ranks where known.

With u_i = U e_i, the sum of m_i u_i v_i^T over i = 1 .. b is U D V^T, where D has the entries m_1, ..., m_b and then
zeros. For L D R with orthonormal columns in L and rows in R the largest singular value is the largest entry of D.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cmp_to_key

from headwright.check.settings.matrices.forms import (
    Algebra,
    Applied,
    Atom,
    Diagonal,
    Factor,
    Form,
    Letter,
    Member,
    Monomial,
    Powers,
    Size,
    Symbol,
    Traced,
    Unit,
    Word,
    atom,
    collected,
    columns_of,
    image,
    mentions,
    minus,
    multiplied,
    number,
    plus,
    rows_of,
    scaled,
    size_form,
    turned,
    word_form,
)
from headwright.check.settings.matrices.known import Known, NoForm
from headwright.formula.shapes import SCALAR, plain
from headwright.formula.tree import (
    BigSum,
    Call,
    Inner,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Transpose,
    walk,
)

_TURNED: dict[str, str] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "=": "="}


def restricted(
    normal: Normal, index: Name, condition: tuple[Node, str, Node], ends: tuple[Form, Form], left_out: list[Form]
) -> tuple[Form, Form]:
    """The bounds of a sum after one more condition on its index; a place that is left out is added to left_out."""
    left, sign, right = condition
    lower, upper = ends
    if right == index:
        left, sign, right = right, _TURNED.get(sign, sign), left
    if left != index or any(part == index for part in walk(right)):
        raise NoForm("a condition of a sum that does not compare its index with something else")
    bound = normal.of(right)
    at_most = normal.algebra.integers.at_most
    if sign in ("<", "<="):
        new = minus(bound, number(1)) if sign == "<" else bound
        if at_most(new, upper):
            return lower, new
    elif sign in (">", ">="):
        new = plus(bound, number(1)) if sign == ">" else bound
        if at_most(lower, new):
            return new, upper
    elif sign == "!=" and at_most(lower, bound) and at_most(bound, upper) and bound not in left_out:
        left_out.append(bound)
        return lower, upper
    raise NoForm("a condition of a sum that is not known to lie inside its bounds")


def links(relation: Relation) -> list[tuple[Node, str, Node]]:
    """The comparisons of a chain, one by one."""
    return list(zip(relation.terms, relation.comparisons, relation.terms[1:], strict=False))


@dataclass(frozen=True)
class Summation:
    """A sum over a symbol from lower to upper."""

    algebra: Algebra
    index: Symbol
    lower: Form
    upper: Form

    def of(self, body: Form) -> Form:
        """The sum of a form; NoForm where it cannot be closed."""
        before = minus(self.lower, number(1))
        integers = self.algebra.integers
        if not (integers.at_most(number(0), before) and integers.at_most(before, self.upper)):
            raise NoForm("a sum whose first place may lie below 1 or beyond its last one")
        parts = [self._term(*term, body, before) for term in body.terms]
        return plus(*parts) if parts else body

    def _term(self, monomial: Monomial, word: Word, value: Fraction, body: Form, before: Form) -> Form:
        powers: Powers = ()
        strings: list[Word] = []  # numbers that are words with e_i in them
        outside: list[tuple[Atom, Fraction]] = []
        here = atom(self.index)
        for item, exponent in monomial:
            if not mentions(item, self.index):
                outside.append((item, exponent))
            elif isinstance(item, Member) and item.index == here:
                powers = multiplied(powers, ((item.family, exponent),))
            elif isinstance(item, Traced) and exponent in (1, 2):
                strings += [item.word] * int(exponent)
            else:
                raise NoForm("a sum over something that depends on its index in a way that is not known")
        front = scaled(self.algebra.monomial(tuple(outside)), value)
        joined = self._joined(word, strings, powers, body, before)
        return self.algebra.times(front, joined)

    def _joined(self, word: Word, strings: list[Word], powers: Powers, body: Form, before: Form) -> Form:
        units = [factor for part in (word, *strings) for factor in part if mentions(factor, self.index)]
        if not units:
            size = self._family_size(powers)
            total = minus(self._count(powers, self.upper, size), self._count(powers, before, size))
            plain = collected(body.rows, body.columns, {((), word): Fraction(1)})
            return self.algebra.times(total, plain)
        if len(units) != 2 or not all(isinstance(unit, Unit) and unit.index == atom(self.index) for unit in units):
            raise NoForm("a sum over products of columns that do not come in pairs")
        size = units[0].size if isinstance(units[0], Unit) else 1
        whole, closed = self._paired(word, strings)
        result = []
        for upto, sign in ((self.upper, 1), (before, -1)):
            diagonal = self._diagonal(powers, upto, size)
            if diagonal is None:
                continue
            if closed:
                inside = self._of(whole + diagonal, size, size)
                result.append(scaled(self.algebra.trace(inside), sign))
            else:
                place = whole.index(_GAP)
                filled = whole[:place] + diagonal + whole[place + 1 :]
                result.append(scaled(self._of(filled, body.rows, body.columns), sign))
        if closed:
            plain = collected(body.rows, body.columns, {((), word): Fraction(1)})
            return self.algebra.times(plus(number(0), *result), plain)
        return plus(collected(body.rows, body.columns, {}), *result)

    def _of(self, word: Word, rows: Size, columns: Size) -> Form:
        front, back = self.algebra.reduced(word)
        return collected(rows, columns, {(monomial, back): value for monomial, _, value in front.terms})

    def _paired(self, word: Word, strings: list[Word]) -> tuple[Word, bool]:
        """The word with a gap where e_i e_i^T stood; or the inside of e_i^T W e_i, which is closed to a trace."""
        places = [place for place, factor in enumerate(word) if mentions(factor, self.index)]
        if len(places) == 2:
            first, second = places
            if second == first + 1 and _faces(word[first], turned_=False) and _faces(word[second], turned_=True):
                return (*word[:first], _GAP, *word[second + 1 :]), False
        elif len(places) == 1 and len(strings) == 1:
            (place,) = places
            if _faces(word[place], turned_=False):
                back = self._facing(strings[0], first=True)
                return (*word[:place], _GAP, *back[1:], *word[place + 1 :]), False
            front = self._facing(strings[0], first=False)
            return (*word[:place], *front[:-1], _GAP, *word[place + 1 :]), False
        elif not places and len(strings) == 1:
            inside = strings[0]
            if _faces(inside[0], turned_=True) and _faces(inside[-1], turned_=False):
                return inside[1:-1], True
        elif not places and len(strings) == 2:
            back, front = self._facing(strings[1], first=True), self._facing(strings[0], first=False)
            # x^T e_i e_i^T y is a number: the trace of (y x^T) with the gap between them
            return back[1:] + front[:-1], True
        raise NoForm("a sum over products of columns that do not meet")

    def _facing(self, string: Word, *, first: bool) -> Word:
        """A number's word turned so that it begins with e_i^T, or ends with e_i."""
        for candidate in (string, turned(string, self.algebra.known)):
            end = candidate[0] if first else candidate[-1]
            if mentions(end, self.index) and _faces(end, turned_=first):
                return candidate
        raise NoForm("a sum over products of columns that do not meet")

    def _diagonal(self, powers: Powers, upto: Form, size: Size) -> Word | None:
        """The diagonal matrix of a sum up to a place; None for none of it, nothing for the identity."""
        if upto.constant == 0:
            return None
        self._inside(upto, size)
        if not powers and upto == size_form(size):
            return ()
        return (Diagonal(powers, upto, size),)

    def _count(self, powers: Powers, upto: Form, size: Size | None) -> Form:
        if upto.constant == 0:
            return number(0)
        if size is None:
            return upto
        self._inside(upto, size)
        return self.algebra.partial(Diagonal(powers, upto, size))

    def _inside(self, upto: Form, size: Size) -> None:
        """A sum that goes beyond the last column or singular value has no meaning: its places lie inside."""
        if not self.algebra.integers.at_most(minus(self.lower, number(1)), size_form(size)):
            raise NoForm("a sum that may begin beyond the last column or singular value")
        self.algebra.integers.exists(upto, size_form(size))

    def _family_size(self, powers: Powers) -> Size | None:
        if not powers:
            return None
        sizes = {family.size for base, _ in powers if (family := self.algebra.known.families.get(base)) is not None}
        if len(sizes) != 1:
            raise NoForm("a sum over a family whose length is not known")
        return sizes.pop()


_GAP = Unit(number(0), 0)  # marks the place of e_i e_i^T while a word is put together


def _faces(factor: object, *, turned_: bool) -> bool:
    return isinstance(factor, Unit) and factor.turned == turned_


@dataclass(frozen=True)
class Block:
    """Places first .. last, and the number that multiplies sigma_i^e there."""

    first: Form
    last: Form
    coefficient: Form


@dataclass(frozen=True)
class Profile:
    """The singular values of a form, up to order and sign."""

    powers: Powers
    blocks: tuple[Block, ...]


def profile(form: Form, algebra: Algebra) -> Profile:
    """The blocks of a form L D R; NoForm if it is none."""
    found = [(*_split(word, form, algebra), monomial, value) for monomial, word, value in form.terms]
    if not found:
        return Profile((), ())
    left, diagonal, right = found[0][:3]
    if any(item[0] != left or item[2] != right or item[1].powers != diagonal.powers for item in found):
        raise NoForm("singular values of a sum of different kinds of matrices")
    ends = _sorted({item[1].upto for item in found}, algebra)
    blocks = []
    first = number(1)
    for end in ends:
        parts = [
            collected(1, 1, {(monomial, ()): value})
            for _, part, _, monomial, value in found
            if algebra.integers.at_most(end, part.upto)
        ]
        coefficient = plus(number(0), *parts)
        if not coefficient.is_zero:
            blocks.append(Block(first, end, coefficient))
        first = plus(end, number(1))
    return Profile(diagonal.powers, tuple(blocks))


def spectral_norm(form: Form, algebra: Algebra) -> Form:
    """|L D R|_2 where one block is certain to hold the largest singular value."""
    found = profile(form, algebra)
    if not found.blocks:
        return number(0)
    families = [algebra.known.families.get(family) for family, _ in found.powers]
    falling = all(family is not None and family.kind == "singular values" for family in families)
    if not falling or any(power < 0 for _, power in found.powers):
        raise NoForm("the largest of numbers that are not known to decrease")
    best = found.blocks[0]
    sizes = [block.coefficient.constant for block in found.blocks]
    largest = sizes[0]
    if largest is None or not algebra.integers.at_most(best.first, best.last):
        raise NoForm("a spectral norm whose first block may be empty or is no number")
    if any(size is None or abs(size) > abs(largest) for size in sizes):
        raise NoForm("a spectral norm that may be found in two places")
    entry = algebra.monomial(tuple((Member(family, best.first), power) for family, power in found.powers))
    return scaled(entry, abs(largest))


def exact_rank(form: Form, algebra: Algebra) -> Form:
    """The rank of L D R where it is certain which entries of D are 0; NoForm elsewhere."""
    found = profile(form, algebra)
    if any(block.coefficient.constant is None for block in found.blocks):
        raise NoForm("a rank that depends on numbers that are not known")
    if not all(algebra.known.fact(f"{family}_*", "positive") for family, _ in found.powers):
        raise NoForm("a rank that depends on which singular values are 0")
    return rank_bound(form, algebra)


def rank_bound(form: Form, algebra: Algebra) -> Form:
    """What the rank of L D R is at most: the number of places whose coefficient is not 0."""
    total = number(0)
    for block in profile(form, algebra).blocks:
        total = plus(total, minus(block.last, block.first), number(1))
    return total


def _split(word: Word, form: Form, algebra: Algebra) -> tuple[Word, Diagonal, Word]:
    for place, factor in enumerate(word):
        if isinstance(factor, Diagonal):
            left, right = word[:place], word[place + 1 :]
            if _isometry(left, algebra) and _isometry(turned(right, algebra.known), algebra):
                return left, factor, right
            raise NoForm("a diagonal matrix between others that may change lengths")
    for place in range(len(word) + 1):
        left, right = word[:place], word[place:]
        if _isometry(left, algebra) and _isometry(turned(right, algebra.known), algebra):
            size = _middle(left, right, form)
            return left, Diagonal((), size_form(size), size), right
    raise NoForm("singular values of a matrix about which too little is known")


def _middle(left: Word, right: Word, form: Form) -> Size:
    if left:
        return columns_of(left[-1])
    return rows_of(right[0]) if right else form.rows


def _isometry(word: Word, algebra: Algebra) -> bool:
    """Whether a product keeps all lengths: W^T W = I."""
    return all(_keeps_lengths(factor, algebra) for factor in word)


def _keeps_lengths(factor: Factor, algebra: Algebra) -> bool:
    if not isinstance(factor, Letter):
        return False
    if algebra.known.fact(factor.name, "permutation", "orthogonal"):
        return True
    return not factor.turned and algebra.known.fact(factor.name, "orthonormal columns")


def _sorted(ends: set[Form], algebra: Algebra) -> list[Form]:
    def order(left: Form, right: Form) -> int:
        if algebra.integers.at_most(left, right):
            return -1
        if algebra.integers.at_most(right, left):
            return 1
        raise NoForm("two sums end at places of which neither is known to come first")

    return sorted(ends, key=cmp_to_key(order))


@dataclass(frozen=True)
class Normal:
    """Brings formulas to forms; bound says which symbols the indices of the sums around stand for."""

    known: Known
    algebra: Algebra
    bound: dict[str, Form] = field(default_factory=dict)

    def of(self, node: Node) -> Form:
        """The form of a typed formula; NoForm where there is none."""
        match node:
            case Number(value):
                return number(value)
            case Name():
                return self.name(node)
            case Sum(terms):
                return self.sum([self.of(term) for term in terms])
            case Negative(body):
                return scaled(self.of(body), -1)
            case Product(factors):
                return self.algebra.product(*(self.of(factor) for factor in factors))
            case Quotient(over, under):
                return self.algebra.times(self.of(over), self.algebra.power(self.of(under), Fraction(-1)))
            case Power(base, exponent):
                return self.power(base, exponent)
            case Transpose(body):
                return self.algebra.turned(self.of(body))
            case Inner(left, right):
                first, second = (self.column(self.of(side)) for side in (left, right))
                return self.algebra.times(self.algebra.turned(first), second)
            case Norm(body, kind):
                return self.norm(self.of(body), kind)
            case Call(function, arguments):
                return self.call(function, [self.of(part) for part in arguments])
            case BigSum():
                return self.big_sum(node)
            case _:
                raise NoForm(f"a {type(node).__name__.lower()} has no form")

    def sum(self, forms: list[Form]) -> Form:
        """A sum; a written 0 takes the shape of the others."""
        tall = next((form for form in forms if not form.is_scalar), None)
        return plus(*(form for form in forms if tall is None or not form.is_scalar or not form.is_zero))

    def column(self, form: Form) -> Form:
        """A vector, standing."""
        return self.algebra.turned(form) if form.rows == 1 else form

    # Names

    def name(self, node: Name) -> Form:
        """A definition, a member of a family, the identity, a number or a matrix."""
        if node.index is None and not node.primes and node.base in self.bound:
            return self.bound[node.base]
        if node.base in ("oo", "infinity", "infty"):
            raise NoForm("infinity is not a number")
        family = self.known.family(node)
        if family is None and node.index is not None and self._depends(node.index):
            if self.known.shape_of(node) == SCALAR and plain(node) not in self.known.given.shapes:
                return atom(Member(node.base, self.index(node.index)))
            raise NoForm(f"{plain(node)} inside a sum over its index")
        definition = self.known.definition(node)
        if definition is not None:
            return replace(self, bound={}).of(definition)
        shape = self.known.shape_of(node)
        if family is not None and node.index is not None:
            return self.member(family.base, self.index(node.index))
        if shape is None and node.base == "I" and node.index is not None:
            size = int(node.index.value) if isinstance(node.index, Number) else plain(node.index)
            return word_form((), size, size)
        if shape is None or (shape.rows == 1 and shape.columns == 1):
            if node.index is not None and plain(node) not in self.known.given.shapes and shape is not None:
                return atom(Member(node.base, self.index(node.index)))
            return atom(Symbol(plain(node)))
        return self.matrix(node)

    def _depends(self, node: Node) -> bool:
        """Whether the index of a sum around occurs here."""
        return any(isinstance(part, Name) and part.base in self.bound for part in walk(node))

    def matrix(self, node: Name) -> Form:
        """A letter, or the diagonal matrix that it is."""
        key = plain(node)
        shape = self.known.given.shapes.get(key)
        label = key
        if shape is None:
            shape = self.known.given.shapes[f"{node.base}_*"]
            label = f"{node.base}_{self.index(node.index)}"
        if self.known.fact(key, "diagonal"):
            if shape.rows != shape.columns:
                raise NoForm(f"{key} is diagonal but not square")
            values = [f.base for f in self.known.families.values() if f.of == key and f.kind == "singular values"]
            powers = ((values[0] if values else key, Fraction(1)),)
            factor = Diagonal(powers, size_form(shape.rows), shape.rows)
            return word_form((factor,), shape.rows, shape.columns)
        return word_form((Letter(label, shape.rows, shape.columns),), shape.rows, shape.columns)

    def member(self, base: str, index: Form) -> Form:
        """sigma_k, or u_k = U e_k. The index lies between 1 and the number of members: otherwise there is none."""
        family = self.known.families[base]
        if not any(index == symbol for symbol in self.bound.values()):
            self.algebra.integers.assume_integer(index)
            self.algebra.integers.exists(number(1), index)
            self.algebra.integers.exists(index, size_form(family.size))
        if family.kind == "singular values":
            return atom(Member(base, index))
        whole = self.of(Name(family.of))
        unit = word_form((Unit(index, family.size),), family.size, 1)
        return self.algebra.times(whole, unit)

    def index(self, node: Node | None) -> Form:
        """An index: a number, a label, or a sum of those."""
        match node:
            case Number(value):
                return number(value)
            case Name(base, None, 0):
                return self.bound.get(base, atom(Symbol(base)))
            case Negative(body):
                return scaled(self.index(body), -1)
            case Sum(terms):
                return plus(*(self.index(term) for term in terms))
            case _:
                raise NoForm("an index that is neither a number nor a name")

    # Functions

    def power(self, base: Node, exponent: Node) -> Form:
        """A rational power."""
        power = self.of(exponent).constant
        if power is None:
            return atom(Applied("power", (self.of(base), self.of(exponent))))
        return self.algebra.power(self.of(base), power)

    def norm(self, form: Form, kind: str) -> Form:
        """|X|_F = sqrt(trace(X^T X)); |v| likewise; |A|_2 where it is known."""
        if kind == "F" or 1 in (form.rows, form.columns):
            square = self.algebra.trace(self.algebra.times(self.algebra.turned(form), form))
            if square.is_zero:
                return square
            return self.algebra.power(square, Fraction(1, 2))
        try:
            return spectral_norm(form, self.algebra)
        except NoForm:
            leading = form.terms[0][2]  # |c X| = |c| |X|
            return scaled(atom(Applied("norm", (scaled(form, 1 / leading),))), abs(leading))

    def call(self, function: str, forms: list[Form]) -> Form:
        """softmax and relu of matrices, traces, and functions of numbers."""
        (form, *others) = forms
        match function:
            case "trace":
                return self.algebra.trace(form)
            case "softmax" | "relu" if not form.is_scalar:
                return image(function, form, self.algebra)
            case "sqrt" if not form.is_zero:
                return self.algebra.power(form, Fraction(1, 2))
            case "exp":
                parts = [self.exponential(monomial, value) for monomial, _, value in form.terms]
                return self.algebra.product(number(1), *parts)
            case "abs":
                square = self.algebra.times(form, form)
                return square if square.is_zero else self.algebra.power(square, Fraction(1, 2))
            case "diag" if not others and not form.is_scalar:
                raise NoForm("diag of a vector has no form")
            case "P" | "E" | "Var":
                raise NoForm(f"{function} has no form")
            case "rank" if not form.is_scalar:
                return self.rank(form)
            case _:
                return atom(Applied(function, tuple(forms)))

    def rank(self, form: Form) -> Form:
        """The number of singular values that are not 0, where that is certain."""
        if form.is_zero:
            return number(0)
        try:
            return exact_rank(form, self.algebra)
        except NoForm:
            return atom(Applied("rank", (scaled(form, 1 / form.terms[0][2]),)))

    def exponential(self, monomial: Monomial, value: Fraction) -> Form:
        """e^(c m) is (e^m)^c, for a rational c and a product m of atoms."""
        whole = collected(1, 1, {(monomial, ()): Fraction(1)})
        return self.algebra.power(atom(Applied("exp", (whole,))), value)

    # Sums over an index

    def big_sum(self, node: BigSum) -> Form:
        """A sum with its conditions turned into bounds."""
        if node.lower is None or node.upper is None:
            raise NoForm(f"the sum over {node.index} has no bounds")
        symbol = Symbol(f"{node.index}@{len(self.bound)}")
        inside = replace(self, bound={**self.bound, node.index: atom(symbol)})
        lower, upper = self.of(node.lower), self.of(node.upper)
        left_out: list[Form] = []
        for condition in node.conditions:
            for left, sign, right in links(condition):
                lower, upper = restricted(self, Name(node.index), (left, sign, right), (lower, upper), left_out)
        total = Summation(self.algebra, symbol, lower, upper).of(inside.of(node.body))
        for place in left_out:
            without = replace(self, bound={**self.bound, node.index: place}).of(node.body)
            total = minus(total, without)
        return total

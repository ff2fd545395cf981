"""Forms: sums of scalar x word of matrices. Two expressions with one form are equal.

Numbers are the exact scalars; those that come from matrices (traces, singular values) are things to them. Products of
matrices are made shorter by what is known of them (P^T P = I, A^T B = 0); permutations are pulled out of softmax and
relu, which work row by row and entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from headwright.check.scalars import POSITIVE, REAL, Range, Scalar, Thing, Where, number, parameter, prove
from headwright.check.scalars.forms import content, of_atom
from headwright.check.scalars.functions import power
from headwright.check.settings.matrices.known import Known, NoForm
from headwright.formula import tree as t
from headwright.formula.evaluate import Budget
from headwright.formula.parse import parse

Size = int | str
ZERO, ONE = number(0), number(1)
NONNEGATIVE = Range(0)


# Numbers that come from matrices: what a Thing is of


@dataclass(frozen=True)
class Index:
    """The index of a sum around, by how many sums are around that."""

    depth: int


@dataclass(frozen=True)
class Member:
    """One of a family of numbers: sigma_k."""

    family: str
    index: Scalar


@dataclass(frozen=True)
class Partial:
    """The sum over i = 1 .. upto of a product of powers of family members with index i."""

    powers: Powers
    upto: Scalar


@dataclass(frozen=True)
class Traced:
    """The trace of a word; for a word of shape 1 x 1, its value."""

    word: Word


@dataclass(frozen=True)
class Applied:
    """A function of forms about which nothing else is known."""

    function: str
    arguments: tuple[Form, ...]


Powers = tuple[tuple[str, Fraction], ...]


def thing(of: Index | Member | Partial | Traced | Applied, known: Range = REAL) -> Scalar:
    """A number that comes from matrices."""
    return of_atom(Thing(text(of), of, known))


# Factors: matrices


@dataclass(frozen=True)
class Letter:
    """A matrix with a name, perhaps transposed. rows and columns are those of the name itself."""

    name: str
    rows: Size
    columns: Size
    turned: bool = False


@dataclass(frozen=True)
class Unit:
    """The unit vector e_i, perhaps transposed."""

    index: Scalar
    rows: Size
    turned: bool = False
    columns: Size = 1


@dataclass(frozen=True)
class Cut:
    """The first columns of the identity, perhaps transposed: X Cut is X without its last columns."""

    upto: Scalar
    rows: Size
    columns: Size
    turned: bool = False


@dataclass(frozen=True)
class Diagonal:
    """The diagonal matrix of products of powers of family members, with zeros after the place upto."""

    powers: Powers
    upto: Scalar
    rows: Size
    turned = False

    @property
    def columns(self) -> Size:
        """It is square."""
        return self.rows


@dataclass(frozen=True)
class Image:
    """softmax (row by row) or relu of a form, perhaps transposed."""

    function: str
    body: Form
    turned: bool = False

    @property
    def rows(self) -> Size:
        """Those of the form."""
        return self.body.rows

    @property
    def columns(self) -> Size:
        """Those of the form."""
        return self.body.columns


Factor = Letter | Unit | Cut | Diagonal | Image
Word = tuple[Factor, ...]


def rows_of(factor: Factor) -> Size:
    """The rows of a factor as it stands."""
    return factor.columns if factor.turned else factor.rows


def columns_of(factor: Factor) -> Size:
    """The columns of a factor as it stands."""
    return factor.rows if factor.turned else factor.columns


@dataclass(frozen=True)
class Form:
    """A sum of terms. The empty word is the number 1 in a form of shape 1 x 1, and I in a square one."""

    rows: Size
    columns: Size
    terms: tuple[tuple[Word, Scalar], ...]

    @property
    def is_scalar(self) -> bool:
        """1 x 1."""
        return self.rows == 1 and self.columns == 1

    @property
    def is_zero(self) -> bool:
        """No terms are left."""
        return not self.terms

    @property
    def scalar(self) -> Scalar:
        """The number that a form of shape 1 x 1 is."""
        if not self.is_scalar:
            raise NoForm("a matrix stands where a number is needed")
        return self.terms[0][1] if self.terms else ZERO


def form(rows: Size, columns: Size, terms: Iterable[tuple[Word, Scalar]]) -> Form:
    """A form from terms: those with one word taken together, zeros dropped, in a fixed order."""
    total: dict[Word, Scalar] = {}
    for word, value in terms:
        total[word] = total[word] + value if word in total else value
    kept = [(word, value) for word, value in total.items() if value != 0]
    return Form(rows, columns, tuple(sorted(kept, key=lambda term: (len(term[0]), text(term[0])))))


def numeral(value: Scalar | Fraction | int) -> Form:
    """A number as a form."""
    return form(1, 1, [((), value if isinstance(value, Scalar) else number(value))])


def word_form(word: Word, rows: Size, columns: Size) -> Form:
    """One word, as a form."""
    return form(rows, columns, [(word, ONE)])


def plus(*forms: Form) -> Form:
    """The sum of forms of one shape."""
    return form(forms[0].rows, forms[0].columns, [term for one in forms for term in one.terms])


def scaled(given: Form, factor: Scalar | Fraction | int) -> Form:
    """A form times a number."""
    return form(given.rows, given.columns, [(word, value * factor) for word, value in given.terms])


def minus(left: Form, right: Form) -> Form:
    """The difference of two forms."""
    return plus(left, scaled(right, -1))


def measured(given: Form) -> tuple[Fraction, Form]:
    """A positive rational number and what it multiplies: the same for all positive multiples of a form."""
    size = content(given.terms[0][1].over)
    return size, scaled(given, 1 / size)


def mentions(item: object, index: Index) -> bool:
    """Whether the index of a sum occurs anywhere inside."""
    if isinstance(item, Scalar):
        return any(isinstance(atom, Thing) and mentions(atom.of, index) for atom in item.atoms())
    if item == index:
        return True
    if isinstance(item, tuple):
        return any(mentions(part, index) for part in item)
    return any(mentions(getattr(item, name), index) for name in getattr(item, "__dataclass_fields__", ()))


@lru_cache(maxsize=65536, typed=True)
def text(item: object) -> str:
    """A text that says all there is to something, to order things by."""
    if isinstance(item, Scalar):
        return item.key
    if isinstance(item, tuple):
        return "(" + " ".join(map(text, item)) + ")"
    if hasattr(item, "__dataclass_fields__"):
        parts = (text(getattr(item, name)) for name in item.__dataclass_fields__)
        return type(item).__name__ + "<" + " ".join(parts) + ">"
    return repr(item) if isinstance(item, str) else str(item)


@dataclass
class Sizes:
    """Sizes and indices, which are integers, and what is known of them."""

    known: Known
    given: list[tuple[Scalar, str, Scalar]] = field(default_factory=list)
    _answers: dict[tuple[Scalar, int], bool] = field(default_factory=dict)

    def range(self, name: str) -> Range:
        """What is known of a name by itself."""
        if name in self.known.given.shapes and name not in self.known.integers:
            return POSITIVE if self.known.fact(name, "positive") else REAL
        least = 1 if name in self.known.dimensions or name in self.known.given.sizes else None
        return Range(least, integer=True)

    def name(self, name: str) -> Scalar:
        """A name as a number."""
        return parameter(name, self.range(name))

    def of(self, size: Size) -> Scalar:
        """The size of a matrix as a number: n, or k - 1."""
        if isinstance(size, int):
            return number(size)
        return self.name(size) if size.isidentifier() else self.index(parse(size), {})

    def index(self, node: t.Node | None, bound: Mapping[str, Scalar]) -> Scalar:
        """An index: a number, a name, or a sum of those; some names are the indices of sums around."""
        match node:
            case t.Number(value):
                return number(value)
            case t.Name(base, None, 0):
                return bound[base] if base in bound else self.name(base)
            case t.Negative(body):
                return -self.index(body, bound)
            case t.Sum(terms):
                return sum((self.index(part, bound) for part in terms), ZERO)
            case _:
                raise NoForm("an index that is neither a number nor a name")

    def assume(self, low: Scalar, high: Scalar) -> None:
        """Take low <= high for granted."""
        if (high - low).rational is None and (low, "<=", high) not in self.given:
            self.given.append((low, "<=", high))

    def where(self, *values: Scalar) -> Where:
        """What is known, for a proof about these."""
        names = {name for value in values for name in value.names()}
        names |= {name for low, _, high in self.given for name in low.names() | high.names()}
        return Where({name: self.range(name) for name in names}).given(*self.given)

    def exists(self, low: Scalar, high: Scalar) -> None:
        """A member of a family exists where low <= high: that is taken for granted, and noted where it is not known.

        A free index runs over the members there are; where no member can ever exist, nothing is granted.
        """
        given = {*self.known.dimensions, *self.known.given.sizes, *self.known.given.shapes}
        if (low.names() | high.names()) <= given and not self.at_most(low, high):
            if self.below(high, low):
                raise NoForm("it speaks of a column or singular value that never exists")
            self.known.doubts.append("it speaks of a column or singular value that does not exist for all sizes")
            sides = low.names() - high.names(), high.names() - low.names()
            if all(sides) and sides[0] | sides[1] <= set(self.known.dimensions):  # and not only a few columns
                self.known.shrunk.append(f"it speaks of columns or singular values that exist for {low} <= {high} only")
        self.assume(low, high)

    def at_most(self, low: Scalar, high: Scalar) -> bool:
        """Whether low <= high for all integers that are allowed."""
        gap = high - low
        if gap.rational is not None:
            return gap.rational >= 0
        if any(isinstance(atom, Thing) for atom in gap.atoms()):
            return False
        key = gap, len(self.given)
        if key not in self._answers:
            self._answers[key] = prove(low, "<=", high, self.where(low, high)) is not None
        return self._answers[key]

    def below(self, low: Scalar, high: Scalar) -> bool:
        """Whether low < high, for integers."""
        return self.at_most(low + 1, high)


MOST_TERMS = 2000
MOST_WORK = 50_000
HIGHEST_POWER = 16
ORTHOGONAL = ("permutation", "orthogonal")


def multiplied(left: Powers, right: Powers) -> Powers:
    """Powers of family members, multiplied."""
    total: dict[str, Fraction] = {}
    for family, exponent in (*left, *right):
        total[family] = total.get(family, Fraction(0)) + exponent
    return tuple(sorted((family, exponent) for family, exponent in total.items() if exponent))


def cut(word: Word) -> tuple[list[Word], Word]:
    """A word cut where it passes through size 1: the parts that are numbers, and what is left of the word.

    a b^T c d^T is the number b^T c times a d^T.
    """
    parts: list[list[Factor]] = [[]]
    for factor in word:
        if parts[-1] and columns_of(parts[-1][-1]) == 1:
            parts.append([])
        parts[-1].append(factor)
    numbers = [tuple(part) for part in parts if _is_number(part)]
    rest = tuple(factor for part in parts if not _is_number(part) for factor in part)
    return numbers, rest


def _is_number(part: Sequence[Factor]) -> bool:
    return bool(part) and rows_of(part[0]) == 1 and columns_of(part[-1]) == 1


@dataclass(frozen=True)
class Algebra:
    """The rules of the game, with what is known of the names."""

    known: Known
    sizes: Sizes
    work: Budget = field(default_factory=lambda: Budget(MOST_WORK))  # words that may still be made shorter

    # Words

    def turned(self, word: Word) -> Word:
        """The transpose of a word: reversed, each factor transposed."""
        return tuple(
            factor if isinstance(factor, Diagonal) else replace(factor, turned=not factor.turned)
            for factor in reversed(word)
        )

    def reduced(self, word: Word) -> tuple[Scalar, Word]:
        """A word made as short as the rules make it, and the number that comes out in front (0 if all vanishes)."""
        self.work.spend(1)
        front = ONE
        place = 0
        while place < len(word) - 1:
            found = self.neighbours(word[place], word[place + 1])
            if found is None:
                place += 1
                continue
            value, rest = found
            if value == 0:
                return ZERO, ()
            front = front * value
            word = word[:place] + rest + word[place + 2 :]
            place = max(0, place - 1)
        numbers, rest = cut(word)
        for part in numbers:
            front = front * self._value(part)
        return front, rest

    def neighbours(self, left: Factor, right: Factor) -> tuple[Scalar, Word] | None:
        """What two neighbours come to, with the number in front; None where no rule speaks of them."""
        match left, right:
            case Letter(), Letter():
                return self._letters(left, right)
            case Diagonal(), Diagonal():
                powers = multiplied(left.powers, right.powers)
                return ONE, self.diagonal(powers, self._smaller(left.upto, right.upto, left.rows), left.rows)
            case Diagonal(), Unit(index, _, False):
                return self._entry(left, index, right)
            case Unit(index, _, True), Diagonal():
                return self._entry(right, index, left)
            case Unit(first, _, True), Unit(second, _, False):
                if first == second:
                    return ONE, ()
                return (ZERO, ()) if self.sizes.below(first, second) or self.sizes.below(second, first) else None
            case Unit(first, rows, False), Unit(second, _, True) if first == second == ONE:
                return ONE, self.diagonal((), ONE, rows)
            case Cut(first, rows, _, False), Cut(second, _, _, True) if first == second:
                return ONE, self.diagonal((), first, rows)
            case Cut(first, _, _, True), Cut(second, _, _, False) if first == second:
                return ONE, ()
            case Diagonal(powers, upto, rows), Cut(first, _, _, False) if self._beyond(upto, first, powers):
                return ONE, (*((Diagonal(powers, first, rows),) if powers else ()), right)
            case Cut(first, _, _, True), Diagonal(powers, upto, rows) if self._beyond(upto, first, powers):
                return ONE, (left, *((Diagonal(powers, first, rows),) if powers else ()))
        return None

    def _beyond(self, upto: Scalar, first: Scalar, powers: Powers) -> bool:
        """Whether entries of a diagonal matrix, or all of it, do not matter to the first columns of the identity."""
        return (upto != first or not powers) and self.sizes.at_most(first, upto)

    def _letters(self, left: Letter, right: Letter) -> tuple[Scalar, Word] | None:
        fact = self.known.fact
        if left.name == right.name:
            if left.turned != right.turned and fact(left.name, *ORTHOGONAL):
                return ONE, ()
            if left.turned and not right.turned and fact(left.name, "orthonormal columns"):
                return ONE, ()
        elif left.turned and not right.turned and self.known.pair(left.name, right.name, "orthogonal ranges"):
            return ZERO, ()
        if fact(left.name, "permutation") and right.name == "ones" and not right.turned:
            return ONE, (right,)
        if fact(right.name, "permutation") and left.name == "ones" and left.turned:
            return ONE, (left,)
        return None

    def _smaller(self, left: Scalar, right: Scalar, size: Size) -> Scalar:
        if left == right or right == self.sizes.of(size) or self.sizes.at_most(left, right):
            return left
        if left == self.sizes.of(size) or self.sizes.at_most(right, left):
            return right
        raise NoForm("two sums end at places of which neither is known to come first")

    def diagonal(self, powers: Powers, upto: Scalar, size: Size) -> Word:
        """A diagonal matrix as a word; nothing for the identity."""
        return () if not powers and upto == self.sizes.of(size) else (Diagonal(powers, upto, size),)

    def _entry(self, diagonal: Diagonal, index: Scalar, unit: Factor) -> tuple[Scalar, Word] | None:
        """A diagonal matrix times e_i is its i-th entry times e_i."""
        if diagonal.upto != self.sizes.of(diagonal.rows):
            if self.sizes.below(diagonal.upto, index):
                return ZERO, ()
            if not self.sizes.at_most(index, diagonal.upto):
                return None
        return self.members(diagonal.powers, index), (unit,)

    def _value(self, word: Word) -> Scalar:
        """The number that a word of shape 1 x 1 is."""
        if all(isinstance(factor, Letter) and factor.name == "ones" for factor in word) and len(word) == 2:
            return self.sizes.of(columns_of(word[0]))
        return self._thing(min(word, self.turned(word), key=text))

    def _thing(self, word: Word) -> Scalar:
        """The trace of a word; that of W W^T is a sum of squares."""
        half = len(word) // 2
        rotations = (word[place:] + word[:place] for place in range(len(word)))
        square = len(word) % 2 == 0 and any(part[half:] == self.turned(part[:half]) for part in rotations)
        return thing(Traced(word), NONNEGATIVE if square else REAL)

    # Families of numbers

    def members(self, powers: Powers, index: Scalar) -> Scalar:
        """A product of powers of the members with this index."""
        value = ONE
        for family, exponent in powers:
            member = thing(Member(family, index), NONNEGATIVE if self._never_negative(family) else REAL)
            value = value * power(member, exponent)
        return value

    def partial(self, powers: Powers, upto: Scalar) -> Scalar:
        """The sum of the first entries of a diagonal matrix."""
        if not powers:
            return upto
        known = all(exponent % 2 == 0 or self._never_negative(family) for family, exponent in powers)
        return thing(Partial(powers, upto), NONNEGATIVE if known else REAL)

    def _never_negative(self, base: str) -> bool:
        family = self.known.families.get(base)
        return (family is not None and family.kind == "singular values") or self.known.fact(f"{base}_*", "positive")

    # Forms

    def times(self, left: Form, right: Form) -> Form:
        """The product of two forms whose sizes meet; a number may stand on either side."""
        if left.is_scalar or right.is_scalar:
            rows, columns = (right.rows, right.columns) if left.is_scalar else (left.rows, left.columns)
        else:
            rows, columns = left.rows, right.columns
        if len(left.terms) * len(right.terms) > MOST_TERMS:
            raise NoForm(f"more than {MOST_TERMS} terms")
        return self._collected(
            rows, columns, ((first + second, a * b) for first, a in left.terms for second, b in right.terms)
        )

    def _collected(self, rows: Size, columns: Size, terms: Iterable[tuple[Word, Scalar]]) -> Form:
        found = []
        for word, value in terms:
            front, rest = self.reduced(word)
            found.append((rest, value * front))
        return form(rows, columns, found)

    def product(self, *forms: Form) -> Form:
        """The product of several, from left to right."""
        result = forms[0]
        for one in forms[1:]:
            result = self.times(result, one)
        return result

    def transposed(self, given: Form) -> Form:
        """The transpose."""
        if given.is_scalar:
            return given
        return self._collected(given.columns, given.rows, ((self.turned(word), value) for word, value in given.terms))

    def trace(self, given: Form) -> Scalar:
        """The trace of a square form: linear, and blind to rotations and transposes of a word."""
        return sum((value * self._trace(word, given.rows) for word, value in given.terms), ZERO)

    def _trace(self, word: Word, size: Size) -> Scalar:
        if not word:
            return self.sizes.of(size)
        if len(word) == 1 and isinstance(word[0], Diagonal):
            return self.partial(word[0].powers, word[0].upto)
        rotations = [word[place:] + word[:place] for place in range(len(word))]
        for rotation in rotations:
            front, back = self.reduced(rotation)
            if back != rotation:
                return front * self._trace(back, rows_of(rotation[0])) if front != 0 else ZERO
        rotations += [self.turned(rotation) for rotation in rotations]
        return self._thing(min(rotations, key=text))

    def power(self, base: Form, exponent: Fraction) -> Form:
        """A number to a rational power, or a square matrix to a whole one."""
        if base.is_scalar:
            if exponent < 0 and base.is_zero:
                raise NoForm("a division by 0")
            return numeral(power(base.scalar, exponent))
        if exponent.denominator != 1:
            raise NoForm("a power of a matrix that is not whole")
        if abs(exponent) > HIGHEST_POWER:
            raise NoForm(f"a power beyond {HIGHEST_POWER}")
        if exponent < 0:
            return self.power(self._inverse(base), -exponent)
        return self.product(word_form((), base.rows, base.columns), *[base] * int(exponent))

    def _inverse(self, base: Form) -> Form:
        """Of a multiple of a product of orthogonal matrices, such as I."""
        if len(base.terms) != 1:
            raise NoForm("the inverse of a sum of matrices")
        ((word, value),) = base.terms
        if not all(isinstance(factor, Letter) and self.known.fact(factor.name, *ORTHOGONAL) for factor in word):
            raise NoForm("the inverse of a matrix that may have none")
        return form(base.rows, base.columns, [(self.turned(word), 1 / value)])


def image(function: str, body: Form, algebra: Algebra) -> Form:
    """f(body), f being softmax or relu, as a form."""
    rows, columns = body.rows, body.columns
    left: Word = ()
    while (letter := _shared(body, algebra, first=True)) is not None:
        left = (*left, letter)
        body = _without(body, letter, first=True)
    right: Word = ()
    while (letter := _shared(body, algebra, first=False)) is not None:
        right = (letter, *right)
        body = _without(body, letter, first=False)
    if function == "relu":
        if body.is_zero:
            return form(rows, columns, [])
        size, body = measured(body)  # relu(c X) = c relu(X) for c > 0
        return scaled(word_form((*left, Image("relu", body), *right), rows, columns), size)
    body = form(body.rows, body.columns, [(w, c) for w, c in body.terms if not _same_in_each_row(w)])
    return word_form((*left, Image(function, body), *right), rows, columns)


def _shared(body: Form, algebra: Algebra, *, first: bool) -> Letter | None:
    """A permutation that stands first (or last) in every word; ones counts, since P ones = ones."""
    found: Letter | None = None
    for word, _ in body.terms:
        if not word:
            return None
        factor = word[0] if first else word[-1]
        if not isinstance(factor, Letter):
            return None
        if factor.name == "ones" and factor.turned != first:
            continue
        if not algebra.known.fact(factor.name, "permutation") or (found is not None and found != factor):
            return None
        found = factor
    return found


def _without(body: Form, letter: Letter, *, first: bool) -> Form:
    terms = []
    for word, value in body.terms:
        shorter = word[1:] if first else word[:-1]
        terms.append((shorter if (word[0] if first else word[-1]) == letter else word, value))
    return form(body.rows, body.columns, terms)


def _same_in_each_row(word: Word) -> bool:
    """c ones^T: every entry of a row is the same."""
    return bool(word) and isinstance(word[-1], Letter) and word[-1].name == "ones" and word[-1].turned

"""Forms: sums of scalar x word of matrices. Two expressions with one form are equal.

Numbers are the exact scalars; those that come from matrices (traces, singular values) are things to them. Products of
matrices are made shorter by what is known of them (P^T P = I, A^T B = 0); permutations are pulled out of softmax and
relu, which work row by row and entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, reduce

from headwright.formulas import tree as t
from headwright.formulas.evaluate import Budget
from headwright.formulas.parse import parse
from headwright.grading.kinds.matrices.known import Known, NoForm
from headwright.grading.scalars import (
    POSITIVE,
    REAL,
    Range,
    Scalar,
    Thing,
    Where,
    number,
    parameter,
    prove,
)
from headwright.grading.scalars.forms import content, of_atom
from headwright.grading.scalars.functions import power

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


def thing(
    of: Index | Member | Partial | Traced | Applied, known: Range = REAL
) -> Scalar:
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
    return Form(
        rows,
        columns,
        tuple(sorted(kept, key=lambda term: (len(term[0]), text(term[0])))),
    )


def numeral(value: Scalar | Fraction | int) -> Form:
    """A number as a form."""
    return form(1, 1, [((), value if isinstance(value, Scalar) else number(value))])


def word_form(word: Word, rows: Size, columns: Size) -> Form:
    """One word, as a form."""
    return form(rows, columns, [(word, ONE)])


def plus(*forms: Form) -> Form:
    """The sum of forms of one shape."""
    return form(
        forms[0].rows, forms[0].columns, [term for one in forms for term in one.terms]
    )


def scaled(given: Form, factor: Scalar | Fraction | int) -> Form:
    """A form times a number."""
    return form(
        given.rows,
        given.columns,
        [(word, value * factor) for word, value in given.terms],
    )


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
        return any(
            isinstance(atom, Thing) and mentions(atom.of, index)
            for atom in item.atoms()
        )
    if item == index:
        return True
    if isinstance(item, tuple):
        return any(mentions(part, index) for part in item)
    return any(
        mentions(getattr(item, name), index)
        for name in getattr(item, "__dataclass_fields__", ())
    )


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
        least = (
            1
            if name in self.known.dimensions or name in self.known.given.sizes
            else None
        )
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
        names |= {
            name for low, _, high in self.given for name in low.names() | high.names()
        }
        return Where({name: self.range(name) for name in names}).given(*self.given)

    def exists(self, low: Scalar, high: Scalar) -> None:
        """A member of a family exists where low <= high: that is taken for granted, and noted where it is not known.

        A free index runs over the members there are; where no member can ever exist, nothing is granted.
        """
        given = {
            *self.known.dimensions,
            *self.known.given.sizes,
            *self.known.given.shapes,
        }
        if (low.names() | high.names()) <= given and not self.at_most(low, high):
            if self.below(high, low):
                raise NoForm(
                    "it speaks of a column or singular value that never exists"
                )
            self.known.doubts.append(
                "it speaks of a column or singular value that does not exist for all sizes"
            )
            sides = low.names() - high.names(), high.names() - low.names()
            if all(sides) and sides[0] | sides[1] <= set(
                self.known.dimensions
            ):  # and not only a few columns
                self.known.shrunk.append(
                    f"it speaks of columns or singular values that exist for {low} <= {high} only"
                )
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
            self._answers[key] = (
                prove(low, "<=", high, self.where(low, high)) is not None
            )
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
    return tuple(
        sorted((family, exponent) for family, exponent in total.items() if exponent)
    )


@dataclass(frozen=True)
class Algebra:
    """The rules of the game, with what is known of the names."""

    known: Known
    sizes: Sizes
    work: Budget = field(
        default_factory=lambda: Budget(MOST_WORK)
    )  # words that may still be made shorter

    # Words

    def turned(self, word: Word) -> Word:
        """The transpose of a word: reversed, each factor transposed."""
        return tuple(
            factor
            if isinstance(factor, Diagonal)
            else replace(factor, turned=not factor.turned)
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
        parts: list[Word] = [
            ()
        ]  # cut where it passes through size 1: a b^T c d^T is the number b^T c times a d^T
        for factor in word:
            ends = bool(parts[-1]) and columns_of(parts[-1][-1]) == 1
            parts = [*parts, (factor,)] if ends else [*parts[:-1], (*parts[-1], factor)]
        numbers = [
            part
            for part in parts
            if part and rows_of(part[0]) == columns_of(part[-1]) == 1
        ]
        for part in numbers:
            ones = len(part) == 2 and all(map(_is_ones, part))
            front *= (
                self.sizes.of(columns_of(part[0]))
                if ones
                else self._thing(min(part, self.turned(part), key=text))
            )
        return front, tuple(
            factor for part in parts if part not in numbers for factor in part
        )

    def neighbours(self, left: Factor, right: Factor) -> tuple[Scalar, Word] | None:
        """What two neighbours come to, with the number in front; None where no rule speaks of them."""
        match left, right:
            case Letter(), Letter():
                return self._letters(left, right)
            case Diagonal(p, m, rows), Diagonal(q, n):
                return ONE, self.diagonal(
                    multiplied(p, q), self._first(m, n, rows), rows
                )
            case Diagonal(), Unit(index, _, False):
                return self._entry(left, index, right)
            case Unit(index, _, True), Diagonal():
                return self._entry(right, index, left)
            case Unit(), Unit():
                return self._units(left, right)
            case Cut(first, rows, _, False), Cut(second, _, _, True) if first == second:
                return ONE, self.diagonal((), first, rows)
            case Cut(first, _, _, True), Cut(second, _, _, False) if first == second:
                return ONE, ()
            case Diagonal(), Cut(first, _, _, False):
                rest = self._cut_diagonal(left, first)
                return None if rest is None else (ONE, (*rest, right))
            case Cut(first, _, _, True), Diagonal():
                rest = self._cut_diagonal(right, first)
                return None if rest is None else (ONE, (left, *rest))
        return None

    def _letters(self, left: Letter, right: Letter) -> tuple[Scalar, Word] | None:
        """P^T P = I, A^T B = 0, P 1 = 1."""
        fact = self.known.fact
        is_gram = left.turned and not right.turned
        if left.name == right.name and left.turned != right.turned:
            has_unit_columns = is_gram and fact(left.name, "orthonormal columns")
            if has_unit_columns or fact(left.name, *ORTHOGONAL):
                return ONE, ()
        if is_gram and self.known.pair(left.name, right.name, "orthogonal ranges"):
            return ZERO, ()
        ones_right = right.name == "ones" and not right.turned
        if ones_right and fact(left.name, "permutation"):
            return ONE, (right,)
        ones_left = left.name == "ones" and left.turned
        if ones_left and fact(right.name, "permutation"):
            return ONE, (left,)
        return None

    def _first(self, one: Scalar, other: Scalar, rows: Size) -> Scalar:
        """The end of two sums that comes first."""
        for end, beyond in ((one, other), (other, one)):
            is_all = beyond == self.sizes.of(rows)
            if end == beyond or is_all or self.sizes.at_most(end, beyond):
                return end
        raise NoForm("two sums end at places of which neither is known to come first")

    def _entry(
        self, diagonal: Diagonal, index: Scalar, unit: Unit
    ) -> tuple[Scalar, Word] | None:
        """D e_i = d_i e_i, which is 0 beyond the end."""
        is_cut_off = diagonal.upto != self.sizes.of(diagonal.rows)
        if is_cut_off and self.sizes.below(diagonal.upto, index):
            return ZERO, ()
        if is_cut_off and not self.sizes.at_most(index, diagonal.upto):
            return None
        return self.members(diagonal.powers, index), (unit,)

    def _units(self, left: Unit, right: Unit) -> tuple[Scalar, Word] | None:
        """e_i^T e_j is 1 or 0; e_1 e_1^T is diagonal."""
        first, second = left.index, right.index
        if left.turned and not right.turned:
            if first == second:
                return ONE, ()
            is_other = self.sizes.below(first, second) or self.sizes.below(
                second, first
            )
            return (ZERO, ()) if is_other else None
        if right.turned and not left.turned and first == second == ONE:
            return ONE, self.diagonal((), ONE, left.rows)
        return None

    def _cut_diagonal(self, diagonal: Diagonal, first: Scalar) -> Word | None:
        """What is left of a diagonal matrix beside the first columns: what lies beyond does not matter."""
        is_bare = diagonal.upto == first and diagonal.powers
        if is_bare or not self.sizes.at_most(first, diagonal.upto):
            return None
        if not diagonal.powers:
            return ()
        return (Diagonal(diagonal.powers, first, diagonal.rows),)

    def diagonal(self, powers: Powers, upto: Scalar, size: Size) -> Word:
        """A diagonal matrix as a word; nothing for the identity."""
        return (
            ()
            if not powers and upto == self.sizes.of(size)
            else (Diagonal(powers, upto, size),)
        )

    def _thing(self, word: Word) -> Scalar:
        """The trace of a word; that of W W^T is a sum of squares."""
        half = len(word) // 2
        rotations = (word[place:] + word[:place] for place in range(len(word)))
        square = len(word) % 2 == 0 and any(
            part[half:] == self.turned(part[:half]) for part in rotations
        )
        return thing(Traced(word), NONNEGATIVE if square else REAL)

    # Families of numbers

    def members(self, powers: Powers, index: Scalar) -> Scalar:
        """A product of powers of the members with this index."""
        value = ONE
        for family, exponent in powers:
            member = thing(
                Member(family, index),
                NONNEGATIVE if self._never_negative(family) else REAL,
            )
            value = value * power(member, exponent)
        return value

    def partial(self, powers: Powers, upto: Scalar) -> Scalar:
        """The sum of the first entries of a diagonal matrix."""
        if not powers:
            return upto
        known = all(
            exponent % 2 == 0 or self._never_negative(family)
            for family, exponent in powers
        )
        return thing(Partial(powers, upto), NONNEGATIVE if known else REAL)

    def _never_negative(self, base: str) -> bool:
        family = self.known.families.get(base)
        return (
            family is not None and family.kind == "singular values"
        ) or self.known.fact(f"{base}_*", "positive")

    # Forms

    def times(self, left: Form, right: Form) -> Form:
        """The product of two forms whose sizes meet; a number may stand on either side."""
        if left.is_scalar or right.is_scalar:
            rows, columns = (
                (right.rows, right.columns)
                if left.is_scalar
                else (left.rows, left.columns)
            )
        else:
            rows, columns = left.rows, right.columns
        if len(left.terms) * len(right.terms) > MOST_TERMS:
            raise NoForm(f"more than {MOST_TERMS} terms")
        return self._collected(
            rows,
            columns,
            (
                (first + second, a * b)
                for first, a in left.terms
                for second, b in right.terms
            ),
        )

    def _collected(
        self, rows: Size, columns: Size, terms: Iterable[tuple[Word, Scalar]]
    ) -> Form:
        reduced = ((self.reduced(word), value) for word, value in terms)
        return form(
            rows, columns, ((rest, value * front) for (front, rest), value in reduced)
        )

    def product(self, *forms: Form) -> Form:
        """The product of several, from left to right."""
        return reduce(self.times, forms)

    def transposed(self, given: Form) -> Form:
        """The transpose."""
        if given.is_scalar:
            return given
        return self._collected(
            given.columns,
            given.rows,
            ((self.turned(word), value) for word, value in given.terms),
        )

    def trace(self, given: Form) -> Scalar:
        """The trace of a square form: linear, and blind to rotations and transposes of a word."""
        return sum(
            (value * self._trace(word, given.rows) for word, value in given.terms), ZERO
        )

    def _trace(self, word: Word, size: Size) -> Scalar:
        if not word:
            return self.sizes.of(size)
        if len(word) == 1 and isinstance(word[0], Diagonal):
            return self.partial(word[0].powers, word[0].upto)
        rotations = [word[place:] + word[:place] for place in range(len(word))]
        for rotation in rotations:
            front, back = self.reduced(rotation)
            if back != rotation:
                return (
                    front * self._trace(back, rows_of(rotation[0]))
                    if front != 0
                    else ZERO
                )
        rotations += [self.turned(rotation) for rotation in rotations]
        return self._thing(min(rotations, key=text))

    def power(self, base: Form, exponent: Fraction) -> Form:
        """A number to a rational power, or a square matrix to a whole one."""
        if base.is_scalar:
            if exponent < 0 and base.is_zero:
                raise NoForm("a division by 0")
            return numeral(power(base.scalar, exponent))
        if exponent.denominator != 1 or abs(exponent) > HIGHEST_POWER:
            raise NoForm(
                f"a power of a matrix that is not whole, or beyond {HIGHEST_POWER}"
            )
        if exponent < 0:  # of a multiple of a product of orthogonal matrices, such as I
            (word, value), *others = base.terms or (((), ZERO),)
            known = (
                isinstance(factor, Letter) and self.known.fact(factor.name, *ORTHOGONAL)
                for factor in word
            )
            if others or value == 0 or not all(known):
                raise NoForm("the inverse of a matrix that may have none")
            base = form(base.rows, base.columns, [(self.turned(word), 1 / value)])
        return self.product(
            word_form((), base.rows, base.columns), *[base] * abs(int(exponent))
        )


def image(function: str, body: Form, algebra: Algebra) -> Form:
    """f(body), f being softmax or relu, as a form; permutations that all words begin or end with are taken out."""
    rows, columns = body.rows, body.columns
    laws = algebra.known.given.laws
    ends: list[Word] = [(), ()]
    for side in (0, -1) if f"{function} permutes" in laws else ():
        while (letter := _shared(body, algebra, side)) is not None:
            ends[side] = (*ends[0], letter) if side == 0 else (letter, *ends[-1])
            cut = slice(1, None) if side == 0 else slice(-1)
            body = form(
                rows,
                columns,
                [
                    (w[cut] if w[side] == letter else w, value)
                    for w, value in body.terms
                ],
            )
    size = Fraction(1)
    if function == "relu" and body.is_zero:
        return body
    if function == "relu" and "relu scales" in laws:
        size, body = measured(body)  # relu(c X) = c relu(X) for c > 0
    if (
        function == "softmax" and "softmax shifts" in laws
    ):  # what is the same in each row, c ones^T, does not matter
        kept = [
            (w, c)
            for w, c in body.terms
            if not (w and _is_ones(w[-1]) and w[-1].turned)
        ]
        body = form(rows, columns, kept)
    return scaled(
        word_form((*ends[0], Image(function, body), *ends[-1]), rows, columns), size
    )


def _is_ones(factor: Factor) -> bool:
    return isinstance(factor, Letter) and factor.name == "ones"


def _shared(body: Form, algebra: Algebra, side: int) -> Letter | None:
    """A permutation that stands first (or last) in every word; ones counts, since P ones = ones."""
    found: Letter | None = None
    for word, _ in body.terms:
        factor = word[side] if word else None
        if not isinstance(factor, Letter):
            return None
        if factor.name == "ones" and factor.turned != (side == 0):
            continue
        if not algebra.known.fact(factor.name, "permutation") or (
            found is not None and found != factor
        ):
            return None
        found = factor
    return found

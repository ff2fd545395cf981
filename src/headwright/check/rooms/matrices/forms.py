"""Forms: sums of rational number x commuting atoms x word of matrices. Two expressions with one form are equal.

Everything here is plain data with structural equality; text() only orders it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

Size = int | str


# Atoms: numbers that are not known


@dataclass(frozen=True)
class Symbol:
    """A number with a name: d, k, t, pi."""

    name: str


@dataclass(frozen=True)
class Member:
    """One of a family of numbers: sigma_k."""

    family: str
    index: Form


@dataclass(frozen=True)
class Partial:
    """The sum over i = 1 .. upto of a product of powers of family members with index i."""

    powers: Powers
    upto: Form


@dataclass(frozen=True)
class Traced:
    """The trace of a word; for a word of shape 1 x 1, its value."""

    word: Word


@dataclass(frozen=True)
class Root:
    """A sum of several terms, as the base of a power that is negative or no integer."""

    base: Form


@dataclass(frozen=True)
class Prime:
    """A prime number, as the base of a power between 0 and 1."""

    number: int


@dataclass(frozen=True)
class Applied:
    """A function of numbers about which nothing else is known."""

    function: str
    arguments: tuple[Form, ...]


Atom = Symbol | Member | Partial | Traced | Root | Prime | Applied
Powers = tuple[tuple[str, Fraction], ...]
Monomial = tuple[tuple[Atom, Fraction], ...]


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

    index: Form
    size: Size
    turned: bool = False


@dataclass(frozen=True)
class Diagonal:
    """The diagonal matrix of products of powers of family members, with zeros after the place upto."""

    powers: Powers
    upto: Form
    size: Size


@dataclass(frozen=True)
class Image:
    """softmax (row by row) or relu of a form, or anything else that is only equal to itself; perhaps transposed."""

    function: str
    body: Form
    turned: bool = False


Factor = Letter | Unit | Diagonal | Image
Word = tuple[Factor, ...]


@dataclass(frozen=True)
class Form:
    """A sum of terms. The empty word is the number 1 in a form of shape 1 x 1, and I in a square one."""

    rows: Size
    columns: Size
    terms: tuple[tuple[Monomial, Word, Fraction], ...]

    @property
    def is_scalar(self) -> bool:
        """1 x 1."""
        return self.rows == 1 and self.columns == 1

    @property
    def is_zero(self) -> bool:
        """No terms are left."""
        return not self.terms

    @property
    def constant(self) -> Fraction | None:
        """The rational number that this is, if it is one."""
        if not self.is_scalar or len(self.terms) > 1:
            return None
        if not self.terms:
            return Fraction(0)
        monomial, _, coefficient = self.terms[0]
        return None if monomial else coefficient


Terms = Mapping[tuple[Monomial, Word], Fraction]


def collected(rows: Size, columns: Size, terms: Terms) -> Form:
    """A form from terms: zeros dropped, in a fixed order."""
    kept = [(*key, value) for key, value in terms.items() if value]
    return Form(rows, columns, tuple(sorted(kept, key=_order)))


def number(value: Fraction | int) -> Form:
    """A rational number as a form.

    >>> number(3).constant
    Fraction(3, 1)
    """
    return collected(1, 1, {((), ()): Fraction(value)})


def atom(item: Atom, exponent: Fraction | int = 1) -> Form:
    """An atom to a power, as a form."""
    return collected(1, 1, {(((item, Fraction(exponent)),), ()): Fraction(1)})


def size_form(size: Size) -> Form:
    """The size of a matrix as a number."""
    return number(size) if isinstance(size, int) else atom(Symbol(size))


def word_form(word: Word, rows: Size, columns: Size) -> Form:
    """One word, as a form."""
    return collected(rows, columns, {((), word): Fraction(1)})


def plus(*forms: Form) -> Form:
    """The sum of forms of one shape.

    >>> plus(number(1), number(2)).constant
    Fraction(3, 1)
    """
    total: dict[tuple[Monomial, Word], Fraction] = {}
    for form in forms:
        for monomial, word, coefficient in form.terms:
            total[monomial, word] = total.get((monomial, word), Fraction(0)) + coefficient
    return collected(forms[0].rows, forms[0].columns, total)


def scaled(form: Form, factor: Fraction | int) -> Form:
    """A form times a rational number."""
    return collected(form.rows, form.columns, {(m, w): c * factor for m, w, c in form.terms})


def minus(left: Form, right: Form) -> Form:
    """The difference of two forms."""
    return plus(left, scaled(right, -1))


def rows_of(factor: Factor) -> Size:
    """The rows of a factor as it stands."""
    return _sizes(factor)[0]


def columns_of(factor: Factor) -> Size:
    """The columns of a factor as it stands."""
    return _sizes(factor)[1]


def _sizes(factor: Factor) -> tuple[Size, Size]:
    match factor:
        case Letter(_, rows, columns, turned):
            pass
        case Unit(_, size, turned):
            rows, columns = size, 1
        case Diagonal(_, _, size):
            return size, size
        case Image(_, body, turned):
            rows, columns = body.rows, body.columns
    return (columns, rows) if turned else (rows, columns)


def mentions(item: object, symbol: Symbol) -> bool:
    """Whether a symbol occurs anywhere inside."""
    if item == symbol:
        return True
    if isinstance(item, tuple):
        return any(mentions(part, symbol) for part in item)
    parts = getattr(item, "__dataclass_fields__", None)
    return parts is not None and any(mentions(getattr(item, name), symbol) for name in parts)


def atoms_in(item: object) -> Iterable[Atom]:
    """All atoms anywhere inside."""
    if isinstance(item, Symbol | Member | Partial | Traced | Root | Prime | Applied):
        yield item
    if isinstance(item, tuple):
        for part in item:
            yield from atoms_in(part)
    for name in getattr(item, "__dataclass_fields__", ()):
        yield from atoms_in(getattr(item, name))


@lru_cache(maxsize=65536, typed=True)
def text(item: object) -> str:
    """A text to order things by."""
    if isinstance(item, tuple):
        return "(" + " ".join(map(text, item)) + ")"
    if hasattr(item, "__dataclass_fields__"):
        parts = (text(getattr(item, name)) for name in item.__dataclass_fields__)
        return type(item).__name__ + "<" + " ".join(parts) + ">"
    return repr(item) if isinstance(item, str) else str(item)


def _order(term: tuple[Monomial, Word, Fraction]) -> tuple[int, str, str]:
    monomial, word, _ = term
    return len(word), text(word), text(monomial)

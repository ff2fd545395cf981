"""Forms: sums of rational number x commuting atoms x word of matrices. Two expressions with one form are equal.

Products of matrices are made shorter by what is known of them (P^T P = I, A^T B = 0); permutations are pulled out of
softmax and relu, which work row by row and entry by entry; which of two sizes is smaller is decided with z3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from math import floor
from typing import Any

from headwright.check.settings.matrices.known import Known, NoForm
from headwright.formula.evaluate import Budget

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


MILLISECONDS = 3000


@dataclass
class Integers:
    """Names of integers, those of them that are at least 1, and forms that are known not to be negative."""

    names: set[str]
    positive: frozenset[str]
    given: frozenset[str] = frozenset()  # names that the exercise gives: nothing may be assumed about them
    nonnegative: list[Form] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)  # members that were taken to exist
    _answers: dict[tuple[Form, int], bool] = field(default_factory=dict)

    def assume_at_most(self, low: Form, high: Form) -> None:
        """Take low <= high for granted."""
        form = minus(high, low)
        if form.constant is None and form not in self.nonnegative:
            self.nonnegative.append(form)

    def exists(self, low: Form, high: Form) -> None:
        """A member of a family exists where low <= high: that is taken for granted, and noted where it is not known.

        A free index runs over the members there are; where no member can ever exist, nothing is granted.
        """
        spoken = {item.name for form in (low, high) for item in atoms_in(form) if isinstance(item, Symbol)}
        if spoken <= self.given and not self.at_most(low, high):
            if self.below(high, low):
                raise NoForm("a member is spoken of that never exists")
            self.doubts.append("a member is spoken of that does not exist for all sizes")
        self.assume_at_most(low, high)

    def assume_integer(self, form: Form) -> None:
        """The names in an index are those of integers."""
        self.names |= {item.name for item in atoms_in(form) if isinstance(item, Symbol) and "@" not in item.name}

    def is_nonnegative(self, name: str) -> bool:
        """Whether an integer is known not to be negative."""
        return name in self.positive or (name in self.names and self.at_most(number(0), atom(Symbol(name))))

    def at_most(self, low: Form, high: Form) -> bool:
        """Whether low <= high for all integers that are allowed."""
        form = minus(high, low)
        if form.constant is not None:
            return form.constant >= 0
        if form in self.nonnegative:
            return True
        key = form, len(self.nonnegative)
        if key not in self._answers:
            self._answers[key] = self.always(lambda language: [language.real(form) >= 0])
        return self._answers[key]

    def below(self, low: Form, high: Form) -> bool:
        """Whether low < high, for integers."""
        return self.at_most(plus(low, number(1)), high)

    def always(self, claims: Callable[[Language], Iterable[Any]]) -> bool:
        """Whether all claims hold for all integers that satisfy the assumptions."""
        solver, language = self._asked(claims)
        return solver is not None and bool(solver.check() == language.z3.unsat)

    def breaking(self, claims: Callable[[Language], Iterable[Any]], largest: int) -> dict[str, int] | None:
        """Small integers, none above largest, that satisfy the assumptions and break a claim: where to look."""
        solver, language = self._asked(claims)
        if solver is None:
            return None
        for limit in range(1, largest + 1):
            solver.push()
            solver.add(*(symbol <= limit for symbol in language.symbols.values()))
            if solver.check() == language.z3.sat:
                model = solver.model()
                return {name: model.eval(symbol, True).as_long() for name, symbol in language.symbols.items()}
            solver.pop()
        return None

    def _asked(self, claims: Callable[[Language], Iterable[Any]]) -> tuple[Any, Language]:
        """A solver that looks for integers that break a claim; None where a claim cannot be said."""
        z3: Any = import_module("z3")
        language = Language(z3, frozenset(self.names))
        try:
            wanted = z3.And(*claims(language))
            known = [language.real(form) >= 0 for form in self.nonnegative if language.speaks_of(form)]
        except NoForm:
            return None, language
        solver = z3.Solver()
        solver.set("timeout", MILLISECONDS)
        sizes = (symbol >= 1 for name, symbol in language.symbols.items() if name in self.positive)
        solver.add(*known, *sizes, z3.Not(wanted))
        return solver, language


@dataclass
class Language:
    """Forms said in z3's words."""

    z3: Any
    names: frozenset[str]
    symbols: dict[str, Any] = field(default_factory=dict)

    def speaks_of(self, form: Form) -> bool:
        """Whether a form is made of integers alone."""
        try:
            self.real(form)
        except NoForm:
            return False
        return True

    def real(self, form: Form) -> Any:
        """A form in integers, as a real number."""
        total = self.z3.RealVal(0)
        for monomial, word, coefficient in form.terms:
            if word:
                raise NoForm("a matrix stands where an integer is needed")
            value = self.z3.RealVal(str(coefficient))
            for item, exponent in monomial:
                if not isinstance(item, Symbol) or item.name not in self.names or exponent.denominator != 1:
                    raise NoForm(f"{text(item)} is not an integer")
                value = self._times(value, item.name, exponent)
            total = total + value
        return total

    def _times(self, value: Any, name: str, exponent: Fraction) -> Any:
        symbol = self.z3.ToReal(self.symbols.setdefault(name, self.z3.Int(name)))
        for _ in range(abs(int(exponent))):
            value = value * symbol if exponent > 0 else value / symbol
        return value


ORTHOGONAL = ("permutation", "orthogonal")
Scalars = tuple[tuple[Member, Fraction], ...]
Pair = tuple[Scalars, Word]  # what two neighbours come to: numbers in front, and the factors that are left


def turned(word: Word, known: Known) -> Word:
    """The transpose of a word: reversed, each factor transposed."""
    return tuple(_turned(factor, known) for factor in reversed(word))


def _turned(factor: Factor, known: Known) -> Factor:
    match factor:
        case Diagonal():
            return factor
        case Letter(name, rows, columns, flag):
            if known.fact(name, "symmetric"):
                return factor
            return Letter(name, rows, columns, not flag)
        case Unit(index, size, flag):
            return Unit(index, size, not flag)
        case Image(function, body, flag):
            return Image(function, body, not flag)


def neighbours(left: Factor, right: Factor, known: Known, integers: Integers) -> Pair | str | None:
    """What two neighbours come to: 'zero', a shorter product, or None where no rule speaks of them."""
    match left, right:
        case Letter(), Letter():
            return _letters(left, right, known)
        case Image("softmax", body, False), Letter("ones", _, _, False) if body.rows == body.columns:
            return (), (right,)  # the entries of a row sum to 1
        case Letter("ones", _, _, True), Image("softmax", body, True) if body.rows == body.columns:
            return (), (left,)
        case Diagonal(), Diagonal():
            return _diagonals(left, right, integers)
        case Diagonal(), Unit(index, _, False):
            return _entry(left, index, right, integers)
        case Unit(index, _, True), Diagonal():
            return _entry(right, index, left, integers)
        case Unit(first, _, True), Unit(second, _, False):
            if first == second:
                return (), ()
            apart = integers.below(first, second) or integers.below(second, first)
            return "zero" if apart else None
    return None


def _letters(left: Letter, right: Letter, known: Known) -> Pair | str | None:
    if left.name == right.name:
        opposite = left.turned != right.turned or known.fact(left.name, "symmetric")
        if opposite and known.fact(left.name, *ORTHOGONAL):
            return (), ()
        if left.turned and not right.turned and known.fact(left.name, "orthonormal columns"):
            return (), ()
    elif left.turned and not right.turned and known.pair(left.name, right.name, "orthogonal ranges"):
        return "zero"
    if known.fact(left.name, "permutation") and right.name == "ones" and not right.turned:
        return (), (right,)
    if known.fact(right.name, "permutation") and left.name == "ones" and left.turned:
        return (), (left,)
    return None


def _diagonals(left: Diagonal, right: Diagonal, integers: Integers) -> Pair:
    powers = multiplied(left.powers, right.powers)
    if left.upto == right.upto or right.upto == size_form(right.size):
        upto = left.upto
    elif left.upto == size_form(left.size) or integers.at_most(right.upto, left.upto):
        upto = right.upto
    elif integers.at_most(left.upto, right.upto):
        upto = left.upto
    else:
        raise NoForm("two sums end at places of which neither is known to come first")
    whole = not powers and upto == size_form(left.size)
    return (), (() if whole else (Diagonal(powers, upto, left.size),))


def _entry(diagonal: Diagonal, index: Form, unit: Factor, integers: Integers) -> Pair | str | None:
    """A diagonal matrix times e_i is its i-th entry times e_i."""
    if diagonal.upto != size_form(diagonal.size):
        if integers.below(diagonal.upto, index):
            return "zero"
        if not integers.at_most(index, diagonal.upto):
            return None
    return tuple((Member(family, index), power) for family, power in diagonal.powers), (unit,)


def multiplied(left: Powers, right: Powers) -> Powers:
    """Powers of family members, multiplied."""
    total: dict[str, Fraction] = {}
    for family, power in (*left, *right):
        total[family] = total.get(family, Fraction(0)) + power
    return tuple(sorted((family, power) for family, power in total.items() if power))


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


def nonnegative(item: Atom, known: Known, integers: Integers) -> bool:
    """Whether an atom is never negative, where it is defined."""
    match item:
        case Symbol(name):
            return name in ("pi", "e") or known.fact(name, "positive") or integers.is_nonnegative(name)
        case Member(family):
            return _family(family, known)
        case Partial(powers):
            return all(power % 2 == 0 or _family(family, known) for family, power in powers)
        case Traced(word):  # trace(W W^T) is a sum of squares
            half = len(word) // 2
            rotations = (word[place:] + word[:place] for place in range(len(word)))
            return len(word) % 2 == 0 and any(part[half:] == turned(part[:half], known) for part in rotations)
        case Applied(function, _):
            return function in ("exp", "norm", "rank", "abs")
        case Prime():
            return True
        case Root():
            return False


def _family(base: str, known: Known) -> bool:
    family = known.families.get(base)
    return (family is not None and family.kind == "singular values") or known.fact(f"{base}_*", "positive")


MOST_TERMS = 2000
MOST_WORK = 50_000
HIGHEST_POWER = 16


@dataclass(frozen=True)
class Algebra:
    """The rules of the game, with what is known of the names."""

    known: Known
    integers: Integers
    work: Budget = field(default_factory=lambda: Budget(MOST_WORK))  # words that may still be made shorter

    # Products

    def times(self, left: Form, right: Form) -> Form:
        """The product of two forms whose sizes meet; a number may stand on either side."""
        if left.is_scalar or right.is_scalar:
            rows, columns = (right.rows, right.columns) if left.is_scalar else (left.rows, left.columns)
        else:
            rows, columns = left.rows, right.columns
        if len(left.terms) * len(right.terms) > MOST_TERMS:
            raise NoForm(f"more than {MOST_TERMS} terms")
        parts = []
        for one, first, a in left.terms:
            for two, second, b in right.terms:
                numbers, word = self.reduced(first + second)
                front = self._scalars(self.monomial(one + two), numbers)
                parts.append(_with_word(scaled(front, a * b), word, rows, columns))
        return plus(*parts) if parts else collected(rows, columns, {})

    def _scalars(self, left: Form, right: Form) -> Form:
        if right.constant is not None:
            return scaled(left, right.constant)
        if left.constant is not None:
            return scaled(right, left.constant)
        return plus(*(scaled(self.monomial(one + two), a * b) for one, _, a in left.terms for two, _, b in right.terms))

    def product(self, *forms: Form) -> Form:
        """The product of several, from left to right."""
        result = forms[0]
        for form in forms[1:]:
            result = self.times(result, form)
        return result

    def monomial(self, powers: Monomial) -> Form:
        """Atoms multiplied: powers collected, roots to the power 1 and more written out."""
        total: dict[Atom, Fraction] = {}
        for item, exponent in powers:
            total[item] = total.get(item, Fraction(0)) + exponent
        factor = Fraction(1)
        kept: list[tuple[Atom, Fraction]] = []
        expanded: list[Form] = []
        for item, exponent in total.items():
            rest = exponent
            if isinstance(item, Prime):
                factor *= Fraction(item.number) ** floor(exponent)
                rest = exponent - floor(exponent)
            elif isinstance(item, Root) and exponent >= 1:
                expanded.append(self._repeated(item.base, floor(exponent)))
                rest = exponent - floor(exponent)
            if rest:
                kept.append((item, rest))
        front = collected(1, 1, {(tuple(sorted(kept, key=text)), ()): factor})
        for form in expanded:
            front = self._scalars(front, form)
        return front

    def reduced(self, word: Word) -> tuple[Form, Word]:
        """A word made as short as the rules make it, and the number that comes out in front (0 if all vanishes)."""
        self.work.spend(1)
        front = number(1)
        place = 0
        while place < len(word) - 1:
            found = neighbours(word[place], word[place + 1], self.known, self.integers)
            if found is None:
                place += 1
                continue
            if isinstance(found, str):
                return number(0), ()
            scalars, rest = found
            if scalars:
                front = self._scalars(front, self.monomial(scalars))
            word = word[:place] + rest + word[place + 2 :]
            place = max(0, place - 1)
        numbers, rest = cut(word)
        for part in numbers:
            front = self._scalars(front, self._value(part))
        return front, rest

    def _value(self, word: Word) -> Form:
        """The number that a word of shape 1 x 1 is."""
        first, last = word[0], word[-1]
        if (
            len(word) == 2
            and isinstance(first, Letter)
            and isinstance(last, Letter)
            and first.name == last.name == "ones"
        ):
            return size_form(last.rows)
        return atom(Traced(min(word, turned(word, self.known), key=text)))

    # Transposes and traces

    def turned(self, form: Form) -> Form:
        """The transpose."""
        if form.is_scalar:
            return form
        parts = []
        for monomial, word, coefficient in form.terms:
            front, back = self.reduced(turned(word, self.known))
            parts.append(
                _with_word(
                    scaled(self._scalars(self.monomial(monomial), front), coefficient), back, form.columns, form.rows
                )
            )
        return plus(*parts) if parts else collected(form.columns, form.rows, {})

    def trace(self, form: Form) -> Form:
        """The trace of a square form: linear, and blind to rotations and transposes of a word."""
        parts = []
        for monomial, word, coefficient in form.terms:
            value = self._scalars(self.monomial(monomial), self._trace(word, form.rows))
            parts.append(scaled(value, coefficient))
        return plus(number(0), *parts)

    def _trace(self, word: Word, size: Size) -> Form:
        if not word:
            return size_form(size)
        if len(word) == 1 and isinstance(word[0], Diagonal):
            return self.partial(word[0])
        rotations = [word[place:] + word[:place] for place in range(len(word))]
        for rotation in rotations:
            front, back = self.reduced(rotation)
            if back != rotation:
                return self._scalars(front, self._trace(back, rows_of(rotation[0])))
        rotations += [turned(rotation, self.known) for rotation in rotations]
        return atom(Traced(min(rotations, key=text)))

    def partial(self, diagonal: Diagonal) -> Form:
        """The sum of the entries of a diagonal matrix."""
        return atom(Partial(diagonal.powers, diagonal.upto)) if diagonal.powers else diagonal.upto

    # Powers of numbers

    def power(self, base: Form, exponent: Fraction) -> Form:
        """A number to a rational power, or a square matrix to 0, 1, 2, ..."""
        if exponent.denominator == 1 and exponent >= 0:
            if exponent > HIGHEST_POWER:
                raise NoForm(f"a power beyond {HIGHEST_POWER}")
            return self._repeated(base, int(exponent))
        if not base.is_scalar:
            raise NoForm("a power of a matrix that is no natural number")
        if base.is_zero:
            raise NoForm("a division by 0")
        if len(base.terms) == 1:
            single = self._of_one(base, exponent)
            if single is not None:
                return single
        leading = abs(base.terms[0][2])
        sign = -1 if base.terms[0][2] < 0 and exponent.denominator == 1 and exponent.numerator % 2 else 1
        flip = -1 if base.terms[0][2] < 0 and exponent.denominator == 1 else 1
        monic = scaled(base, Fraction(flip) / leading)
        return scaled(self._scalars(self._rational(leading, exponent), atom(Root(monic), exponent)), sign)

    def _of_one(self, base: Form, exponent: Fraction) -> Form | None:
        """(c x^a y^b)^e = c^e x^(ae) y^(be), where that is true for all x and y that are allowed."""
        monomial, _, coefficient = base.terms[0]
        if exponent.denominator != 1:
            alone = len(monomial) == 1 and monomial[0][1] == 1
            if coefficient < 0 or not (alone or all(self.nonnegative(item) for item, _ in monomial)):
                return None
        sign = -1 if coefficient < 0 and exponent.numerator % 2 else 1
        powers = self.monomial(tuple((item, power * exponent) for item, power in monomial))
        return scaled(self._scalars(self._rational(abs(coefficient), exponent), powers), sign)

    def _rational(self, value: Fraction, exponent: Fraction) -> Form:
        if exponent.denominator == 1:
            return number(value ** int(exponent))
        powers: list[tuple[Atom, Fraction]] = []
        for part, sign in ((value.numerator, 1), (value.denominator, -1)):
            powers += [(Prime(prime), sign * count * exponent) for prime, count in _primes(part)]
        return self.monomial(tuple(powers))

    def _repeated(self, base: Form, times: int) -> Form:
        if not times:
            return collected(base.rows, base.columns, {((), ()): Fraction(1)})
        return self.product(*[base] * times)

    def nonnegative(self, item: Atom) -> bool:
        """Whether an atom is never negative, where it is defined."""
        return nonnegative(item, self.known, self.integers)

    def cleared(self, form: Form) -> Form:
        """A form times the denominators in it that are sums; 0 if and only if the form is, where it is defined."""
        for _ in range(8):
            found = [
                (item, exponent)
                for monomial, _, _ in form.terms
                for item, exponent in monomial
                if isinstance(item, Root) and exponent < 0
            ]
            if not found:
                return form
            item = found[0][0]
            lowest = min(exponent for other, exponent in found if other == item)
            parts = [
                _with_word(scaled(self.monomial((*monomial, (item, -lowest))), value), word, form.rows, form.columns)
                for monomial, word, value in form.terms
            ]
            form = plus(*parts)
        return form


def _with_word(front: Form, word: Word, rows: Size, columns: Size) -> Form:
    return collected(rows, columns, {(monomial, word): value for monomial, _, value in front.terms})


def _primes(value: int) -> list[tuple[int, int]]:
    found = []
    divisor = 2
    while divisor * divisor <= value:
        count = 0
        while value % divisor == 0:
            value //= divisor
            count += 1
        if count:
            found.append((divisor, count))
        divisor += 1
        if divisor > 10_000:
            break
    return [*found, (value, 1)] if value > 1 else found


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
            return collected(rows, columns, {})
        size = abs(body.terms[0][2])  # relu(c X) = c relu(X) for c > 0
        return scaled(word_form((*left, Image("relu", scaled(body, 1 / size)), *right), rows, columns), size)
    if function == "softmax":
        kept = {(m, w): c for m, w, c in body.terms if not _same_in_each_row(w)}
        body = collected(body.rows, body.columns, kept)
    return word_form((*left, Image(function, body), *right), rows, columns)


def _shared(body: Form, algebra: Algebra, *, first: bool) -> Letter | None:
    """A permutation that stands first (or last) in every word; ones counts, since P ones = ones."""
    found: Letter | None = None
    for _, word, _ in body.terms:
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
    parts = []
    for monomial, word, value in body.terms:
        shorter = word[1:] if first else word[:-1]
        rest = shorter if (word[0] if first else word[-1]) == letter else word
        parts.append(collected(body.rows, body.columns, {(monomial, rest): value}))
    return plus(*parts)


def _same_in_each_row(word: Word) -> bool:
    """c ones^T: every entry of a row is the same."""
    return bool(word) and isinstance(word[-1], Letter) and word[-1].name == "ones" and word[-1].turned

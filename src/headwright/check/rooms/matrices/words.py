"""Products of matrices made shorter by what is known of them.

Each rule is an identity that holds for all matrices with the facts it asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from headwright.check.rooms.matrices.forms import (
    Diagonal,
    Factor,
    Form,
    Image,
    Letter,
    Member,
    Powers,
    Unit,
    Word,
    columns_of,
    rows_of,
    size_form,
)
from headwright.check.rooms.matrices.integers import Integers
from headwright.check.rooms.matrices.known import Known, NoForm

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

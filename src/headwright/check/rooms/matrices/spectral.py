"""Spectral norms and ranks of L D R with orthonormal columns in L and orthonormal rows in R.

D = diag(c_i sigma_i^e) with c_i constant on blocks of places. The largest singular value is the largest
|c_i| sigma_i^e, which is found at the first place of a block; the rank is at most the number of places with c_i != 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cmp_to_key

from headwright.check.rooms.matrices.algebra import Algebra
from headwright.check.rooms.matrices.forms import (
    Diagonal,
    Factor,
    Form,
    Letter,
    Member,
    Powers,
    Size,
    Word,
    collected,
    columns_of,
    minus,
    number,
    plus,
    rows_of,
    scaled,
    size_form,
)
from headwright.check.rooms.matrices.known import NoForm
from headwright.check.rooms.matrices.words import turned


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

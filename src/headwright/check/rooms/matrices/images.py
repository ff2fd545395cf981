"""softmax and relu of a form, brought to one shape: permutations pulled out on both sides.

softmax works row by row and relu entry by entry, so that for a permutation P
f(P X) = P f(X) and f(X P) = f(X) P; and what is the same in all entries of a row drops out of a softmax.
"""

from __future__ import annotations

from headwright.check.rooms.matrices.algebra import Algebra
from headwright.check.rooms.matrices.forms import Form, Image, Letter, Word, collected, plus, scaled, word_form


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

"""Check a certificate: it is accepted only if the statement is certainly true; any doubt or exception rejects it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from jaxtyping import Float

from headwright.fast.bound import PartOfBound, Sums, check_bound
from headwright.fast.distractors import Places, key_sums
from headwright.fast.exact_numbers import ImprecisionError, ball, doubles, precision
from headwright.fast.granted import check_granted, check_guard
from headwright.fast.key_products import inner_products, sharp_products
from headwright.fast.score_bounds import NOTHING, View, World
from headwright.trusted.certificate import Certificate, KeysName, Statement, Vector, about_heads, document, read
from headwright.trusted.cost import BUDGET, check_cost, keys_cost
from headwright.trusted.keys import Excluded, Keys, Malformed, Reject
from headwright.trusted.words import in_words

MORE_BITS = 768  # for the second look
FEW = 2**10  # keys that are all looked at in Arb then
Matrix = Float[np.ndarray, "n d"]


def excluded(statement: Statement, views: list[View]) -> bool:
    """The heads certainly give some target less than its weight in this scenario; a view for each head, none random."""
    weights = [_weights_above(view) for view in views]
    return any(
        bool(sum((of_head[target] for of_head in weights), arb(0)) < statement.heads * ball(least))
        for target, least in statement.wish.items()
    )


def _weights_above(view: View) -> dict[int, arb]:
    """For each target, not below its weight."""
    statement, places = view.statement, Places(view, {}, {}, one=True)
    others = key_sums(places, [NOTHING] * len(statement.world), set(statement.wish), None)
    scores = {a: view.score(a) for a in statement.wish}
    moved = {a: x + ball(places.of_rival(a) - 1) * (x + view.reference) for a, x in scores.items()}
    powers = {a: (x - others.top).exp() for a, x in moved.items()}
    everything = others.mass + sum(powers.values(), arb(0))
    return {a: power / everything for a, power in powers.items()}


@dataclass(frozen=True)
class Verdict:
    """'verified', 'rejected' or 'unreadable'; in words what was proved or why not; and whether the claim is false.

    >>> Verdict("rejected", "it is not certain").excluded
    False
    """

    word: str
    words: str
    excluded: bool = False  # certainly false, and not only unproved


def verify(text: str, files: Sequence[bytes] = (), budget: float = BUDGET) -> Verdict:
    """The verdict on a certificate about keys; each of the files, .npy contents of float64, must be keys it names.

    What would take the exact checker longer than the budget, in estimated seconds, is rejected.

    >>> verify("{}").word
    'unreadable'
    """
    try:
        said, proof = document(text)
        if about_heads(said):
            raise Reject("it is about whole heads, which the floating-point checker does not cover")  # noqa: TRY301
        certificate = read(said, proof)
        keys = _keys(certificate.statement.keys, files)
        check_cost(keys_cost(certificate), budget)
        _check(certificate, keys)
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        word = "unreadable" if isinstance(error, Malformed) else "rejected"
        return Verdict(word, _reason(error), isinstance(error, Excluded))
    return Verdict("verified", in_words(certificate.statement))


def _reason(error: Exception) -> str:
    if isinstance(error, Reject):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory to check it"
    if isinstance(error, ArithmeticError):
        return "a number in it, or one that follows from it, is too large or too small to be checked in floats"
    return f"the checker stopped: {type(error).__name__} {error}"[:300]


def _keys(names: Sequence[KeysName], files: Sequence[bytes]) -> list[Matrix]:
    """The keys of each scenario, as written out or given; whatever is given must be among them."""
    given = {(keys.n, keys.d, keys.digest): keys for keys in map(Keys.of_npy, files)}
    for shape in given.keys() - {(name.n, name.d, name.digest) for name in names}:
        raise Reject(f"it is about {' and '.join(map(str, names))}, and given were {KeysName(*shape, None)}")
    for name in names:
        if name.rows is None and (name.n, name.d, name.digest) not in given:
            raise Malformed(f"it is about {name}, which it does not hold: give their file, --keys FILE.npy")
    found = [name.rows or given[name.n, name.d, name.digest] for name in names]
    return [np.asarray(keys.numbers, np.float64).reshape(keys.n, keys.d) for keys in found]


def _check(certificate: Certificate, keys: list[Matrix]) -> None:
    """Refuse unless the statement is certainly true: a look in floats, and if that leaves a doubt a sharper one."""
    bits = precision(certificate.statement)
    try:
        try:
            with ctx.workprec(bits):
                _look(certificate, keys, sharp=False)
        except ImprecisionError:
            with ctx.workprec(bits + MORE_BITS):
                _look(certificate, keys, sharp=True)
    except Reject as refused:
        with ctx.workprec(bits):
            if _is_excluded(certificate.statement, keys):
                raise Excluded(str(refused)) from refused
        raise


def _is_excluded(statement: Statement, keys: list[Matrix]) -> bool:
    """The queries certainly do not grant the wish, in some scenario."""
    world = World.of(statement)
    if world.chance or not statement.queries:
        return False
    try:
        return any(excluded(statement, _views(statement, world, rows, statement.queries, sharp=True)) for rows in keys)
    except ImprecisionError:  # scores are beyond the range of doubles
        return False


def _look(certificate: Certificate, keys: list[Matrix], *, sharp: bool) -> None:
    """Refuse unless the statement is certainly true; scenario by scenario, with one pass for all scores."""
    statement, bound, world = certificate.statement, certificate.bound, World.of(certificate.statement)
    check_guard(statement, world, certificate.guard)
    parts = [] if bound is None else [PartOfBound(statement, world, bound, part) for part in bound.parts]
    sums: dict[int, Sums] = {}
    for number, matrix in enumerate(keys):
        mine = {i: part for i, part in enumerate(parts) if number in part.scenarios}
        wanted = [*statement.queries, *(query for part in mine.values() for query in part.queries)]
        views = dict(zip(wanted, _views(statement, world, matrix, wanted, sharp=sharp), strict=True))
        if statement.queries:
            check_granted(statement, [views[query] for query in statement.queries], certificate.guard, number)
        for i, part in mine.items():
            found = part.sums(number, *(views[query] for query in part.queries))
            sums[i] = sums[i].plus(found) if i in sums else found
    if parts:
        check_bound(statement, parts, [sums[i] for i in range(len(parts))])


def _views(statement: Statement, world: World, keys: Matrix, queries: Sequence[Vector], *, sharp: bool) -> list[View]:
    """The keys through each of some queries."""
    centre, different = next(iter(statement.wish)), {query: doubles(query) for query in queries}
    centred, products = inner_products(keys, centre, [] if sharp else list(different.values()))
    if sharp:
        products = [sharp_products(keys, centre, query) for query in different.values()]
    found = {
        query: View(statement, world, centred, product, numbers, closely=sharp and len(keys) <= FEW)
        for (query, numbers), product in zip(different.items(), products, strict=True)
    }
    return [found[query] for query in queries]

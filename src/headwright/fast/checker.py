"""Is the statement of a certificate true? Yes is said only when it certainly is; any doubt or exception says no."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from flint import ctx
from jaxtyping import Float

from headwright.fast.bound import PartOfBound, Sums, check_bound
from headwright.fast.exactly import Beyond, Doubt, doubles, precision
from headwright.fast.granted import check_granted, check_guard
from headwright.fast.passes import inner_products, sharp_products
from headwright.fast.reading import bind
from headwright.fast.view import View, World
from headwright.trusted.certificate import Certificate, Statement, Vector, about_heads, document, read
from headwright.trusted.keys import Malformed, Reject
from headwright.trusted.verify import Verdict as Word
from headwright.trusted.verify import verify as verify_slowly
from headwright.trusted.words import in_words

MORE_BITS = 768  # for the second look
FEW = 2**10  # keys that are all looked at in Arb then


@dataclass(frozen=True)
class Verdict(Word):
    """A verdict, and which checker reached it: 'fast', or 'trusted' where that one was asked.

    >>> verify("{}").checker
    'fast'
    """

    checker: str = "fast"


def verify(text: str, files: Sequence[bytes] = ()) -> Verdict:
    """The verdict on a certificate. Keys that it does not write out are looked for among the contents of .npy files.

    Numbers that doubles do not reach (a bound's query that is not made of doubles, scores beyond 2^900) are left to the
    trusted checker, which is slow and knows no such limits. So are statements about whole heads.

    >>> verify("{}").word, verify("{}").checker
    ('unreadable', 'fast')
    """
    try:
        said, proof = document(text)
        certificate = None if about_heads(said) else read(said, proof)
        if certificate is not None:
            _check(certificate, files)
            return Verdict("verified", in_words(certificate.statement))
    except Beyond:
        pass
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        return Verdict("unreadable" if isinstance(error, Malformed) else "rejected", _reason(error))
    slow = verify_slowly(text, files)
    return Verdict(slow.word, slow.words, slow.excluded, "trusted")


def _check(certificate: Certificate, files: Sequence[bytes]) -> None:
    bits = precision(certificate.statement)
    with ThreadPoolExecutor(1) as pool:
        given = bind(certificate.statement.keys, files, pool)
        keys = [matrix.rows for matrix in given.keys]
        try:
            with ctx.workprec(bits):
                _look(certificate, keys, sharp=False)
        except Doubt:
            given.check()
            with ctx.workprec(bits + MORE_BITS):
                _look(certificate, keys, sharp=True)
        given.check()


def _look(certificate: Certificate, keys: list[Float[np.ndarray, "n d"]], *, sharp: bool) -> None:
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


def _views(
    statement: Statement, world: World, keys: Float[np.ndarray, "n d"], queries: Sequence[Vector], *, sharp: bool
) -> list[View]:
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


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, Reject) else f"the checker stopped: {type(error).__name__} {error}"[:300]

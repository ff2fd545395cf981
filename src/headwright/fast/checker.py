"""Is the statement of a certificate true? Yes is said only when it certainly is; any doubt or exception says no."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from flint import ctx

from headwright.fast.exactly import Beyond, floats, precision
from headwright.fast.granted import check_granted
from headwright.fast.groups import check_confidence
from headwright.fast.impossible import check_impossible
from headwright.fast.passes import inner_products
from headwright.fast.reading import Matrix, check_digests, match
from headwright.fast.scene import Scene
from headwright.fast.shorter import check_none_shorter, used_constraints
from headwright.trusted.certificate import Certificate, about_heads, document, read
from headwright.trusted.numbers import Reject
from headwright.trusted.verify import Verdict, in_words
from headwright.trusted.verify import verify as verify_slowly


def verify(text: str, files: Sequence[bytes] = ()) -> Verdict:
    """The verdict on a certificate. Keys that it does not write out are looked for among the contents of .npy files.

    Numbers that doubles do not reach (a query that is not made of doubles, scores beyond 2^900) are left to the
    trusted checker, which is slow and knows no such limits. So are statements about whole heads, and the words say so.

    >>> verify("{}").word
    'unreadable'
    """
    try:
        said, proof = document(text)
        certificate = None if about_heads(said) else read(said, proof)
    except Exception as error:  # noqa: BLE001  (whatever goes wrong, it is no certificate)
        return Verdict("unreadable", _reason(error))
    if certificate is None:
        slow = verify_slowly(text)
        return Verdict(slow.word, f"{slow.words} (By the trusted checker: the fast one does not read whole heads.)")
    try:
        with ThreadPoolExecutor(1) as pool, ctx.workprec(precision(certificate.statement)):
            names = certificate.statement.keys
            keys = match(names, files, pool)
            _check(certificate, keys)
            check_digests(names, keys)
        return Verdict("verified", in_words(certificate))
    except Beyond:
        return verify_slowly(text, files)
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        return Verdict("rejected", _reason(error))


def _check(certificate: Certificate, keys: list[Matrix]) -> None:
    statement = certificate.statement
    if statement.claim == "impossible":
        check_impossible(certificate, [matrix.rows for matrix in keys])
        return
    check_confidence(statement, len(certificate.queries))
    used = {c.scenario for c in used_constraints(certificate)} if statement.none_shorter > 0 else set()
    queries = [floats(query) for query in certificate.queries]
    bound_query = floats(certificate.bound_query)
    centre = next(iter(statement.wish))
    scenes = {}
    for number, matrix in enumerate(keys):
        through = [*queries, bound_query] if number in used else queries
        centred, products = inner_products(matrix.rows, centre, through)
        views = [Scene(statement, centred, p, q) for p, q in zip(products, through, strict=True)]
        check_granted(statement, views[: len(queries)], number)
        if number in used:
            scenes[number] = views[-1]
    if used:
        check_none_shorter(certificate, scenes)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, Reject) else f"the checker stopped: {type(error).__name__} {error}"[:300]

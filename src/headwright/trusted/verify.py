"""Is the statement of a certificate true? Yes only where it certainly is; any doubt says no."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headwright.trusted.bound import check_bound
from headwright.trusted.certificate import Certificate, KeysName, about_heads, document, read
from headwright.trusted.cost import BUDGET, check_cost, keys_cost
from headwright.trusted.granted import check_granted, check_guard
from headwright.trusted.heads.cost import heads_cost
from headwright.trusted.heads.head import check_heads
from headwright.trusted.keys import Excluded, Keys, Malformed, Reject
from headwright.trusted.words import in_words

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Verdict:
    """'verified', 'rejected' or 'unreadable', and in words what was proved or why not."""

    word: str
    words: str
    excluded: bool = False  # it is rejected, and certainly false


def verify(
    text: str,
    files: Sequence[bytes] = (),
    progress: Progress | None = None,
    budget: float = BUDGET,
) -> Verdict:
    """The verdict on a certificate; each of the files, contents of .npy, must be keys it names.

    What would take longer than the budget, in seconds as `cost` estimates them, is rejected.

    >>> verify("{}").word
    'unreadable'
    """
    try:
        said, proof = document(text)
        if about_heads(said) and files:
            raise Reject("it is about whole heads, and names no keys")  # noqa: TRY301
        if about_heads(said):
            check_cost(heads_cost(said, proof), budget)
            return Verdict("verified", check_heads(said, proof))
        certificate = read(said, proof)
        keys = _keys(certificate.statement.keys, files)
        check_cost(keys_cost(certificate), budget)
        _check(certificate, keys, progress or (lambda _: None))
        return Verdict("verified", in_words(certificate.statement))
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        word = "unreadable" if isinstance(error, Malformed) else "rejected"
        return Verdict(word, _reason(error), isinstance(error, Excluded))


def _reason(error: Exception) -> str:
    if isinstance(error, Reject):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory to check it"
    if isinstance(error, ArithmeticError):
        return "a number in it, or one that follows from it, is too large or too small to check"
    return f"the checker stopped, which proves nothing: {type(error).__name__} {error}"[:300]


def _keys(names: Sequence[KeysName], files: Sequence[bytes]) -> list[Keys]:
    """The keys of each scenario, as written out or given; whatever is given must be among them."""
    given = {(keys.n, keys.d, keys.digest): keys for keys in map(Keys.of_npy, files)}
    for shape in given.keys() - {(name.n, name.d, name.digest) for name in names}:
        about = " and ".join(map(str, names))
        raise Reject(f"it is about {about}, and given were {KeysName(*shape, None)}")
    for name in names:
        if name.rows is None and (name.n, name.d, name.digest) not in given:
            raise Malformed(f"it is about {name}, and does not hold them: give --keys FILE.npy")
    return [name.rows or given[name.n, name.d, name.digest] for name in names]


def _check(certificate: Certificate, keys: list[Keys], progress: Progress) -> None:
    """Reject, unless the queries grant the wish in every scenario, and the bound is proved."""
    statement, guard, bound = certificate.statement, certificate.guard, certificate.bound
    if guard:
        check_guard(statement, guard)
    for number, scenario in enumerate(keys):
        if statement.queries:
            check_granted(statement, guard, scenario, number)
        progress((number + 1) / (len(keys) + 1))
    if bound:
        check_bound(statement, bound, keys)
    progress(1.0)

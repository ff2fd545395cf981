"""Is the statement of a certificate true? Yes only where it certainly is; any doubt says no."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headwright.certificates.exact.bound import check_bound
from headwright.certificates.exact.certificate import (
    Certificate,
    about_heads,
    choose_keys,
    read_certificate,
    read_document,
)
from headwright.certificates.exact.cost import BUDGET, check_cost, keys_cost
from headwright.certificates.exact.heads.cost import heads_cost
from headwright.certificates.exact.heads.head import check_heads
from headwright.certificates.exact.keys import Excluded, KeyMatrix, Malformed, Reject
from headwright.certificates.exact.targets_met import check_guard, check_targets_met
from headwright.certificates.exact.values import Json
from headwright.certificates.exact.words import in_words

Progress = Callable[[float], None]
LONGEST_REASON = 300  # characters, of an error of the checker's own


@dataclass(frozen=True)
class ExactVerdict:
    """'verified', 'rejected' or 'unreadable', and in words what was proved or why not."""

    word: str
    words: str
    excluded: bool = False  # it is rejected, and certainly false
    stopped: bool = (
        False  # it is rejected because the checker failed: an error of its own
    )


def verify(
    text: str,
    files: Sequence[bytes] = (),
    progress: Progress | None = None,
    budget: float = BUDGET,
) -> ExactVerdict:
    """The verdict on a certificate; each of the files, contents of .npy, must be keys it names.

    What would take longer than the budget, in seconds as `cost` estimates them, is rejected.

    >>> verify("{}").word
    'unreadable'
    """
    try:
        proved = _prove(text, files, progress or _ignore_progress, budget)
    except Exception as error:  # noqa: BLE001  (a doubt of any kind rejects)
        return _refusal(error)
    return ExactVerdict("verified", proved)


def _prove(text: str, files: Sequence[bytes], progress: Progress, budget: float) -> str:
    """What is proved, in words; any exception is a refusal."""
    statement, evidence = read_document(text)
    if about_heads(statement):
        if files:
            raise Reject("it is about whole heads, and names no keys")
        check_cost(heads_cost(statement, evidence), budget)
        return check_heads(statement, evidence)
    return _prove_about_keys(statement, evidence, files, progress, budget)


def _prove_about_keys(
    statement: Json,
    evidence: Json,
    files: Sequence[bytes],
    progress: Progress,
    budget: float,
) -> str:
    certificate = read_certificate(statement, evidence)
    scenarios = choose_keys(certificate.statement.keys, files)
    check_cost(keys_cost(certificate), budget)
    _check(certificate, scenarios, progress)
    return in_words(certificate.statement)


def _check(
    certificate: Certificate, scenarios: Sequence[KeyMatrix], progress: Progress
) -> None:
    """Reject, unless the queries meet the targets in every scenario, and the bound is proved."""
    statement = certificate.statement
    if certificate.guard:
        check_guard(statement, certificate.guard)
    for number, keys in enumerate(scenarios):
        if statement.queries:
            check_targets_met(statement, certificate.guard, keys, number)
        progress((number + 1) / (len(scenarios) + 1))
    if certificate.bound:
        check_bound(statement, certificate.bound, scenarios)
    progress(1.0)


def _refusal(error: Exception) -> ExactVerdict:
    """Any doubt and any accident is a refusal; only an unknown exception is a failure of our own."""
    if isinstance(error, Malformed):
        return ExactVerdict("unreadable", str(error))
    if isinstance(error, Reject):
        is_false = isinstance(error, Excluded)
        return ExactVerdict("rejected", str(error), excluded=is_false)
    if isinstance(error, MemoryError):
        return ExactVerdict("rejected", "there is not enough memory to check it")
    if isinstance(error, ArithmeticError):
        return ExactVerdict(
            "rejected",
            "a number in it, or one that follows from it, is too large or too small to check",
        )
    accident = f"{type(error).__name__} {error}"
    reason = f"the checker stopped, which proves nothing: {accident}"
    return ExactVerdict("rejected", reason[:LONGEST_REASON], stopped=True)


def _ignore_progress(_: float) -> None:
    pass

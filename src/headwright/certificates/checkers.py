"""A certificate about keys is verified where two checkers accept it: the exact one and the floating-point one.

Each accepts, or cannot accept. `run_checkers` runs the checkers that are asked for and combines what they say:

    all accept                                      verified
    none accepts                                    rejected
    one accepts, the other cannot                   not confirmed; so is what the proved one does not cover
    one accepts, the other proves the claim false   internal error: one of them is wrong
    one stopped with an error of its own            internal error
    the document is not of the format               unreadable

Unless asked otherwise, both run for up to 10^6 key entries, and above that the exact one alone. Certificates about
whole heads and circuits have one checker, the exact one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headwright.certificates.exact.certificate import about_heads, read_document
from headwright.certificates.exact.cost import BUDGET
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.values import Json
from headwright.certificates.exact.verify import verify as verify_exactly
from headwright.errors import InputError
from headwright.notebook import card, lines

Progress = Callable[[float], None]
CHECKERS = {
    "exact": "exact checker",
    "float": "floating-point checker",
    "proved": "checker with a machine-checked proof",
}
CHOICES = ("both", *CHECKERS)
LONGEST_RUN = 10.0**6  # seconds that the program of the proved checker may run
RANGES_CHECKER = "ranges"  # of certificates about ranges
TEXTS_CHECKER = "every text"  # of certificates about every text
MOST_ENTRIES = 10**6  # of keys: above it the exact checker alone runs, unless asked


@dataclass(frozen=True)
class Opinion:
    """What one checker says of a certificate: 'verified', 'rejected' or 'unreadable', with what was proved or why not.

    The proved one may also say 'not covered' or 'undecided'.

    >>> Opinion("exact", "verified", "For these keys ...").excluded
    False
    """

    checker: str  # a name in CHECKERS
    word: str
    words: str
    excluded: bool = False  # rejected, and the claim is certainly false
    stopped: bool = False  # rejected because the checker failed: an error of its own


@dataclass(frozen=True)
class CertificateVerdict:
    """The verdict of all checkers that ran: 'verified', 'rejected', 'not confirmed', 'unreadable' or 'internal error'.

    >>> CertificateVerdict("verified", "For these keys ...", ("exact", "float")).by
    'exact and floating-point checkers'
    """

    word: str
    words: str
    checkers: tuple[str, ...]
    runs: int = 0  # of the model itself, for a certificate about every text

    @property
    def by(self) -> str:
        """The checkers that ran, in words."""
        return in_words(self.checkers)

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's own types, the words in full."""
        fields: dict[str, Any] = {
            "verdict": self.word,
            "words": self.words,
            "checkers": list(self.checkers),
        }
        if TEXTS_CHECKER in self.checkers:
            fields["runs"] = self.runs
        return fields

    def __repr__(self) -> str:
        """The verdict, and who reached it, in a few lines."""
        return lines(self.word, self.words, [("checked by", self.by)])

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and who reached it."""
        return card(self.word, self.words, [("checked by", self.by)])


def in_words(checkers: Sequence[str]) -> str:
    """The names of checkers, for people.

    >>> in_words(("exact",))
    'exact checker'
    >>> in_words(("exact", "float"))
    'exact and floating-point checkers'
    """
    names = []
    for name in checkers:
        names.append(CHECKERS.get(name, f"{name.replace(' ', '-')} checker"))
    if len(names) == 1:
        return names[0]
    shorter = [name.removesuffix(" checker") for name in names]
    return f"{' and '.join(shorter)} checkers"


def run_checkers(
    text: str,
    files: Sequence[bytes] = (),
    checker: str | None = None,
    progress: Progress | None = None,
    budget: float = BUDGET,
) -> CertificateVerdict:
    """The verdict on a certificate about keys or heads, of the checkers that a choice means.

    >>> run_checkers("{}").word, run_checkers("{}").checkers
    ('unreadable', ('exact', 'float'))
    """
    opinions = []
    for name in _checkers_for(text, checker):
        opinions.append(_ask(name, text, files, progress, budget))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return combine(opinions, digest)


def which(checker: str | None, entries: int) -> tuple[str, ...]:
    """The checkers that a choice means for a certificate about so many key entries.

    >>> which(None, 10**6), which(None, 10**6 + 1), which("both", 10**7)
    (('exact', 'float'), ('exact',), ('exact', 'float'))
    """
    if checker is not None and checker not in CHOICES:
        raise InputError(
            f"checker is {checker!r}: expected one of {', '.join(CHOICES)}"
        )
    if checker is None and entries > MOST_ENTRIES:
        return ("exact",)
    if checker is None or checker == "both":
        return ("exact", "float")
    return (checker,)


def combine(opinions: Sequence[Opinion], digest: str) -> CertificateVerdict:
    """One verdict from what the checkers say of the certificate with this digest.

    >>> combine([Opinion("exact", "verified", "..."), Opinion("float", "rejected", "not certain")], "...").word
    'not confirmed'
    """
    ran = tuple(opinion.checker for opinion in opinions)
    accepting = [opinion for opinion in opinions if opinion.word == "verified"]
    others = [opinion for opinion in opinions if opinion.word != "verified"]
    if not others:
        return CertificateVerdict("verified", accepting[0].words, ran)
    # A checker that failed is a mistake of ours, whatever the other one says.
    if any(opinion.stopped for opinion in others):
        return CertificateVerdict("internal error", _report_of(opinions, digest), ran)
    for opinion in others:
        if opinion.word == "unreadable":
            return CertificateVerdict("unreadable", opinion.words, ran)
    # Of the proved one: not covered, or undecided.
    if any(opinion.word != "rejected" for opinion in others):
        return CertificateVerdict("not confirmed", _opinions_in_words(opinions), ran)
    # What is left rejects: all of them, or one against another that accepts.
    if not accepting:
        reasons = {opinion.words for opinion in others}
        words = others[0].words if len(reasons) == 1 else _opinions_in_words(others)
        return CertificateVerdict("rejected", words, ran)
    if any(opinion.excluded for opinion in others):
        return CertificateVerdict("internal error", _report_of(opinions, digest), ran)
    return CertificateVerdict("not confirmed", _opinions_in_words(opinions), ran)


def _opinions_in_words(opinions: Sequence[Opinion]) -> str:
    """What each of the checkers says, in one sentence."""
    verbs = {
        "verified": "accepts it",
        "unreadable": "cannot read it",
        "not covered": "does not cover it",
    }
    clauses = []
    for opinion in opinions:
        verb = verbs.get(opinion.word, "cannot accept it")
        if opinion.excluded:
            verb = "proves it false"
        clauses.append(f"the {CHECKERS[opinion.checker]} {verb}: {opinion.words}")
    return "; ".join(clauses)


def _report_of(opinions: Sequence[Opinion], digest: str) -> str:
    """An error of ours, with what to report."""
    sentence = _opinions_in_words(opinions)
    return (
        "this is an error in headwright and no verdict; please report it with the certificate, whose sha256 is "
        f"{digest}. {sentence[:1].upper()}{sentence[1:]}"
    )


def _checkers_for(text: str, checker: str | None) -> tuple[str, ...]:
    """The checkers to run on a document."""
    try:
        statement, _ = read_document(text)
    except Reject:  # each of them will say so
        return which(checker, 0)
    chosen = which(checker, _key_entries(statement))
    if not about_heads(statement) or chosen in (("exact",), ("proved",)):
        return chosen
    if checker is not None:
        raise InputError(
            f"--checker {checker} beside a certificate about whole heads: the exact checker covers those, "
            "and the proved one some; expected --checker exact or proved"
        )
    return ("exact",)


def _key_entries(statement: Json) -> int:
    """How many key entries a statement is about; what is not of the format counts as none, and is refused later."""
    names = statement.get("keys") if isinstance(statement, dict) else None
    entries = 0
    for name in names if isinstance(names, list) else ():
        if not isinstance(name, dict):
            continue
        n = name.get("n")
        d = name.get("d")
        if type(n) is int and type(d) is int:
            entries += n * d
    return entries


def _ask(
    checker: str,
    text: str,
    files: Sequence[bytes],
    progress: Progress | None,
    budget: float,
) -> Opinion:
    """The opinion of one checker; those that need more than the standard library are loaded when they are asked."""
    if checker == "exact":
        exact = verify_exactly(text, files, progress, budget)
        return Opinion(checker, exact.word, exact.words, exact.excluded, exact.stopped)
    if checker == "proved":
        from headwright.certificates import proved_checker

        proved = proved_checker.verify(text, files, min(budget, LONGEST_RUN))
        return Opinion(checker, proved.word, proved.words)
    from headwright.certificates import floating

    floats = floating.verify(text, files, budget)
    return Opinion(checker, floats.word, floats.words, floats.excluded, floats.stopped)

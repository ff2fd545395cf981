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

from headwright.cards import card, lines
from headwright.errors import InputError
from headwright.trusted.certificate import Json, about_heads, document
from headwright.trusted.cost import BUDGET
from headwright.trusted.keys import Reject
from headwright.trusted.verify import verify as verify_exactly

Progress = Callable[[float], None]
CHECKERS = {
    "exact": "exact checker",
    "float": "floating-point checker",
    "proved": "checker with a machine-checked proof",
}
CHOICES = ("both", *CHECKERS)
LONGEST_RUN = 10.0**6  # seconds that the program of the proved checker may run, whatever the budget
TEXTS_CHECKER = "every text"  # of certificates about every text
STOPPED = "the checker stopped"  # how the reason of a checker begins that failed with an error of its own
MOST_ENTRIES = 10**6  # of keys, in all scenarios together: above it the exact checker alone runs, unless asked


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


@dataclass(frozen=True)
class Verdict:
    """The verdict of all checkers that ran: 'verified', 'rejected', 'not confirmed', 'unreadable' or 'internal error'.

    >>> Verdict("verified", "For these keys ...", ("exact", "float")).by
    'exact and floating-point checkers'
    """

    word: str
    words: str
    checkers: tuple[str, ...]
    runs: int = 0  # texts on which the model itself was run, for a certificate about every text

    @property
    def by(self) -> str:
        """The checkers that ran, in words."""
        return in_words(self.checkers)

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's own types, the words in full."""
        told: dict[str, Any] = {"verdict": self.word, "words": self.words, "checkers": list(self.checkers)}
        if TEXTS_CHECKER in self.checkers:
            told["runs"] = self.runs
        return told

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
    names = [CHECKERS.get(name, "every-text checker") for name in checkers]
    return names[0] if len(names) == 1 else " and ".join(name.removesuffix(" checker") for name in names) + " checkers"


def run_checkers(
    text: str,
    files: Sequence[bytes] = (),
    checker: str | None = None,
    progress: Progress | None = None,
    budget: float = BUDGET,
) -> Verdict:
    """The verdict on a certificate about keys or heads, of the checkers that a choice means.

    >>> run_checkers("{}").word, run_checkers("{}").checkers
    ('unreadable', ('exact', 'float'))
    """
    opinions = [_ask(name, text, files, progress, budget) for name in _which(text, checker)]
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return combine(opinions, digest)


def which(checker: str | None, entries: int) -> tuple[str, ...]:
    """The checkers that a choice means for a certificate about so many key entries.

    >>> which(None, 10**6), which(None, 10**6 + 1), which("both", 10**7)
    (('exact', 'float'), ('exact',), ('exact', 'float'))
    """
    if checker is not None and checker not in CHOICES:
        raise InputError(f"checker is {checker!r}: expected one of {', '.join(CHOICES)}")
    if checker is None and entries > MOST_ENTRIES:
        return ("exact",)
    return ("exact", "float") if checker in (None, "both") else (checker,)


def combine(opinions: Sequence[Opinion], digest: str) -> Verdict:
    """One verdict from what the checkers say of the certificate with this digest.

    >>> combine([Opinion("exact", "verified", "..."), Opinion("float", "rejected", "not certain")], "...").word
    'not confirmed'
    """
    ran = tuple(opinion.checker for opinion in opinions)
    accepting = [opinion for opinion in opinions if opinion.word == "verified"]
    others = [opinion for opinion in opinions if opinion.word != "verified"]
    if not others:
        return Verdict("verified", accepting[0].words, ran)
    if any(opinion.words.startswith(STOPPED) for opinion in others):
        return Verdict("internal error", _wrong(_each(opinions), digest), ran)
    for opinion in others:
        if opinion.word == "unreadable":
            return Verdict("unreadable", opinion.words, ran)
    if any(opinion.word != "rejected" for opinion in others):  # not covered, or undecided
        return Verdict("not confirmed", _each(opinions), ran)
    if not accepting:
        reasons = {opinion.words for opinion in others}
        return Verdict("rejected", others[0].words if len(reasons) == 1 else _each(others), ran)
    if any(opinion.excluded for opinion in others):
        return Verdict("internal error", _wrong(_each(opinions), digest), ran)
    return Verdict("not confirmed", _each(opinions), ran)


def _each(opinions: Sequence[Opinion]) -> str:
    """What each of the checkers says, in one sentence."""
    said = {"verified": "accepts it", "unreadable": "cannot read it", "not covered": "does not cover it"}
    return "; ".join(
        f"the {CHECKERS[one.checker]} "
        f"{'proves it false' if one.excluded else said.get(one.word, 'cannot accept it')}: {one.words}"
        for one in opinions
    )


def _wrong(said: str, digest: str) -> str:
    return (
        "this is an error in headwright and no verdict; please report it with the certificate, whose sha256 is "
        f"{digest}. {said[:1].upper()}{said[1:]}"
    )


def _which(text: str, checker: str | None) -> tuple[str, ...]:
    """The checkers to run on a document."""
    try:
        said, _ = document(text)
    except Reject:  # each of them will say so
        return which(checker, 0)
    chosen = which(checker, _entries(said))
    if not about_heads(said) or chosen in (("exact",), ("proved",)):
        return chosen
    if checker is not None:
        raise InputError(
            f"--checker {checker} beside a certificate about whole heads: the exact checker covers those, "
            "and the proved one some; expected --checker exact or proved"
        )
    return ("exact",)


def _entries(said: Json) -> int:
    """How many key entries a statement is about; what is not of the format counts as none, and is refused later."""
    keys = said.get("keys") if isinstance(said, dict) else None
    names = [name for name in keys if isinstance(name, dict)] if isinstance(keys, list) else []
    shapes = [(name.get("n"), name.get("d")) for name in names]
    return sum(n * d for n, d in shapes if type(n) is int and type(d) is int)


def _ask(checker: str, text: str, files: Sequence[bytes], progress: Progress | None, budget: float) -> Opinion:
    if checker == "exact":
        exact = verify_exactly(text, files, progress, budget)
        return Opinion(checker, exact.word, exact.words, exact.excluded)
    if checker == "proved":
        from headwright import proved_checker

        found = proved_checker.verify(text, files, min(budget, LONGEST_RUN))
        return Opinion(checker, found.word, found.words)
    from headwright import fast

    quick = fast.verify(text, files, budget)
    return Opinion(checker, quick.word, quick.words, quick.excluded)

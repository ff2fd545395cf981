"""A certificate about keys is verified where two checkers accept it: the exact one and the floating-point one.

Each accepts, or cannot accept. `verify` runs the checkers that are asked for and combines what they say:

    all accept                                      verified
    none accepts                                    rejected
    one accepts, the other cannot                   not confirmed; so is what the proved one does not cover
    one accepts, the other proves the claim false   internal error: one of them is wrong
    one stopped with an error of its own            internal error
    the document is not of the format               unreadable

Unless asked otherwise, both run for up to 10^6 key entries, and above that the exact one alone. Certificates about
whole heads and circuits have one checker, the exact one. Those about every text have one of their own, which needs the
model. Which kind a certificate is of, the `format` of the document says, and nothing else.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwright.cards import card, lines
from headwright.errors import InputError, typed_errors
from headwright.trusted.certificate import Json, about_heads, parsed
from headwright.trusted.cost import BUDGET
from headwright.trusted.keys import Reject
from headwright.trusted.verify import verify as verify_exactly

if TYPE_CHECKING:
    from headwright.models.loading import Model

Progress = Callable[[float], None]
LOG = logging.getLogger(__name__)
CHECKERS = {
    "exact": "exact checker",
    "float": "floating-point checker",
    "proved": "checker with a machine-checked proof",
}
CHOICES = ("both", *CHECKERS)
LONGEST_RUN = 10.0**6  # seconds that the program of the proved checker may run, whatever the budget
TEXTS_CHECKER = "every text"  # of certificates about every text
FIRST_LAYER, NEXT_TOKEN = "headwright every-text certificate", "headwright next-token certificate"  # their formats
MODEL_NAME = re.compile(r"[\w./:-]{1,200}", re.ASCII)  # as in a statement about every text
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


@typed_errors
def verify(
    text: str | None,
    files: Sequence[bytes] = (),
    checker: str | None = None,
    progress: Progress | None = None,
    *,
    model: str | Model | None = None,
    budget: float = BUDGET,
) -> Verdict:
    """The verdict on a certificate of any kind.

    Each of the files, .npy contents of float64, must be keys that it names. `checker` is 'both', 'exact', 'float' or
    'proved'; None: both up to 10^6 key entries, above that the exact one. A certificate about every text needs the
    `model`, or its name, and has a checker of its own. A certificate about keys or heads that would take longer than
    the `budget`, in estimated seconds, is rejected before anything is checked.

    >>> verify("{}").word, verify("{}").checkers
    ('unreadable', ('exact', 'float'))
    """
    if text is None:
        raise InputError("there is no certificate: a design that is undecided has none")
    if not all(isinstance(content, bytes) for content in files):
        raise InputError("files: expected a list of the contents of .npy files, as bytes")
    if not budget > 0:
        raise InputError(f"budget is {budget}: expected a number of seconds above 0")
    document = _parsed_or_none(text)
    if _format_of(document) in (FIRST_LAYER, NEXT_TOKEN):
        if files or checker is not None:
            raise InputError("keys or a checker beside a certificate about every text: expected the model alone")
        verdict = _verify_every_text(text, document, model, progress)
    else:
        if model is not None:
            raise InputError("a model beside a certificate about keys or heads: it goes with one about every text")
        opinions = [_ask(name, text, files, progress, budget) for name in _which(document, checker)]
        verdict = combine(opinions, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    LOG.info("%s (%s)", verdict.word, verdict.by)
    return verdict


def model_named(text: str) -> str | None:
    """The model that a certificate about every text is about, as it is called there; None for other certificates.

    >>> model_named('{"format": "headwright every-text certificate", "statement": {"model": "builtin:induction"}}')
    'builtin:induction'
    >>> model_named('{"format": "headwright certificate"}') is None
    True
    """
    document = _parsed_or_none(text)
    return _model_in(document) if _format_of(document) in (FIRST_LAYER, NEXT_TOKEN) else None


def _parsed_or_none(text: str) -> Json:
    """The document; None if it is not strict JSON: then the checkers say why."""
    try:
        return parsed(text)
    except Reject:
        return None


def _format_of(document: Json) -> str | None:
    """What kind of certificate a document says it is."""
    said = document.get("format") if isinstance(document, dict) else None
    return said if isinstance(said, str) else None


def _model_in(document: Json) -> str:
    """What a certificate about every text calls its model; a word in place of what is no name."""
    statement = document.get("statement") if isinstance(document, dict) else None
    name = statement.get("model") if isinstance(statement, dict) else None
    return name if isinstance(name, str) and MODEL_NAME.fullmatch(name) else "MODEL"


def _verify_every_text(text: str, document: Json, model: str | Model | None, progress: Progress | None) -> Verdict:
    """Such a statement is looked at again from the weights, which the model has."""
    if model is None:
        name = _model_in(document)
        raise InputError(f'the certificate is about a model: add --model {name} (in Python, model="{name}")')
    from headwright.models.texts.verify_certificate import verify_first_layer, verify_next_token

    check = verify_first_layer if _format_of(document) == FIRST_LAYER else verify_next_token
    word, words, runs = check(text, model, progress)
    return Verdict(word, words, (TEXTS_CHECKER,), runs)


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


def _which(document: Json, checker: str | None) -> tuple[str, ...]:
    """The checkers to run on a document about keys or heads; on one that is not of the format, as for no keys."""
    said = document.get("statement") if isinstance(document, dict) else None
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

"""How much of a verdict is told: everything, the direction only, or no more than the word.

full        the reasons, the counterexample, from where on an answer works, what a teacher would add
direction   which statement fails and at which instance; not what is true instead, and nothing that would mend it
none        the word; of a formula that cannot be read, the place

What an answer defines is its author's own, so numbers that a goal comes to under it give nothing away. What is true
instead of a claim does: 'c tends to u_a, not to u_b' answers the question what c tends to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from headwright.check.running.run import Checked
from headwright.check.telling.spelling import SIDES, in_words, instance, readable
from headwright.check.verdict import Part, Verdict, Word

Hints = Literal["none", "direction", "full"]
BARE: Mapping[Word, str] = {
    "proved": "it is right",
    "holds": "no counterexample was found, and no proof",
    "no answer": "what was asked for is missing",
    "refuted": "something in it is false",
    "unreadable": "it could not be read",
    "undecided": "no verdict was reached",
}
PROVED = "it holds for all parameters in range"


def hinted(each: Checked, hints: Hints) -> Checked:
    """The same answer with as much of its verdict as these hints tell.

    >>> from headwright.check.sheets.handed import Handed
    >>> claim = Part("c = u_b", "statement", "refuted", "c is u_a, not u_b", counterexample={"n": 2, "left": "u_a"})
    >>> answer = Checked(Handed("a.md", 1, "copying", ()), Verdict("refuted", "c is u_a, not u_b", (claim,)), 0.0)
    >>> [hinted(answer, hints).verdict.reason for hints in ("none", "direction")]
    ['something in it is false', 'c = u_b is false, for instance with n = 2']
    """
    if hints == "full":
        return each
    return replace(each, verdict=_bare(each.verdict) if hints == "none" else _directed(each.verdict))


def _bare(verdict: Verdict) -> Verdict:
    unread = verdict.word == "unreadable"
    return Verdict(verdict.word, _without_fix(verdict.reason, "fix: ") if unread else BARE[verdict.word])


def _directed(verdict: Verdict) -> Verdict:
    parts = tuple(_part(part) for part in verdict.parts)
    failing = next((part for part in parts if part.word == "refuted"), None)
    return replace(
        verdict,
        reason=_reason(verdict, failing),
        parts=parts,
        counterexample=None if failing is None else failing.counterexample,
        threshold=None,
        probability=None,
        suggestion=verdict.hint,
        details={},
    )


def _reason(verdict: Verdict, failing: Part | None) -> str:
    if verdict.word == "proved":
        return PROVED
    if verdict.word == "refuted" and failing is not None:
        goals = [part for part in verdict.parts if part.role == "goal"]
        met = bool(goals) and all(part.word == "proved" for part in goals)
        return f"it does what is asked, but what it says besides is false: {failing.reason}" if met else failing.reason
    # A remedy for spelling gives nothing away; one for shapes does ('is A^T meant?').
    return _without_fix(verdict.reason, "fix: " if verdict.word == "refuted" else "fix: is ")


def _part(part: Part) -> Part:
    if part.word != "refuted":
        return replace(part, reason="", used="")
    where = instance(part.counterexample)
    if "shapes" in (part.counterexample or {}) or (part.role == "goal" and where):
        return replace(part, reason=_without_fix(part.reason, "fix: "))
    where = {name: value for name, value in where.items() if name not in SIDES.values()}
    said = f"{readable(part.statement)} is false" + (f", for instance with {in_words(where)}" if where else "")
    return replace(part, reason=said, counterexample=where or None)


def _without_fix(reason: str, start: str) -> str:
    return "\n".join(line for line in reason.split("\n") if not line.startswith(start))

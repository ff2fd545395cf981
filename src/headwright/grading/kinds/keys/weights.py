"""What an answer says of the weights: it must be true, and hold for nothing but weights."""

from __future__ import annotations

from collections.abc import Sequence

from headwright.formulas import tree as t
from headwright.grading.answer import names_in
from headwright.grading.goals import asked_part, spoken_of, steps_of
from headwright.grading.judge import Finding, Session
from headwright.grading.kinds.keys.recheck import KeysDrawer, rules_out
from headwright.grading.kinds.keys.scene import is_every_key
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.verdict import AskedPart, Word

IDLE = {
    "scaled": "all that is said would hold for some numbers that do not sum to 1",
    "signed": "all that is said would hold for some numbers of which one is negative",
}
CHAINED: tuple[t.Comparison, ...] = (
    "=",
    ">",
    "<",
    ">=",
    "<=",
)  # each sums up those before it that point its way
SCORES = (
    "k",
    "q",
    "e",
)  # what a weight is made of: to repeat its definition says nothing of it


def weights_part(keys: Keys, session: Session, found: Sequence[Finding]) -> AskedPart:
    """What is truly said of the weights must hold for nothing but weights."""
    true = [one for one in found if one.status == "true"]
    said: list[t.Relation] = []
    for node in (one.node for one in true):
        if isinstance(node, t.Quantified) and all(
            isinstance(x, t.Name) or is_every_key(x) for x in node.conditions
        ):
            node = node.body  # a letter stands for every key anyway
        said += steps_of(node)
        if isinstance(node, t.Relation) and len(node.terms) > 2:  # x = y > z says x > z
            signs = [
                sign
                for sign in CHAINED
                if set(node.comparisons) <= {"=", sign[0], sign}
            ]
            said += [
                t.Relation((node.terms[0], node.terms[-1]), (sign,), span=node.span)
                for sign in signs[:1]
            ]
    own = [
        link for link in said if not any(name.base in SCORES for name in names_in(link))
    ]
    for idle in keys.otherwise:
        if not rules_out(KeysDrawer(session.exercise, keys), session.answer, own, idle):
            weights = [one for one in found if "alpha" in spoken_of(one.node)]
            false = next((one for one in weights if one.status == "false"), None)
            if false is not None:
                return asked_part("statement", "refuted", false)
            word: Word = (
                "undecided"
                if any(one.status == "open" for one in weights)
                else "missing"
            )
            return AskedPart("statement", word, 0, "", IDLE[idle])
    lines = [one.claimed.statement for one in true]
    return AskedPart(
        "statement",
        "proved",
        lines[0].line,
        r",\ ".join(one.text for one in lines[:2]),
        true[0].reason,
    )

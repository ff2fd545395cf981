"""How an answer was read: a line for each statement, with its role, what it is said for, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from headwright.check.sheets.text import clean, shortened
from headwright.check.telling.spelling import readable
from headwright.check.verdict import Reading

ROLES = {
    "definition": "defined", "claim": "claimed", "reason": "a reason", "where": "said more closely",
    "assumption": "assumed", "condition": "a condition", "example": "an example", "goal": "wanted",
    "unclear": "not judged",
}  # fmt: skip
WIDE = max(map(len, ROLES.values()))
MOST = 200


def how(read: Sequence[Reading]) -> list[str]:
    r"""The statements of an answer as they were read.

    >>> print("\n".join(how([Reading(3, "claim", r"c \approx v_a", ("g > 1",), "proved")])))
      how it was read
        line 3  claimed            c ~ v_a, for g > 1: proved
    """
    lines = ["  how it was read"] if read else []
    for one in read[:MOST]:
        said = readable(one.statement) + (f", for {' and '.join(map(readable, one.under))}" if one.under else "")
        end = f": {one.word}" if one.word else f": {one.why}" if one.why else ""
        lines.append(clean(f"    line {one.line}  {role(one):<{WIDE}}  {shortened(said, 120)}{shortened(end, 160)}"))
    return lines


def role(one: Reading) -> str:
    r"""The role of a statement, in a word or two.

    >>> role(Reading(3, "claim", r"c \approx v_a"))
    'claimed'
    """
    return ROLES["unclear"] if one.why and one.role not in ("goal", "unclear") else ROLES.get(one.role, one.role)

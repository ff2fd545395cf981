"""What answers with numbers are written like: 'N \\approx 1.56 \\cdot 10^9' gives the value of N."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headwright.grading.verdict import AskedPart, Verdict, overall

_ABOUT = r"(\\approx|\\simeq|\\sim|\\cong|≈|~)"


def with_values_as_equations(text: str, names: Sequence[str]) -> str:
    """A text in which a formula that begins with 'name is about' says what the name is.

    >>> print(with_values_as_equations(r"$r \\approx 38$ or $38 \\approx r$", ["r"]))
    $r = 38$ or $38 \\approx r$
    """
    for name in names:
        pattern = rf"(\$\s*\\?{re.escape(name)}\s*){_ABOUT}(?![A-Za-z])"
        text = re.sub(pattern, r"\1=", text)
    return text


def object_in(sentence: str, name: str) -> tuple[str, str] | None:
    """The words before and behind the formula that gives a name; None where the sentence does not give it.

    >>> object_in("with biases, $N = 12 L d^2$ in all", "N")
    ('with biases, ', ' in all')
    """
    pattern = rf"\$+\s*\\?{re.escape(name)}\s*(?:=|{_ABOUT})[^$]*\$+"
    match = re.search(pattern, sentence)
    if match is None:
        return None
    return sentence[: match.start()], sentence[match.end() :]


def as_undecided(verdict: Verdict, part: AskedPart, reason: str) -> Verdict:
    """The verdict with one part undecided, which then decides it."""
    left_open = replace(part, word="undecided", reason=reason, counterexample=None)
    asked = tuple(left_open if one is part else one for one in verdict.asked)
    return replace(verdict, word=overall(asked), reason=reason, asked=asked)

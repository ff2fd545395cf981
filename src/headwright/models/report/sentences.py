"""The summary: a few sentences about the whole model, each with its number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from headwright.enclosure import fixed_above
from headwright.models.findings.heads import BY_MEAN, Head
from headwright.models.report.every_text import headline

if TYPE_CHECKING:
    from headwright.models.auditor import Audit

FEW = 4  # heads named in a sentence
SAID = {
    "first token": ("gives the first token more than half of its attention, on average",
                    "give the first token more than half of their attention, on average"),
    "previous token": ("is a previous-token head", "are previous-token heads"),
    "induction": ("is an induction head", "are induction heads"),
    "long induction": ("is an induction head over a long context", "are induction heads over a long context"),
    "duplicate token": ("is a duplicate-token head", "are duplicate-token heads"),
    "self": ("attends mostly to its own token", "attend mostly to their own token"),
    "copies": ("mostly copies one key", "mostly copy one key"),
    "averages": ("mostly averages several keys", "mostly average several keys"),
    "dead": ("is dead (writes next to nothing)", "are dead (write next to nothing)"),
}  # fmt: skip


def sentences(found: Audit) -> list[str]:
    """What a reader should know first; words in SAID are defined in `findings.definitions`."""
    lines = [line for role in SAID if (line := _role(found, role)) is not None]
    none = [
        f"{one}{_measured_on(found, role)}"
        for role, (one, _) in SAID.items()
        if _role(found, role) is None and _measured(found.heads, role)
    ]
    if none:
        lines.append(f"No head {', or '.join(none)}.")
    rest = (
        headline(found.every_text), _fragile(found.heads), _rounded(found.heads), _ranks(found.heads), _order(found),
    )  # fmt: skip
    return [*lines, *(line for line in rest if line)]


def _measured(heads: Sequence[Head], role: str) -> bool:
    """Whether it was looked at which heads have a role: where it was not, that none has it is not known."""
    mean = BY_MEAN.get(role)
    return any((head.share if mean is None else head.value(mean)) is not None for head in heads)


def _measured_on(found: Audit, role: str) -> str:
    """On which random tokens, for roles that are measured on such; else nothing."""
    tokens = found.induction.get((BY_MEAN.get(role) or "").removesuffix("_away"))
    if tokens is None:
        return ""
    return f" (random tokens of period {tokens.period}, contexts of {tokens.context})"


def _role(found: Audit, role: str) -> str | None:
    mine = [head for head in found.heads if any(each.name == role for each in head.roles)]
    if not mine:
        return None
    one, many = SAID[role]
    begin = f"{len(mine)} of {len(found.heads)} heads {one if len(mine) == 1 else many}{_measured_on(found, role)}"
    mean = BY_MEAN.get(role)
    if mean is None:
        return f"{begin}: {_names([head.name for head in mine])}."
    unsure = sum(each.sure is False for head in mine for each in head.roles if each.name == role)
    which = "" if len(mine) == 1 else f"{unsure} of them "
    doubt = f" ({which}with an interval that reaches below half)" if unsure else ""
    strongest = sorted(mine, key=lambda head: -(head.value(mean) or 0.0))
    named = _names([f"{head.name} ({head.value(mean) or 0.0:.2f})" for head in strongest])
    return f"{begin}{doubt}: {named}."


def _names(names: list[str]) -> str:
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def _median(heads: Sequence[Head], value: Callable[[Head], float | None]) -> tuple[float, Head, Head] | None:
    """The median over heads, and the heads with the smallest and the largest value."""
    known = [(number, k) for k, head in enumerate(heads) if (number := value(head)) is not None]
    if not known:
        return None
    return median(number for number, _ in known), heads[min(known)[1]], heads[max(known)[1]]


def ball(head: Head) -> float | None:
    """The median over rows of the ball of key changes that cannot move the winner, as a part of the keys' length."""
    held = head.quantiles.get("ball_away")
    return None if held is None else held.values[0.5]


def _fragile(heads: Sequence[Head]) -> str | None:
    found = _median(heads, ball)
    if found is None:
        return None
    middle, least, most = found
    if math.isinf(middle):
        return "In the median head, half of the rows have no second key to compare with, so no change of keys matters."
    steadiest = ball(most) or 0
    kept = "any change" if math.isinf(steadiest) else f"{steadiest:.2%}"
    return (
        f"In the median head, half of the rows keep their largest weight on the same key if every key changes by less "
        f"than {middle:.2%} of the mean key length. The least robust head is {least.name} ({ball(least) or 0:.2%}), "
        f"the most robust {most.name} ({kept}). Rows with the largest weight on the first token are left out."
    )


def _rounded(heads: Sequence[Head]) -> str | None:
    parts = []
    for name in ("int8 a token", "int4 a token"):
        tv = _median(heads, lambda head, name=name: head.rounding[name].tv.value if name in head.rounding else None)  # type: ignore[misc]
        bound = _median(heads, lambda head, name=name: head.rounding[name].bound if name in head.rounding else None)  # type: ignore[misc]
        if tv is None or bound is None:
            return None
        worst = tv[2].rounding[name].tv.value
        proven = f"proven bound, median: {fixed_above(bound[0], 3)}"
        parts.append(f"{name} {tv[0]:.3f} (worst head {tv[2].name}: {worst:.3f}; {proven})")
    said = "Rounding the keys as in a quantised cache changes the pattern of the median head, in total variation, by"
    return f"{said}: {'; '.join(parts)}."


def _ranks(heads: Sequence[Head]) -> str | None:
    parts = []
    for name in ("qk", "ov"):
        found = _median(heads, lambda head, name=name: head.spectra[name].rank if name in head.spectra else None)  # type: ignore[misc]
        if found is None:
            return None
        parts.append(f"{name.upper()} {found[0]:g} of {len(found[1].spectra[name].lower)}")
    return f"The smallest rank that certainly keeps 90 % of a circuit's energy, in the median head: {', '.join(parts)}."


def _order(found: Audit) -> str:
    worst = float(found.order.moved.max())
    return (
        f"Shuffling the tokens between the first and the last of {found.order.tokens} changes the output of a head at "
        f"the last, before W_O, by up to {worst:.2g} times its norm."
    )

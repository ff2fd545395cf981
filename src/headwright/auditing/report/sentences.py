"""The summary: a few sentences about the whole model, each with its number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from headwright import notebook
from headwright.auditing.head_findings import HeadFindings, summarise_rounding
from headwright.auditing.measures.circuits import Spectrum
from headwright.auditing.measures.roles import ROLES, RoleKind
from headwright.auditing.measures.summary import Draws, Quantiles
from headwright.auditing.measures.table import BY_NAME
from headwright.auditing.report.every_text import headline as every_text_headline
from headwright.auditing.result import AuditResult
from headwright.numerics.enclosure import fixed_above

FEW = 4  # heads named in a sentence
INDUCTION_NAMES = {"induction": "induction", "induction_long": "long induction"}
SUMMARISED_ROUNDINGS = {
    "int8 per token": "tv_int8_per_token",
    "int4 per token": "tv_int4_per_token",
}


def summary_lines(audit: AuditResult) -> str:
    """The summary in a few lines of text."""
    return notebook.lines(
        "audited", f"{audit.title}: {headline(audit)}.", _numbered(audit)
    )


def summary_card(audit: AuditResult) -> str:
    """The same as a card of HTML."""
    return notebook.card(
        "audited", f"{audit.title}: {headline(audit)}.", _numbered(audit)
    )


def _numbered(audit: AuditResult) -> list[tuple[str, str]]:
    return [(str(number), line) for number, line in enumerate(sentences(audit), 1)]


def headline(audit: AuditResult) -> str:
    """The number of heads, of rows, and the length of the contexts; induction has contexts of its own."""
    lengths = " and ".join(str(tokens.context) for tokens in audit.induction.values())
    return (
        f"{len(audit.heads)} heads, {audit.rows} rows each, contexts of up to {audit.context} tokens; induction in "
        f"contexts of {lengths} tokens"
    )


def describe_intervals(audit: AuditResult) -> str:
    """What the intervals are about, or why there are none, in sentences."""
    parts = [audit.draws.interval]
    for name, tokens in audit.induction.items():
        sequences = Draws(tokens.sequences, "random sequences")
        if sequences != audit.draws:
            parts.append(f"for {INDUCTION_NAMES[name]}, {sequences.interval}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def sentences(audit: AuditResult) -> list[str]:
    """What a reader should know first; roles are defined in `measures.roles`."""
    lines = []
    missing = []
    for kind in ROLES:
        sentence = _heads_with_role(audit, kind)
        if sentence is not None:
            lines.append(sentence)
        elif any(head.value(kind.measure) is not None for head in audit.heads):
            # Where a role was not measured, that no head has it is not known.
            missing.append(f"{kind.singular}{_measured_on(audit, kind)}")
    if missing:
        lines.append(f"No head {', or '.join(missing)}.")
    others = (
        every_text_headline(audit.every_text),
        _robustness(audit.heads),
        _rounding(audit.heads),
        audit.cache,
        _ranks(audit.heads),
        _order(audit),
    )
    return lines + [sentence for sentence in others if sentence]


def _measured_on(audit: AuditResult, kind: RoleKind) -> str:
    """On which random tokens, for roles that are measured on such; else nothing."""
    tokens = audit.induction.get(BY_NAME[kind.measure].repeated or "")
    if tokens is None:
        return ""
    return f" (random tokens of period {tokens.period}, contexts of {tokens.context})"


def _heads_with_role(audit: AuditResult, kind: RoleKind) -> str | None:
    """How many heads have a role, and which most; None if none has."""
    heads = []
    unsure = 0
    for head in audit.heads:
        for role in head.roles:
            if role.name == kind.name:
                heads.append(head)
                unsure += role.sure is False
    if not heads:
        return None
    does = kind.singular if len(heads) == 1 else kind.plural
    begin = (
        f"{len(heads)} of {len(audit.heads)} heads {does}{_measured_on(audit, kind)}"
    )
    if BY_NAME[kind.measure].kind != "mean":
        return f"{begin}: {_first_names([head.name for head in heads])}."
    doubt = ""
    if unsure:
        which = "" if len(heads) == 1 else f"{unsure} of them "
        doubt = f" ({which}with an interval that reaches below half)"
    strongest = sorted(heads, key=lambda head: -(head.value(kind.measure) or 0.0))
    named = [
        f"{head.name} ({head.value(kind.measure) or 0.0:.2f})" for head in strongest
    ]
    return f"{begin}{doubt}: {_first_names(named)}."


def _first_names(names: list[str]) -> str:
    named = ", ".join(names[:FEW])
    return named if len(names) <= FEW else f"{named} and {len(names) - FEW} more"


def _robustness(heads: Sequence[HeadFindings]) -> str | None:
    radii = []
    for head in heads:
        quantiles = head.result("robustness_radius_away", Quantiles)
        if quantiles is not None:
            radii.append((quantiles.median, head.name))
    if not radii:
        return None
    middle = median(radius for radius, _ in radii)
    if math.isinf(middle):
        return "In the median head, half of the rows have no second key to compare with, so no change of keys matters."
    least, weakest = min(radii)
    largest, strongest = max(radii)
    most = "any change" if math.isinf(largest) else f"{largest:.2%}"
    return (
        f"In the median head, half of the rows keep their largest weight on the same key if every key changes by less "
        f"than {middle:.2%} of the mean key length. The least robust head is {weakest} ({least:.2%}), the most robust "
        f"{strongest} ({most}). Rows with the largest weight on the first token are left out."
    )


def _rounding(heads: Sequence[HeadFindings]) -> str | None:
    parts = []
    for number_format, measure in SUMMARISED_ROUNDINGS.items():
        effect = summarise_rounding(heads, measure)
        if effect is None:
            return None
        parts.append(
            f"{number_format} {effect.tv:.3f} (worst head {effect.worst_head}: {effect.worst_tv:.3f}; "
            f"proven bound, median: {fixed_above(effect.bound, 3)})"
        )
    return (
        "Rounding the keys as in a quantised cache changes the pattern of the median head, in total variation, by: "
        f"{'; '.join(parts)}."
    )


def _ranks(heads: Sequence[HeadFindings]) -> str | None:
    parts = []
    for circuit, name in (("QK", "qk_rank"), ("OV", "ov_rank")):
        spectra = [
            spectrum for head in heads if (spectrum := head.result(name, Spectrum))
        ]
        if not spectra:
            return None
        middle = median(spectrum.rank for spectrum in spectra)
        parts.append(f"{circuit} {middle:g} of {len(spectra[0].lower)}")
    return f"The smallest rank that certainly keeps 90 % of a circuit's energy, in the median head: {', '.join(parts)}."


def _order(audit: AuditResult) -> str:
    worst = float(audit.order.moved.max())
    return (
        f"Shuffling the tokens between the first and the last of {audit.order.tokens} changes the output of a head at "
        f"the last, before W_O, by up to {worst:.2g} times its norm."
    )

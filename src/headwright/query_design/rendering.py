"""A design for people and programs: lines of text, a card, a picture, JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headwright.certificates.checkers import in_words
from headwright.extras import install_line, is_installed
from headwright.notebook import card, lines
from headwright.numerics.enclosure import printed_below, shown_above, shown_below
from headwright.query_design.result import DesignResult, EstimatedProbability

if TYPE_CHECKING:
    from headwright.pictures import Chart

KINDS = {  # of the numbers in JSON; the norm and the interval of best_eps are rounded outward
    "queries": "exact",
    "norm": "proven",
    "norm_lower_bound": "proven",
    "gap": "floating-point",
    "pattern": "proven",
    "best_eps": "proven",
    "best_eps_interval": "proven",
    "probability": "sampled",
    "probability.proven_at_least": "proven",
    "probability.exact_enclosure": "proven",
}


def design_as_json(found: DesignResult, certificate: str | None) -> dict[str, Any]:
    """All of it in JSON's own types; `certificate` is where the certificate is, or the certificate itself."""
    best_eps = found.best_eps
    shares = []
    for share in found.shares:
        shares.append({"head": share.head, "targets": list(share.targets)})
    probability = None
    if found.probability is not None:
        at_least = printed_below(found.question.confidence)
        probability = _probability_as_json(found.probability, at_least)
    return {
        "verdict": found.word,
        "queries": found.queries.tolist(),
        "norm": _finite(found.norm),
        "norm_lower_bound": _finite(found.norm_lower_bound),
        "gap": _finite(found.gap) if math.isfinite(found.norm) else None,
        "pattern": {str(key): least for key, least in found.pattern.items()},
        "heads": shares,
        "best_eps": best_eps[1] if best_eps else None,
        "best_eps_interval": list(best_eps) if best_eps else None,
        "probability": probability,
        "checkers": list(found.checkers),
        "certificate": certificate,
        "words": found.words,
        "kinds": KINDS,
    }


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return number if math.isfinite(number) else None


def _probability_as_json(
    chance: EstimatedProbability, at_least: float
) -> dict[str, Any]:
    exact = chance.exact
    return {
        "proven_at_least": at_least,
        "probability": chance.probability,
        "interval": list(chance.interval),
        "samples": chance.samples,
        "conservative": chance.conservative,
        "exact_enclosure": [exact.lower, exact.upper] if exact else None,
        "drawn_evenly": chance.evenly,
    }


def design_lines(found: DesignResult) -> str:
    """The verdict and its numbers in a few lines, never the keys."""
    return lines(found.word, found.words, _facts(found))


def design_card(found: DesignResult) -> str:
    """The same as a card, with the picture."""
    facts = _facts(found)
    if not is_installed("plots"):
        facts.append(("picture", install_line("plots")))
        return card(found.word, found.words, facts, certificate=found.certificate)
    from headwright.pictures import render, told

    chart = design_picture(found)
    drawing = render(chart, ".svg")
    return card(found.word, found.words, facts, drawing, told(chart), found.certificate)


def design_picture(found: DesignResult) -> Chart:
    """Keys and queries in the plane where there are two dimensions, else the pattern."""
    from headwright.query_design.picture import picture

    queries = found.queries.reshape(-1, found.question.keys[0].shape[1])
    return picture(found.question, queries, found.word, found.gap)


def _facts(found: DesignResult) -> list[tuple[str, str]]:
    n, d = found.question.keys[0].shape
    facts = []
    if found.certificate is not None:
        verifiers = in_words(found.checkers)
        facts.append(("certificate", f"verified by the {verifiers}"))
    facts.append(("keys", f"{n} in R^{d}"))
    if found.word == "designed":
        facts.append(("length, at most", shown_above(found.norm, 4)))
        if found.norm_lower_bound:
            facts.append(("none shorter than", shown_below(found.norm_lower_bound, 4)))
        for key, least in found.pattern.items():
            facts.append((f"weight of key {key}, at least", shown_below(least, 4)))
    if found.best_eps is not None:
        low, high = found.best_eps
        between = f"{shown_below(low, 4)} to {shown_above(high, 4)}"
        facts.append(("smallest tolerance eps", between))
    return facts

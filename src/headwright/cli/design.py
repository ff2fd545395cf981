"""headwright design."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwright.cli.console import (
    DIGITS,
    check_picture,
    check_writable,
    next_step,
    progress,
    save_picture,
    say,
    show_json,
    show_line,
    write_certificate,
)
from headwright.cli.options import (
    DESIGN_EXIT,
    AtLeast,
    Average,
    Checker,
    Copy,
    Eps,
    ExactScale,
    Json,
    Keys,
    Out,
    Plot,
    Uncertainty,
    check_checker,
    read_keys,
    read_targets,
)
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.query_design import Design
    from headwright.query_design.result import EstimatedProbability

SHORT = "Find the shortest query that meets attention targets, with a certificate."
EXAMPLES = (
    "headwright design --keys keys.npy --copy 3 --out copy.json",
    "headwright design --keys k.npy --average 0,1 --uncertainty u.toml --heads 2",
)


def design(
    keys: Keys,
    copy: Copy = None,
    average: Average = None,
    at_least: AtLeast = None,
    eps: Eps = None,
    scale: ExactScale = None,
    uncertainty: Uncertainty = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="With random keys: meet the target with this probability.",
            show_default="0.95",
        ),
    ] = None,
    heads: Annotated[
        int | None,
        typer.Option(
            help="Number of heads among which the targets are divided.",
            show_default="1",
        ),
    ] = None,
    checker: Checker = None,
    out: Out = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Find the shortest query that meets an attention target, or prove that there is none.

    Give one target: --copy, --average or --at-least.
    """
    from headwright import query_design
    from headwright.uncertainty import Uncertainty, read_uncertainty

    check_checker(checker)
    check_picture(plot)
    check_writable(out, "--out")
    targets = read_targets(copy, average, at_least, eps)
    if targets is None:
        raise InputError("there is no target: expected --copy, --average or --at-least")
    options = {
        "scale": scale,
        "confidence": confidence,
        "heads": heads,
        "checker": checker,
    }
    K = read_keys(keys)
    chosen = Uncertainty() if uncertainty is None else read_uncertainty(uncertainty)
    with progress("designing") as report:
        given = {name: value for name, value in options.items() if value is not None}
        found = query_design.design(
            K,
            targets,
            uncertainty=chosen,
            progress=report,
            **given,  # type: ignore[arg-type]
        )
    written = write_certificate(found.certificate, out)
    if json:
        show_json(found.to_json(written))
    else:
        _print(found, written, keys, uncertainty)
    if plot is not None:
        save_picture(plot, found.picture())
    raise typer.Exit(DESIGN_EXIT[found.word])


def _print(
    found: Design, written: str | None, keys: Path, uncertainty: Path | None
) -> None:
    from headwright.certificates.checkers import in_words
    from headwright.numerics.enclosure import shown_above, shown_below

    by = f" ({in_words(found.checkers)})" if found.checkers else ""
    show_line(f"{found.word}{by}: {found.words}")
    if found.word == "designed":
        gap = (
            ""
            if math.isinf(found.gap)
            else f" (relative gap {shown_above(found.gap, 2)})"
        )
        bound = f"proven to be at least {shown_below(found.norm_lower_bound, DIGITS)} {_for_any(found)}{gap}"
        unknown = (
            "with no proof that there is none shorter"
            if found.norm
            else "and nothing is shorter"
        )
        known = bound if found.norm_lower_bound else unknown
        show_line(f"length {shown_above(found.norm, DIGITS)}, {known}")
        for query in found.queries[:, :8]:
            more = ", ..." if found.queries.shape[1] > 8 else ""
            show_line("query  " + ", ".join(f"{x:.4g}" for x in query) + more)
    if len(found.shares) > 1:
        for share in found.shares:
            show_line(
                f"head {share.head} serves {', '.join(f'key {a}' for a in share.targets)}"
            )
    if found.probability is not None:
        show_line(_chance_in_words(found.probability, found.question.confidence))
    if found.best_eps is not None:
        low, high = found.best_eps
        best = f"eps = {shown_above(high, DIGITS)}; no eps below {shown_below(low, DIGITS)} (both proven)"
        show_line(f"what is possible: {best}")
    if written is not None:
        again = next_step("verify", written, *_keys_option(found, keys, uncertainty))
        say(f"The certificate is in {written}; check it with:", again)


def _for_any(found: Design) -> str:
    return (
        "for any query"
        if len(found.queries) == 1
        else f"for the longest of any {len(found.queries)} queries"
    )


def _chance_in_words(chance: EstimatedProbability, confidence: Fraction) -> str:
    from headwright.numerics.enclosure import fixed_above, fixed_below, shown_below

    low, high = chance.interval
    why = (
        "conservative: ways to fail are added up"
        if chance.conservative
        else "exact for one random key"
    )
    words = f"probability: proven at least {shown_below(confidence, 12)} ({why})"
    if chance.exact is not None:
        words += f"; proven to be {chance.exact}"
    evenly = ", drawing evenly what is not random" if chance.evenly else ""
    interval = f"95% interval {fixed_below(low, 4)} .. {fixed_above(high, 4)}"
    return f"{words}; sampled {chance.probability:.4f} ({interval}{evenly})"


def _keys_option(found: Design, keys: Path, uncertainty: Path | None) -> list[object]:
    """What verify needs besides the certificate: the keys, where it does not hold their rows."""
    from headwright.query_design.statement import INLINE_NUMBERS

    if found.question.keys[0].size <= INLINE_NUMBERS:
        return []
    return (
        ["--uncertainty", uncertainty]
        if found.question.uncertainty.scenarios
        else ["--keys", keys]
    )

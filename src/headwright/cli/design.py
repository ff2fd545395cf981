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
        options_given = {
            name: value for name, value in options.items() if value is not None
        }
        designed = query_design.design(
            K,
            targets,
            uncertainty=chosen,
            progress=report,
            **options_given,  # type: ignore[arg-type]
        )
    written = write_certificate(designed.certificate, out)
    if json:
        show_json(designed.to_json(written))
    else:
        _print(designed, written, keys, uncertainty)
    if plot is not None:
        save_picture(plot, designed.picture())
    raise typer.Exit(DESIGN_EXIT[designed.word])


def _print(
    designed: Design, written: str | None, keys: Path, uncertainty: Path | None
) -> None:
    from headwright.certificates.checkers import in_words
    from headwright.numerics.enclosure import shown_above, shown_below

    by = f" ({in_words(designed.checkers)})" if designed.checkers else ""
    show_line(f"{designed.word}{by}: {designed.words}")
    if designed.word == "designed":
        gap = (
            ""
            if math.isinf(designed.gap)
            else f" (relative gap {shown_above(designed.gap, 2)})"
        )
        bound = f"proven to be at least {shown_below(designed.norm_lower_bound, DIGITS)} {_for_any(designed)}{gap}"
        unknown = (
            "with no proof that there is none shorter"
            if designed.norm
            else "and nothing is shorter"
        )
        known = bound if designed.norm_lower_bound else unknown
        show_line(f"length {shown_above(designed.norm, DIGITS)}, {known}")
        for query in designed.queries[:, :8]:
            more = ", ..." if designed.queries.shape[1] > 8 else ""
            show_line("query  " + ", ".join(f"{x:.4g}" for x in query) + more)
    if len(designed.shares) > 1:
        for share in designed.shares:
            show_line(
                f"head {share.head} serves {', '.join(f'key {a}' for a in share.targets)}"
            )
    if designed.probability is not None:
        show_line(_chance_in_words(designed.probability, designed.question.confidence))
    if designed.best_eps is not None:
        low, high = designed.best_eps
        best = f"eps = {shown_above(high, DIGITS)}; no eps below {shown_below(low, DIGITS)} (both proven)"
        show_line(f"what is possible: {best}")
    if written is not None:
        again = next_step("verify", written, *_keys_option(designed, keys, uncertainty))
        say(f"The certificate is in {written}; check it with:", again)


def _for_any(designed: Design) -> str:
    return (
        "for any query"
        if len(designed.queries) == 1
        else f"for the longest of any {len(designed.queries)} queries"
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


def _keys_option(
    designed: Design, keys: Path, uncertainty: Path | None
) -> list[object]:
    """What verify needs besides the certificate: the keys, where it does not hold their rows."""
    from headwright.query_design.statement import INLINE_NUMBERS

    if designed.question.keys[0].size <= INLINE_NUMBERS:
        return []
    return (
        ["--uncertainty", uncertainty]
        if designed.question.uncertainty.scenarios
        else ["--keys", keys]
    )

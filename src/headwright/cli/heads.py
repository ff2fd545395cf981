"""headwright heads."""

from __future__ import annotations

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
from headwright.cli.options import DESIGN_EXIT, Json, Out, Plot
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.head_design import Circuit, HeadsResult

SHORT = (
    "Find the smallest heads (W_Q, W_K, W_V) that keep given rules, with a certificate."
)
EXAMPLES = (
    "headwright heads previous.toml --out heads.json --export heads",
    "headwright heads lookup.toml --minimise rank --dtype bfloat16",
)


def heads(
    rules: Annotated[
        Path,
        typer.Argument(
            metavar="RULES",
            help="Rules for heads, or for layers of heads (.toml).",
            show_default=False,
        ),
    ],
    minimise: Annotated[
        str,
        typer.Option(help="What to minimise: size (the norm of W_K^T W_Q) or rank."),
    ] = "size",
    head_dim: Annotated[
        int | None, typer.Option(help="Largest head dimension allowed.")
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="Type of the weights: float64, float32 or bfloat16.")
    ] = "float64",
    export: Annotated[
        Path | None, typer.Option(help="Write the weights into this folder.")
    ] = None,
    out: Out = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Find the weights of the smallest heads that keep given rules, or prove that there are none."""
    from headwright.head_design import (
        CircuitRules,
        HeadsResult,
        read_circuit,
        read_rules,
    )
    from headwright.head_design import heads as build

    check_picture(plot)
    check_writable(out, "--out")
    wanted = read_circuit(rules) or read_rules(rules)
    if isinstance(wanted, CircuitRules):
        for option, value in (
            ("--head-dim", head_dim),
            ("--export", export),
            ("--plot", plot),
        ):
            if value is not None:
                raise InputError(
                    f"{option} beside rules with layers: expected it with rules for one layer"
                )
    with progress("designing") as report:
        found = build(
            wanted, minimise=minimise, head_dim=head_dim, dtype=dtype, progress=report
        )
    written = write_certificate(found.certificate, out)
    if isinstance(found, HeadsResult):
        exported = _export(found, export)
        told = found.to_json(written, exported) if json else None
    else:
        exported = []
        told = found.to_json(written) if json else None
    if told is not None:
        show_json(told)
    else:
        _print(found, written, exported)
    if plot is not None and isinstance(found, HeadsResult) and found.layer is not None:
        save_picture(plot, found.picture())
    raise typer.Exit(DESIGN_EXIT[found.word])


def _export(found: HeadsResult, folder: Path | None) -> list[str]:
    if folder is None or found.layer is None:
        return []
    from headwright.head_design.export import export

    return [str(path) for path in export(found, folder, tokens=found.rules.sequences)]


def _print(
    found: HeadsResult | Circuit, written: str | None, exported: list[str]
) -> None:
    from headwright.certificates.checkers import in_words
    from headwright.head_design import HeadsResult

    by = f" ({in_words(found.checkers)})" if found.checkers else ""
    show_line(f"{found.word}{by}: {found.words}")
    if isinstance(found, HeadsResult):
        _print_layer(found)
    else:
        _print_circuit(found)
    if written is not None:
        say(
            f"The certificate is in {written}; check it with:",
            next_step("verify", written),
        )
    if exported:
        say(f"Exported: {', '.join(exported)}")


def _print_layer(found: HeadsResult) -> None:
    from headwright.head_design.heads_result import COARSE
    from headwright.numerics.enclosure import shown_above, shown_below

    if found.layer is None:
        return
    show_line(
        f"head dimension {found.head_dim}{_smallest(found)}, numbers of type {found.layer.dtype}"
    )
    mine = "Frobenius" if found.minimise == "size" else "nuclear"
    bound = f", proven to be at least {shown_below(found.lower_bound, DIGITS)} for any head that attends as much"
    for name, norm in (("Frobenius", found.frobenius), ("nuclear", found.nuclear)):
        more = bound if name == mine and found.lower_bound else ""
        show_line(f"{name} norm of W_K^T W_Q at most {shown_above(norm, DIGITS)}{more}")
    for words in found.assignment:
        show_line(words)
    for rule, error in zip(found.claims, found.outputs, strict=True):
        if rule.output is not None:
            show_line(
                f"{rule.name} outputs what is wanted with an error of at most {shown_above(error, DIGITS)}"
            )
    if found.layer.dtype == "bfloat16":
        say(COARSE)


def _print_circuit(found: Circuit) -> None:
    from headwright.numerics.enclosure import shown_above

    for number, built in enumerate(found.layers):
        norm = f"Frobenius norm of W_K^T W_Q at most {shown_above(built.frobenius, DIGITS)}"
        show_line(f"layer {number}: head dimension {built.head_dim}, {norm}")
    for number, error in enumerate(found.errors):
        apart = f"within {shown_above(error, DIGITS)} of where layer {number + 1} expects them"
        show_line(f"tokens come out of layer {number} {apart}")


def _smallest(found: HeadsResult) -> str:
    """What is known of smaller dimensions, where that was asked for."""
    least = found.head_dim_lower_bound
    if found.head_dim == least:
        return (
            " (there is no smaller one)"
            if least == 1
            else " (no smaller one attends as much: proven)"
        )
    return f" (none below {least} attends as much: proven)" if least > 1 else ""

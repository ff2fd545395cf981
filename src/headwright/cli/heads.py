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
        built = build(
            wanted, minimise=minimise, head_dim=head_dim, dtype=dtype, progress=report
        )
    written = write_certificate(built.certificate, out)
    if isinstance(built, HeadsResult):
        exported = _export(built, export)
        as_json = built.to_json(written, exported) if json else None
    else:
        exported = []
        as_json = built.to_json(written) if json else None
    if as_json is not None:
        show_json(as_json)
    else:
        _print(built, written, exported)
    if plot is not None and isinstance(built, HeadsResult) and built.layer is not None:
        save_picture(plot, built.picture())
    raise typer.Exit(DESIGN_EXIT[built.word])


def _export(built: HeadsResult, folder: Path | None) -> list[str]:
    if folder is None or built.layer is None:
        return []
    from headwright.head_design.export import export

    return [str(path) for path in export(built, folder, tokens=built.rules.sequences)]


def _print(
    built: HeadsResult | Circuit, written: str | None, exported: list[str]
) -> None:
    from headwright.certificates.checkers import in_words
    from headwright.head_design import HeadsResult

    by = f" ({in_words(built.checkers)})" if built.checkers else ""
    show_line(f"{built.word}{by}: {built.words}")
    if isinstance(built, HeadsResult):
        _print_layer(built)
    else:
        _print_circuit(built)
    if written is not None:
        say(
            f"The certificate is in {written}; check it with:",
            next_step("verify", written),
        )
    if exported:
        say(f"Exported: {', '.join(exported)}")


def _print_layer(built: HeadsResult) -> None:
    from headwright.head_design.rendering import COARSE
    from headwright.numerics.enclosure import shown_above, shown_below

    if built.layer is None:
        return
    show_line(
        f"head dimension {built.head_dim}{_smallest(built)}, numbers of type {built.layer.dtype}"
    )
    smallest = "Frobenius" if built.minimise == "size" else "nuclear"
    bound = f", proven to be at least {shown_below(built.lower_bound, DIGITS)} for any head that attends as much"
    for name, norm in (("Frobenius", built.frobenius), ("nuclear", built.nuclear)):
        more = bound if name == smallest and built.lower_bound else ""
        show_line(f"{name} norm of W_K^T W_Q at most {shown_above(norm, DIGITS)}{more}")
    for words in built.assignment:
        show_line(words)
    for rule, error in zip(built.claims, built.outputs, strict=True):
        if rule.output is not None:
            show_line(
                f"{rule.name} outputs what is wanted with an error of at most {shown_above(error, DIGITS)}"
            )
    if built.layer.dtype == "bfloat16":
        say(COARSE)


def _print_circuit(circuit: Circuit) -> None:
    from headwright.numerics.enclosure import shown_above

    for number, layer in enumerate(circuit.layers):
        norm = f"Frobenius norm of W_K^T W_Q at most {shown_above(layer.frobenius, DIGITS)}"
        show_line(f"layer {number}: head dimension {layer.head_dim}, {norm}")
    for number, error in enumerate(circuit.errors):
        apart = f"within {shown_above(error, DIGITS)} of where layer {number + 1} expects them"
        show_line(f"tokens come out of layer {number} {apart}")


def _smallest(layer: HeadsResult) -> str:
    """What is known of smaller dimensions, where that was asked for."""
    least = layer.head_dim_lower_bound
    if layer.head_dim == least:
        return (
            " (there is no smaller one)"
            if least == 1
            else " (no smaller one attends as much: proven)"
        )
    return f" (none below {least} attends as much: proven)" if least > 1 else ""

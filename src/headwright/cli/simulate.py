"""headwright simulate."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwright.cli.console import (
    check_picture,
    progress,
    save_picture,
    say,
    show_json,
    show_line,
    show_table,
)
from headwright.cli.options import (
    ARRAY,
    AtLeast,
    Average,
    Copy,
    Eps,
    ExactScale,
    Json,
    Plot,
    Seed,
    read_certificate,
    read_keys,
    read_number,
    read_numbers,
    read_queries,
    read_targets,
)
from headwright.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.certificates.exact.certificate import KeyStatement
    from headwright.numerics.enclosure import Enclosure
    from headwright.simulation import Simulation

SHORT = "Simulate noise in the keys: what a head then attends to, and how often."
EXAMPLES = ("headwright simulate --keys k.npy --uncertainty u.toml --query q.npy",)


def simulate(
    uncertainty: Annotated[
        Path, typer.Option(help="Uncertainty model for the keys (.toml).")
    ],
    keys: Annotated[
        Path | None,
        typer.Option(
            help=f"Keys, one per row {ARRAY}; may be left out if the certificate holds them."
        ),
    ] = None,
    query: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="<path>", help="A query; give the option once for each head."
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="Take queries, targets and scale from this certificate (.json)."
        ),
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(
            help="Keys whose weights are reported, such as 0,1.",
            show_default="those of the targets",
        ),
    ] = None,
    met: Annotated[
        bool,
        typer.Option(
            "--met",
            help="Report how often the targets (below, or the certificate's) is met.",
        ),
    ] = False,
    copy: Copy = None,
    average: Average = None,
    at_least: AtLeast = None,
    eps: Eps = None,
    tolerance: Annotated[
        str, typer.Option(help="How close to the average counts as averaging.")
    ] = "0.05",
    samples: Annotated[int, typer.Option(help="Number of random draws.")] = 100_000,
    seed: Seed = 0,
    scale: ExactScale = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Simulate uncertain keys: weights of targets, how often they are averaged, how often targets are met."""
    from headwright.simulation import simulate
    from headwright.uncertainty import read_uncertainty

    check_picture(plot)
    chosen = read_targets(copy, average, at_least, eps)
    stated = _statement(certificate, query)
    least = chosen.least if chosen is not None else None
    if stated is not None and least is None and (met or targets is None):
        least = stated.targets
    if least is None and (met or targets is None):
        raise InputError(
            "expected --targets to watch, or a target: --copy, --average or --at-least"
        )
    watched = read_numbers(targets, "--targets") or sorted(least or ())
    factor = Fraction(1)
    if scale is not None:
        factor = read_number(scale, "--scale")
    elif stated:
        factor = stated.scale
    with progress("drawing") as report:
        result = simulate(
            _keys(keys, stated),
            _queries(query, stated),
            read_uncertainty(uncertainty),
            watched,
            tolerance=read_number(tolerance, "--tolerance"),
            least=least,
            samples=samples,
            seed=seed,
            scale=factor,
            progress=report,
        )
    if json:
        show_json(result.to_json())
    else:
        _print(result, average=targets is not None or least is None)
    if stated is not None:
        say(
            "The queries are the certificate's, which was not verified here: see headwright verify."
        )
    if plot is not None:
        from headwright.pictures import noise_picture

        save_picture(plot, noise_picture(result))


def _statement(
    certificate: Path | None, query: list[Path] | None
) -> KeyStatement | None:
    """What the certificate says, if there is one; it is used as data, and not verified."""
    if (certificate is None) == (not query):
        raise InputError("expected queries: --query for each head, or --certificate")
    if certificate is None:
        return None
    statement = read_certificate(certificate).statement
    if not statement.queries:
        raise InputError(
            f"certificate {certificate}: says that a target is {statement.claim}, expected one with queries"
        )
    return statement


def _keys(
    path: Path | None, statement: KeyStatement | None
) -> Float[np.ndarray, "n d"]:
    import numpy as np

    if path is not None:
        return read_keys(path)
    if statement is None or statement.keys[0].rows is None:
        raise InputError(
            "expected --keys"
            + (", since the certificate does not hold them" if statement else "")
        )
    name = statement.keys[0]
    return np.array(statement.keys[0].rows.numbers).reshape(name.n, name.d)


def _queries(
    paths: list[Path] | None, statement: KeyStatement | None
) -> Float[np.ndarray, "heads d"]:
    import numpy as np

    if statement is None:
        return read_queries(paths or [])
    # They are floats: exact.
    return np.array([[float(x) for x in query] for query in statement.queries])


def _print(result: Simulation, *, average: bool) -> None:
    from rich.table import Table

    from headwright.numerics.enclosure import fixed_above, shown_above

    # Fits into 80 columns.
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in (
        "target",
        "mean weight",
        "std",
        "5%",
        "median",
        "95%",
        *(["proven mean"] if result.exact else []),
    ):
        table.add_column(name, justify="right")
    for k, target in enumerate(result.targets):
        spread = (f"{target.quantiles[level]:.4f}" for level in (0.05, 0.5, 0.95))
        # Cut at 0 and 1: the longer side is the one that was not.
        low, high = target.mean_interval
        rounded = f"{target.mean:.4f}"
        half = max(high - float(rounded), float(rounded) - low)
        mean = f"{rounded} ± {fixed_above(half, 4)}"
        proven = [str(result.exact.means[k])] if result.exact else []
        table.add_row(
            str(target.key), mean, f"{target.deviation:.4f}", *spread, *proven
        )
    show_table(table)
    if average:
        goal = f"every target within {shown_above(result.tolerance)} of 1/{len(result.targets)}"
        near = result.exact.near_average if result.exact else None
        _print_probability(
            goal, result, result.near_average, result.near_average_interval, near
        )
    if result.met is not None:
        least = " and ".join(
            f"key {a} at least {_weight(p)}"
            for a, p in sorted(result.met.least.items())
        )
        _print_probability(
            f"targets met ({least})",
            result,
            result.met.probability,
            result.met.interval,
            result.met.exact,
        )
    if result.sampled_uniformly:
        say(
            f"Drawn uniformly, since the uncertainty names no law: {', '.join(result.sampled_uniformly)}."
        )
    say(f"Seed {result.seed}.")


def _print_probability(
    what: str,
    result: Simulation,
    sampled: float,
    interval: tuple[float, float],
    exact: Enclosure | None,
) -> None:
    from headwright.numerics.enclosure import fixed_above, fixed_below

    low, high = interval
    ends = f"{fixed_below(low, 4)} .. {fixed_above(high, 4)}"
    show_line(f"{what}: {sampled:.4f} of {result.samples} draws (95% interval {ends})")
    show_line(
        f"proven: {exact}" if exact else f"no exact value: {result.why_not_exact}"
    )


def _weight(p: Fraction) -> str:
    from headwright.numerics.enclosure import shown_below

    return str(p) if len(str(p)) < 12 else shown_below(p, 4)

"""headwright simulate."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwright.cli.console import OUT, check_picture, progress, save_picture, say, show_json
from headwright.cli.options import Json, Keys, Plot, Queries, Scale, Seed, read_indices, read_keys, read_queries
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.enclosure import Enclosure
    from headwright.noise import Simulation


def simulate(
    keys: Keys,
    world: Annotated[Path, typer.Option(help="What the keys may be (.toml).")],
    query: Queries,
    targets: Annotated[str, typer.Option(help="The keys to watch, such as 0,1.")],
    tolerance: Annotated[str, typer.Option(help="How near to the average counts as near.")] = "0.05",
    samples: Annotated[int, typer.Option(help="How many draws of the world.")] = 100_000,
    seed: Seed = 0,
    scale: Scale = 1.0,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """What noise in the keys does to the targets: means, spreads, and how often they are averaged."""
    from headwright.noise import read_world, simulate

    check_picture(plot)
    with progress("drawing") as report:
        result = simulate(
            read_keys(keys),
            read_queries(query),
            read_world(world),
            read_indices(targets, "--targets"),
            tolerance=_rational(tolerance),
            samples=samples,
            seed=seed,
            scale=scale,
            progress=report,
        )
    if json:
        show_json(_as_json(result))
    else:
        _print(result)
    if plot is not None:
        from headwright.pictures import noise_picture

        save_picture(plot, noise_picture(result))


def _rational(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(f"--tolerance {text!r}: expected a number such as 0.05") from error


def _as_json(result: Simulation) -> dict[str, Any]:
    exact = result.exact
    return {
        "targets": [
            {
                "key": target.key,
                "mean": target.mean,
                "mean_interval": list(target.mean_interval),
                "std": target.deviation,
                "quantiles": {str(level): value for level, value in target.quantiles.items()},
                "exact_mean": _enclosure(exact.means[k]) if exact else None,
                "exact_std": _enclosure(exact.deviations[k]) if exact else None,
            }
            for k, target in enumerate(result.targets)
        ],
        "near_average": {
            "probability": result.near_average,
            "interval": list(result.near_average_interval),
            "exact": exact.near_average.midpoint if exact else None,
            "exact_enclosure": _enclosure(exact.near_average) if exact else None,
            "why_not_exact": result.why_not_exact or None,
        },
        "tolerance": float(result.tolerance),
        "confidence": result.confidence,
        "samples": result.samples,
        "seed": result.seed,
        "sampled_uniformly": list(result.sampled_uniformly),
    }


def _enclosure(enclosure: Enclosure) -> list[float]:
    return [enclosure.lower, enclosure.upper]


def _print(result: Simulation) -> None:
    from rich.table import Table

    table = Table("target", "mean weight", "std", "5%", "median", "95%", *(["proven mean"] if result.exact else []))
    for k, target in enumerate(result.targets):
        spread = (f"{target.quantiles[level]:.4f}" for level in (0.05, 0.5, 0.95))
        mean = f"{target.mean:.4f} ± {target.mean_interval[1] - target.mean:.4f}"
        proven = [str(result.exact.means[k])] if result.exact else []
        table.add_row(str(target.key), mean, f"{target.deviation:.4f}", *spread, *proven)
    OUT.print(table)
    low, high = result.near_average_interval
    goal = f"every target within {float(result.tolerance):g} of 1/{len(result.targets)}"
    OUT.print(f"{goal}: {result.near_average:.4f} of {result.samples} draws (95% interval {low:.4f} .. {high:.4f})")
    if result.exact:
        OUT.print(f"proven: {result.exact.near_average}")
    else:
        OUT.print(f"no exact value: {result.why_not_exact}")
    if result.sampled_uniformly:
        say(f"Drawn uniformly, since the world names no law: {', '.join(result.sampled_uniformly)}.")
    say(f"Seed {result.seed}.")

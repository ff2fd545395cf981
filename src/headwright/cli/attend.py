"""headwright attend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwright.cli.console import (
    check_picture,
    save_picture,
    show_json,
    show_line,
    show_table,
)
from headwright.cli.options import (
    Json,
    Keys,
    Plot,
    Queries,
    Scale,
    read_keys,
    read_queries,
)

SHORT = "Compute scores, pattern and output of attention."
EXAMPLES = ("headwright attend --keys keys.npy --query q.npy --plot pattern.svg",)
FLOATING = "floating-point"
MOST_ROWS = 20  # that are shown


def attend(
    keys: Keys,
    query: Queries,
    values: Annotated[
        Path | None,
        typer.Option(help="Values, one row for each key.", show_default="the keys"),
    ] = None,
    scale: Scale = 1.0,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Compute the scores, the pattern and the output of one head for each query."""
    import numpy as np
    from rich.table import Table

    from headwright.attention import attend
    from headwright.files import read_array

    check_picture(plot)
    K = read_keys(keys)
    V = K if values is None else read_array(values, what="values", axes=2)
    result = attend(K, read_queries(query), V, scale=scale)
    if json:
        parts = {
            "scores": result.scores,
            "pattern": result.pattern,
            "output": result.output,
        }
        show_json(
            {name: part.tolist() for name, part in parts.items()}
            | {"kinds": dict.fromkeys(parts, FLOATING)}
        )
    else:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        heads = _names(query) or [f"head {h}" for h in range(len(result.pattern))]
        for name in (
            "key",
            *(f"{head} {part}" for head in heads for part in ("score", "weight")),
        ):
            table.add_column(name, justify="right")
        heaviest = np.sort(
            np.argsort(-result.pattern.max(axis=0), kind="stable")[:MOST_ROWS]
        )
        for i in heaviest:
            cells = zip(result.scores[:, i], result.pattern[:, i], strict=True)
            table.add_row(
                str(i), *(f"{number:.4g}" for pair in cells for number in pair)
            )
        show_table(table)
        if len(K) > MOST_ROWS:
            rest = 1 - result.pattern[:, heaviest].sum(axis=-1)
            shares = ", ".join(f"{max(float(share), 0):.3g}" for share in rest)
            show_line(
                f"These are the heaviest {MOST_ROWS} of {len(K)} keys; the others share {shares}. All: --json."
            )
        show_line("output: " + "  ".join(f"{number:.4g}" for number in result.output))
        show_line("All of these numbers are floating-point.")
    if plot is not None:
        from headwright.pictures import pattern_bars

        save_picture(plot, pattern_bars(result.pattern, names=_names(query)))


def _names(paths: list[Path]) -> list[str]:
    """What to call queries: as their files are called, where that tells them apart."""
    stems = [path.stem for path in paths]
    return stems if len(stems) > 1 and len(set(stems)) == len(stems) else []

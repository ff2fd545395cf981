"""headwright design."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwright.cli.console import OUT, check_picture, progress, save_picture, say, show_json
from headwright.cli.options import Json, Keys, Plot, read_indices, read_keys
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.design import Design, Wish

EXIT = {"designed": 0, "impossible": 1, "undecided": 3}


def design(
    keys: Keys,
    copy: Annotated[int | None, typer.Option(help="Attend to this key.")] = None,
    average: Annotated[str | None, typer.Option(help="Attend evenly to these keys, such as 0,1.")] = None,
    at_least: Annotated[str | None, typer.Option(help="Least weights, such as 0=0.6,1=0.3.")] = None,
    eps: Annotated[str, typer.Option(help="How much is left to others: 1/(targets + eps) for each target.")] = "0.01",
    scale: Annotated[str, typer.Option(help="Factor of the scores; exact, such as 1/8.")] = "1",
    world: Annotated[Path | None, typer.Option(help="What the keys may be (.toml).")] = None,
    confidence: Annotated[
        str, typer.Option(help="Where keys are random: grant the wish with this probability.")
    ] = "0.95",
    heads: Annotated[int, typer.Option(help="Share the targets out among so many heads.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """The shortest query that grants a wish, with a certificate; or a proof that none does."""
    from headwright.design import design
    from headwright.files import write_whole
    from headwright.noise import World, read_world

    check_picture(plot)
    wish = _wish(copy, average, at_least, eps)
    K = read_keys(keys)
    chosen = World() if world is None else read_world(world)
    with progress("designing") as report:
        found = design(K, wish, world=chosen, scale=scale, heads=heads, confidence=confidence, progress=report)
    if out is not None and found.certificate is not None:
        write_whole(out, found.certificate.encode())
    written = str(out) if out is not None and found.certificate is not None else None
    if json:
        show_json(_as_json(found, written))
    else:
        _print(found, written)
    if plot is not None:
        save_picture(plot, found.picture())
    raise typer.Exit(EXIT[found.verdict])


def _wish(copy: int | None, average: str | None, at_least: str | None, eps: str) -> Wish:
    from headwright import design

    if (copy is not None) + (average is not None) + (at_least is not None) != 1:
        raise InputError("expected one wish: --copy, --average or --at-least")
    if copy is not None:
        return design.copy(copy, eps)
    if average is not None:
        return design.average(read_indices(average, "--average"), eps)
    bounds: dict[int, str] = {}
    for part in (at_least or "").split(","):
        key, equals, least = part.partition("=")
        if not equals or not key.strip().isdigit():
            raise InputError(f"--at-least {at_least!r}: expected weights such as 0=0.6,1=0.3")
        if int(key) in bounds:
            raise InputError(f"--at-least {at_least!r}: expected each key once")
        bounds[int(key)] = least
    return design.at_least(bounds)


def _as_json(found: Design, written: str | None) -> dict[str, Any]:
    finite = math.isfinite(found.norm)
    return {
        "verdict": found.verdict,
        "queries": found.queries.tolist(),
        "norm": found.norm if finite else None,
        "norm_lower_bound": found.norm_lower_bound if math.isfinite(found.norm_lower_bound) else None,
        "gap": found.gap if finite and math.isfinite(found.gap) else None,
        "pattern": {str(key): least for key, least in found.pattern.items()},
        "heads": [{"head": share.head, "targets": list(share.targets)} for share in found.shares],
        "best_eps": found.best_eps[1] if found.best_eps else None,
        "best_eps_interval": list(found.best_eps) if found.best_eps else None,
        "probability": vars(found.probability) if found.probability else None,
        "certificate": written,
        "words": found.words,
    }


def _print(found: Design, written: str | None) -> None:
    from headwright.enclosure import shown_above, shown_below

    OUT.print(f"{found.verdict}: {found.words}", markup=False, soft_wrap=True)
    if found.verdict == "designed":
        gap = "" if math.isinf(found.gap) else f" (relative gap {found.gap:.1e})"
        bound = shown_below(found.norm_lower_bound, 10)
        OUT.print(f"length {shown_above(found.norm, 10)}, proven to be at least {bound} for any query{gap}")
        for query in found.queries[:, :8]:
            more = ", ..." if found.queries.shape[1] > 8 else ""
            OUT.print("query  " + ", ".join(f"{x:.6g}" for x in query) + more, soft_wrap=True)
    if len(found.shares) > 1:
        for share in found.shares:
            OUT.print(f"head {share.head} serves {', '.join(f'key {a}' for a in share.targets)}")
    if found.probability is not None:
        low, high = found.probability.interval
        why = (
            "conservative: ways to fail are added up" if found.probability.conservative else "exact for one random key"
        )
        sampled = f"sampled {found.probability.probability:.4f} (95% interval {low:.4f} .. {high:.4f})"
        OUT.print(f"probability: proven at least {float(found.question.confidence):g} ({why}); {sampled}")
    if found.best_eps is not None:
        low, high = found.best_eps
        OUT.print(f"what is possible: eps = {shown_above(high)}; no eps below {shown_below(low)} (both proven)")
    if written is not None:
        say(f"The certificate is in {written}; check it with: headwright verify {written}")

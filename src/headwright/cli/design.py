"""headwright design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwright.cli.circuit import design_circuit
from headwright.cli.console import OUT, check_picture, progress, save_picture, say, show_json
from headwright.cli.options import ARRAY, Json, Plot, read_indices, read_keys
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.design import Design, Wish
    from headwright.weights import Built

EXIT = {"designed": 0, "impossible": 1, "undecided": 3}
COARSE = (
    "The certificate is about these bfloat16 weights in exact arithmetic. Sums that are themselves rounded to bfloat16 "
    "may miss tight tolerances; exports run these weights in float32."
)


def design(
    keys: Annotated[Path | None, typer.Option(help=f"The keys, one a row {ARRAY}.")] = None,
    rules: Annotated[
        Path | None, typer.Option(help="Whole heads from rules (.toml), instead of one query for keys.")
    ] = None,
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
    minimise: Annotated[str | None, typer.Option(help="With --rules: size or rank.")] = None,
    head_dim: Annotated[int | None, typer.Option(help="With --rules: the head dimension, at most.")] = None,
    dtype: Annotated[str | None, typer.Option(help="With --rules: float64, float32 or bfloat16.")] = None,
    export: Annotated[Path | None, typer.Option(help="With --rules: write the weights into this folder.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """The shortest query that grants a wish, or the smallest heads that keep rules, with a certificate."""
    for_heads = {"--minimise": minimise, "--head-dim": head_dim, "--dtype": dtype, "--export": export}
    if rules is not None:
        for_keys = {"--keys": keys, "--copy": copy, "--average": average, "--at-least": at_least, "--world": world}
        _refuse(for_keys, "--rules", "--keys")
        from headwright.weights.circuit import read_circuit

        if (circuit := read_circuit(rules)) is not None:
            _refuse({"--head-dim": head_dim, "--export": export, "--plot": plot}, "rules with layers", "one layer")
            raise typer.Exit(EXIT[design_circuit(circuit, minimise or "size", dtype or "float64", out, json=json)])
        check_picture(plot)
        found = _build(rules, minimise or "size", head_dim, dtype or "float64")
        _finish_heads(found, out, export, json=json)
        if plot is not None and found.layer is not None:
            save_picture(plot, found.picture())
        raise typer.Exit(EXIT[found.verdict])
    _refuse(for_heads, "--keys", "--rules")
    if keys is None:
        raise InputError("expected --keys with a wish, or --rules")
    _design_query(keys, _wish(copy, average, at_least, eps), scale, world, confidence, heads, out, json=json, plot=plot)


def _design_query(
    keys: Path, wish: Wish, scale: str, world: Path | None, confidence: str, heads: int, out: Path | None, *,
    json: bool, plot: Path | None,
) -> None:  # fmt: skip
    from headwright.design import design
    from headwright.files import write_whole
    from headwright.noise import World, read_world

    check_picture(plot)
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


def _refuse(options: Mapping[str, object], given: str, instead: str) -> None:
    """Options of the other use of this command."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} beside {given}: expected it with {instead}")


def _build(rules: Path, minimise: str, head_dim: int | None, dtype: str) -> Built:
    from headwright.weights import build, read_rules

    with progress("designing") as report:
        return build(read_rules(rules), minimise=minimise, head_dim=head_dim, dtype=dtype, progress=report)


def _finish_heads(found: Built, out: Path | None, export: Path | None, *, json: bool) -> None:
    """Write what is asked for, and say what was found."""
    from headwright.files import write_whole

    written, exported = None, []
    if out is not None and found.certificate is not None:
        write_whole(out, found.certificate.encode())
        written = str(out)
    if export is not None and found.layer is not None:
        from headwright.weights.export import export as write

        exported = [str(path) for path in write(found, export, tokens=found.rules.sequences)]
    if json:
        show_json(_heads_as_json(found, written, exported))
    else:
        _print_heads(found, written, exported)


def _heads_as_json(found: Built, written: str | None, exported: list[str]) -> dict[str, Any]:
    designed = found.layer is not None
    return {
        "verdict": found.verdict,
        "head_dim": found.head_dim if designed else None,
        "head_dim_lower_bound": found.head_dim_lower_bound if designed else None,
        "frobenius": found.frobenius if designed else None,
        "nuclear": found.nuclear if designed else None,
        "minimised": found.minimise,
        "lower_bound": found.lower_bound if designed else None,
        "outputs": [
            {"sequence": rule.sequence, "token": rule.token, "head": rule.head, "error": error}
            for rule, error in zip(found.claims, found.outputs, strict=True)
            if rule.output is not None
        ],
        "patterns": [
            {
                "sequence": rule.sequence,
                "token": rule.token,
                "head": rule.head,
                "least": {str(key): least for key, least in pattern.items()},
            }
            for rule, pattern in zip(found.claims, found.patterns, strict=True)
        ],
        "assignment": list(found.assignment),
        "dtype": found.layer.dtype if found.layer else None,
        "heads": [
            {name: W.tolist() for name in ("W_Q", "W_K", "W_V", "b_Q", "b_V") if (W := getattr(head, name)) is not None}
            for head in (found.layer.heads if found.layer else ())
        ],
        "certificate": written,
        "exported": exported,
        "note": COARSE if found.layer and found.layer.dtype == "bfloat16" else None,
        "words": found.words,
    }


def _smallest(found: Built) -> str:
    """What is known of smaller dimensions, where that was asked for."""
    least = found.head_dim_lower_bound
    if found.head_dim == least:
        return " (there is no smaller one)" if least == 1 else " (no smaller one attends as much: proven)"
    return f" (none below {least} attends as much: proven)" if least > 1 else ""


def _print_heads(found: Built, written: str | None, exported: list[str]) -> None:
    from headwright.enclosure import shown_above, shown_below

    OUT.print(f"{found.verdict}: {found.words}", markup=False, soft_wrap=True)
    if found.layer is not None:
        known = f"head dimension {found.head_dim}{_smallest(found)}, numbers of type {found.layer.dtype}"
        OUT.print(known, soft_wrap=True)
        norms = {"Frobenius": found.frobenius, "nuclear": found.nuclear}
        mine = "Frobenius" if found.minimise == "size" else "nuclear"
        bound = f", proven to be at least {shown_below(found.lower_bound, 8)} for any head that attends as much"
        for name, norm in norms.items():
            more = bound if name == mine and found.lower_bound else ""
            OUT.print(f"{name} norm of W_K^T W_Q at most {shown_above(norm, 8)}{more}", soft_wrap=True)
        for words in found.assignment:
            OUT.print(words)
        for rule, error in zip(found.claims, found.outputs, strict=True):
            if rule.output is not None:
                OUT.print(f"{rule.name} outputs what is wanted with an error of at most {shown_above(error)}")
        if found.layer.dtype == "bfloat16":
            say(COARSE)
    if written is not None:
        say(f"The certificate is in {written}; check it with: headwright verify {written}")
    if exported:
        say(f"Exported: {', '.join(exported)}")

"""headwright design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwright.cli.circuit import design_circuit
from headwright.cli.console import (
    check_picture,
    check_writable,
    next_step,
    progress,
    save_picture,
    say,
    show_json,
    show_line,
)
from headwright.cli.options import (
    ARRAY,
    AtLeast,
    Average,
    Checker,
    Copy,
    Eps,
    ExactScale,
    Fast,
    Json,
    Plot,
    check_checker,
    read_keys,
    read_wish,
)
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.queries import Design, Wish
    from headwright.queries.designer import Chance
    from headwright.weights import Built

SHORT = "From a wish to the shortest query, with a certificate."
EXAMPLES = (
    "headwright design --keys keys.npy --copy 3 --out copy.json",
    "headwright design --keys keys.npy --average 0,1 --world w.toml --heads 2",
    "headwright design --rules previous.toml --out heads.json --export heads",
)
EXIT = {"designed": 0, "impossible": 1, "longer": 1, "undecided": 3}


def design(
    keys: Annotated[Path | None, typer.Option(help=f"The keys, one a row {ARRAY}.")] = None,
    rules: Annotated[
        Path | None, typer.Option(help="Whole heads from rules (.toml), instead of one query for keys.")
    ] = None,
    copy: Copy = None,
    average: Average = None,
    at_least: AtLeast = None,
    eps: Eps = None,
    scale: ExactScale = None,
    world: Annotated[Path | None, typer.Option(help="What the keys may be (.toml).")] = None,
    confidence: Annotated[
        str | None,
        typer.Option(help="Where keys are random: grant the wish with this probability.", show_default="0.95"),
    ] = None,
    heads: Annotated[
        int | None, typer.Option(help="Share the targets out among so many heads.", show_default="1")
    ] = None,
    checker: Checker = None,
    fast: Fast = False,
    minimise: Annotated[str | None, typer.Option(help="With --rules: size or rank.")] = None,
    head_dim: Annotated[int | None, typer.Option(help="With --rules: the head dimension, at most.")] = None,
    dtype: Annotated[str | None, typer.Option(help="With --rules: float64, float32 or bfloat16.")] = None,
    export: Annotated[Path | None, typer.Option(help="With --rules: write the weights into this folder.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """The shortest query that grants a wish, or the smallest heads that keep rules, with a certificate."""
    check_checker(checker, fast=fast)
    check_picture(plot)
    check_writable(out, "--out")
    if rules is not None:
        for_keys = {"--keys": keys, "--copy": copy, "--average": average, "--at-least": at_least, "--eps": eps,
                    "--scale": scale, "--world": world, "--confidence": confidence, "--heads": heads,
                    "--checker": checker}  # fmt: skip
        _refuse(for_keys, "--rules", "--keys")
        from headwright.weights.circuit import read_circuit

        if (circuit := read_circuit(rules)) is not None:
            _refuse({"--head-dim": head_dim, "--export": export, "--plot": plot}, "rules with layers", "one layer")
            raise typer.Exit(EXIT[design_circuit(circuit, minimise or "size", dtype or "float64", out, json=json)])
        _finish_heads(
            _build(rules, minimise or "size", head_dim, dtype or "float64"), out, export, json=json, plot=plot
        )  # fmt: skip
    else:
        for_heads = {"--minimise": minimise, "--head-dim": head_dim, "--dtype": dtype, "--export": export}
        _refuse(for_heads, "--keys", "--rules")
        wish = read_wish(copy, average, at_least, eps)
        if keys is None or wish is None:
            raise InputError("expected --keys with one wish (--copy, --average or --at-least), or --rules")
        options = {"scale": scale, "confidence": confidence, "heads": heads, "checker": checker}
        found = _design_query(keys, wish, world, {k: v for k, v in options.items() if v is not None})
        _finish_query(found, keys, world, out, json=json, plot=plot)


def _design_query(keys: Path, wish: Wish, world: Path | None, options: Mapping[str, Any]) -> Design:
    from headwright.noise import World, read_world
    from headwright.queries import design

    K = read_keys(keys)
    chosen = World() if world is None else read_world(world)
    with progress("designing") as report:
        return design(K, wish, world=chosen, progress=report, **options)


def _finish_query(
    found: Design, keys: Path, world: Path | None, out: Path | None, *, json: bool, plot: Path | None
) -> None:
    """Write what is asked for, and say what was found."""
    from headwright.files import write_whole
    from headwright.queries.wire import to_json

    written = None
    if out is not None and found.certificate is not None:
        write_whole(out, found.certificate.encode())
        written = str(out)
    if json:
        show_json(to_json(found, written))
    else:
        _print(found, written, keys, world)
    if plot is not None:
        save_picture(plot, found.picture())
    raise typer.Exit(EXIT[found.word])


def _print(found: Design, written: str | None, keys: Path, world: Path | None) -> None:
    from headwright.enclosure import shown_above, shown_below
    from headwright.verification import in_words

    by = f" ({in_words(found.checkers)})" if found.checkers else ""
    show_line(f"{found.word}{by}: {found.words}")
    if found.word == "designed":
        gap = "" if math.isinf(found.gap) else f" (relative gap {found.gap:.1e})"
        bound = f"proven to be at least {shown_below(found.norm_lower_bound, 10)} {_for_any(found)}{gap}"
        unknown = "with no proof that there is none shorter" if found.norm else "and nothing is shorter"
        known = bound if found.norm_lower_bound else unknown
        show_line(f"length {shown_above(found.norm, 10)}, {known}")
        for query in found.queries[:, :8]:
            more = ", ..." if found.queries.shape[1] > 8 else ""
            show_line("query  " + ", ".join(f"{x:.6g}" for x in query) + more)
    if len(found.shares) > 1:
        for share in found.shares:
            show_line(f"head {share.head} serves {', '.join(f'key {a}' for a in share.targets)}")
    if found.probability is not None:
        show_line(_chance_in_words(found.probability, float(found.question.confidence)))
    if found.best_eps is not None:
        low, high = found.best_eps
        show_line(f"what is possible: eps = {shown_above(high)}; no eps below {shown_below(low)} (both proven)")
    if written is not None:
        again = next_step("verify", written, *_keys_option(found, keys, world))
        say(f"The certificate is in {written}; check it with:", again)


def _for_any(found: Design) -> str:
    return "for any query" if len(found.queries) == 1 else f"for the longest of any {len(found.queries)} queries"


def _chance_in_words(chance: Chance, confidence: float) -> str:
    low, high = chance.interval
    why = "conservative: ways to fail are added up" if chance.conservative else "exact for one random key"
    words = f"probability: proven at least {confidence:g} ({why})"
    if chance.exact is not None:
        words += f"; proven to be {chance.exact}"
    evenly = ", drawing evenly what is not random" if chance.evenly else ""
    return f"{words}; sampled {chance.probability:.4f} (95% interval {low:.4f} .. {high:.4f}{evenly})"


def _keys_option(found: Design, keys: Path, world: Path | None) -> list[object]:
    """What verify needs besides the certificate: the keys, where it does not hold their rows."""
    from headwright.queries.statement import INLINE_NUMBERS

    if found.question.keys[0].size <= INLINE_NUMBERS:
        return []
    return ["--world", world] if found.question.world.scenarios else ["--keys", keys]


def _refuse(options: Mapping[str, object], given: str, instead: str) -> None:
    """Options of the other use of this command."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} beside {given}: expected it with {instead}")


def _build(rules: Path, minimise: str, head_dim: int | None, dtype: str) -> Built:
    from headwright.weights import build, read_rules

    with progress("designing") as report:
        return build(read_rules(rules), minimise=minimise, head_dim=head_dim, dtype=dtype, progress=report)


def _finish_heads(
    found: Built, out: Path | None, export: Path | None, *, json: bool, plot: Path | None
) -> None:  # fmt: skip
    """Write what is asked for, and say what was found."""
    from headwright.files import write_whole
    from headwright.weights.wire import to_json

    written, exported = None, []
    if out is not None and found.certificate is not None:
        write_whole(out, found.certificate.encode())
        written = str(out)
    if export is not None and found.layer is not None:
        from headwright.weights.export import export as write

        exported = [str(path) for path in write(found, export, tokens=found.rules.sequences)]
    if json:
        show_json(to_json(found, written, exported))
    else:
        _print_heads(found, written, exported)
    if plot is not None and found.layer is not None:
        save_picture(plot, found.picture())
    raise typer.Exit(EXIT[found.word])


def _smallest(found: Built) -> str:
    """What is known of smaller dimensions, where that was asked for."""
    least = found.head_dim_lower_bound
    if found.head_dim == least:
        return " (there is no smaller one)" if least == 1 else " (no smaller one attends as much: proven)"
    return f" (none below {least} attends as much: proven)" if least > 1 else ""


def _print_heads(found: Built, written: str | None, exported: list[str]) -> None:
    from headwright.enclosure import shown_above, shown_below
    from headwright.verification import in_words
    from headwright.weights.wire import COARSE

    by = f" ({in_words(found.checkers)})" if found.checkers else ""
    show_line(f"{found.word}{by}: {found.words}")
    if found.layer is not None:
        known = f"head dimension {found.head_dim}{_smallest(found)}, numbers of type {found.layer.dtype}"
        show_line(known)
        norms = {"Frobenius": found.frobenius, "nuclear": found.nuclear}
        mine = "Frobenius" if found.minimise == "size" else "nuclear"
        bound = f", proven to be at least {shown_below(found.lower_bound, 8)} for any head that attends as much"
        for name, norm in norms.items():
            more = bound if name == mine and found.lower_bound else ""
            show_line(f"{name} norm of W_K^T W_Q at most {shown_above(norm, 8)}{more}")
        for words in found.assignment:
            show_line(words)
        for rule, error in zip(found.claims, found.outputs, strict=True):
            if rule.output is not None:
                show_line(f"{rule.name} outputs what is wanted with an error of at most {shown_above(error)}")
        if found.layer.dtype == "bfloat16":
            say(COARSE)
    if written is not None:
        say(f"The certificate is in {written}; check it with:", next_step("verify", written))
    if exported:
        say(f"Exported: {', '.join(exported)}")

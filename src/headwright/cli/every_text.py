"""headwright audit MODEL --every-text T."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.audit.models.model import may_hold
from headwright.cli.console import OUT, progress, save_picture, say, show_json
from headwright.enclosure import shown_above, shown_below
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.audit.engine.cluster import Source
    from headwright.audit.models.model import Model
    from headwright.audit.texts.budget import OnBudget
    from headwright.audit.texts.curves import Curve
    from headwright.audit.texts.every_text import Attained, HeadOnEveryText, OnPlaces, Sweeper
    from headwright.audit.texts.first import FirstLayer
    from headwright.audit.texts.logits import OnLogit
    from headwright.audit.texts.occurrences import OnToken
    from headwright.audit.texts.pairs import KeptByPair, Pair
    from headwright.audit.texts.statement import Statement

DIGITS = 4
SHOWN = 24  # tokens of a witness
OF_TEXT = "@text"
LISTED = 20  # pairs on a screen


@dataclass(frozen=True)
class Asked:
    """What the command line asks about every text."""

    length: int
    layers: list[int] | None = None
    heads: list[int] | None = None
    offset: int | None = None
    query: str | None = None
    key: str | None = None
    logit: str | None = None
    text: str | None = None
    pairs: str | None = None
    budget: int | None = None
    repeat: str | None = None
    curve: bool = False
    plot: Path | None = None
    certificate: Path | None = None
    source: Source | None = None
    on_workers: bool = False
    scheduler: str | None = None
    resume: bool = False
    json: bool = False


@dataclass(frozen=True, eq=False)
class Answered:
    """And what was found."""

    heads: Sequence[HeadOnEveryText]
    pairs: Sequence[KeptByPair]
    token: Sequence[OnToken]
    logit: Sequence[OnLogit]
    budget: Sequence[OnBudget]
    curves: Sequence[Curve]


def show(model: Model, asked: Asked) -> None:
    """Look at every text, say what was proved, and write the strongest of it where asked."""
    if asked.repeat is not None:
        _repeated(model, asked, asked.repeat)
        return
    if asked.layers is not None and asked.layers != [0]:
        _deeper(model, asked, asked.layers)
        return
    if asked.budget is not None and asked.text is None:
        raise InputError(f"--budget {asked.budget}: expected the text whose tokens are replaced, --text FILE")
    with _sweeper(model, asked) as sweeper:
        found = _answered(model, asked, sweeper)
    if asked.json:
        show_json(_data(model, found))
    else:
        _print(model, found, _asked_about(model, asked), asked.budget)
    if asked.plot is not None:
        save_picture(asked.plot, _picture(model, found.curves))
    if asked.certificate is not None:
        _write(model, found, asked.certificate, asked.text is not None)


def _asked_about(model: Model, asked: Asked) -> str:
    """After the number of query tokens: that they are all, or which they are."""
    if asked.query is None:
        return "may stand there"
    if asked.query == OF_TEXT:
        return "of the text were asked about there"
    return f"was asked about there, {model.words(np.array([_token(model, asked.query, '--query')]))[0]}"


def _alone(asked: Asked, with_: str, others: Sequence[str]) -> None:
    """Refuse what would be passed over."""
    named = [name for name in others if getattr(asked, name) is not None] + ["curve"] * asked.curve
    if named:
        raise InputError(f"--{named[0]} is about the first layer: leave it out with {with_}")
    if asked.on_workers or asked.resume:
        name = "--engine dask" if asked.on_workers else "--resume"
        raise InputError(f"{name} is for sweeps over the first layer: leave it out with {with_}")


def _repeated(model: Model, asked: Asked, words: str) -> None:
    """A pair that repeats, through two layers."""
    from headwright.audit.texts.two_layers import repeated_pair

    _alone(asked, "--repeat", ("layers", "query", "key", "logit", "text", "pairs", "budget", "plot", "certificate"))
    _spelt(model, words, "--repeat")
    opening = {int(token) for token in model.opening()}
    tokens = [int(token) for token in model.encode(words) if int(token) not in opening]
    if not 2 <= len(tokens) <= 3:
        raise InputError(f"--repeat {words!r} is {len(tokens)} tokens of {model.name}: expected the two of the pair, "
                         "and perhaps the one before its first token comes again")  # fmt: skip
    places = None if asked.offset is None else [asked.length - 1 - asked.offset]
    with progress(f"every text of {asked.length} tokens") as fraction:
        found = repeated_pair(
            model, asked.length, (tokens[0], tokens[1]), heads=asked.heads, places=places, before=tokens[2:] or None,
            progress=fraction,
        )  # fmt: skip
    if asked.json:
        show_json({
            "model": model.name, "digest": model.digest, "length": asked.length,
            "repeated": [_plain(model, asdict(one)) for one in found],
        })  # fmt: skip
        return
    a, b = model.words(np.array(tokens[:2]))
    kind = f"every text of {asked.length} tokens that ends in {a}, with {a} {b} once before and no other {a}"
    OUT.print(f"{model.name}, two layers, {kind}", markup=False)
    for one in found:
        last = one.place == asked.length - 2
        before = (
            f"{b} is before the last {a}" if last
            else f"more than 1/2 for {len(one.kept)} of {one.before} tokens before the last {a}"
        )  # fmt: skip
        words = " ".join(model.words(one.least.text))
        OUT.print(
            f"Head 1.{one.head} gives {b} at place {one.place} at least {shown_below(one.least.bound, DIGITS)}; "
            f"{before}. {words}: {one.least.run:.4g}", markup=False, soft_wrap=True)  # fmt: skip
    OUT.print("Proved for the weights in exact arithmetic, whatever the other tokens are. The text at the end of a "
              "line is where the bound is lowest, with the weight that the model has on it: a bound, not attained.",
              markup=False)  # fmt: skip


def _deeper(model: Model, asked: Asked, layers: Sequence[int]) -> None:
    """Layers above the first, on the keys of a text."""
    from headwright.audit.texts.deeper import recombined

    if asked.text is None:
        raise InputError(f"layer {max(layers)}: above the first layer a key depends on the text before it, and no "
                         "vocabulary holds every key; give a text whose keys may recombine, --text FILE")  # fmt: skip
    _alone(
        asked, f"--layers {layers[0]}", ("offset", "query", "key", "logit", "pairs", "budget", "plot", "certificate")
    )
    text, ordinary = model.encode(asked.text), {int(token) for token in model.ordinary()}
    closing = len(text) - 1 - max((at for at, token in enumerate(text) if int(token) in ordinary), default=-1)
    if len(text) > asked.length:  # what closes every text closes the shorter one
        text = np.concatenate([text[: asked.length - closing], text[len(text) - closing :]])
    with progress(f"every recombination of {len(text)} keys") as fraction:
        found = []
        for turn, layer in enumerate(layers):
            found += recombined(model, layer, text, heads=asked.heads)
            fraction((turn + 1) / len(layers))
    if asked.json:
        heads = [
            asdict(one) | {"places": [asdict(places) | {"kind": places.kind} for places in one.places]} for one in found
        ]
        show_json({"model": model.name, "digest": model.digest, "heads": heads})
        return
    from rich.table import Table

    first = found[0]
    OUT.print(f"[bold]{model.name}[/], {first.tokens} tokens of the text: every place may hold any of the {first.keys} "
              "keys that the text has in that layer, turned to the place")  # fmt: skip
    table = Table(box=None, pad_edge=False)
    for name in ("head", "place", "on the text", "floor", "lowest", "keeps 1/2", ""):
        table.add_column(name, no_wrap=True, justify="left" if name in ("place", "") else "right")
    for one in found:
        for places in one.places:
            table.add_row(
                f"{one.layer}.{one.head}", places.name, f"{places.measured:.3f}", shown_below(places.floor, DIGITS),
                shown_below(places.lowest, DIGITS), f"{places.kept_half} of {places.rows}", places.kind,
            )  # fmt: skip
    OUT.print(table)
    OUT.print(
        "On the text: the mean over rows. Floor: the median over rows of the least weight, proved for these queries "
        "and keys as exact numbers. Held fixed: a row's query and its own key, the keys of the first place and of "
        "special tokens, and the key at the place asked about. Firm: most rows keep 1/2 whatever keys surround "
        "them; by context: most have it on the text only. Keys that the text does not have are not spoken of.",
        markup=False,
    )


def _answered(model: Model, asked: Asked, sweeper: Sweeper) -> Answered:
    from headwright.audit.texts.budget import on_budget
    from headwright.audit.texts.curves import curves
    from headwright.audit.texts.every_text import every_text
    from headwright.audit.texts.logits import on_logit
    from headwright.audit.texts.occurrences import on_token
    from headwright.audit.texts.pairs import kept_by_pairs

    length, heads = asked.length, asked.heads
    queries = None if asked.query is None else _queries(model, asked.query, asked.text)
    key = None if asked.key is None else _token(model, asked.key, "--key")
    logit = None if asked.logit is None else _token(model, asked.logit, "--logit")
    pairs = None if asked.pairs is None else _pairs(model, asked.pairs)
    tokens = None if asked.text is None else model.encode(asked.text)

    def bar(what: str, work: Callable[[Callable[[float], None]], Any]) -> Any:
        with progress(what) as fraction:
            return work(fraction)

    return Answered(
        bar(f"every text of {length} tokens", lambda done: every_text(
            model, length, heads=heads, offset=asked.offset, queries=queries, text=tokens,
            sweeper=None if _quick(asked, queries) else sweeper, progress=done)),
        () if pairs is None else bar("pairs", lambda done: kept_by_pairs(
            model, length, pairs, heads=heads, sweeper=sweeper, progress=done)),
        () if key is None else on_token(model, length, key, heads=heads, queries=queries),
        () if logit is None else bar("effects on a logit", lambda done: on_logit(
            model, length, logit, heads=heads, queries=queries, progress=done)),
        () if asked.budget is None or tokens is None else on_budget(model, length, tokens, asked.budget, heads),
        () if not asked.curve and asked.plot is None else bar("T = 2, 4, 8, ...", lambda done: curves(
            model, length, heads=heads, queries=queries, sweeper=sweeper, progress=done)),
    )  # fmt: skip


def _quick(asked: Asked, queries: Sequence[int] | None) -> bool:
    """Whether so few query tokens are asked about, here, that nothing need be cut into parts or kept."""
    from headwright.audit.texts.every_text import FEW

    here = asked.source is None or asked.source.device == "cpu"
    return queries is not None and len(queries) <= FEW and here and not (asked.on_workers or asked.resume)


@contextmanager
def _sweeper(model: Model, asked: Asked) -> Iterator[Sweeper]:
    """Who sweeps: the GPU; or parts here or on workers, kept until all is done."""
    if asked.source is not None and asked.source.device != "cpu":
        from headwright.audit.texts.gpu import sweep_on_gpu

        if asked.on_workers or asked.resume:
            name = "--engine dask" if asked.on_workers else "--resume"
            raise InputError(f"--device cuda sweeps a layer in seconds on its own: leave out {name}")
        yield sweep_on_gpu
        return
    from headwright.audit.engine.kept import cache_folder
    from headwright.audit.texts.parts import InParts
    from headwright.workers import executor

    with executor(asked.scheduler) if asked.on_workers else nullcontext() as workers:
        parts = InParts(model, cache_folder() / "texts", asked.resume, workers, asked.source)
        yield parts
    parts.clear()


def _queries(model: Model, word: str, text: str | None) -> list[int]:
    """One token, or those of the text (@text)."""
    if word != OF_TEXT:
        return [_token(model, word, "--query")]
    if text is None:
        raise InputError(f"--query {OF_TEXT}: expected the text whose tokens are meant, --text FILE")
    free = {int(token) for token in may_hold(model)}
    return [token for token in dict.fromkeys(map(int, model.encode(text))) if token in free]


def _spelt(model: Model, word: str, option: str) -> None:
    """Refuse what the built-in model has no character for: it would be asked about '?' in its stead."""
    from headwright.audit.models.induction import InductionModel

    without = model.without_token(word) if isinstance(model, InductionModel) else ()
    if without:
        raise InputError(f"{option} {word!r}: {model.name} has no token for {without[0]!r}")


def _token(model: Model, word: str, option: str) -> int:
    """The one token that a word is, or the one with this number (#12)."""
    if word.startswith("#") and word[1:].isascii() and word[1:].isdigit():
        return int(word[1:])
    _spelt(model, word, option)
    free = {int(token) for token in may_hold(model)}
    tokens = [int(token) for token in model.encode(word)[len(model.opening()) :] if int(token) in free]
    if len(tokens) != 1:
        raise InputError(
            f"{option} {word!r} is {len(tokens)} tokens of {model.name}: expected one, or its number as #12"
        )
    return tokens[0]


def _pairs(model: Model, text: str) -> list[Pair]:
    """A line each: query token, key token and perhaps a distance; tabs between them where a token has a space."""
    from headwright.audit.texts.pairs import Pair

    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("\t") if "\t" in line else line.split()
        if not words:
            continue
        where = f"--pairs, line {number}:"
        far = words[2].strip() if len(words) > 2 else "1"
        if not 2 <= len(words) <= 3 or not (far.isascii() and far.isdigit() and 0 < len(far) < 8):
            raise InputError(f"{where} {line.strip()[:60]!r}, expected a query token, a key token and a distance")
        found.append(Pair(_token(model, words[0], where), _token(model, words[1], where), int(far)))
    return found


def _print(model: Model, answered: Answered, there: str, asked_for: int | None) -> None:
    from rich.table import Table

    found = answered.heads
    first = found[0]
    where = f"every text of {first.length} tokens, seen from place {first.place}"
    tokens = "token" if first.queries == 1 else "tokens"
    OUT.print(f"{model.name}, first layer, {where}: {first.queries} {tokens} {there}", markup=False)
    table = Table(box=None, pad_edge=False)
    for name in ("head", "place", "least", "most", "never 1/2", "always 1/2"):
        table.add_column(name, no_wrap=True, justify="left" if name == "place" else "right")
    for one in found:
        for places in one.places:
            table.add_row(
                f"0.{one.head}", places.name, shown_below(places.least.bound, DIGITS),
                shown_above(places.most.bound, DIGITS), f"{places.never_half} of {one.queries}",
                f"{places.always_half} of {one.queries}",
            )  # fmt: skip
    OUT.print(table)
    strongest, places = _strongest(found)
    OUT.print()
    OUT.print(f"The text that gives head 0.{strongest.head} least on its {places.name} place:", markup=False)
    _print_attained(model, places.least)
    for one in found:
        if one.guarantee is not None:
            kept = f"{one.guarantee.kept} of {one.guarantee.pairs} pairs of the text keep more than 1/2"
            OUT.print(f"Head 0.{one.head}: {kept} on the previous token, whatever the rest is.", markup=False)
            for a, b, floor in one.guarantee.broken[:3]:
                before, after = model.words(np.array([b, a]))
                OUT.print(f"  not {before} {after}: {shown_below(floor, DIGITS)}", markup=False)
    for one in found:
        drawn = [f"{model.words(np.array([each.token]))[0]} ({each.wins / each.of:.0%})" for each in one.attractors[:3]]
        if drawn:
            OUT.print(f"Head 0.{one.head}: the largest score at a place is most often that of {', '.join(drawn)}; "
                      "counted in floating point.", markup=False)  # fmt: skip
    _print_more(model, answered, asked_for)
    slack = max(one.slack for one in found)
    OUT.print(f"Proved for the weights in exact arithmetic (scores are known to {slack:.1e}). Never, always: tokens at "
              "the end for which no text, or every text, gives the place 1/2. A text holds special tokens only where "
              "the model's tokenizer puts them.", markup=False)  # fmt: skip


def _print_attained(model: Model, found: Attained) -> None:
    cut = "... " if len(found.text) > SHOWN else ""
    OUT.print(f"  {cut}{' '.join(model.words(found.text[-SHOWN:]))}", markup=False, soft_wrap=True)
    OUT.print(f"  proved: at least {shown_below(found.bound, 8)}; the model, run on it in {_arithmetic(model)}: "
              f"{found.run:.8g}", markup=False, soft_wrap=True)  # fmt: skip


def _arithmetic(model: Model) -> str:
    """The type of the numbers that a model runs in, which may round below what was proved."""
    network = getattr(model, "network", None)
    return "float64" if network is None else str(network.dtype).removeprefix("torch.")


def _others(budget: int, asked_for: int | None) -> str:
    """How many tokens are replaced: no text has more than it has."""
    return f"any {budget} other tokens" if asked_for == budget else f"all {budget} other tokens"


def _print_more(model: Model, found: Answered, asked_for: int | None) -> None:
    for kept in found.pairs[:LISTED]:
        a, b = model.words(np.array([kept.pair.query, kept.pair.key]))
        OUT.print(
            f"Head 0.{kept.head}: {b}, {kept.pair.distance} before a final {a}, keeps "
            f"{shown_below(kept.least.bound, DIGITS)} to {shown_above(kept.most.bound, DIGITS)} whatever else the text "
            "holds.", markup=False)  # fmt: skip
    if len(found.pairs) > LISTED:
        OUT.print(f"and {len(found.pairs) - LISTED} more: --json has them all")
    for one in found.token:
        name = model.words(np.array([one.token]))[0]
        OUT.print(
            f"Head 0.{one.head}: all occurrences of {name} together, where there is one, keep at least "
            f"{shown_below(one.least.bound, DIGITS)} (run: {one.least.run:.4g}) and at most "
            f"{shown_above(one.most, DIGITS)}.", markup=False)  # fmt: skip
    for effect in found.logit:
        name = model.words(np.array([effect.token]))[0]
        OUT.print(
            f"Head 0.{effect.head}: its direct effect on the logit of {name}, before the final norm, is "
            f"{shown_below(effect.least.bound, DIGITS)} (run: {effect.least.run:.4g}) to "
            f"{shown_above(effect.most.bound, DIGITS)} (run: {effect.most.run:.4g}).", markup=False)  # fmt: skip
    for spent in found.budget:
        OUT.print(
            f"Head 0.{spent.head}: the previous token at the end of the text has {spent.before.run:.4g}; with "
            f"{_others(spent.budget, asked_for)} replaced it keeps {shown_below(spent.after.bound, DIGITS)} "
            f"(run: {spent.after.run:.4g}).", markup=False)  # fmt: skip
    for curve in found.curves:
        points = ", ".join(
            f"{point.length}: {shown_below(point.least, 3)} to {shown_above(point.most, 3)}" for point in curve.points
        )
        OUT.print(f"Head 0.{curve.head}, {curve.name}, by length: {points}.", markup=False)


def _strongest(found: Sequence[HeadOnEveryText]) -> tuple[HeadOnEveryText, OnPlaces]:
    """The head and places with the highest floor."""
    return max(((one, places) for one in found for places in one.places), key=lambda pair: pair[1].least.bound)


def _data(model: Model, found: Answered) -> dict[str, Any]:
    """Everything."""
    more = {
        name: [_plain(model, asdict(each)) for each in getattr(found, name)]
        for name in ("pairs", "token", "logit", "budget", "curves")
    }
    heads = [_plain(model, asdict(one)) for one in found.heads]
    return {"model": model.name, "digest": model.digest, "heads": heads} | {k: v for k, v in more.items() if v}


def _plain(model: Model, value: Any) -> Any:
    """For JSON, texts in words too."""
    if isinstance(value, dict):
        told = {name: _plain(model, each) for name, each in value.items()}
        return told | ({"words": list(model.words(value["text"]))} if "text" in value else {})
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(model, each) for each in value] if isinstance(value, (list, tuple)) else value


def _picture(model: Model, curves: Sequence[Curve]) -> Any:
    from headwright.pictures import length_picture

    bands = [
        (f"0.{curve.head}", curve.name, [p.length for p in curve.points], [p.least for p in curve.points],
         [p.most for p in curve.points])
        for curve in curves
    ]  # fmt: skip
    return length_picture(bands, f"{model.name}: the first layer on every text", "where a head's weight lies, proved")


def _write(model: Model, found: Answered, path: Path, about_pairs: bool) -> None:
    from headwright.audit.texts.reading import first_layer
    from headwright.audit.texts.statement import written
    from headwright.files import write_whole

    statement = _statement(model, first_layer(model), found, about_pairs)
    write_whole(path, written(statement).encode())
    say(f"{path}: {statement.words()}.")


def _statement(model: Model, layer: FirstLayer, found: Answered, about_pairs: bool) -> Statement:
    """The strongest that was found: of the pairs asked about, of those of the text, or the highest floor."""
    from headwright.audit.texts.certificate import pairs_statement, statement_of

    if found.pairs:
        distances = {kept.pair.distance for kept in found.pairs}
        if len(distances) > 1:
            raise InputError(f"--pairs has the distances {sorted(distances)}: expected one for a certificate")
        floors = {
            one.head: min(kept.least.bound for kept in found.pairs if kept.head == one.head) for one in found.heads
        }
        best = max(found.heads, key=lambda one: floors[one.head])
        asked = [(kept.pair.query, kept.pair.key) for kept in found.pairs if kept.head == best.head]
        return pairs_statement(model.name, layer, best, asked, distances.pop(), floors[best.head])
    if about_pairs:
        one, kept = max(
            ((one, one.guarantee) for one in found.heads if one.guarantee is not None), key=lambda both: both[1].kept
        )
        least = min((floor for *_, floor in kept.firm), default=0.0)
        return pairs_statement(model.name, layer, one, [(a, b) for a, b, _ in kept.firm], 1, least)
    strongest, places = _strongest(found.heads)
    return statement_of(model.name, layer, strongest, places, "least")

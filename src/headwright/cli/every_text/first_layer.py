"""headwright every-text: the first layer, and who sweeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.cli.console import keeping, progress, save_picture, show_json
from headwright.cli.every_text.certificate import write
from headwright.cli.every_text.deeper_layers import deeper
from headwright.cli.every_text.next_token import predicted, repeated
from headwright.cli.every_text.printing import Answered, data, picture, print_result
from headwright.cli.every_text.reading import OF_TEXT, EveryTextOptions, pairs_of, queries_of, token_of
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.loading.model import Model
    from headwright.models.texts.sweep import Sweeper


def show(model: Model, asked: EveryTextOptions) -> None:
    """Look at every text, say what was proved, and write the strongest of it where asked."""
    if asked.predict is not None:
        predicted(model, asked, asked.predict)
        return
    if asked.repeat is not None:
        repeated(model, asked, asked.repeat)
        return
    if asked.layers is not None and asked.layers != [0]:
        deeper(model, asked, asked.layers)
        return
    if asked.budget is not None and asked.text is None:
        raise InputError(f"--budget {asked.budget}: expected the text whose tokens are replaced, --text FILE")
    with _sweeper(model, asked) as sweeper:
        found = _answered(model, asked, sweeper)
    if asked.json:
        show_json(data(model, found))
    else:
        print_result(model, found, _asked_about(model, asked), asked.budget)
    if asked.plot is not None:
        save_picture(asked.plot, picture(model, found.curves))
    if asked.out is not None:
        write(model, found, asked.out, asked.text is not None)


def _asked_about(model: Model, asked: EveryTextOptions) -> str:
    """After the number of query tokens: that they are all, or which they are."""
    if asked.query is None:
        return "may stand there"
    if asked.query == OF_TEXT:
        return "of the text were asked about there"
    return f"was asked about there, {model.words(np.array([token_of(model, asked.query, '--query')]))[0]}"


def _answered(model: Model, asked: EveryTextOptions, sweeper: Sweeper) -> Answered:
    from headwright.models.texts.every_text import every_length, every_text, kept_by_pairs
    from headwright.models.texts.logits import on_logit
    from headwright.models.texts.occurrences import on_token
    from headwright.models.texts.replaced_tokens import on_budget

    length, heads = asked.length, asked.heads
    queries = None if asked.query is None else queries_of(model, asked.query, asked.text)
    key = None if asked.key is None else token_of(model, asked.key, "--key")
    logit = None if asked.logit is None else token_of(model, asked.logit, "--logit")
    pairs = None if asked.pairs is None else pairs_of(model, asked.pairs)
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
        () if not asked.curve and asked.plot is None else bar("T = 2, 4, 8, ...", lambda done: every_length(
            model, length, heads=heads, queries=queries, sweeper=sweeper, progress=done)),
    )  # fmt: skip


def _quick(asked: EveryTextOptions, queries: Sequence[int] | None) -> bool:
    """Whether so few query tokens are asked about, here, that nothing need be cut into parts or kept."""
    from headwright.models.texts.every_text import FEW

    here = asked.source is None or asked.source.device == "cpu"
    return queries is not None and len(queries) <= FEW and here and not (asked.on_workers or asked.resume)


@contextmanager
def _sweeper(model: Model, asked: EveryTextOptions) -> Iterator[Sweeper]:
    """Who sweeps: the GPU; or parts here or on workers, kept until all is done."""
    if asked.source is not None and asked.source.device != "cpu":
        from headwright.models.texts.gpu_sweep import sweep_on_gpu

        if asked.on_workers or asked.resume:
            name = "--engine dask" if asked.on_workers else "--resume"
            raise InputError(f"--device cuda sweeps a layer in seconds on its own: leave out {name}")
        yield sweep_on_gpu
        return
    from headwright.models.engine.work import cache_folder
    from headwright.models.texts.resumable_sweep import InParts
    from headwright.workers import executor

    with executor(asked.scheduler) if asked.on_workers else nullcontext() as workers:
        parts = InParts(model, cache_folder() / "texts", asked.resume, workers, asked.source)
        with keeping(lambda: len(set(parts.names))):
            yield parts
    parts.clear()

"""headwright every-text: the first layer, and who sweeps it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.cli.console import progress, save_picture, say, show_json
from headwright.cli.every_text.next_token import predicted, repeated
from headwright.cli.every_text.printing import EveryTextResult, data, picture, print_result, strongest
from headwright.cli.every_text.reading import OF_TEXT, EveryTextOptions, pairs_of, queries_of, token_of
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.models.loading.model import Model
    from headwright.models.texts.first_layer import FirstLayer
    from headwright.models.texts.head import Texts
    from headwright.models.texts.statement import Statement
    from headwright.models.texts.sweep import Sweeper


LONGEST_WAIT = 3600  # seconds that are begun without being asked twice
SHORT_WAIT = 10  # seconds that are not worth a line
SCORES_OF_A_LOGIT = 100  # an effect on a logit costs about as much as so many sweeps over its query tokens, measured


def show(model: Model, asked: EveryTextOptions) -> None:
    """Look at every text, say what was proved, and write the strongest of it where asked."""
    if asked.predict is not None:
        predicted(model, asked, asked.predict)
        return
    if asked.repeat is not None:
        repeated(model, asked, asked.repeat)
        return
    if asked.resume:
        raise InputError("--resume continues an interrupted --predict or --repeat: leave it out")
    with _sweeper(model, asked) as sweeper:
        found = _find(model, asked, sweeper)
    if asked.json:
        show_json(data(model, found) | {"estimated_seconds": found.estimated_seconds})
    else:
        print_result(model, found, _asked_about(model, asked))
    if asked.plot is not None:
        save_picture(asked.plot, picture(model, found.curves))
    if asked.out is not None:
        _write(model, found, asked.out, asked.text is not None)


def _asked_about(model: Model, asked: EveryTextOptions) -> str:
    """After the number of query tokens: that they are all, or which they are."""
    if asked.query is None:
        return "may stand there"
    if asked.query == OF_TEXT:
        return "of the text were asked about there"
    return f"was asked about there, {model.words(np.array([token_of(model, asked.query, '--query')]))[0]}"


def _find(model: Model, asked: EveryTextOptions, sweeper: Sweeper | None) -> EveryTextResult:
    from headwright.models.texts.every_text import every_length, every_text, kept_by_pairs
    from headwright.models.texts.logits import on_logit
    from headwright.models.texts.occurrences import on_token
    from headwright.models.texts.sweep import sweep

    length, heads = asked.length, asked.heads
    queries = None if asked.query is None else queries_of(model, asked.query, asked.text)
    key = None if asked.key is None else token_of(model, asked.key, "--key")
    logit = None if asked.logit is None else token_of(model, asked.logit, "--logit")
    pairs = None if asked.pairs is None else pairs_of(model, asked.pairs)
    tokens = None if asked.text is None else model.encode(asked.text)

    wait = _Wait(asked, sweeper, queries, () if pairs is None else {pair.query for pair in pairs})

    def bar(what: str, work: Callable[[Callable[[float], None]], Any]) -> Any:
        with progress(what) as fraction:
            return work(fraction)

    return EveryTextResult(
        bar(f"every text of {length} tokens", lambda done: every_text(
            model, length, heads=heads, offset=asked.offset, queries=queries, text=tokens, sweeper=sweeper,
            progress=done, before=wait.estimate)),
        () if pairs is None else bar("pairs", lambda done: kept_by_pairs(
            model, length, pairs, heads=heads, sweeper=sweeper or sweep, progress=done)),
        () if key is None else on_token(model, length, key, heads=heads, queries=queries),
        () if logit is None else bar("effects on a logit", lambda done: on_logit(
            model, length, logit, heads=heads, queries=queries, progress=done)),
        () if not asked.curve and asked.plot is None else bar("T = 2, 4, 8, ...", lambda done: every_length(
            model, length, heads=heads, queries=queries, sweeper=sweeper or sweep, progress=done)),
        wait.seconds,
    )  # fmt: skip


class _Wait:
    """How long all that is asked will take: said before it begins, and refused where that is hours."""

    def __init__(
        self,
        asked: EveryTextOptions,
        sweeper: Sweeper | None,
        queries: Sequence[int] | None,
        pair_queries: Collection[int],
    ) -> None:
        self.asked, self.sweeper, self.queries, self.pair_queries = asked, sweeper, queries, pair_queries
        self.seconds = 0.0

    def estimate(self, layer: FirstLayer, texts: Texts) -> None:
        """Measure the pace on a small part; an InputError if the whole would take more than an hour."""
        self.seconds = float(f"{self._measured(layer, texts):.3g}")
        told = _duration(self.seconds)
        if self.asked.on_workers:
            say(f"On one worker this would take about {told}; the workers share it.")
        elif self.seconds > LONGEST_WAIT and not self.asked.yes:
            device = "" if self.asked.source.device != "cpu" else ", or a GPU (--device cuda)"
            raise InputError(
                f"--length {self.asked.length} would take about {told} for all that is asked: expected fewer query "
                f"tokens (--query TOKEN, or --query @text with --text FILE), fewer heads (--heads 0){device}; "
                "or --yes, to start it all the same"
            )
        elif self.seconds >= SHORT_WAIT:
            say(f"This will take about {told}.")

    def _measured(self, layer: FirstLayer, texts: Texts) -> float:
        from headwright.models.texts.estimate import pace_here, pace_of_sweeper
        from headwright.models.texts.every_text import counted

        asked, places = self.asked, len(texts.free)
        heads = list(range(len(layer.queries))) if asked.heads is None else asked.heads
        free = len(layer.tokens) - layer.only_held
        rows = free if self.queries is None else len(self.queries)
        here = pace_here(layer, texts, heads, rows)
        swept = here
        if asked.source.device != "cpu" and self.sweeper is not None:
            which = None if self.queries is None else counted(layer, self.queries)
            swept = pace_of_sweeper(self.sweeper, layer, texts, heads, which)
        seconds = swept.seconds(places, rows)
        if asked.curve or asked.plot is not None:  # lengths 2, 4, 8, ... together are about twice the last
            seconds += 2 * swept.seconds(places, rows)
        if self.pair_queries:
            seconds += swept.seconds(places, len(self.pair_queries))
        if asked.key is not None:
            seconds += here.seconds(places, rows)
        if asked.logit is not None:
            seconds += SCORES_OF_A_LOGIT * here.seconds(places, rows)
        return seconds


def _duration(seconds: float) -> str:
    """Of a wait, as a person would say it.

    >>> [_duration(seconds) for seconds in (0.2, 42.0, 100.0, 3600.0, 1.05e6)]
    ['0.2 s', '42 s', '1.7 minutes', '60 minutes', '292 hours']
    """
    unit, size = "s", 1
    if seconds >= 100:
        unit, size = "minutes", 60
    if seconds >= 6000:
        unit, size = "hours", 3600
    digits = 0 if seconds >= 10 * size else 1
    return f"{seconds / size:.{digits}f} {unit}"


@contextmanager
def _sweeper(model: Model, asked: EveryTextOptions) -> Iterator[Sweeper | None]:
    """The GPU or the workers, where they were asked for."""
    if asked.source.device != "cpu":
        from headwright.models.texts.gpu_sweep import sweep_on_gpu

        if asked.on_workers:
            raise InputError("--device cuda sweeps a layer in seconds on its own: leave out --engine dask")
        yield sweep_on_gpu
    elif asked.on_workers:
        from headwright.models.texts.worker_sweep import WorkerSweep
        from headwright.workers import executor

        with executor(asked.scheduler) as workers:
            yield WorkerSweep(model, workers, asked.source)
    else:
        yield None


def _write(model: Model, found: EveryTextResult, path: Path, about_pairs: bool) -> None:
    """Into a file, and say what it states."""
    from headwright.files import write_whole
    from headwright.models.texts.read_layer import first_layer
    from headwright.models.texts.run_statement import run_against
    from headwright.models.texts.statement import written

    layer = first_layer(model, found.heads[0].length)
    statement = _statement(model, layer, found, about_pairs)
    run_against(model, layer, statement)
    write_whole(path, written(statement).encode())
    say(f"{path}: {statement.words()}.")


def _statement(model: Model, layer: FirstLayer, found: EveryTextResult, about_pairs: bool) -> Statement:
    """The head that keeps most of what was asked about: pairs, a token, the text's pairs; or any place."""
    from headwright.models.texts.make_statement import pairs_statement, statement_of, token_statement

    asked = {"--pairs": found.pairs, "--key": found.token}
    named = [name for name, each in asked.items() if each]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)}: a certificate states one thing, expected one of these beside it")
    if found.pairs:
        return _of_pairs(model, layer, found)
    if found.token:
        best = max(found.token, key=lambda one: one.least.bound)
        return token_statement(model.name, layer, found.heads[0].length, best, "least")
    if about_pairs:
        guaranteed = [(one, one.guarantee) for one in found.heads if one.guarantee is not None]
        if not guaranteed:
            raise InputError("no pair of the text was looked at, so there is nothing to certify")
        head, kept = max(guaranteed, key=lambda both: both[1].kept)
        least = min((floor for *_, floor in kept.firm), default=0.0)
        return pairs_statement(model.name, layer, head, [(a, b) for a, b, _ in kept.firm], 1, least)
    head, places = strongest(found.heads)
    return statement_of(model.name, layer, head, places, "least")


def _of_pairs(model: Model, layer: FirstLayer, found: EveryTextResult) -> Statement:
    from headwright.models.texts.make_statement import pairs_statement

    distances = {kept.pair.distance for kept in found.pairs}
    if len(distances) > 1:
        raise InputError(f"--pairs has the distances {sorted(distances)}: expected one for a certificate")
    floors = {one.head: min(kept.least.bound for kept in found.pairs if kept.head == one.head) for one in found.heads}
    best = max(found.heads, key=lambda one: floors[one.head])
    asked = [(kept.pair.query, kept.pair.key) for kept in found.pairs if kept.head == best.head]
    return pairs_statement(model.name, layer, best, asked, distances.pop(), floors[best.head])

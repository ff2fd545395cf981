"""headwright every-text: bounds for the first layer, one function for each question, and who sweeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headwright.cli.console import progress, save_picture, show_json
from headwright.cli.every_text.certificate import write_certificate
from headwright.cli.every_text.printing import (
    EveryTextResult,
    as_data,
    length_curves,
    print_result,
)
from headwright.cli.every_text.questions import (
    FirstLayerQuestion,
    OutputOptions,
    SweepPlan,
)
from headwright.cli.every_text.reading import (
    OF_TEXT,
    query_tokens,
    read_pairs,
    token_of,
)
from headwright.cli.every_text.waiting import WaitEstimate
from headwright.errors import InputError
from headwright.extras import require

if TYPE_CHECKING:
    from headwright.models.model import Model
    from headwright.text_bounds.every_text import (
        HeadOnEveryText,
        KeptByPair,
        LengthCurve,
        Pair,
    )
    from headwright.text_bounds.search.logits import OnLogit
    from headwright.text_bounds.search.occurrences import OnToken
    from headwright.text_bounds.search.sweep import Sweeper


def bound_first_layer(
    model: Model, question: FirstLayerQuestion, plan: SweepPlan, output: OutputOptions
) -> None:
    """Look at every text, say what was proved, and write the strongest of it where asked."""
    with _sweeper(model, plan) as sweeper:
        result = _answer(model, question, plan, sweeper)
    if output.json:
        show_json(as_data(model, result))
    else:
        print_result(model, result, _describe_queries(model, question))
    if output.plot is not None:
        save_picture(output.plot, length_curves(model, result.curves))
    if output.out is not None:
        is_about_text = question.text is not None
        write_certificate(model, result, output.out, is_about_text=is_about_text)


def _describe_queries(model: Model, question: FirstLayerQuestion) -> str:
    """After the number of query tokens: that they are all, or which they are."""
    if question.query is None:
        return "may stand there"
    if question.query == OF_TEXT:
        return "of the text were asked about there"
    token = token_of(model, question.query, "--query")
    return f"was asked about there, {model.token_strings(np.array([token]))[0]}"


@contextmanager
def _sweeper(model: Model, plan: SweepPlan) -> Iterator[Sweeper | None]:
    """The GPU or the workers, where they were asked for."""
    if plan.source.device != "cpu":
        require("gpu", "--device cuda")
        from headwright.text_bounds.search.gpu_sweep import sweep_on_gpu

        if plan.on_workers:
            raise InputError(
                "--device cuda sweeps a layer in seconds on its own: leave out --engine dask"
            )
        yield sweep_on_gpu
    elif plan.on_workers:
        from headwright.text_bounds.search.worker_sweep import WorkerSweep
        from headwright.workers import executor

        with executor(plan.scheduler) as workers:
            yield WorkerSweep(model, workers, plan.source)
    else:
        yield None


def _answer(
    model: Model,
    question: FirstLayerQuestion,
    plan: SweepPlan,
    sweeper: Sweeper | None,
) -> EveryTextResult:
    """All that is asked, after all words have been read."""
    asking = _Asking.of(model, question, sweeper)
    pairs = None if question.pairs is None else read_pairs(model, question.pairs)
    key = None if question.key is None else token_of(model, question.key, "--key")
    logit = question.logit
    logit_token = None if logit is None else token_of(model, logit, "--logit")
    pair_queries = {pair.query for pair in pairs or ()}
    wait = WaitEstimate(question, plan, sweeper, asking.queries, pair_queries)

    heads = asking.bound_places(question, wait)
    return EveryTextResult(
        heads,
        () if pairs is None else asking.bound_pairs(pairs),
        () if key is None else asking.bound_occurrences(key),
        () if logit_token is None else asking.bound_logit(logit_token),
        asking.bound_by_length() if question.by_length else (),
        wait.seconds,
    )


@dataclass(frozen=True)
class _Asking:
    """What all questions share."""

    model: Model
    length: int
    heads: list[int] | None
    queries: list[int] | None
    sweeper: Sweeper | None

    @classmethod
    def of(
        cls, model: Model, question: FirstLayerQuestion, sweeper: Sweeper | None
    ) -> _Asking:
        queries = None
        if question.query is not None:
            queries = query_tokens(model, question.query, question.text)
        return cls(model, question.length, question.heads, queries, sweeper)

    def bound_places(
        self, question: FirstLayerQuestion, wait: WaitEstimate
    ) -> list[HeadOnEveryText]:
        """The weights on the query's own place, the previous, the first and one more."""
        from headwright.text_bounds.every_text import every_text

        text = None if question.text is None else self.model.encode(question.text)
        with progress(f"every text of {self.length} tokens") as fraction:
            return every_text(
                self.model,
                self.length,
                heads=self.heads,
                offset=question.offset,
                queries=self.queries,
                text=text,
                sweeper=self.sweeper,
                progress=fraction,
                before=wait.estimate,
            )

    def bound_pairs(self, pairs: Sequence[Pair]) -> list[KeptByPair]:
        """The weights that pairs of tokens keep."""
        from headwright.text_bounds.every_text import kept_by_pairs

        with progress("pairs") as fraction:
            return kept_by_pairs(
                self.model,
                self.length,
                pairs,
                heads=self.heads,
                sweeper=self._sweeper_or_numpy(),
                progress=fraction,
            )

    def bound_occurrences(self, token: int) -> list[OnToken]:
        """The weights on all occurrences of a token."""
        from headwright.text_bounds.search.occurrences import on_token

        return on_token(
            self.model, self.length, token, heads=self.heads, queries=self.queries
        )

    def bound_logit(self, token: int) -> list[OnLogit]:
        """The direct effects on the logit of a token."""
        from headwright.text_bounds.search.logits import on_logit

        with progress("effects on a logit") as fraction:
            return on_logit(
                self.model,
                self.length,
                token,
                heads=self.heads,
                queries=self.queries,
                progress=fraction,
            )

    def bound_by_length(self) -> list[LengthCurve]:
        """The same weights for shorter texts."""
        from headwright.text_bounds.every_text import every_length

        with progress("T = 2, 4, 8, ...") as fraction:
            return every_length(
                self.model,
                self.length,
                heads=self.heads,
                queries=self.queries,
                sweeper=self._sweeper_or_numpy(),
                progress=fraction,
            )

    def _sweeper_or_numpy(self) -> Sweeper:
        from headwright.text_bounds.search.sweep import sweep

        return self.sweeper or sweep

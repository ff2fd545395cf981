"""Statistics of attention in the log of a transformers Trainer.

A step in `every` is watched, and no other, so that the others cost nothing. What is seen of
it is handed to `Trainer.log`, and so to whatever the Trainer reports to.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.extras import require
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.table import TABLE, OverRows
from headwright.watching.api import watch
from headwright.watching.recorded import Recording

require("audit", "AttentionCallback", "transformers", "torch")

from transformers import TrainerCallback  # noqa: E402

PREFIX = "attention"
PLACE = ("part", "layer", "head")
STATISTICS = ("largest_score", "entropy", "first")


class AttentionCallback(TrainerCallback):
    """Logs statistics of all heads every so many steps of a Trainer.

    A callback does not know its Trainer, which alone can log: so it is given, as in
    `trainer.add_callback(AttentionCallback(trainer, every=100))`.

    Logged are, under names like 'attention/entropy_mean', the mean, the least and the largest over heads of each
    statistic, which itself is a mean over the rows of the step; of `largest_score`, the largest alone. They are of
    the rows of the process that logs. `history` has the numbers of each head.

    >>> class NoTrainer: ...
    >>> AttentionCallback(NoTrainer())
    Traceback (most recent call last):
    headwright.errors.InputError: the trainer is NoTrainer: expected a Trainer of transformers, made before its callback
    """

    def __init__(
        self,
        trainer: Any,
        *,
        every: int = 100,
        statistics: Sequence[str] = STATISTICS,
        heads: bool = False,
        as_module: bool = False,
    ) -> None:
        """Of a Trainer.

        Args:
            trainer: whose training is watched.
            every: after how many steps one is watched and logged.
            statistics: names of statistics of rows that have a mean; docs/guides/watch.md defines each.
            heads: whether each head is logged too, as 'attention/entropy/LAYER.HEAD'.
            as_module: as `watch` takes it: a model that is compiled stays so.
        """
        check_argument("every", every, int)
        check_argument("statistics", statistics, Sequence[str])
        if every < 1:
            raise InputError(f"every = {every}: expected a number of steps above 0")
        if not callable(getattr(trainer, "log", None)):
            raise InputError(
                f"the trainer is {type(trainer).__name__}: expected a Trainer of transformers, made before its callback"
            )
        self.statistics = StatisticsRequest.of(statistics).names
        for name in self.statistics:
            if TABLE[name].over_rows is OverRows.NOTHING:
                raise InputError(
                    f"{name} has no mean over rows: expected statistics like {', '.join(STATISTICS)}"
                )
        self.trainer, self.every, self.heads = trainer, every, heads
        self.as_module = as_module
        self.history: list[dict[str, np.ndarray]] = []
        self._block: AbstractContextManager[Recording] | None = None
        self._seen: Recording | None = None

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Forget the step in which an earlier training ended by an error."""
        self.close()

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ARG002
        """Watch the model during this step, if it is to be logged."""
        self.close()
        if (state.global_step + 1) % self.every:
            return
        model = more["model"]
        if callable(getattr(model, "get_base_model", None)):
            model = model.get_base_model()  # inside of an adapter
        self._block = watch(
            model, self.statistics, keep="means", as_module=self.as_module
        )
        self._seen = self._block.__enter__()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        """Log what was seen."""
        if self._seen is None:
            return
        summary = self._seen.summary()
        self.close()
        steps = np.full(len(summary["layer"]), state.global_step)
        self.history.append({"step": steps, **summary})
        # Whoever logs has logged all that this step is to log: the Trainer would leave its loss out.
        should_log = control.should_log
        self.trainer.log(self._scalars(summary))
        control.should_log = should_log

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Let go of the model."""
        self.close()

    def close(self) -> None:
        """Stop watching: after an error within a step, which the Trainer does not tell of."""
        block, self._block, self._seen = self._block, None, None
        if block is not None:
            block.__exit__(None, None, None)

    def table(self) -> dict[str, np.ndarray]:
        """Columns with one entry for each head and each step that was logged."""
        if not self.history:
            return {}
        return {
            name: np.concatenate([summary[name] for summary in self.history])
            for name in self.history[0]
        }

    def _scalars(self, summary: dict[str, np.ndarray]) -> dict[str, float]:
        """What is logged, by name."""
        scalars: dict[str, float] = {}
        for name in self.statistics:
            if name not in summary or not len(summary[name]):
                continue
            values, label = summary[name], f"{PREFIX}/{name}"
            scalars[f"{label}_max"] = float(values.max())
            if TABLE[name].over_rows is not OverRows.LARGEST:
                scalars[f"{label}_mean"] = float(values.mean())
                scalars[f"{label}_min"] = float(values.min())
            if self.heads:
                places = zip(*(summary[place] for place in PLACE), strict=True)
                several = len(set(summary["part"])) > 1
                for (part, layer, head), value in zip(places, values, strict=True):
                    place = f"{part}.{layer}.{head}" if several else f"{layer}.{head}"
                    scalars[f"{label}/{place}"] = float(value)
        return scalars

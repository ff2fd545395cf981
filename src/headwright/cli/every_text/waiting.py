"""How long all that is asked of the first layer will take: told before it begins, and refused where that is hours."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwright.cli.console import say
from headwright.cli.every_text.questions import FirstLayerQuestion, SweepPlan
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.text_bounds.first_layer import FirstLayer
    from headwright.text_bounds.search.sweep import Sweeper
    from headwright.text_bounds.search.texts import TextFamily

LONGEST_WAIT = 3600  # seconds that are begun without being asked twice
SHORT_WAIT = 10  # seconds that are not worth a line
# An effect on a logit costs about as much as so many sweeps over its query tokens, measured.
SCORES_OF_A_LOGIT = 100


@dataclass
class WaitEstimate:
    """Measures the pace when the layer has been read and the work is about to begin."""

    question: FirstLayerQuestion
    plan: SweepPlan
    sweeper: Sweeper | None
    queries: Sequence[int] | None
    pair_queries: Collection[int]
    seconds: float = 0.0

    def estimate(self, layer: FirstLayer, texts: TextFamily) -> None:
        """Measure the pace on a small part; an InputError if the whole would take more than an hour."""
        self.seconds = float(f"{self._measured(layer, texts):.3g}")
        duration = describe_duration(self.seconds)
        if self.plan.on_workers:
            say(
                f"On one worker this would take about {duration}; the workers share it."
            )
        elif self.seconds > LONGEST_WAIT and not self.plan.any_time:
            on_cpu = self.plan.source.device == "cpu"
            device = ", or a GPU (--device cuda)" if on_cpu else ""
            raise InputError(
                f"--length {self.question.length} would take about {duration} for all that is asked: expected fewer "
                f"query tokens (--query TOKEN, or --query @text with --text FILE), fewer heads (--heads 0){device}; "
                "or --yes, to start it all the same"
            )
        elif self.seconds >= SHORT_WAIT:
            say(f"This will take about {duration}.")

    def _measured(self, layer: FirstLayer, texts: TextFamily) -> float:
        from headwright.text_bounds.first_layer import token_indices
        from headwright.text_bounds.search.estimate import pace_here, pace_of_sweeper

        question = self.question
        places = len(texts.free)
        heads = question.heads
        if heads is None:
            heads = list(range(len(layer.queries)))
        rows = layer.free if self.queries is None else len(self.queries)
        pace = pace_here(layer, texts, heads, rows)
        sweep_pace = pace
        if self.plan.source.device != "cpu" and self.sweeper is not None:
            chosen = None
            if self.queries is not None:
                chosen = token_indices(layer, self.queries)
            sweep_pace = pace_of_sweeper(self.sweeper, layer, texts, heads, chosen)
        seconds = sweep_pace.seconds(places, rows)
        if question.by_length:
            # Lengths 2, 4, 8, ... together are about twice the last.
            seconds += 2 * sweep_pace.seconds(places, rows)
        if self.pair_queries:
            seconds += sweep_pace.seconds(places, len(self.pair_queries))
        if question.key is not None:
            seconds += pace.seconds(places, rows)
        if question.logit is not None:
            seconds += SCORES_OF_A_LOGIT * pace.seconds(places, rows)
        return seconds


def describe_duration(seconds: float) -> str:
    """Of a wait, as a person would say it.

    >>> [describe_duration(seconds) for seconds in (0.2, 42.0, 100.0, 3600.0, 1.05e6)]
    ['0.2 s', '42 s', '1.7 minutes', '60 minutes', '292 hours']
    """
    unit = "s"
    size = 1
    if seconds >= 100:
        unit = "minutes"
        size = 60
    if seconds >= 6000:
        unit = "hours"
        size = 3600
    digits = 0 if seconds >= 10 * size else 1
    return f"{seconds / size:.{digits}f} {unit}"

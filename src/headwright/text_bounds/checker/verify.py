"""Verify a statement: every token at every place for every query token, more precisely where it stays undecided.

A row whose statement holds with scores that are too high and too low by what float32 may err, holds. Few rows are near
the bound; they are looked at in float64, and those that are open still entry by entry. What is open then is doubted.
The row that is furthest from holding is looked at closely first: a statement that is far off costs one pass.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from jaxtyping import Bool, Float
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from headwright.numerics.balls import Array, Balls
from headwright.text_bounds.checker.doubt import DoubtError
from headwright.text_bounds.checker.max_scores import (
    PRECISIONS,
    Precision,
    RoundedKeys,
    highest_scores,
)
from headwright.text_bounds.checker.question import (
    ScoreQuestion,
    ScoreRequest,
    Shares,
    question_of,
)
from headwright.text_bounds.checker.vectors import (
    Indices,
    QueryRotation,
    key_vectors,
    query_rotation,
    query_vectors,
)
from headwright.text_bounds.first_layer import FirstLayer
from headwright.text_bounds.progress import Progress, part_of
from headwright.text_bounds.statement import FirstLayerStatement

BLOCK = 512  # query tokens at once, in a thread
TABLE = 2**26  # scores that are held at once: 512 MiB
KEPT = 2**30  # bytes of keys
SCORES_SHARE = 0.85  # about how much of the work is done when the scores are there


def check_statement(
    statement: FirstLayerStatement, layer: FirstLayer, progress: Progress | None = None
) -> None:
    """Raises a DoubtError with the reason if the statement is not certainly true of these weights.

    >>> from headwright.models import load_model
    >>> from headwright.text_bounds.make_statement import statement_of
    >>> from headwright.text_bounds.every_text import every_text
    >>> from headwright.text_bounds.read_layer import first_layer
    >>> model = load_model("builtin:induction")
    >>> head = every_text(model, 8)[0]
    >>> layer = first_layer(model, 8)
    >>> check_statement(statement_of(model.name, layer, head, head.places[1], "least"), layer)
    """
    question = question_of(statement, layer)
    count = len(question.rows)
    at_once = max(1, min(count, TABLE // len(question.requests)))
    with _threads() as pool:
        checker = _RowChecker(statement, layer, question, pool)
        for start in range(0, count, at_once):
            rows = np.arange(start, min(start + at_once, count))
            checker.check(rows, part_of(progress, start, len(rows), count))


def judge_statement(
    statement: FirstLayerStatement, layer: FirstLayer, progress: Progress | None = None
) -> tuple[str, str]:
    """'verified' and all that the statement says, or 'rejected' and why.

    >>> from dataclasses import replace
    >>> from headwright.models import load_model
    >>> from headwright.text_bounds.make_statement import statement_of
    >>> from headwright.text_bounds.every_text import every_text
    >>> from headwright.text_bounds.read_layer import first_layer
    >>> model = load_model("builtin:induction")
    >>> head = every_text(model, 8)[0]
    >>> layer = first_layer(model, 8)
    >>> statement = statement_of(model.name, layer, head, head.places[1], "least")
    >>> judge_statement(replace(statement, bound="0.99"), layer)
    ('rejected', 'for one query token the weight may be less than 0.99')
    """
    try:
        check_statement(statement, layer, progress)
    except DoubtError as error:
        return "rejected", str(error)
    return "verified", statement.words()


@contextmanager
def _threads() -> Iterator[ThreadPoolExecutor]:
    """One for each processor, with matrix products of one thread; what has not begun is dropped on an interruption."""
    with threadpool_limits(1, "blas"):
        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, eq=False)
class _KeysAtPlace:
    """The keys of all tokens at a place; the first `free` of them are those that a text may hold there."""

    all_keys: Balls
    free: int
    ready: dict[int | None, RoundedKeys] = field(default_factory=dict)

    def free_keys(self, except_token: int | None) -> RoundedKeys:
        """Of every token that a text may hold, but perhaps one; made once."""
        if except_token not in self.ready:
            keys = self.all_keys[: self.free]
            if except_token is not None:
                keys = keys[np.delete(np.arange(self.free), except_token)]
            self.ready[except_token] = RoundedKeys(keys)
        return self.ready[except_token]


class _RowChecker:
    """Checks the rows of one statement, fast or closely."""

    def __init__(
        self,
        statement: FirstLayerStatement,
        layer: FirstLayer,
        question: ScoreQuestion,
        pool: ThreadPoolExecutor,
    ) -> None:
        self.statement = statement
        self.layer = layer
        self.question = question
        self.pool = pool
        self.is_least = statement.extreme == "least"
        self.bound = Fraction(statement.bound)
        # Without learned places, keys are the same everywhere: their name is None.
        self.kept_keys: dict[int | None, _KeysAtPlace] = {}

    def check(self, rows: Indices, progress: Progress) -> None:
        """Some rows: each precision for those that the one before left open."""
        holds, weight = self._decide(rows, PRECISIONS[0], progress)
        open_rows = rows[~holds]
        weight = weight[~holds]
        # A few rows are looked at closely at once; of many, the one that is furthest from holding comes first.
        if len(open_rows) > BLOCK:
            furthest = weight.argmin() if self.is_least else weight.argmax()
            self._check_closely(open_rows[[int(furthest)]])
            for precision in PRECISIONS[1:-1]:
                holds, _ = self._decide(open_rows, precision)
                open_rows = open_rows[~holds]
        self._check_closely(open_rows)

    def _check_closely(self, rows: Indices) -> None:
        """Raise a DoubtError unless all rows hold in the last precision."""
        if not len(rows):
            return
        holds, _ = self._decide(rows, PRECISIONS[-1])
        if not holds.all():
            side = "less" if self.is_least else "more"
            raise DoubtError(
                f"for one query token the weight may be {side} than {self.statement.bound}"
            )

    def _decide(
        self, rows: Indices, precision: Precision, progress: Progress | None = None
    ) -> tuple[Bool[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
        """For which rows the statement certainly holds; and, roughly, the extreme weight of the others."""
        table = self._score_table(
            rows, precision, part_of(progress, 0.0, SCORES_SHARE, 1.0)
        )
        weight = np.zeros(len(rows))
        # Every weight is from 0 to 1: such a bound holds whatever the scores are.
        is_trivial = self.bound <= 0 if self.is_least else self.bound >= 1
        if is_trivial:
            return np.ones(len(rows), dtype=bool), weight
        holds = np.zeros(len(rows), dtype=bool)
        # part / whole >= bound is decided as part >= bound whole, in balls that hold the true numbers.
        with ctx.workprec(128):
            bound = arb(self.bound.numerator) / self.bound.denominator
            for number, row in enumerate(rows.tolist()):
                # exp grows: of a score that is not below the exact one, exp is not below its exp.
                terms = [arb(score).exp() for score in table[:, number].tolist()]
                shares = self.question.shares(row, terms)
                are_finite = all(term.is_finite() for term in terms)
                holds[number] = are_finite and self._all_hold(shares, bound)
                if not holds[number]:
                    weight[number] = self._extreme_weight(shares)
        if progress is not None:
            progress(1.0)
        return holds, weight

    def _all_hold(self, shares: Shares, bound: arb) -> bool:
        """Whether part >= bound * whole (or <=) certainly holds: what is not comparable, or not a number, does not."""
        for part, whole in shares:
            limit = bound * whole
            is_met = part >= limit if self.is_least else part <= limit
            if not bool(is_met):
                return False
        return True

    def _extreme_weight(self, shares: Shares) -> float:
        """The least (most) weight in floating point, to find the row that is furthest from holding."""
        weights = [float((part / whole).mid()) for part, whole in shares]
        extreme = min(weights) if self.is_least else max(weights)
        if np.isnan(extreme):
            return -np.inf if self.is_least else np.inf
        return extreme

    def _score_table(
        self, rows: Indices, precision: Precision, progress: Progress
    ) -> Array:
        """The requested scores, a line each, of some rows."""
        requests = self.question.requests
        place = self.statement.place
        queries = query_vectors(
            self.layer, self.statement.head, place, self.question.rows[rows]
        )
        blocks = [slice(start, start + BLOCK) for start in range(0, len(rows), BLOCK)]
        lines_at: dict[int, list[int]] = {}
        for line, request in enumerate(requests):
            lines_at.setdefault(request.place, []).append(line)

        table = np.empty((len(requests), len(rows)))
        done = 0
        for key_place, lines in lines_at.items():
            here = [requests[line] for line in lines]
            keys = self._keys(key_place)
            for request in here:
                if request.key is None:
                    keys.free_keys(request.except_token).make_ready(precision)
            rotation = query_rotation(self.layer.angles, place - key_place)
            work = []
            for block in blocks:
                arguments = (queries[block], rotation, keys, here, rows[block])
                work.append(self.pool.submit(self._scores, *arguments, precision))
            for block, scores in zip(blocks, work, strict=True):
                table[lines, block] = scores.result()
                done += 1
                progress(done / (len(lines_at) * len(blocks)))
        return table

    def _scores(
        self,
        queries: Balls,
        rotation: QueryRotation | None,
        keys: _KeysAtPlace,
        requests: Sequence[ScoreRequest],
        rows: Indices,
        precision: Precision,
    ) -> Array:
        """Of some rows at one place, from the side that each request has."""
        if rotation is not None:
            queries = rotation.rotate(queries)
        scores = np.empty((len(requests), len(rows)))
        for line, request in enumerate(requests):
            # The lowest score of a query is the highest of the opposite one, with the other sign.
            signed = queries if request.high else -queries
            if request.key is None:
                free_keys = keys.free_keys(request.except_token)
                upper = highest_scores(signed, free_keys, precision)
            else:
                chosen = keys.all_keys[request.key[rows]]
                upper = signed.row_products(chosen).upper()
            upper = _scaled(upper, self.layer.scale)
            scores[line] = upper if request.high else -upper
        return scores

    def _keys(self, place: int) -> _KeysAtPlace:
        """Made again each time only where there are too many to keep."""
        name = None if self.layer.places is None else place
        if name in self.kept_keys:
            return self.kept_keys[name]
        all_keys = key_vectors(self.layer, self.statement.head, place)
        keys = _KeysAtPlace(all_keys, self.layer.free)
        # Two arrays, and as much again when they are rounded.
        needed = (len(self.kept_keys) + 1) * all_keys.mid.size * 32
        if not self.kept_keys or needed <= KEPT:
            self.kept_keys[name] = keys
        return keys


def _scaled(upper: Array, scale: float) -> Array:
    """Upper bounds times a scale above 0, rounded up."""
    with np.errstate(over="ignore"):  # infinity is above everything, and proves nothing
        scaled: Array = np.nextafter(upper * scale, np.inf)
    return scaled

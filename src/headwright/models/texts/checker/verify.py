"""Verify a statement: every token at every place for every query token, more precisely where it stays undecided.

A row whose statement holds with scores that are too high and too low by what float32 may err, holds. Few rows are near
the bound; they are looked at in float64, and those that are open still entry by entry. What is open then is doubted.
The row that is furthest from holding is looked at closely first: a statement that is far off costs one pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from jaxtyping import Bool, Float
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from headwright.models.texts.checker.error_bounds import Array, DoubtError, Indices, Known
from headwright.models.texts.checker.max_scores import HOWS, How, Keys, highest
from headwright.models.texts.checker.question import Question, Wanted, question_of
from headwright.models.texts.checker.vectors import Turns, keys, queries, scaled, turns
from headwright.models.texts.first_layer import FirstLayer
from headwright.models.texts.statement import Statement

BLOCK = 512  # query tokens at once, in a thread
TABLE = 2**26  # scores that are held at once: 512 MiB
KEPT = 2**30  # bytes of keys
PASSED = 0.85  # about how much of the work is done when the scores are there

Progress = Callable[[float], None]


def check(statement: Statement, layer: FirstLayer, progress: Progress | None = None) -> None:
    """Raises a DoubtError with the reason if the statement is not certainly true of these weights.

    >>> from headwright.models.loading import load_model
    >>> from headwright.models.texts.make_statement import statement_of
    >>> from headwright.models.texts.every_text import every_text
    >>> from headwright.models.texts.read_layer import first_layer
    >>> model = load_model("builtin:induction")
    >>> found = every_text(model, 8)[0]
    >>> check(statement_of(model.name, first_layer(model, 8), found, found.places[1], "least"), first_layer(model, 8))
    """
    question = question_of(statement, layer)
    rows, report = len(question.rows), progress or (lambda _: None)
    some = max(1, min(rows, TABLE // len(question.wanted)))
    with _threads() as pool:
        look = _Look(statement, layer, question, pool)
        for start in range(0, rows, some):
            part = np.arange(start, min(start + some, rows))
            before, share = start / rows, len(part) / rows

            def told(done: float, before: float = before, share: float = share) -> None:
                report(before + share * done)

            look.at(part, told)


def judged(statement: Statement, layer: FirstLayer, progress: Progress | None = None) -> tuple[str, str]:
    """'verified' and all that the statement says, or 'rejected' and why.

    >>> from dataclasses import replace
    >>> from headwright.models.loading import load_model
    >>> from headwright.models.texts.make_statement import statement_of
    >>> from headwright.models.texts.every_text import every_text
    >>> from headwright.models.texts.read_layer import first_layer
    >>> model = load_model("builtin:induction")
    >>> found = every_text(model, 8)[0]
    >>> statement = statement_of(model.name, first_layer(model, 8), found, found.places[1], "least")
    >>> judged(replace(statement, bound="0.99"), first_layer(model, 8))
    ('rejected', 'for one query token the weight may be less than 0.99')
    """
    try:
        check(statement, layer, progress)
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
class _KeysAt:
    """The keys of all tokens at a place, and those that a text may hold there."""

    known: Known
    free: int
    ready: dict[int | None, Keys] = field(default_factory=dict)

    def any(self, but: int | None) -> Keys:
        """Made once: of every token that a text may hold, but perhaps one."""
        if but not in self.ready:
            which = slice(0, self.free) if but is None else np.delete(np.arange(self.free), but)
            self.ready[but] = Keys(self.known.rows(which))
        return self.ready[but]


class _Look:
    """At the rows of one statement, fast or closely."""

    def __init__(self, statement: Statement, layer: FirstLayer, question: Question, pool: ThreadPoolExecutor) -> None:
        self.statement, self.layer, self.question, self.pool = statement, layer, question, pool
        self.free = len(layer.tokens) - layer.only_held
        self.made: dict[int | None, _KeysAt] = {}  # without learned places, keys are the same everywhere

    def at(self, rows: Indices, progress: Progress) -> None:
        """Some rows: each way of looking at those that the one before left open."""
        held, far = self._decided(rows, HOWS[0], progress)
        left, far = rows[~held], far[~held]
        if len(left) > BLOCK:  # fewer are looked at closely at once
            self._sure(left[[int(far.argmin())]])
            for how in HOWS[1:-1]:
                held, _ = self._decided(left, how)
                left = left[~held]
        self._sure(left)

    def _sure(self, rows: Indices) -> None:
        """As closely as can be."""
        if len(rows) and not self._decided(rows, HOWS[-1])[0].all():
            side = "less" if self.statement.extreme == "least" else "more"
            raise DoubtError(f"for one query token the weight may be {side} than {self.statement.bound}")

    def _decided(
        self, rows: Indices, how: How, progress: Progress | None = None
    ) -> tuple[Bool[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
        """For which rows it certainly holds; and of the others, in floating point, the weight: lowest, furthest off."""
        report = progress or (lambda _: None)
        table = self._table(rows, how, lambda done: report(PASSED * done))
        least, bound = self.statement.extreme == "least", Fraction(self.statement.bound)
        if bound <= 0 if least else bound >= 1:  # as every weight is
            return np.ones(len(rows), dtype=bool), np.zeros(len(rows))
        held, far = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
        with ctx.workprec(128):
            limit = arb(bound.numerator) / bound.denominator
            for number, row in enumerate(rows):
                terms = [arb(score).exp() for score in table[:, number].tolist()]
                shares = self.question.shares(int(row), terms)
                # Only a certain yes counts: what is not comparable, or beyond all numbers (inf <= inf), is open.
                held[number] = all(term.is_finite() for term in terms) and all(
                    bool(part >= limit * whole) if least else bool(part <= limit * whole) for part, whole in shares
                )
                if not held[number]:
                    weights = [float((part / whole).mid()) for part, whole in shares]
                    far[number] = min(weights) if least else -max(weights)
        report(1.0)
        return held, np.nan_to_num(far, nan=-np.inf)

    def _table(self, rows: Indices, how: How, progress: Progress) -> Array:
        """The scores that are wanted, a line each, of some rows."""
        statement, wanted = self.statement, self.question.wanted
        table = np.empty((len(wanted), len(rows)))
        query = queries(self.layer, statement.head, statement.place, self.question.rows[rows])
        blocks = [slice(start, start + BLOCK) for start in range(0, len(rows), BLOCK)]
        places: dict[int, list[int]] = {}
        for line, each in enumerate(wanted):
            places.setdefault(each.place, []).append(line)
        for done, (place, lines) in enumerate(places.items()):
            here = [wanted[line] for line in lines]
            theirs, turn = self._keys(place), turns(self.layer.angles, statement.place - place)
            for each in here:
                if each.key is None:
                    theirs.any(each.but).make_ready(how)
            work = [
                self.pool.submit(self._block, query.rows(some), turn, theirs, here, rows[some], how) for some in blocks
            ]
            for number, (some, found) in enumerate(zip(blocks, work, strict=True)):
                table[lines, some] = found.result()
                progress((done + (number + 1) / len(blocks)) / len(places))
        return table

    def _block(
        self, query: Known, turn: Turns | None, theirs: _KeysAt, wanted: Sequence[Wanted], rows: Indices, how: How
    ) -> Array:
        """Some rows at one place."""
        query = query if turn is None else turn.turned(query)
        found = np.empty((len(wanted), len(rows)))
        for line, each in enumerate(wanted):
            mine = query if each.high else query.negated()  # the lowest is the highest of the other sign
            if each.key is None:
                ends = highest(mine, theirs.any(each.but), how)
            else:
                score = mine.along(theirs.known.rows(each.key[rows]))
                ends = score.mid + score.off
            ends = scaled(ends, self.layer.scale)
            found[line] = ends if each.high else -ends
        return found

    def _keys(self, place: int) -> _KeysAt:
        """Made again for each look only where there are too many to keep."""
        name = None if self.layer.places is None else place
        if name not in self.made:
            found = _KeysAt(keys(self.layer, self.statement.head, place), self.free)
            if self.made and (len(self.made) + 1) * found.known.mid.size * 32 > KEPT:  # two arrays, and as much again
                return found
            self.made[name] = found
        return self.made[name]

"""Run the pieces of an audit on the workers of a Dask scheduler, on one machine or on several.

A worker gets the name of the model and loads it once. It refuses if what it loaded, or its own code, is not what the
audit began with: a number from another model would look like any other. Few pieces are out at a time, and parts are
merged in the order of the pieces, so the memory does not grow with the text. A piece whose worker is lost is done again
by another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from headwright import workers
from headwright.auditing.engine.local import measure_piece, missing_work, stored_parts
from headwright.auditing.engine.part_store import PartStore
from headwright.auditing.engine.plan import (
    Plan,
    Progress,
    WorkPiece,
    cut_into_pieces,
    part_name,
    piece_cost,
)
from headwright.auditing.measures.summary import LayerAccumulator, Summary
from headwright.errors import InputError
from headwright.models.model import Model
from headwright.models.source import Source, expected_model

if TYPE_CHECKING:
    from distributed import Client, Future

# Pieces out at a time, for each worker: enough to keep it busy, few enough to hold.
AHEAD = 4
_busy = Lock()  # a worker with several threads still runs one model at a time


@dataclass(frozen=True)
class Cluster:
    """An engine as `audit` takes it: on the scheduler at an address, or on processes of its own on this machine."""

    source: Source
    scheduler: str | None = None
    # of its own: one for each core unless given, one in all on a GPU
    processes: int | None = None

    def __call__(
        self,
        model: Model,
        plan: Plan,
        progress: Progress | None = None,
        store: PartStore | None = None,
    ) -> Summary:
        """The same summary as the local engine's."""
        processes = self.processes or (1 if self.source.device == "cuda" else None)
        with workers.client(self.scheduler, processes) as client:
            count = len(client.scheduler_info(n_workers=-1)["workers"])
            dispatch = Dispatch(
                client,
                self.source,
                model,
                plan,
                store or PartStore(),
                pieces=cut_into_pieces(plan, layers_at_once(plan, max(1, count))),
                most_out=AHEAD * max(1, count),
            )
            return dispatch.run(progress)


@dataclass(eq=False)
class Dispatch:
    """Pieces that go out to workers ahead of time, and whose parts are merged in the order of the pieces."""

    client: Client
    source: Source
    model: Model
    plan: Plan
    store: PartStore
    pieces: tuple[WorkPiece, ...]
    most_out: int
    # of each piece that went out, the parts that are there, by layer
    parts: list[dict[int, Summary]] = field(default_factory=list)
    # the piece that each future works on, by key
    piece_of: dict[object, int] = field(default_factory=dict)

    def run(self, progress: Progress | None) -> Summary:
        """The summary of all pieces."""
        from distributed import as_completed

        total_cost = sum(piece_cost(self.plan, piece) for piece in self.pieces)
        done = 0.0
        totals = LayerAccumulator(self.plan.layers)
        futures = as_completed()
        for turn, piece in enumerate(self.pieces):
            while len(self.parts) < min(len(self.pieces), turn + self.most_out):
                future = self.send_next()
                if future is not None:
                    futures.add(future)
            # Parts come in any order; all are stored at once, and merged when it is their turn.
            while len(self.parts[turn]) < len(piece.layers):
                self.receive(next(futures))
            for layer, part in self.parts[turn].items():
                totals.merge(layer, part)
            self.parts[turn] = {}
            done += piece_cost(self.plan, piece)
            if progress is not None:
                progress(done / total_cost)
        return totals.summary()

    def send_next(self) -> Future[list[tuple[int, Summary]]] | None:
        """Send the next piece, but for the parts that are in the store; None if all of them are."""
        index = len(self.parts)
        piece = self.pieces[index]
        parts = stored_parts(self.model, self.plan, piece, self.store)
        self.parts.append(parts)
        missing = missing_work(piece, parts)
        if missing is None:
            return None
        expected = self.model.digest, self.model.settings, workers.code()
        only_plan, only_piece = plan_of_piece(self.plan, missing)
        future = self.client.submit(
            _measure_on_worker, self.source, expected, only_plan, only_piece, pure=False
        )
        self.piece_of[future.key] = index
        return future

    def receive(self, future: Future[list[tuple[int, Summary]]]) -> None:
        """Take the parts that a worker finished."""
        index = self.piece_of.pop(future.key)
        document = self.pieces[index].document
        for layer, part in _result(future):
            self.store.put(part_name(self.model, self.plan, document, layer), part)
            self.parts[index][layer] = part


def _result(future: Future[list[tuple[int, Summary]]]) -> list[tuple[int, Summary]]:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        raise InputError(
            "a part of the work ended several workers one after the other: they may have had too little memory; take "
            "shorter documents (--max-length) or fewer workers"
        ) from error


def layers_at_once(plan: Plan, workers: int) -> int | None:
    """How many layers a piece has: all of them where documents are enough to keep the workers busy.

    A piece of upper layers runs the model through the lower ones too, so layers are not cut finer than that needs.
    """
    groups = -(-2 * workers // len(plan.documents))
    return None if groups <= 1 else max(1, -(-len(plan.layers) // groups))


def plan_of_piece(plan: Plan, piece: WorkPiece) -> tuple[Plan, WorkPiece]:
    """The same piece of a plan that has no other document: what is sent."""
    if piece.document is None:
        return Plan((), plan.layers, plan.no_circuits), piece
    only_document = (plan.documents[piece.document],)
    alone = Plan(only_document, plan.layers, plan.no_circuits)
    return alone, WorkPiece(0, piece.layers)


def _measure_on_worker(
    source: Source, expected: tuple[str, str, str], plan: Plan, piece: WorkPiece
) -> list[tuple[int, Summary]]:
    """What a worker does with a piece, if it has the model, its settings and the code that are expected."""
    finished: list[tuple[int, Summary]] = []

    def keep(layer: int, part: Summary) -> None:
        finished.append((layer, part))

    with _busy:
        measure_piece(expected_model(source, expected), plan, piece, keep)
    return finished

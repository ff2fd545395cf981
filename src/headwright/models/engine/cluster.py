"""Run the pieces of an audit on the workers of a Dask scheduler, on one machine or on several.

A worker is told the name of the model and loads it once. It refuses if what it loaded, or its own code, is not what the
audit began with: a number from another model would look like any other. Few pieces are out at a time, and parts are
merged in the order of the pieces, so the memory does not grow with the text. A piece whose worker is lost is done again
by another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from headwright import workers
from headwright.errors import InputError
from headwright.models.engine.work import PartFiles, Piece, Plan, Progress, cost, part_name, parts, pieces
from headwright.models.findings.summary import Layered, Summary
from headwright.models.loading.load import load_model
from headwright.models.loading.model import Model

if TYPE_CHECKING:
    from distributed import Client, Future

AHEAD = 4  # pieces out at a time, for each worker: enough to keep it busy, few enough to hold
_busy = Lock()  # a worker with several threads still runs one model at a time


@dataclass(frozen=True)
class Source:
    """Where a worker gets the model from, and what it must be."""

    name: str
    device: str = "cpu"
    dtype: str | None = None

    def model(self) -> Model:
        """The model, loaded in the process that asks."""
        return _loaded(self)


@dataclass(frozen=True)
class Cluster:
    """An engine as `audit` takes it: on the scheduler at an address, or on processes of its own on this machine."""

    source: Source
    scheduler: str | None = None
    processes: int | None = None  # of its own: one for each core unless given, one in all on a GPU

    def __call__(
        self, model: Model, plan: Plan, progress: Progress | None = None, kept: PartFiles | None = None
    ) -> Summary:
        """The same summary as the local engine's."""
        processes = self.processes or (1 if self.source.device == "cuda" else None)
        with workers.client(self.scheduler, processes) as client:
            return _run(client, self.source, model, plan, progress, kept or PartFiles(None))


def _run(
    client: Client, source: Source, model: Model, plan: Plan, progress: Progress | None, kept: PartFiles
) -> Summary:
    from distributed import as_completed

    there = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    work = pieces(plan, _at_once(plan, there))
    total, done, merged = sum(cost(plan, piece) for piece in work), 0.0, Layered(plan.layers, plan.heads)
    came: list[dict[int, Summary]] = []  # by piece, the parts that are there, by layer
    out, number = as_completed(), {}  # what is out, and which piece it is
    expected = model.digest, model.settings, workers.code()
    for turn, piece in enumerate(work):
        for ahead in work[len(came) : turn + AHEAD * there]:
            came.append(kept.of_piece(model, plan, ahead))
            missing = tuple(layer for layer in ahead.layers if layer not in came[-1])
            if missing:
                alone = _alone(plan, Piece(ahead.document, missing))
                future = client.submit(_worked, source, expected, *alone, pure=False)
                number[future.key] = len(came) - 1
                out.add(future)
        while len(came[turn]) < len(piece.layers):
            future = next(out)
            at = number.pop(future.key)
            for layer, part in _result(future):
                kept.put(part_name(model, plan, work[at].document, layer), part)
                came[at][layer] = part
        for layer, part in came[turn].items():
            merged.merge(layer, part)
        came[turn] = {}
        done += cost(plan, piece)
        if progress is not None:
            progress(done / total)
    return merged.summary()


def _result(future: Future[list[tuple[int, Summary]]]) -> list[tuple[int, Summary]]:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        raise InputError(
            "a part of the work ended several workers one after the other: they may have had too little memory; take "
            "shorter documents (--max-length) or fewer workers"
        ) from error


def _at_once(plan: Plan, workers: int) -> int | None:
    """How many layers a piece has: all of them where documents are enough to keep the workers busy.

    A piece of upper layers runs the model through the lower ones too, so layers are not cut finer than that needs.
    """
    groups = -(-2 * workers // len(plan.documents))
    return None if groups <= 1 else max(1, -(-len(plan.layers) // groups))


def _alone(plan: Plan, piece: Piece) -> tuple[Plan, Piece]:
    """The same piece of a plan that has no other document: what is sent."""
    if piece.document is None:
        return Plan((), plan.layers, plan.heads, plan.no_circuits), piece
    return Plan((plan.documents[piece.document],), plan.layers, plan.heads, plan.no_circuits), Piece(0, piece.layers)


def _worked(source: Source, expected: tuple[str, str, str], plan: Plan, piece: Piece) -> list[tuple[int, Summary]]:
    """What a worker does with a piece, if it has the model, its settings and the code that are expected."""
    with _busy:
        return list(parts(expected_model(source, expected), plan, piece))


def expected_model(source: Source, expected: tuple[str, str, str]) -> Model:
    """On a worker: the model, if it and the code here are those that the work began with (digest, settings, code)."""
    digest, settings, mine = expected
    workers.same_code(mine)
    model = source.model()
    if model.digest != digest:
        raise InputError(f"{source.name} is another model on a worker: its parameters have the sha256 "
                         f"{model.digest[:12]}..., expected {digest[:12]}...")  # fmt: skip
    if model.settings != settings:
        raise InputError(f"{source.name} has another configuration on a worker than where the audit was started: "
                         "copy the folder as a whole")  # fmt: skip
    return model


@lru_cache(maxsize=1)
def _loaded(source: Source) -> Model:
    return load_model(source.name, device=source.device, dtype=source.dtype)

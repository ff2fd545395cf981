"""Several workers, so that users do not block each other; one that was stopped is replaced."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from headwright.lab.asking import Asking, Tell
from headwright.running.process import StoppedError, Worker, cores

MEMORY = 2 * 2**30  # bytes for one worker
MOST_WAITING = 200
GRACE = 1.0  # seconds a worker may go on with what nobody waits for any more: starting another takes longer
STARTING = 60.0  # seconds a worker may take to start
COMMAND = (sys.executable, "-P", "-m", "headwright.lab.worker")


class BusyError(Exception):
    """Too many questions wait already."""


class Pool:
    """Workers that answer one question each at a time; the longest idle waits, the last used works."""

    def __init__(self, size: int | None = None, *, memory: int = MEMORY, command: Sequence[str] = COMMAND) -> None:
        """Nothing is started yet."""
        self._workers = [Worker([*command, str(memory)]) for _ in range(size or max(2, cores()))]
        self._idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        self._waiting = 0
        self._begun = False
        self._tidying: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """Start the workers, and do not wait for them: they load what they need while others do."""
        self._begun = True
        for worker in self._workers:
            worker.launch()

    async def open(self) -> None:
        """Let them be asked, started if they are not yet."""
        if not self._begun:
            self.begin()
        for worker in reversed(self._workers):
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """Stop them all."""
        for task in self._tidying:
            task.cancel()
        for worker in self._workers:
            await asyncio.to_thread(worker.dismiss)

    async def ask(self, job: dict[str, Any], seconds: float, asking: Asking | None = None) -> dict[str, Any]:
        """The reply of a worker, or one that says why there is none. Who is cancelled waits no longer."""
        if self._waiting >= MOST_WAITING:
            raise BusyError
        self._waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self._waiting -= 1
        told = asking or Asking()
        told.begin()
        work = asyncio.create_task(asyncio.to_thread(_asked, worker, job, seconds, told.tell))
        try:
            reply = await asyncio.shield(work)
        except asyncio.CancelledError:
            self._tidy(worker, work)
            raise
        if reply.get("kind") in ("memory", "stopped"):
            self._tidy(worker, None)
        else:
            self._idle.put_nowait(worker)
        return reply

    def _tidy(self, worker: Worker, work: asyncio.Task[dict[str, Any]] | None) -> None:
        task = asyncio.create_task(self._renew(worker, work))
        self._tidying.add(task)
        task.add_done_callback(self._tidying.discard)

    async def _renew(self, worker: Worker, work: asyncio.Task[dict[str, Any]] | None) -> None:
        """Let it end what nobody waits for, if it does so soon; else start another in its place."""
        fine = False
        if work is not None:
            done, _ = await asyncio.wait({work}, timeout=GRACE)
            fine = bool(done) and not work.exception() and work.result().get("kind") not in ("memory", "stopped")
        if not fine:
            await asyncio.to_thread(worker.stop)
            if work is not None:
                await asyncio.wait({work})
            await asyncio.to_thread(worker.stop)  # what it was asked last may have started it again
            worker.launch()
        self._idle.put_nowait(worker)


def _asked(worker: Worker, job: dict[str, Any], seconds: float, tell: Tell) -> dict[str, Any]:
    try:
        worker.start(time.monotonic() + STARTING)
        late = f"no answer within {seconds:g} s: try it smaller"
        return worker.ask({**job, "timeout": seconds}, seconds, late, tell)
    except StoppedError as stopped:
        return {"error": str(stopped), "kind": "stopped", "where": None}

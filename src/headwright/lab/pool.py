"""A pool of worker processes, so that users do not block each other; one that was stopped is replaced."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from headwright.subprocesses.process import StoppedError, Worker, cores

MEMORY = 2 * 2**30  # bytes for one worker
MOST_WAITING = 200
GRACE = 1.0  # seconds a cancelled job may still run: starting a new worker takes longer
STARTING = 60.0  # seconds a worker may take to start
COMMAND = (sys.executable, "-P", "-m", "headwright.lab.worker")


class BusyError(Exception):
    """Too many requests are waiting already."""


class Pool:
    """Workers that answer one request each at a time; the one used last is used first."""

    def __init__(
        self,
        size: int | None = None,
        *,
        memory: int = MEMORY,
        command: Sequence[str] = COMMAND,
    ) -> None:
        """Nothing is started yet."""
        self._workers = [
            Worker([*command, str(memory)]) for _ in range(size or max(2, cores()))
        ]
        self._idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        self._waiting = 0
        self._begun = False
        self._renewing: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """Start the workers without waiting for them: they load their modules in parallel."""
        self._begun = True
        for worker in self._workers:
            worker.launch()

    async def open(self) -> None:
        """Make the workers available, and start them if they are not started yet."""
        if not self._begun:
            self.begin()
        for worker in reversed(self._workers):
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """Stop them all."""
        for task in self._renewing:
            task.cancel()
        for worker in self._workers:
            await asyncio.to_thread(worker.dismiss)

    async def ask(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply of a worker, or a reply with the reason why there is none. Cancelling frees the worker."""
        if self._waiting >= MOST_WAITING:
            raise BusyError
        self._waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self._waiting -= 1
        work = asyncio.create_task(asyncio.to_thread(_ask, worker, job, seconds))
        try:
            reply = await asyncio.shield(work)
        except asyncio.CancelledError:
            self._renew_later(worker, work)
            raise
        if reply.get("kind") in ("memory", "stopped"):
            self._renew_later(worker, None)
        else:
            self._idle.put_nowait(worker)
        return reply

    def _renew_later(
        self, worker: Worker, work: asyncio.Task[dict[str, Any]] | None
    ) -> None:
        task = asyncio.create_task(self._renew(worker, work))
        self._renewing.add(task)
        task.add_done_callback(self._renewing.discard)

    async def _renew(
        self, worker: Worker, work: asyncio.Task[dict[str, Any]] | None
    ) -> None:
        """Let a cancelled job end if it does so soon; otherwise restart the worker."""
        fine = False
        if work is not None:
            done, _ = await asyncio.wait({work}, timeout=GRACE)
            fine = (
                bool(done)
                and not work.exception()
                and work.result().get("kind") not in ("memory", "stopped")
            )
        if not fine:
            await asyncio.to_thread(worker.stop)
            if work is not None:
                await asyncio.wait({work})
            await asyncio.to_thread(
                worker.stop
            )  # its last job may have started it again
            worker.launch()
        self._idle.put_nowait(worker)


def _ask(worker: Worker, job: dict[str, Any], seconds: float) -> dict[str, Any]:
    try:
        worker.start(time.monotonic() + STARTING)
        late = f"no answer within {seconds:g} s: try a smaller input"
        return worker.ask({**job, "timeout": seconds}, seconds, late)
    except StoppedError as stopped:
        return {"error": str(stopped), "kind": "stopped", "where": None}

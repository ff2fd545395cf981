"""Workers: one that is killed, runs wild or eats memory is replaced, and the others go on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from headwright.lab import pool as pools
from headwright.lab.pool import BusyError, Pool

STANDIN = (sys.executable, str(Path(__file__).with_name("standin.py")))


def with_pool(use: Callable[[Pool], Awaitable[Any]], size: int = 1) -> Any:
    async def run() -> Any:
        pool = Pool(size, memory=400 * 2**20, command=STANDIN)
        await pool.open()
        try:
            return await use(pool)
        finally:
            await pool.close()

    with ThreadPoolExecutor(
        1
    ) as thread:  # the browser's tests keep a loop running in this one
        return thread.submit(lambda: asyncio.run(run())).result()


def do(what: str) -> dict[str, Any]:
    return {"call": what, "given": {}}


@pytest.mark.parametrize(
    ("what", "seconds", "words"),
    [
        ("exit", 30.0, "code 7"),
        ("crash", 30.0, "signal"),
        ("eat", 30.0, "memory"),
        ("sleep", 1.0, "within"),
    ],
)
def test_after_a_worker_is_lost_the_next_question_is_answered(
    what: str, seconds: float, words: str
) -> None:
    async def use(pool: Pool) -> tuple[dict[str, Any], dict[str, Any]]:
        return await pool.ask(do(what), seconds), await pool.ask(do("hello"), 10.0)

    lost, next_ = with_pool(use)
    assert words in lost["error"]
    assert next_["answer"] == "hello"


def test_a_worker_that_ended_while_idle_costs_nobody_an_answer() -> None:
    async def use(pool: Pool) -> tuple[dict[str, Any], dict[str, Any]]:
        first = await pool.ask(do("soon"), 10.0)
        await asyncio.sleep(0.6)
        return first, await pool.ask(do("hello"), 10.0)

    first, second = with_pool(use)
    assert (first["answer"], second.get("answer")) == ("soon", "hello")


def test_who_leaves_the_queue_is_not_served_and_blocks_nobody() -> None:
    async def use(pool: Pool) -> Any:
        slow = asyncio.create_task(pool.ask(do("nap"), 10.0))
        await asyncio.sleep(0.1)
        waiting = asyncio.create_task(pool.ask(do("hello"), 10.0))
        await asyncio.sleep(0.1)
        waiting.cancel()
        await slow
        return await pool.ask(do("count"), 10.0)

    assert (
        with_pool(use)["answer"] == 2
    )  # the nap and this: the cancelled one was never asked


def test_work_that_nobody_waits_for_is_stopped() -> None:
    async def use(pool: Pool) -> Any:
        before = (await pool.ask(do("pid"), 10.0))["answer"]
        left = asyncio.create_task(pool.ask(do("sleep"), 60.0))
        await asyncio.sleep(0.2)
        left.cancel()
        return before, (await pool.ask(do("pid"), 10.0))["answer"]

    before, after = with_pool(use)
    assert before != after


def test_too_many_questions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MOST_WAITING", 1)

    async def use(pool: Pool) -> None:
        asking = [asyncio.create_task(pool.ask(do("nap"), 10.0)) for _ in range(2)]
        await asyncio.sleep(0.2)
        with pytest.raises(BusyError):
            await pool.ask(do("hello"), 10.0)
        await asyncio.gather(*asking)

    with_pool(use)

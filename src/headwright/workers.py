"""Workers of a Dask scheduler, on this machine or on many: who they are, and whether they run the same code.

`client` is for those who hand out work piece by piece; `executor` is one of concurrent.futures, for functions that
know nothing of Dask.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from headwright.errors import InputError
from headwright.extras import require

if TYPE_CHECKING:
    from distributed import Client

# Dask tells workers of its own to give freed memory back at once. Arrays that come and go then cost page faults, which
# take longer than the arithmetic; None leaves the allocator as it is.
TRIM = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
WAIT = 10  # seconds for a scheduler to answer, and for a worker to be there
ADDRESS = re.compile(
    r"(tcp|tls)://(?P<host>[\w.-]+|\[[\w:.]+\]):(?P<port>\d{1,5})", re.ASCII
)
LIBRARIES = ("numpy", "scipy", "torch", "transformers", "ml_dtypes")
Given = ParamSpec("Given")
Found = TypeVar("Found")


@contextmanager
def client(
    scheduler: str | None = None, processes: int | None = None
) -> Iterator[Client]:
    """The scheduler at an address; or one of its own, with a process for each core unless told how many."""
    require("cluster", "the engine dask")
    from distributed import Client, LocalCluster

    if scheduler is not None:
        with _found(scheduler) as there:
            yield there
        return
    import dask

    with (
        dask.config.set({TRIM: None}),
        LocalCluster(
            n_workers=processes or os.cpu_count() or 1,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as here,
    ):
        yield here


@contextmanager
def executor(
    scheduler: str | None = None, processes: int | None = None
) -> Iterator[Executor]:
    """The same as an executor; what it is given should be `checked`, if the workers are not this machine's own."""
    with client(scheduler, processes) as there, there.get_executor(pure=False) as found:
        from distributed import KilledWorker

        try:
            yield found
        except KilledWorker as error:
            raise InputError(
                "a part of the work ended several workers one after the other: they may have had too "
                "little memory; take fewer workers, or larger machines"
            ) from error


def checked(work: Callable[Given, Found]) -> Callable[Given, Found]:
    """Work that a worker refuses if its code is not the one that runs here.

    >>> checked(len)([1, 2])
    2
    """
    return partial(_checked, code(), work)


def same_code(expected: str) -> None:
    """Refuse to work if this is not the code that was expected: numbers from another would look like any others."""
    if code() != expected:
        raise InputError(
            "a worker has another version of headwright, or of a library it computes with, than the work "
            "was started with: install the same on all machines"
        )


@cache
def code() -> str:
    """The sha256 of this package's code, with the versions of what it computes with.

    >>> len(code())
    64
    """
    whole, root = hashlib.sha256(), Path(__file__).parent
    for file in sorted(root.rglob("*.py")):
        whole.update(f"{file.relative_to(root)} {file.stat().st_size}\n".encode())
        whole.update(file.read_bytes())
    for library in LIBRARIES:
        try:
            whole.update(f"{library} {version(library)}\n".encode())
        except PackageNotFoundError:
            continue
    return whole.hexdigest()


def _checked(
    expected: str,
    work: Callable[Given, Found],
    *given: Given.args,
    **named: Given.kwargs,
) -> Found:
    same_code(expected)
    return work(*given, **named)


@contextmanager
def _found(address: str) -> Iterator[Client]:
    from distributed import Client

    try:
        _knock(address)
        there = Client(address, timeout=WAIT)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}): expected the address that "
            "'dask scheduler' prints, such as tcp://10.0.0.5:8786"
        ) from error
    with there:
        try:
            there.wait_for_workers(1, timeout=WAIT)
        except TimeoutError as error:
            raise InputError(
                f"the scheduler at {address} has no workers: start some with 'dask worker {address}', "
                "where headwright is installed"
            ) from error
        yield there


def _knock(address: str) -> None:
    """Somebody listens there. A Client that fails to connect is left half made, and may lock up when collected."""
    parts = ADDRESS.fullmatch(address)
    if parts is None:
        raise ValueError(address)
    with socket.create_connection(
        (parts["host"].strip("[]"), int(parts["port"])), timeout=WAIT
    ):
        pass


def available_memory() -> int | None:
    """The bytes of memory that are free on this machine; None if the system does not say."""
    try:
        with Path("/proc/meminfo").open() as file:
            line = next(line for line in file if line.startswith("MemAvailable"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        pass
    if "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None

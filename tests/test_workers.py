"""Workers do the same as this process, or refuse; addresses and missing parts are told in test_cluster."""

from __future__ import annotations

import os
import pickle

import pytest

from headwright import workers
from headwright.errors import InputError
from headwright.workers import checked, executor

distributed = pytest.importorskip("distributed")


def test_an_executor_works_in_other_processes() -> None:
    with executor(processes=1) as there:
        assert there.submit(os.getpid).result() != os.getpid()
        assert there.submit(checked(divmod), 7, 2).result() == (3, 1)


def test_workers_of_its_own_keep_the_memory_that_they_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Dask's own setting made an audit take twice the time of the processor, in page faults; one's own is kept."""
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    with executor(processes=1) as there:
        assert there.submit(os.getenv, "MALLOC_TRIM_THRESHOLD_").result() is None
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000000")
    with executor(processes=1) as there:
        assert there.submit(os.getenv, "MALLOC_TRIM_THRESHOLD_").result() == "1000000"


def test_work_from_other_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "code", lambda: "older")
    work = pickle.dumps(checked(divmod))
    monkeypatch.undo()
    with pytest.raises(InputError, match="another version of headwright"):
        pickle.loads(work)(7, 2)

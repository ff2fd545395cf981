"""Workers do the same as this process, or refuse; addresses and missing parts are told in test_cluster."""

from __future__ import annotations

import os

import pytest

from headwright.errors import InputError
from headwright.workers import code, executor, same_code

distributed = pytest.importorskip("distributed")


def test_an_executor_works_in_other_processes_with_the_same_code() -> None:
    with executor(processes=1) as there:
        assert there.submit(os.getpid).result() != os.getpid()
        there.submit(same_code, code()).result()


def test_work_from_other_code_is_refused() -> None:
    with pytest.raises(InputError, match="another version of headwright"):
        same_code("older")

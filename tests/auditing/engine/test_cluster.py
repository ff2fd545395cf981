"""Pieces on real Dask workers: the same numbers, also when a worker is killed in the middle."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headwright import workers
from headwright.auditing.documents import repeated_documents
from headwright.auditing.engine.cluster import Cluster, layers_at_once
from headwright.auditing.engine.local import run_locally
from headwright.auditing.engine.part_store import PartStore
from headwright.auditing.engine.plan import Plan, cut_into_pieces, part_name
from headwright.auditing.measures.summary import Summary
from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.source import Source

distributed = pytest.importorskip("distributed")
SOURCE = Source("builtin:induction")
MODEL = load_model(SOURCE.name)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(
        tuple(repeated_documents(MODEL, tokens=5000, length=100, everything=True)),
        (0, 1),
    )


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as started:
        yield started


def _identical(a: Summary, b: Summary) -> bool:
    x, y = a.arrays(), b.arrays()
    return x.keys() == y.keys() and all(np.array_equal(x[name], y[name]) for name in x)


def test_the_numbers_are_the_local_engines_to_the_last_bit(
    plan: Plan, scheduler: Any
) -> None:
    told: list[float] = []
    found = Cluster(SOURCE, scheduler.scheduler_address)(MODEL, plan, told.append)
    assert _identical(found, run_locally(MODEL, plan))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


def test_few_documents_are_cut_by_layer(plan: Plan, scheduler: Any) -> None:
    one = replace(plan, documents=plan.documents[:1])
    assert len(cut_into_pieces(one, layers_at_once(one, workers=2))) > len(
        cut_into_pieces(one)
    )
    assert _identical(
        Cluster(SOURCE, scheduler.scheduler_address)(MODEL, one),
        run_locally(MODEL, one),
    )


def test_a_worker_killed_in_the_middle_loses_nothing(
    plan: Plan, scheduler: Any
) -> None:
    before = {name: worker.pid for name, worker in scheduler.workers.items()}
    killed: list[int] = []

    def kill_one(done: float) -> None:
        if not killed and done > 0.1:
            assert done < 0.9  # in the middle
            killed.append(next(iter(before.values())))
            os.kill(killed[0], signal.SIGKILL)

    found = Cluster(SOURCE, scheduler.scheduler_address)(MODEL, plan, kill_one)
    assert len(killed) == 1
    assert not Path(f"/proc/{killed[0]}/cmdline").exists() or killed[0] not in {
        worker.pid for worker in scheduler.workers.values()
    }
    assert _identical(found, run_locally(MODEL, plan))


def test_parts_that_were_kept_are_not_measured_again(
    plan: Plan, scheduler: Any, tmp_path: Path
) -> None:
    kept = PartStore(tmp_path, resume=True)
    engine = Cluster(SOURCE, scheduler.scheduler_address)
    whole = engine(MODEL, plan, None, kept)
    files = set(tmp_path.glob("*.npz"))
    assert len(files) == (len(plan.documents) + 1) * len(plan.layers)  # and the weights
    lost = tmp_path / f"{part_name(MODEL, plan, 3, 1)}.npz"
    lost.unlink()
    times = {file: file.stat().st_mtime_ns for file in files - {lost}}
    assert _identical(engine(MODEL, plan, None, kept), whole)
    assert lost.exists()
    assert {file: file.stat().st_mtime_ns for file in times} == times


def test_another_model_on_a_worker_is_refused(plan: Plan, scheduler: Any) -> None:
    other = replace(MODEL, digest="0" * 64)  # type: ignore[type-var]
    with pytest.raises(InputError, match="is another model on a worker"):
        Cluster(SOURCE, scheduler.scheduler_address)(other, plan)


def test_other_settings_on_a_worker_are_refused(plan: Plan, scheduler: Any) -> None:
    other = replace(MODEL, settings="float32")  # type: ignore[type-var]
    with pytest.raises(InputError, match="another configuration on a worker"):
        Cluster(SOURCE, scheduler.scheduler_address)(other, plan)


def test_other_code_on_a_worker_is_refused(
    plan: Plan, scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "code", lambda: "older")
    with pytest.raises(InputError, match="another version of headwright"):
        Cluster(SOURCE, scheduler.scheduler_address)(MODEL, plan)


def test_no_scheduler_at_the_address_is_said(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WAIT", 1)
    with pytest.raises(
        InputError,
        match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 .*'dask scheduler' prints",
    ):
        Cluster(SOURCE, "tcp://127.0.0.1:9")(MODEL, plan)


@pytest.mark.parametrize("address", ["nonsense", "ftp://there:1", ""])
def test_an_address_that_is_none_is_refused(
    plan: Plan, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WAIT", 1)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        Cluster(SOURCE, address)(MODEL, plan)


def test_a_scheduler_without_workers_is_said(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WAIT", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(InputError, match="has no workers: start some with 'dask worker"),
    ):
        Cluster(SOURCE, empty.scheduler_address)(MODEL, plan)


def test_without_dask_the_extra_is_named(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(
        InputError, match=r"needs distributed, .* pip install '\.\[cluster\]'"
    ):
        Cluster(SOURCE)(MODEL, plan)

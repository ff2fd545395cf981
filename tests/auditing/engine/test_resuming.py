"""Parts are kept, taken up again by an audit that was killed, and never taken for anything else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headwright.auditing.auditor import audit
from headwright.auditing.documents import (
    induction_documents,
    repeated_documents,
    text_documents,
)
from headwright.auditing.engine.local import run_locally
from headwright.auditing.engine.part_store import PartStore, open_store
from headwright.auditing.engine.plan import Plan, part_name
from headwright.auditing.measures.summary import Summary
from headwright.errors import InputError
from headwright.models.model import LayerVisitor, Tokens
from tests.auditing.handmade import Handmade

MODEL = Handmade()
TEXT = " ".join(f"word{k % 17}" for k in range(150))


class Counted(Handmade):
    """Tells how often it ran, and how far."""

    def visit_layers(
        self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
    ) -> None:
        RAN.append(len(tokens))
        super().visit_layers(tokens, visit, last)


RAN: list[int] = []


@pytest.fixture
def plan() -> Plan:
    return Plan(
        (*text_documents(MODEL, TEXT, "words"), *repeated_documents(MODEL)[:2]),
        (0, 1),
    )


def _identical(a: Summary, b: Summary) -> bool:
    x, y = a.arrays(), b.arrays()
    return x.keys() == y.keys() and all(np.array_equal(x[name], y[name]) for name in x)


def test_what_is_kept_is_not_measured_again(plan: Plan, tmp_path: Path) -> None:
    kept = PartStore(tmp_path, resume=True)
    whole = run_locally(Counted(), plan, None, kept)
    RAN.clear()
    assert _identical(run_locally(Counted(), plan, None, kept), whole)
    assert RAN == []
    (tmp_path / f"{part_name(MODEL, plan, 1, 1)}.npz").unlink()
    assert _identical(run_locally(Counted(), plan, None, kept), whole)
    assert [len(plan.documents[1].tokens)] == RAN


def test_without_resume_nothing_is_taken(plan: Plan, tmp_path: Path) -> None:
    run_locally(MODEL, plan, None, PartStore(tmp_path))
    RAN.clear()
    run_locally(Counted(), plan, None, PartStore(tmp_path))
    assert len(RAN) == len(plan.documents)


@pytest.mark.parametrize(
    "damage", [b"", b"PK\x03\x04 half", b"\x93NUMPY", b"not a file of ours"]
)
def test_a_file_that_is_broken_is_measured_again(
    plan: Plan, tmp_path: Path, damage: bytes
) -> None:
    kept = PartStore(tmp_path, resume=True)
    whole = run_locally(MODEL, plan, None, kept)
    for file in tmp_path.glob("*.npz"):
        file.write_bytes(damage or file.read_bytes()[:-100])
    assert _identical(run_locally(MODEL, plan, None, kept), whole)


def test_the_name_of_a_part_tells_all_that_it_depends_on(plan: Plan) -> None:
    document = plan.documents[0]
    others = [
        part_name(replace(MODEL, digest="1" * 64), plan, 0, 0),
        part_name(replace(MODEL, settings="float32 cpu"), plan, 0, 0),
        part_name(MODEL, plan, 0, 1),
        part_name(MODEL, plan, None, 0),
        *(
            part_name(
                MODEL, replace(plan, documents=(replace(document, **change),)), 0, 0
            )
            for change in (
                {"tokens": document.tokens[::-1]},
                {"tokens": document.tokens[:-1]},
                {"opening": document.opening + 1},
                {"period": 7},
                {"repeats": 7},
                {"everything": not document.everything},
            )
        ),
    ]
    names = [part_name(MODEL, plan, 0, 0), *others]
    assert len(set(names)) == len(names)


def test_the_name_of_a_document_does_not_matter(plan: Plan) -> None:
    renamed = replace(plan, documents=(replace(plan.documents[0], name="another"),))
    assert part_name(MODEL, renamed, 0, 0) == part_name(MODEL, plan, 0, 0)


def test_an_audit_that_is_done_leaves_nothing(tmp_path: Path) -> None:
    audit(MODEL, text=TEXT, keep=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="finished parts cannot be kept there"):
        audit(MODEL, text=TEXT, keep=tmp_path / "file")


def test_an_audit_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "headwright",
        "audit",
        "builtin:induction",
        "--tokens",
        "12000",
        "--json",
    ]
    environment = os.environ | {
        "XDG_CACHE_HOME": str(tmp_path),
        "OPENBLAS_NUM_THREADS": "1",
    }
    running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while len(done := list(tmp_path.rglob("[!.]*.npz"))) < 5:
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    done = list(tmp_path.rglob("[!.]*.npz"))
    assert len(done) < 12000 // 257 * 2  # it was in the middle
    from headwright.models import load_model

    model, ran = load_model("builtin:induction"), []

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(model, name)

        def visit_layers(
            self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
        ) -> None:
            ran.append(tokens.tobytes())
            model.visit_layers(tokens, visit, last)

    documents = repeated_documents(model, tokens=12000, everything=True)
    documents += induction_documents(model, measured=documents)
    plan = Plan(tuple(documents), (0, 1))
    folder = tmp_path / "headwright" / "audit"
    kept = open_store(folder, model, plan, resume=True)
    found = run_locally(Watched(), plan, None, kept)  # type: ignore[arg-type]
    finished = len(done) // 2  # documents, of two layers each
    assert len(ran) == len(documents) - finished
    assert ran == [document.tokens.tobytes() for document in documents[finished:]]
    assert _identical(found, run_locally(model, plan))


def test_a_part_for_which_there_is_no_room_is_not_kept_and_nothing_breaks(
    tmp_path: Path,
) -> None:
    (tmp_path / "full").write_text("a file where a folder is wanted")
    kept = PartStore(tmp_path / "full" / "inside", resume=True)
    kept.put("a", Summary())
    assert kept.get("a") is None

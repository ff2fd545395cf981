"""headwright audit: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import INTERRUPTED, Headwright

MODEL = "builtin:induction"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("text.txt").write_text(
        "The keeper counted the boats, and the boats counted the keeper. " * 3
    )
    Path("short.txt").write_text("too short")
    Path("bytes.txt").write_bytes(b"\xff\xfe\x00")


def test_the_built_in_model_does_what_it_was_trained_for(
    headwright: Headwright,
) -> None:
    told = headwright("audit", MODEL, "--tokens", "1000", "--json").json
    words = {
        f"{head['layer']}.{head['head']}": {role["name"] for role in head["roles"]}
        for head in told["heads"]
    }
    assert any(
        "previous token" in roles
        for name, roles in words.items()
        if name.startswith("0.")
    )
    assert any(
        "induction" in roles for name, roles in words.items() if name.startswith("1.")
    )
    assert not any(
        "induction" in roles for name, roles in words.items() if name.startswith("0.")
    )
    assert (
        told["reproduce"]["command"] == f"headwright audit {MODEL} --tokens 1000 --json"
    )


def test_the_report_is_written_and_the_table_printed(headwright: Headwright) -> None:
    ran = headwright("audit", MODEL, "--text", "text.txt", "--out", "report.html")
    assert ran.code == 0
    assert "what it does" in ran.out
    assert "report.html" in ran.err
    page = Path("report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "measured on text.txt" in page


def test_the_result_is_written_as_data_and_as_a_picture(headwright: Headwright) -> None:
    """One audit for each pair of files; the table has the numbers of the JSON."""
    for out, plot in (
        ("heads.json", "heads.svg"),
        ("heads.csv", "heads.pdf"),
        ("heads.htm", "heads.png"),
    ):
        assert (
            headwright(
                "audit",
                MODEL,
                "--tokens",
                "500",
                "--out",
                out,
                "--plot",
                plot,
                "--no-every-text",
            ).code
            == 0
        )
    data = json.loads(Path("heads.json").read_text())
    with Path("heads.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["entropy"]) for line in lines] == [
        head["entropy"]["value"] for head in data["heads"]
    ]
    assert {line["context"] for line in lines} == {str(data["measured_on"]["context"])}
    starts = {"heads.svg": b"<svg", "heads.pdf": b"%PDF", "heads.png": b"\x89PNG"}
    assert all(
        Path(name).read_bytes().startswith(start) for name, start in starts.items()
    )


def test_induction_is_told_with_its_period_and_its_length(
    headwright: Headwright,
) -> None:
    """The contexts of the text, and those of induction, are not the same: on the terminal and in the table."""
    ran = headwright(
        "audit", MODEL, "--text", "text.txt", "--no-every-text", "--out", "heads.csv"
    )
    assert "induction in contexts of 189 and 256 tokens" in ran.out
    assert "induction heads (random tokens of period 47, contexts of 189)" in ran.out
    assert (
        "induction heads over a long context (random tokens of period 47, contexts of 256)"
        in ran.out
    )
    assert "at 189" in ran.out and "at 256" in ran.out
    with Path("heads.csv").open() as file:
        lines = list(csv.DictReader(file))
    told = (
        "induction_period",
        "induction_context",
        "induction_long_period",
        "induction_long_context",
        "context",
    )
    assert {tuple(line[name] for name in told) for line in lines} == {
        ("47", "189", "47", "256", "193")
    }
    roles = [line["roles"] for line in lines if "induction" in line["roles"]]
    assert roles
    assert all(
        "induction (period 47, 189 tokens); long induction (period 47, 256 tokens)"
        in line
        for line in roles
    )


def test_several_texts_are_several_documents_and_one_has_no_interval(
    headwright: Headwright,
) -> None:
    several = []
    for k in range(8):
        Path(f"{k}.txt").write_text(
            f"The keeper counted {k} boats, and {k} boats counted the keeper. "
        )
        several += ["--text", f"{k}.txt"]
    told = headwright("audit", MODEL, *several, "--no-every-text", "--json").json
    assert told["measured_on"]["intervals"].startswith("95 % intervals over 8 texts")
    assert all(head["entropy"]["low"] is not None for head in told["heads"])
    ran = headwright("audit", MODEL, "--text", "text.txt", "--no-every-text")
    assert "One text: no interval" in ran.out


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_parquet_needs_pyarrow(headwright: Headwright) -> None:
    ran = headwright("audit", MODEL, "--out", "heads.parquet")
    assert ran.code == 2
    assert "needs pyarrow, which is not installed" in ran.err


def test_token_ids_come_from_a_file(headwright: Headwright) -> None:
    ids = np.random.default_rng(0).integers(1, 30, 100)
    np.save("ids.npy", ids)
    ran = headwright("audit", MODEL, "--tokens", "ids.npy", "--no-every-text")
    assert "contexts of up to 100 tokens" in ran.out
    assert "entropy" in ran.out
    assert "nats" in ran.out
    np.save("ids.npy", ids + 0.5)
    for given, said in (
        ("ids.npy", "expected whole numbers"),
        ("ids.txt", "expected a number, or a .npy file"),
    ):
        ran = headwright("audit", MODEL, "--tokens", given)
        assert ran.code == 2
        assert said in ran.err


def test_a_part_of_the_model_is_enough(headwright: Headwright) -> None:
    told = headwright(
        "audit", MODEL, "--tokens", "200", "--layers", "1-1", "--heads", "0", "--json"
    ).json
    assert [(head["layer"], head["head"]) for head in told["heads"]] == [(1, 0)]


def test_one_head_is_explained_with_a_verified_query(headwright: Headwright) -> None:
    told = headwright(
        "audit", MODEL, "--tokens", "200", "--explain", "1.0", "--json"
    ).json
    assert len(told["rows"]) == 3
    assert all(row["shortest"]["verdict"] == "designed" for row in told["rows"])
    said = headwright("audit", MODEL, "--text", "text.txt", "--explain", "0.0").out
    assert "the shortest query that gives key" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--text", "short.txt"), "short.txt has 10 tokens: expected at least 16"),
        (("--text", "none.txt"), "text none.txt: there is no such file"),
        (("--text", "bytes.txt"), "is not text in UTF-8"),
        (
            ("--text", "text.txt", "--tokens", "99"),
            "--text and --tokens: expected one of them",
        ),
        (("--tokens", "3"), "3 tokens: expected at least 16"),
        (("--max-length", "100000"), "positions: expected at most"),
        (("--layers", "9"), "there is no layer 9: expected 0 to 1"),
        (("--layers", "x"), "--layers 'x': expected numbers such as 0,4-7"),
        (("--heads", "3-1"), "3-1 is empty"),
        (("--explain", "9.0"), "layer 9, and builtin:induction has 2"),
        (("--explain", "one"), "expected LAYER.HEAD"),
        (("--out", "no/report.html"), "there is no folder no"),
        (("--out", "report.pdf"), "has the suffix '.pdf', expected one of .html"),
        (("--device", "cuda"), "runs in NumPy"),
    ],
)
def test_what_cannot_be_used_gets_its_sentence(
    headwright: Headwright, given: tuple[str, ...], said: str
) -> None:
    ran = headwright("audit", MODEL, *given)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())
    assert ran.out == ""


def test_a_model_that_is_not_there_is_refused(headwright: Headwright) -> None:
    ran = headwright("audit", "builtin:nothing")
    assert ran.code == 2
    assert "there is no model builtin:nothing" in ran.err


def test_the_engines_tell_the_same_numbers(headwright: Headwright) -> None:
    pytest.importorskip("distributed")
    one, two = (
        headwright("audit", MODEL, "--tokens", "600", "--json", *how).json
        for how in ((), ("--engine", "dask"))
    )
    assert one.pop("reproduce")["command"] != two.pop("reproduce")["command"]
    assert one == two


def test_an_audit_that_is_done_leaves_no_parts(headwright: Headwright) -> None:
    assert headwright("audit", MODEL, "--tokens", "300", "--resume").code == 0
    assert list(Path("cache/headwright/audit").iterdir()) == []


def test_what_killed_audits_left_is_removed_by_the_next_one_and_told_by_the_doctor(
    headwright: Headwright,
) -> None:
    left = Path("cache/headwright/audit") / ("0" * 32)
    left.mkdir(parents=True)
    part = left / ("a" * 64 + ".npz")
    part.write_bytes(bytes(3_000_000))
    assert "holds parts of 1 unfinished audit, 3.0 MB" in headwright("doctor").out
    assert (
        headwright("doctor", "--json").json["unfinished_audits"]["bytes"] == 3_000_000
    )
    then = time.time() - 30 * 86400
    for path in (part, left):
        os.utime(path, (then, then))
    assert (
        headwright(
            "audit", MODEL, "--tokens", "200", "--no-every-text", "--resume"
        ).code
        == 0
    )
    assert part.exists()  # who resumes may mean just this one
    ran = headwright("audit", MODEL, "--tokens", "200", "--no-every-text")
    assert "Removed parts of an unfinished audit" in ran.err
    assert not left.exists()
    assert "unfinished" not in headwright("doctor").out


def test_an_address_without_its_engine_is_refused(headwright: Headwright) -> None:
    done = headwright("audit", MODEL, "--scheduler", "tcp://10.0.0.5:8786")
    assert done.code == 2
    assert "expected --engine dask with it" in done.err


def test_a_cache_folder_that_cannot_be_made_is_said_and_refuses_nothing(
    headwright: Headwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("short.txt").absolute()))
    ran = headwright("audit", MODEL, "--tokens", "200", "--resume", "--json")
    assert ran.code == 0
    assert len(ran.json["heads"]) == 4
    assert (
        "finished parts cannot be kept there (Not a directory), so this audit cannot be resumed"
        in ran.err
    )


def test_an_interruption_says_how_to_go_on() -> None:
    command = [
        sys.executable,
        "-m",
        "headwright",
        "audit",
        MODEL,
        "--tokens",
        "12000",
        "--json",
    ]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # it may be ignored where the tests run
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    while len(list(Path("cache").rglob("[!.]*.npz"))) < 3:
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=60)
    assert running.returncode in INTERRUPTED
    assert out == ""
    assert (
        "interrupted; finished parts are kept, and the same command with --resume"
        in " ".join(said.split())
    )

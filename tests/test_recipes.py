"""The recipes of docs/contributing suffice: each is followed to the letter in a copy of the project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
NEW = re.compile(r"`([\w/.-]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MORE = re.compile(
    r"`([\w/.]+)`, before the line that\sstarts with `` (.+?) ``:\n\n```\w+\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BECOMES = re.compile(
    r"^\d+\. In `([^`]+)`, `([^`]+)` becomes `([^`]+)`\.$", re.MULTILINE
)


def _follow(recipe: str, copy: Path, page: str = "recipes.md") -> list[str]:
    """The files that were made or changed."""
    text = (
        (ROOT / "docs/contributing" / page)
        .read_text()
        .partition(f"\n## {recipe}\n")[2]
        .partition("\n## ")[0]
    )
    touched = []
    for name, code in NEW.findall(text):
        assert not (copy / name).exists()
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(code)
        touched.append(name)
    for name, line, code in MORE.findall(text):
        before, found, after = (copy / name).read_text().partition(f"\n{line}")
        assert found
        (copy / name).write_text(f"{before}\n{code}{found[1:]}{after}")
        touched.append(name)
    for name, old, new in BECOMES.findall(text):
        assert (copy / name).read_text().count(old) == 1, f"{name}: {old}"
        (copy / name).write_text((copy / name).read_text().replace(old, new))
        touched.append(name)
    return touched


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("src", "docs", "tests", "proofs/program"):
        shutil.copytree(
            ROOT / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns(
                "__pycache__", "grading" if name == "tests" else "nothing"
            ),
        )
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def _run(copy: Path, *command: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy / "src"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    ran = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _tests(copy: Path, *which: str) -> None:
    _run(
        copy,
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *which,
    )


def test_an_exercise_is_one_file(copy: Path) -> None:
    (touched,) = _follow("Add an exercise", copy)
    headwright = [sys.executable, "-m", "headwright"]
    assert "nothing to complain of" in _run(
        copy, *headwright, "exercises", "--lint", touched
    )
    assert "copying-first" in _run(copy, *headwright, "exercises")
    answer = [
        "check",
        "--exercise",
        "copying-first",
        "--formula",
        r"q = \ln(n/\delta) k_1",
    ]
    assert "proved" in _run(copy, *headwright, *answer)


def test_a_kind_of_exercises_is_one_folder(copy: Path) -> None:
    code, exercise = _follow("Add a kind", copy, "kinds.md")
    assert code.endswith("kinds/decimals/__init__.py")
    headwright = [sys.executable, "-m", "headwright"]
    assert "nothing to complain of" in _run(
        copy, *headwright, "exercises", "--lint", exercise
    )
    check = [
        *headwright,
        "check",
        "--exercise",
        "half-the-weight",
        "--json",
        "--formula",
    ]
    assert (
        json.loads(_run(copy, *check, "s = 1.31"))["answers"][0]["verdict"] == "proved"
    )
    refuted = subprocess.run(
        [*check, "s = 1"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
    )
    assert refuted.returncode == 1
    (answer,) = json.loads(refuted.stdout)["answers"]
    assert answer["reason"] == "exp(s)/(exp(s) + e + 1) is 0.4223, not equal to 0.5"
    _run(copy, sys.executable, "-m", "mypy", "--strict", code)


OF_ROWS = """
import numpy as np
from headwright import row_statistics

queries = np.zeros((1, 4, 2))
names = ["keys_in_use", "rows_won"]
print(row_statistics(queries, queries, extra=names, received=True).extra)
keys = np.zeros((1, 4, 2))
queries[0, 2] = np.nan
print(row_statistics(queries, keys, extra=["rows_won"]).extra)
"""
WATCHED = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel
from headwright import watch

model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=9))
with watch(model, ["keys_in_use", "rows_won"]) as seen:
    model.generate(torch.tensor([[1, 2, 3]]), max_new_tokens=4, do_sample=False)
of_rows = seen.layer(0).keys_in_use
print(of_rows.shape, (of_rows >= 1).all(), sorted(seen.summary()))
of_keys = seen.layer(0).rows_won
print(of_keys.shape, (of_keys[:, :, 0] >= 1).all())
"""


@pytest.mark.slow
def test_a_row_statistic_is_a_function_and_an_entry(copy: Path) -> None:
    touched = _follow("Add a row statistic", copy)
    assert set(touched) == {
        "src/headwright/statistics/table.py",
        "docs/guides/watch.md",
    }
    of_rows = _run(copy, sys.executable, "-c", OF_ROWS)
    assert "'keys_in_use': array([[1., 2., 3., 4.]])" in of_rows
    assert "'rows_won': array([[1., 0., 0., 0.]])" in of_rows
    assert "'rows_won': array([[nan, nan, nan,  0.]])" in of_rows
    said = _run(copy, sys.executable, "-c", WATCHED)
    assert "(1, 2, 6) True ['head', 'keys_in_use', 'layer', 'part', 'rows']" in said
    assert "(1, 2, 6) True\n" in said
    _tests(
        copy,
        "src/headwright/statistics/request.py",
        "tests/statistics/test_table.py",
        "tests/watching/test_recorded.py",
        "tests/watching/test_statistics.py::test_one_key_equal_scores_and_rows_that_see_nothing",
    )


@pytest.mark.slow
def test_a_measure_is_one_entry_and_its_function(copy: Path) -> None:
    code, page = sorted(set(_follow("Add a measure", copy)), reverse=True)
    assert code.endswith("measures/table.py") and page == "docs/guides/audit.md"
    headwright = [sys.executable, "-m", "headwright"]
    said = json.loads(
        _run(
            copy, *headwright, "audit", "builtin:induction", "--tokens", "400", "--json"
        )
    )
    assert (
        said["heads"][0]["decided_away"]["value"] > 0.9
    )  # the head that looks one token back
    (measure,) = (one for one in said["measures"] if one["name"] == "decided_away")
    assert "more than half" in measure["meaning"]
    _run(
        copy,
        *headwright,
        "audit",
        "builtin:induction",
        "--tokens",
        "400",
        "--out",
        "report.html",
    )
    assert "rows that give one key more than half" in (copy / "report.html").read_text()
    _tests(
        copy,
        "src/headwright/auditing/measures",
        "src/headwright/auditing/report",
        "tests/auditing/report",
        "tests/auditing/measures/test_table.py",
    )


@pytest.mark.slow
def test_an_instrument_is_three_files_and_three_lines(copy: Path) -> None:
    touched = _follow("Add an instrument", copy)
    new = [name for name in touched if not (ROOT / name).exists()]
    assert len(new) == 3
    assert len(set(touched) - set(new)) == 3
    np.save(copy / "K.npy", np.eye(4))
    (copy / "q.json").write_text("[0, 0, 0, 0]")
    _run(copy, sys.executable, "docs/site/architecture.py")
    asked = [
        sys.executable,
        "-m",
        "headwright",
        "breadth",
        "--keys",
        "K.npy",
        "--query",
        "q.json",
    ]
    assert "head 0 spreads over 4 of 4 keys (floating-point)" in _run(copy, *asked)
    assert json.loads(_run(copy, *asked, "--json"))["breadth"] == [4.0]
    assert re.search(
        r"breadth +Over how many keys",
        _run(copy, sys.executable, "-m", "headwright", "--help"),
    )
    _tests(
        copy,
        "src/headwright/breadth.py",
        "tests/test_architecture.py::test_contracts_hold",
        "tests/docs/test_site.py::test_the_architecture_is_drawn_as_it_is",
        "tests/docs/test_pages.py::test_every_command_is_documented",
        "tests/docs/test_pages.py::test_every_page_is_in_the_table_of_contents",
        "tests/cli/test_commands.py::test_every_help_has_examples_with_options_that_exist",
    )


@pytest.mark.slow
def test_a_kind_of_uncertainty_is_one_class_and_its_names(copy: Path) -> None:
    touched = _follow("Add an uncertainty", copy)
    assert len(set(touched)) == 3
    _tests(copy, "src/headwright/uncertainty/scales.py")
    _tests(
        copy,
        "tests/uncertainty/test_kinds.py",
        "tests/uncertainty/test_uncertainty.py",
        "tests/test_architecture.py::test_contracts_hold",
    )
    np.save(copy / "K.npy", np.eye(3))
    (copy / "q.json").write_text("[2, 2, 0]")
    (copy / "uncertainty.toml").write_text(
        "[[noise]]\nkey = 0\nscale = { triangular = [0.9, 1, 1.1] }"
    )
    simulate = [
        "simulate",
        "--keys",
        "K.npy",
        "--query",
        "q.json",
        "--uncertainty",
        "uncertainty.toml",
        "--targets",
        "0,1",
    ]
    assert "not known exactly" in _run(
        copy, sys.executable, "-m", "headwright", *simulate
    )
    design = [
        "design",
        "--keys",
        "K.npy",
        "--copy",
        "0",
        "--uncertainty",
        "uncertainty.toml",
    ]
    assert "key 0 is scaled by any from 0.9 to 1.1" in _run(
        copy, sys.executable, "-m", "headwright", *design
    )


@pytest.mark.slow
def test_a_field_of_a_certificate_is_read_written_and_told(copy: Path) -> None:
    touched = _follow("Add a field to a certificate", copy)
    assert len(set(touched)) == 9
    _run(copy, sys.executable, "-c", _script("Add a field to a certificate"))
    np.save(copy / "K.npy", np.eye(3))
    headwright = [sys.executable, "-m", "headwright"]
    _run(copy, *headwright, "design", "--keys", "K.npy", "--copy", "0", "--out", "c")
    verdict = _run(copy, *headwright, "verify", "c", "--json")
    assert json.loads(verdict)["verdict"] == "verified"
    assert "Written by headwright." in json.loads(verdict)["words"]
    _tests(
        copy,
        "tests/certificates/test_corpus.py",
        "tests/certificates/exact/test_verify.py",
        "tests/certificates/floating/test_agreement.py",
        "tests/query_design/test_certify.py",
        "tests/docs/test_own_checker.py",
        "-m",
        "not slow",
    )


def _script(recipe: str) -> str:
    """The block of Python of a recipe that imports what it needs: it is run as it is."""
    text = (ROOT / "docs/contributing/recipes.md").read_text()
    section = text.partition(f"\n## {recipe}\n")[2].partition("\n## ")[0]
    (script,) = re.findall(r"^```python\n(import .*?)^```$", section, re.M | re.S)
    return script

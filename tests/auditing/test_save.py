"""An audit as a table, and as files."""

from __future__ import annotations

import csv
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import headwright as hw
from headwright.errors import InputError


@pytest.fixture(scope="module")
def result() -> hw.Audit:
    return hw.audit(hw.load_model("builtin:induction"), tokens=400, every_text=False)


def test_the_table_has_a_line_for_each_head_with_intervals(result: hw.Audit) -> None:
    table = result.table()
    assert [(line["layer"], line["head"]) for line in table] == [
        (head.layer, head.head) for head in result.heads
    ]
    assert {"roles", "sink", "sink_low", "sink_high", "rows"} <= set(table[0])
    for line, head in zip(table, result.heads, strict=True):
        assert line["sink"] == head.value("sink")


def test_files_hold_what_their_suffix_says(result: hw.Audit, tmp_path: Path) -> None:
    result.save(tmp_path / "heads.csv")
    with (tmp_path / "heads.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line, expected in zip(lines, result.table(), strict=True):
        assert line["roles"] == expected["roles"]
        assert float(line["sink"]) == expected["sink"]
    result.save(str(tmp_path / "all.json"))
    assert json.loads((tmp_path / "all.json").read_text()) == json.loads(
        json.dumps(result.to_dict())
    )
    result.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    result.save(tmp_path / "heads.pdf")
    assert (tmp_path / "heads.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(InputError, match=r"suffix '.xlsx', expected one of .html"):
        result.save(tmp_path / "heads.xlsx")


def test_parquet_has_the_same_columns(result: hw.Audit, tmp_path: Path) -> None:
    if find_spec("pyarrow") is None:
        with pytest.raises(InputError, match="needs pyarrow"):
            result.save(tmp_path / "heads.parquet")
        return
    parquet = import_module("pyarrow.parquet")

    result.save(tmp_path / "heads.parquet")
    assert parquet.read_table(tmp_path / "heads.parquet").to_pylist() == result.table()

"""The table of measures: one place that every output and the documentation agree with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwright.auditing import Audit, audit
from headwright.auditing.measures.measure import Display, Measure
from headwright.auditing.measures.roles import ROLES
from headwright.auditing.measures.rounding import FORMATS
from headwright.auditing.measures.table import BY_NAME, MEASURES, ROUNDINGS
from headwright.auditing.report.columns import head_maps
from headwright.auditing.report.data import head_table
from headwright.auditing.report.page import page
from tests.auditing.handmade import Handmade

GUIDE = Path(__file__).parents[3] / "docs/guides/audit.md"
DISPLAYED = [measure for measure in MEASURES if measure.display is not None]


@pytest.fixture(scope="module")
def result() -> Audit:
    return audit(Handmade(), every_text=False)


def _line(measure: Measure) -> str:
    heading = f"{measure.display.heading} " if measure.display else ""
    return f"| {heading}| `{measure.name}` | {measure.unit} | {measure.meaning} |"


def test_the_guide_has_the_table() -> None:
    documented = [
        line.replace("\\|", "|")
        for line in GUIDE.read_text().splitlines()
        if re.match(r"\|[^|]*\| `\w+` \|", line)
    ]
    expected = [*DISPLAYED, *(one for one in MEASURES if one.display is None)]
    assert documented == [_line(measure) for measure in expected]


def test_names_and_headings_are_unique() -> None:
    assert len(BY_NAME) == len(MEASURES)
    displays = [measure.display for measure in DISPLAYED]
    headings = [display.heading for display in displays if display]
    assert len(set(headings)) == len(headings)


def test_every_format_of_keys_is_measured() -> None:
    assert [measure.number_format for measure in ROUNDINGS] == list(FORMATS)


def test_roles_are_about_measures() -> None:
    assert {kind.measure for kind in ROLES} <= set(BY_NAME)


def test_every_measure_is_in_the_json_and_in_the_table_of_heads(result: Audit) -> None:
    content = result.to_dict()
    assert [measure["name"] for measure in content["measures"]] == list(BY_NAME)
    for line, head in zip(head_table(result), content["heads"], strict=True):
        for name in BY_NAME:
            column = f"{name}_median" if BY_NAME[name].kind == "quantiles" else name
            assert column in line
            assert head[name] is None or "value" in head[name]
            if head[name] is not None and head[name]["value"] is not None:
                assert line[column] == head[name]["value"]


def test_every_map_and_column_is_on_the_page(result: Audit) -> None:
    text = page(result)
    drawn = {found.column.measure.name for found in head_maps(result)}
    for measure in DISPLAYED:
        assert measure.display is not None
        if measure.is_left_out_if_missing:
            continue  # it needs norms: see test_key_ranges.py
        if measure.repeated in (None, *result.induction):
            assert f">{measure.display.heading}</th>" in text
            assert (measure.name in drawn) == bool(measure.display.caption)


def test_a_number_has_the_decimals_of_its_column() -> None:
    assert Display("x", decimals=3).text(0.12345) == "0.123"
    assert Display("x", percent=True).text(0.12345) == "12.35%"

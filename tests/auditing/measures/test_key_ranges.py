"""What the audit says of the largest keys and values: what `ranges` proves, beside what the text shows."""

from __future__ import annotations

import numpy as np
import pytest

import headwright as hw
from headwright.auditing.auditor import Audit, audit
from headwright.auditing.measures.key_ranges import LargestSize
from headwright.auditing.report.columns import head_maps, table_columns
from headwright.auditing.report.page import page
from headwright.models import load_model
from tests.value_ranges.small_models import small_model

TOKENS = np.random.default_rng(0).integers(1, 40, 60)


@pytest.fixture(scope="module")
def result() -> Audit:
    return audit(load_model(small_model("llama")), tokens=TOKENS, every_text=False)


def test_each_head_has_the_bound_of_its_key_head(result: Audit) -> None:
    ranges = hw.ranges(small_model("llama"))
    for head in result.heads:
        key = head.result("key_range", LargestSize)
        value = head.result("value_range", LargestSize)
        assert key is not None
        assert value is not None
        of_layer = ranges.layers[head.layer]
        # Four heads share two key heads.
        assert key.bound == of_layer.keys[head.head // 2].after.largest
        assert value.bound == of_layer.values[head.head // 2].after.largest
        assert key.shown is not None
        assert 0 < key.shown < key.bound
        assert key.value is not None
        assert key.bound <= key.value < key.bound + 0.011


def test_the_report_has_a_column_a_map_and_a_verdict(result: Audit) -> None:
    headings = [column.display.heading for column in table_columns(result)]
    assert {"key", "value"} < set(headings)
    assert ">key</th>" in page(result)
    titles = [drawn.column.title for drawn in head_maps(result)]
    assert "Largest key on every text" in titles
    assert "an e4m3 cache at scale 1 never clips" in page(result)
    of_head = result.to_dict()["heads"][0]["key_range"]
    assert of_head["value"] >= of_head["bound"] > of_head["shown"] > 0
    measures = {measure["name"]: measure for measure in result.to_dict()["measures"]}
    assert measures["key_range"]["map"]  # which the lab draws


def test_a_model_without_norms_says_so() -> None:
    result = audit(load_model("builtin:induction"), tokens=400, every_text=False)
    assert "there is no norm" in str(result.not_measured)
    headings = [column.display.heading for column in table_columns(result)]
    assert "value" not in headings
    assert result.heads[0].results["key_range"] is None

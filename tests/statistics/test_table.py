"""The table of statistics: what is in it is documented, and what it says of rows is so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.statistics import row_statistics
from headwright.statistics.rows import ALWAYS
from headwright.statistics.table import ENDS, SETS, TABLE, TOP, OverRows, PerWhat
from headwright.statistics.triton_backend import KNOWN

GUIDE = Path(__file__).parents[2] / "docs/guides/watch.md"


def test_the_guide_of_watch_defines_each_statistic_and_no_other() -> None:
    table = GUIDE.read_text().partition("## Statistics")[2].partition("\n\nA row")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    named = [
        name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])
    ]
    assert sorted(named) == sorted(TABLE)


def test_entries_are_under_their_names_and_have_a_meaning_and_a_unit() -> None:
    for name, entry in TABLE.items():
        assert name == entry.name
        assert entry.meaning and entry.unit
        assert entry.per is PerWhat.ROW or entry.over_rows is OverRows.NOTHING
    assert {*ALWAYS, *TOP, *ENDS, *SETS, *KNOWN} <= set(TABLE)


def test_further_statistics_of_rows_are_asked_for_by_name() -> None:
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 3, 20, 4)), rng.normal(size=(2, 3, 20, 4))
    found = row_statistics(q, k, extra=["previous", "entropy"])
    np.testing.assert_array_equal(found.extra["previous"], found.offsets[1])
    assert set(found.extra) == {"previous"}  # entropy is a field
    assert row_statistics(q, k).extra == {}


@pytest.mark.parametrize("name", ["top", "recent", "special", "received"])
def test_what_needs_more_than_its_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"extra = {name}: expected a statistic that"):
        row_statistics(np.ones((1, 2, 2)), np.ones((1, 2, 2)), extra=[name])
    with pytest.raises(InputError, match="there is no statistic entropi"):
        row_statistics(np.ones((1, 2, 2)), np.ones((1, 2, 2)), extra=["entropi"])

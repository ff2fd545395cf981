"""The table of make bench: ratios are told beside what they are ratios to, and what was not measured is named."""

from __future__ import annotations

import json
import math
from io import StringIO

import pytest
from bench.__main__ import TOPICS
from bench.measure import Contender, Measurement, measure, skipped
from bench.table import Topic, chart, data, left_out, ratio, table
from rich.console import Console

OURS = Contender("ours", "f")
THEIRS = Contender("theirs", "g", peer_of="ours")
FLOOR = Contender("one pass", "h", peer_of="ours", kind="limit")
ABSENT = Contender("absent", "i", peer_of="ours")
TOPIC = Topic(
    "a-topic",
    "What it is about",
    (OURS, THEIRS, FLOOR, ABSENT),
    {
        "ours": Measurement(2.0, 10.0, "yes"),
        "theirs": Measurement(9.0, 400.0, "yes, too"),
        "one pass": Measurement(0.5, 0.0, "nothing"),
        "absent": skipped("sklearn is not installed"),
    },
)


def _shown() -> str:
    console = Console(width=160, record=True, file=StringIO())
    console.print(table([TOPIC]))
    return console.export_text()


def test_the_table_tells_ratios_and_who_is_a_limit() -> None:
    (theirs,) = (line for line in _shown().splitlines() if "theirs" in line)
    assert [cell.strip() for cell in theirs.split("│")[2:5]] == ["peer", "9", "4.5"]
    assert "limit" in _shown()
    assert "0.25" in _shown()


def test_what_was_not_measured_is_named_with_the_reason() -> None:
    assert list(left_out([TOPIC])) == [
        "a-topic: absent: skipped, because sklearn is not installed"
    ]
    assert "absent" not in _shown()


def test_the_data_is_json_without_odd_numbers() -> None:
    found = json.loads(
        json.dumps(data([TOPIC], list(left_out([TOPIC])), quick=True), allow_nan=False)
    )
    assert [c["ratio"] for c in found["topics"]["a-topic"]["contenders"]] == [
        1.0,
        4.5,
        0.25,
        None,
    ]
    assert chart(found).startswith(b"<svg")


def test_a_ratio_to_what_was_not_measured_is_none() -> None:
    assert math.isnan(
        ratio(
            THEIRS,
            {"ours": skipped("it took too long"), "theirs": Measurement(1.0, 1.0, "")},
        )
    )


def test_a_peer_that_is_not_installed_is_skipped() -> None:
    found = measure("no_such_library", Contender("absent", "f"))
    assert found.says == "skipped, because no_such_library is not installed"


@pytest.mark.parametrize("name", TOPICS)
def test_every_contender_is_compared_with_one_of_its_topic(name: str) -> None:
    module = pytest.importorskip(f"bench.{name}")
    names = [c.name for c in module.CONTENDERS]
    assert len(set(names)) == len(names)
    assert {c.peer_of for c in module.CONTENDERS} - {None} <= set(names)
    assert all(callable(getattr(module, c.prepare)) for c in module.CONTENDERS)

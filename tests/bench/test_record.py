"""A run that is kept: the page has its figures, and nothing that was measured breaks the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.record import BEGIN, END, renewed, written
from bench.table import compared

ROOT = Path(__file__).parents[2]


def _contender(
    name: str, is_: str, beside: str | None, ratio: float | None
) -> dict[str, Any]:
    return {
        "name": name,
        "is": is_,
        "compared_with": beside,
        "ratio": ratio,
        "peak_mb": 1.0,
        "seconds": 1.0,
        "said": "",
    }


RUN: dict[str, Any] = {
    "date": "2026-01-01",
    "quick": True,
    "machine": {"python": "3.11"},
    "versions": {"numpy": "2.0"},
    "skipped": ["rows: SDPA: skipped, because torch_x is not installed"],
    "topics": {
        "rows": {
            "title": "Rows",
            "contenders": [
                _contender("Q K^T alone", "limit", None, 1.0),
                _contender("headwright", "ours", "Q K^T alone", 1.31),
                _contender("a | pattern_stored", "peer", "Q K^T alone", 14.0),
                _contender("SDPA", "peer", "Q K^T alone", None),
            ],
        },
        "check_size": {
            "title": "Size",
            "contenders": [_contender("lines", "ours", None, 1.0)],
        },
    },
}


def test_what_has_nothing_beside_it_is_not_told() -> None:
    assert {
        name: [row["name"] for row in rows] for name, rows in compared(RUN).items()
    } == {"rows": ["headwright", "a | pattern_stored"]}


def test_the_page_says_when_how_and_what_is_missing() -> None:
    page = written(RUN)
    assert "Measured on 2026-01-01 by `python -m bench --quick`" in page
    assert "because torch\\_x is not installed" in page
    assert "| Rows | headwright | ours | 1.31 | Q K^T alone | 1 |" in page
    assert r"a \| pattern\_stored" in page


def test_a_part_is_put_between_its_marks_however_often() -> None:
    page = (ROOT / "docs" / "reference" / "performance.md").read_text()
    once = renewed(page, written(RUN))
    assert renewed(once, written(RUN)) == once
    assert (once.count(BEGIN), once.count(END)) == (1, 1)
    assert once.startswith(page.partition(BEGIN)[0])
    assert once.endswith(page.partition(END)[2])

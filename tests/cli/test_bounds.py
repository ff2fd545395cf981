"""A bound that is printed is rounded to its safe side: what people read is held against the numbers in the JSON."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from headwright.auditing.auditor import audit
from headwright.auditing.measures.rounding import RoundingEffect
from headwright.auditing.measures.table import ROUNDINGS
from headwright.auditing.report.page import page
from headwright.auditing.report.sentences import sentences
from headwright.pictures.every_text import length_picture
from headwright.pictures.style import told
from tests.auditing.handmade import Handmade
from tests.cli.running import Headwright


@pytest.mark.parametrize("dim", [2, 4, 8, 16])
def test_the_closest_positions_are_no_further_apart_than_is_printed(
    headwright: Headwright, dim: int
) -> None:
    """The distance is known from above, so it is rounded up."""
    command = ("positions", "--dim", str(dim), "--length", "20", "--dtype", "exact")
    distance = headwright(*command, "--json").json["min_distance"]
    (printed,) = re.findall(r"\), (\S+) apart", headwright(*command).out)
    assert Fraction(printed) >= Fraction(distance)


@pytest.mark.parametrize("bound", [0.12341, 0.99991, 0.00001])
def test_the_proven_bound_of_a_rounded_cache_is_no_larger_than_is_printed(
    bound: float,
) -> None:
    found = audit(
        Handmade(), text=" ".join(f"word{k % 13}" for k in range(60)), every_text=False
    )
    effect = found.heads[0].result("tv_bf16", RoundingEffect)
    assert effect is not None
    rounded = dict.fromkeys(
        (measure.name for measure in ROUNDINGS), replace(effect, bound=bound)
    )
    heads = tuple(
        replace(head, results={**head.results, **rounded}) for head in found.heads
    )
    changed = replace(found, heads=heads)
    said = " ".join(sentences(changed))
    for printed in re.findall(r"proven bound, median: ([0-9.]+)\)", said):
        assert Fraction(printed) >= Fraction(bound)
    cells = re.findall(r"<td>[0-9.]+ \(\d\.\d\)</td><td>([0-9.]+)</td>", page(changed))
    assert len(cells) == len(ROUNDINGS)
    assert all(Fraction(printed) >= Fraction(bound) for printed in cells)


def test_the_words_of_a_picture_of_every_text_are_bounds() -> None:
    words = told(
        length_picture(
            [("0.0", "previous", [2, 4], [0.5, 0.4371], [0.9, 0.8421])], "One head", ""
        )
    )
    assert "between 0.43 and 0.85" in words

"""The first mutants of the attack, the same each time: no checker accepts what is false."""

from __future__ import annotations

import pytest

from tests.effort import tried
from tests.referee.attack import KINDS, TEXTS, attack

MUTANTS, FRESH = tried(240), 2  # `make attack` tries 20,000 of each kind


@pytest.mark.parametrize("kind", KINDS)
def test_no_checker_accepts_a_false_statement(kind: str) -> None:
    count = attack(kind, 0, range(MUTANTS), FRESH)
    found = [
        {name: value for name, value in one.items() if name != "document"}
        for one in count.found
    ]
    assert not sum(count.false.values()), found
    assert not sum(count.crashed.values()), found
    assert not count.stopped, found
    assert count.mutants == MUTANTS and (kind == TEXTS or count.large >= MUTANTS // 3)
    assert count.accepted
    for (
        name,
        accepted,
    ) in (
        count.accepted.items()
    ):  # neither is everything rejected, nor everything accepted
        assert MUTANTS / 8 < accepted < MUTANTS * 3 / 4, name

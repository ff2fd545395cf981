"""A forward pass as an iterator: one thing alive at a time, and nothing left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from headwright.models.loading.huggingface import streamed


def test_nothing_is_made_before_it_is_asked_for() -> None:
    made: list[int] = []

    def produce(give: Callable[[int], None]) -> None:
        for number in range(3):
            made.append(number)
            give(number)

    numbers = streamed(produce)
    assert made == []
    assert next(numbers) == 0
    assert made == [0]
    assert list(numbers) == [1, 2]


def test_an_error_is_raised_where_it_is_asked_for() -> None:
    def produce(give: Callable[[int], None]) -> None:
        give(1)
        raise ValueError("broken")

    numbers = streamed(produce)
    assert next(numbers) == 1
    with pytest.raises(ValueError, match="broken"):
        next(numbers)


def test_leaving_early_ends_the_pass_and_its_thread() -> None:
    left: list[bool] = []

    def produce(give: Callable[[int], None]) -> None:
        try:
            for number in range(1000):
                give(number)
        finally:
            left.append(True)

    before = threading.active_count()
    for number in streamed(produce):
        if number == 3:
            break
    assert left == [True]
    assert threading.active_count() == before

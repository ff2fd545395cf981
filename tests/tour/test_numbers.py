"""A number of the tour that leads to a command is printed by that command."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from headwright.tour.chapter import numbers, plain
from tests.tour.conftest import Tour

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _printed(command: str) -> str:
    name, *arguments = shlex.split(command)
    code = "from headwright.cli import main; main()"
    start = [sys.executable, "-c", code] if name == "headwright" else [sys.executable]
    ran = subprocess.run([*start, *arguments], capture_output=True, text=True)
    assert ran.returncode == (1 if "check" in arguments or "--copy 5" in command else 0), ran.stderr
    return ran.stdout


def _says(output: str, number: str) -> bool:
    """The output holds the number, with as many digits or more, rounded either way."""
    digits = number.partition("e")[0].partition(".")[2]
    unit = 10.0 ** (-len(digits) + int(number.partition("e")[2] or 0))
    return any(abs(float(found) - float(number)) <= unit * (1 + 1e-9) for found in NUMBER.findall(output))


@pytest.mark.parametrize("place", range(12))
def test_commands_give_the_numbers_that_lead_to_them(tour: Tour, place: int) -> None:
    chapter = tour.story[place]
    linked = numbers(chapter.text)
    assert linked
    printed = [_printed(command) for command in chapter.commands]
    for number, command in linked:
        assert _says(printed[command], number), f"{chapter.commands[command]}\ndoes not say {number}"


def test_a_number_that_is_not_printed_is_found_out() -> None:
    assert _says("proven: 0.0323316", "0.03233")
    assert _says("length 18.90693713", "18.9070")  # rounded up
    assert not _says("proven: 0.0323316", "0.03236")


def test_every_chapter_is_told_in_plain_words_too(tour: Tour) -> None:
    for chapter in tour.story:
        assert not set(plain(chapter.text)) & set("$«»\\")

"""Extras: each is known to `headwright doctor`, told with its cost, and pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from headwright.cli.doctor import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OF_THE_HOUSE = {"test", "bench", "fuzz", "mutants", "site"}  # for those who work on it


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=;! ]", requirement)[0]).lower()


def test_doctor_knows_every_extra() -> None:
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - OF_THE_HOUSE


def test_what_an_extra_costs_is_told() -> None:
    told = (ROOT / "docs" / "reference" / "performance.md").read_text()
    assert [extra for extra in EXTRAS if f"| `{extra}` |" not in told] == []


def test_the_package_that_tells_an_extra_is_one_of_its_own() -> None:
    for extra, (_, package) in EXTRAS.items():
        asked = {_name(requirement) for requirement in PROJECT["optional-dependencies"][extra]}
        assert _name(package) in asked, extra


def test_every_dependency_is_pinned() -> None:
    pinned = {_name(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    asked = {_name(requirement) for requirement in PROJECT["dependencies"]}
    asked |= {_name(requirement) for extra in PROJECT["optional-dependencies"].values() for requirement in extra}
    assert asked - pinned - {"headwright"} == set()

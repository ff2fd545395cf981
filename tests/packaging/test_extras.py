"""Extras: each is in the table that `headwright doctor` prints, has its cost in the docs, and is pinned."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from headwright.extras import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FOR_DEVELOPERS = {"test", "bench", "fuzz", "mutants", "site"}


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=;! ]", requirement)[0]).lower()


def _packages(extra: str) -> set[str]:
    """What an extra installs beside the base, those of the extras that it includes too."""
    packages: set[str] = set()
    for requirement in PROJECT["optional-dependencies"][extra]:
        included = re.match(r"headwright\[([a-z,]+)\]", requirement)
        if included is None:
            packages.add(_name(requirement))
            continue
        for name in included[1].split(","):
            packages |= _packages(name)
    return packages


def test_every_extra_has_its_line_in_the_table() -> None:
    known = set(PROJECT["optional-dependencies"]) - FOR_DEVELOPERS
    assert set(EXTRAS) == known - {"all"}


def test_all_is_all() -> None:
    for extra in EXTRAS:
        assert _packages(extra) <= _packages("all"), extra


def test_what_an_extra_costs_is_told() -> None:
    told = (ROOT / "docs" / "reference" / "performance.md").read_text()
    assert [extra for extra in EXTRAS if f"| `{extra}` |" not in told] == []


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_modules_of_an_extra_are_of_its_packages(extra: str) -> None:
    of_package = packages_distributions()
    for module in EXTRAS[extra].modules:
        distributions = {_name(name) for name in of_package[module]}
        # dask comes with distributed
        assert distributions & (_packages(extra) | {"dask"}), module


def test_every_dependency_is_pinned() -> None:
    pinned = {
        _name(line)
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    asked = {_name(requirement) for requirement in PROJECT["dependencies"]}
    asked |= {
        _name(requirement)
        for extra in PROJECT["optional-dependencies"].values()
        for requirement in extra
    }
    assert asked - pinned - {"headwright"} == set()

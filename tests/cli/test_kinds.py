"""Every number says which kind it is: each field of --json that holds numbers is named in its `kinds`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.running import Headwright

ROOT = Path(__file__).parents[2]
KINDS = {"proven", "sampled", "floating-point", "exact", "given"}
KEYS = ("--keys", "K.npy")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("K.npy", np.eye(3))
    np.save("q.npy", np.array([9.0, -2.0, 0.5]))
    np.save("same.npy", np.ones((3, 2)))
    Path("uncertainty.toml").write_text("[[noise]]\nkey = 0\nisotropic = 0.001")
    Path("lost.json").write_text("[[0, 0], [1e39, 0]]")
    Path("rules.toml").write_text((ROOT / "examples/heads/previous.toml").read_text())


def _numbers(told: Any, at: str = "") -> Iterator[str]:
    if isinstance(told, dict):
        for name, part in told.items():
            yield from _numbers(part, f"{at}.{name}" if at else name)
    elif isinstance(told, list):
        for part in told:
            yield from _numbers(part, at)
    elif isinstance(told, float):
        yield at


@pytest.mark.parametrize(
    "arguments",
    [
        ("attend", *KEYS, "--query", "q.npy"),
        (
            "simulate",
            *KEYS,
            "--query",
            "q.npy",
            "--uncertainty",
            "uncertainty.toml",
            "--copy",
            "0",
            "--targets",
            "0",
            "--samples",
            "99",
        ),
        ("positions", "--length", "20", "--dim", "4"),
        (
            "positions",
            "--scheme",
            "learned",
            "--table",
            "lost.json",
            "--dtype",
            "float32",
        ),
        ("lowrank", "K.npy", "--rank", "2"),
        ("design", *KEYS, "--copy", "0"),
        ("design", *KEYS, "--copy", "0", "--uncertainty", "uncertainty.toml"),
        ("design", "--keys", "same.npy", "--copy", "0"),
        ("heads", "rules.toml"),
    ],
    ids=lambda arguments: " ".join(arguments[:3]),
)
def test_every_number_says_which_kind_it_is(
    headwright: Headwright, arguments: tuple[str, ...]
) -> None:
    ran = headwright(*arguments, "--json")
    assert ran.code in (0, 1), ran.err
    told = ran.json
    kinds = told.pop("kinds")
    assert set(kinds.values()) <= KINDS
    for place in set(_numbers(told)):
        parts = place.split(".")
        assert any(".".join(parts[:k]) in kinds for k in range(1, len(parts) + 1)), (
            place
        )
    for name in kinds:
        assert name.partition(".")[0] in told, name


def test_a_distance_that_is_not_known_is_not_called_infinite(
    headwright: Headwright,
) -> None:
    ran = headwright(
        "positions", "--scheme", "learned", "--table", "lost.json", "--dtype", "float32"
    )
    assert ran.code == 0
    assert "closest: not known (the numbers of one position are not finite)" in ran.out

"""What the command line asks about every text: of the first layer, or of induction through two layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headwright.errors import InputError
from headwright.models.source import Source

InductionOption = Literal["--predict", "--repeat"]


@dataclass(frozen=True)
class FirstLayerQuestion:
    """Options about the first layer; tokens and pairs are as they were typed."""

    length: int
    heads: list[int] | None
    offset: int | None
    query: str | None
    key: str | None
    logit: str | None
    text: str | None
    pairs: str | None
    by_length: bool  # also for T = 2, 4, 8, ...


@dataclass(frozen=True)
class InductionQuestion:
    """Options about induction: is b predicted (--predict), or which weight has it (--repeat)?"""

    option: InductionOption
    words: str
    length: int
    heads: list[int] | None
    offset: int | None
    by_length: bool


@dataclass(frozen=True)
class SweepPlan:
    """Who sweeps the first layer: this machine, its GPU, or workers."""

    source: Source
    on_workers: bool
    scheduler: str | None
    any_time: bool  # --yes: begin even what takes more than an hour


@dataclass(frozen=True)
class OutputOptions:
    """Where the result goes."""

    json: bool
    plot: Path | None
    out: Path | None


def refuse_options(option: str, others: Mapping[str, object]) -> None:
    """Refuse options that would be passed over beside another one."""
    for name, value in others.items():
        if value not in (None, False):
            raise InputError(f"{name} is not used with {option}: leave it out")

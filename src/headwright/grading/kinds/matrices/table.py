"""The table [matrices] of an exercise: matrices of any size, with what is known of them."""

from __future__ import annotations

from pydantic import Field

from headwright.grading.fields import Source, Strict


class Matrices(Strict):
    """Matrices of any size, with what is known of them."""

    shapes: dict[str, tuple[int | str, int | str]]
    facts: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    different: tuple[tuple[Source, Source], ...] = ()
    sizes: dict[str, tuple[int, ...]]
    assume: tuple[Source, ...] = ()  # of sizes: 1 <= k <= d
    otherwise: tuple[
        dict[str, Source], ...
    ] = ()  # ways to make the question idle: what holds then too is no answer

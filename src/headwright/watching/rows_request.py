"""Which rows of the pattern are kept whole: `rows(last=1)`, `rows(generated=True)`, `rows([5, 17])`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

from headwright.argument_types import check_argument
from headwright.errors import InputError


@dataclass(frozen=True)
class RowsRequest:
    """Rows whose weights are kept, and the layers and heads in which they are; None for all of these."""

    positions: tuple[int, ...] = ()
    last: int = 0
    generated: bool = False
    layers: tuple[int | str, ...] | None = None
    heads: tuple[int, ...] | None = None

    def asks_for_layer(self, index: int, name: str | None = None) -> bool:
        """Whether weights of a layer are kept; it has a number, and a name if it is a module of its own."""
        if self.layers is None or index in self.layers:
            return True
        if name is None:
            return False
        for layer in self.layers:
            if layer == name or name.endswith(f".{layer}"):
                return True
        return False

    def heads_of(self, count: int) -> tuple[int, ...]:
        """The heads whose weights are kept, of a layer that has so many."""
        if self.heads is None:
            return tuple(range(count))
        outside = [head for head in self.heads if head >= count]
        if outside:
            raise InputError(
                f"weights of head {outside[0]}: expected numbers from 0 to {count - 1}"
            )
        return self.heads

    def most_rows(self, rows: int) -> int:
        """At most how many rows are kept of a call that has so many."""
        if self.positions:
            return min(len(self.positions), rows)
        return min(self.last or 1, rows)


def rows(
    positions: Sequence[int] = (),
    *,
    last: int = 0,
    generated: bool = False,
    layers: Sequence[int | str] | None = None,
    heads: Sequence[int] | None = None,
) -> RowsRequest:
    """Rows whose weights on all keys `watch(model, weights=rows(...))` keeps.

    Args:
        positions: of the rows, counted from the beginning of the text, padding included.
        last: the last so many rows of each text in a run, padding left out.
        generated: the rows that each new token is computed from: the last row of the prompt, and each decode step.
        layers: numbers, or names of modules; all unless given.
        heads: numbers; all unless given. `weights` has them in the order of their numbers.

    >>> rows(last=1, layers=[20, 24])
    RowsRequest(positions=(), last=1, generated=False, layers=(20, 24), heads=None)
    >>> rows()
    Traceback (most recent call last):
    headwright.errors.InputError: rows(): expected positions, last=1 or more, or generated=True, and one of them alone
    """
    check_argument("positions", positions, Sequence[object])
    check_argument("last", last, int)
    check_argument("layers", layers, Sequence[object] | None)
    check_argument("heads", heads, Sequence[object] | None)
    chosen = _whole_numbers("positions", positions)
    if any(position < 0 for position in chosen):
        raise InputError(
            f"row {chosen[0]}: expected positions from 0 on; rows(last=1) is the last row of each text"
        )
    if last < 0:
        raise InputError(f"last = {last}: expected a number above 0")
    ways = bool(chosen) + bool(last) + bool(generated)
    if ways != 1:
        raise InputError(
            "rows(): expected positions, last=1 or more, or generated=True, and one of them alone"
        )
    for name, numbers in (("layers", layers), ("heads", heads)):
        if numbers is not None and not len(numbers):
            raise InputError(f"rows(): {name} is empty: expected at least one")
    some_heads = None if heads is None else _whole_numbers("heads", heads)
    if some_heads is not None and some_heads[0] < 0:
        raise InputError(f"head {some_heads[0]}: expected numbers from 0 on")
    some_layers = None if layers is None else tuple(layers)
    return RowsRequest(chosen, last, generated, some_layers, some_heads)


def _whole_numbers(name: str, values: Sequence[int]) -> tuple[int, ...]:
    """In order, each once."""
    try:
        return tuple(sorted({index(value) for value in values}))
    except TypeError:
        raise InputError(f"{name} = {list(values)}: expected whole numbers") from None

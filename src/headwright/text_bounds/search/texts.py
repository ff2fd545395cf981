"""All texts of a kind: their length, the place they are seen from, and what is held fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwright.errors import InputError
from headwright.text_bounds.first_layer import FirstLayer


@dataclass(frozen=True)
class TextFamily:
    """All texts of a length, seen from the query at `place`; tokens at the places in `held` are fixed.

    A causal head sees the places up to its own, another one all; `seen` are those in a window, too.
    """

    length: int
    place: int
    # place -> index of a token, as the layer counts them
    held: Mapping[int, int] = field(default_factory=dict)
    causal: bool = True
    window: int | None = None

    def __post_init__(self) -> None:
        if self.length < 1 or not 0 <= self.place < self.length:
            raise InputError(
                f"texts of {self.length} tokens, seen from place {self.place}: expected one of the places"
            )
        outside = any(not 0 <= place < self.length for place in self.held)
        if self.place in self.held or outside:
            raise InputError(
                f"tokens are held at {sorted(self.held)}: expected places of the text but the query's own"
            )

    @property
    def seen(self) -> tuple[int, ...]:
        """The places that the query sees, its own among them."""
        reach = self.length if self.window is None else self.window
        first = max(0, self.place - reach + 1)
        end = self.place + 1 if self.causal else min(self.length, self.place + reach)
        return tuple(range(first, end))

    @property
    def others(self) -> tuple[int, ...]:
        """Those but its own."""
        return tuple(at for at in self.seen if at != self.place)

    @property
    def free(self) -> tuple[int, ...]:
        """The places whose token may be any."""
        return tuple(at for at in self.others if at not in self.held)


def texts_of(layer: FirstLayer, length: int, place: int | None = None) -> TextFamily:
    """All texts of a length, with special tokens, seen from a place: the last that is not special unless given."""
    _check_length(layer, length)
    index = {int(token): at for at, token in enumerate(layer.tokens)}
    ending = length - len(layer.closing)
    held = {}
    for at, token in enumerate(layer.opening):
        held[at] = index[token]
    for at, token in enumerate(layer.closing, start=ending):
        held[at] = index[token]
    seen_from = ending - 1 if place is None else place
    return TextFamily(length, seen_from, held, layer.causal, layer.window)


def _check_length(layer: FirstLayer, length: int) -> None:
    """A text has the query and one place more, and no more tokens than the model has positions."""
    special = len(layer.opening) + len(layer.closing)
    least = special + (1 if layer.opening else 2)
    most = layer.positions
    if length >= least and (most is None or length <= most):
        return
    reach = f"{least} or more" if most is None else f"{least} to {most}"
    verb = "is" if special == 1 else "are"
    of_which = f", of which {special} {verb} special" if special else ""
    raise InputError(f"texts of {length} tokens: expected {reach}{of_which}")

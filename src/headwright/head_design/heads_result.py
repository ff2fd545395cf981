"""What designing heads from rules gives, with what people do with it; the data is in `result`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headwright.head_design.rendering import (
    heads_as_json,
    heads_card,
    heads_lines,
    heads_picture,
)
from headwright.head_design.result import DesignedHeads

if TYPE_CHECKING:
    from headwright.pictures import Chart


class HeadsResult(DesignedHeads):
    """What `build` found.

    >>> from headwright.head_design.builder import build
    >>> from headwright.head_design.rules_file import parse_rules
    >>> found = build(parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\\n[[rule]]\\ntoken = 0\\ncopy = 1"))
    >>> found.word, found.head_dim, found.frobenius / found.lower_bound - 1 < 1e-9
    ('designed', 1, True)
    """

    def to_json(
        self, certificate: str | None = None, exported: Sequence[str] = ()
    ) -> dict[str, Any]:
        """All of it in JSON's own types; the caller says where the certificate and the exports are."""
        return heads_as_json(self, certificate, exported)

    def picture(self, head: int = 0, sequence: int = 0) -> Chart:
        """One head as a chart: its pattern for one sequence, and its queries and keys."""
        return heads_picture(self, head, sequence)

    def __repr__(self) -> str:
        """The verdict and the sizes in a few lines, never the weights."""
        return heads_lines(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card, with the picture of the first head."""
        return heads_card(self)

"""What an exercise says about its names, and what is decided of a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from headwright.formula.shapes import Shape
from headwright.formula.tree import Node, Relation


@dataclass(frozen=True)
class Given:
    """Names, their shapes and what is known of them.

    shapes        "P": T x T; "sigma_*": numbers with any index; the names of dimensions are numbers by themselves
    definitions   "Q": X W_Q and so on; expanded wherever the name occurs
    facts         of a name: permutation, orthogonal, orthonormal columns, diagonal, symmetric, positive;
                  of a pair "A,B": orthogonal ranges; "U,u_*": columns; "S,sigma_*": singular values
    different     pairs given to be not equal: (P Phi, Phi)
    sizes         small sizes to try for each dimension (all combinations that the facts allow)
    assume        what integers satisfy: 1 <= k <= d
    """

    shapes: Mapping[str, Shape]
    definitions: Mapping[str, Node] = field(default_factory=dict)
    facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    different: tuple[tuple[Node, Node], ...] = ()
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    assume: tuple[Relation, ...] = ()


@dataclass(frozen=True)
class Decision:
    """What was found out: the word, why, an instance that refutes (or proves 'not an identity'), and what proved it."""

    word: Literal["proved", "refuted", "open"]
    reason: str
    counterexample: Mapping[str, object] | None = None
    used: str = ""
    confirmed: int = 0  # instances for which it is certainly true, where nothing was decided

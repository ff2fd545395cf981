"""What the exercises about matrices give, written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwright.formulas.parse import parse
from headwright.formulas.shapes import Shape
from headwright.formulas.tree import Node, Relation
from headwright.grading.decision import Decision
from headwright.grading.kinds.matrices.known import Given
from headwright.grading.kinds.matrices.prover import decide


@dataclass(frozen=True)
class World:
    given: Given
    names: tuple[str, ...]

    def parse(self, source: str) -> Node:
        return parse(source, names=self.names)

    def with_definitions(self, definitions: Mapping[str, str]) -> World:
        new = {name: self.parse(source) for name, source in definitions.items()}
        given = self.given
        return World(
            Given(
                given.shapes,
                {**given.definitions, **new},
                given.facts,
                given.different,
                given.sizes,
                given.assume,
            ),
            self.names,
        )

    def decisions(self, chain: str) -> list[Decision]:
        node = self.parse(chain)
        assert isinstance(node, Relation)
        return [
            decide(Relation((left, right), (sign,)), self.given)
            for left, sign, right in zip(
                node.terms, node.comparisons, node.terms[1:], strict=False
            )
        ]

    def decision(self, statement: str) -> Decision:
        (found,) = self.decisions(statement)
        return found


def world(
    shapes: Mapping[str, tuple[int | str, int | str]],
    facts: Mapping[str, str],
    sizes: Mapping[str, tuple[int, ...]],
    *,
    definitions: Mapping[str, str] | None = None,
    different: tuple[tuple[str, str], ...] = (),
    assume: tuple[str, ...] = (),
) -> World:
    names = tuple(name for name in (*shapes, *(definitions or {})) if len(name) > 1)
    assumed = [parse(source, names=names) for source in assume]
    given = Given(
        shapes={name: Shape(*shape) for name, shape in shapes.items()},
        definitions={
            name: parse(source, names=names)
            for name, source in (definitions or {}).items()
        },
        facts={name: frozenset(said.split("; ")) for name, said in facts.items()},
        different=tuple(
            (parse(a, names=names), parse(b, names=names)) for a, b in different
        ),
        sizes=sizes,
        assume=tuple(node for node in assumed if isinstance(node, Relation)),
    )
    return World(given, names)


LAYER = world(
    {
        "P": ("T", "T"),
        "X": ("T", "D"),
        "W_Q": ("D", "d"),
        "W_K": ("D", "d"),
        "W_V": ("D", "d"),
        "W_1": ("d", "f"),
        "b_1": (1, "f"),
        "W_2": ("f", "o"),
        "b_2": (1, "o"),
        "ones": ("T", 1),
    },
    {"P": "permutation"},
    {"T": (2, 3), "D": (1, 2), "d": (1, 2), "f": (1, 2), "o": (1, 2)},
    definitions={
        "Q": "X W_Q",
        "K": "X W_K",
        "V": "X W_V",
        "X_p": "P X",
        "Q_p": "X_p W_Q",
        "K_p": "X_p W_K",
        "V_p": "X_p W_V",
        "H": r"\operatorname{softmax}(Q K^\top/\sqrt{d}) V",
        "H_p": r"\operatorname{softmax}(Q_p K_p^\top/\sqrt{d}) V_p",
        "Z": r"\operatorname{relu}(H W_1 + 1 b_1) W_2 + 1 b_2",
        "Z_p": r"\operatorname{relu}(H_p W_1 + 1 b_1) W_2 + 1 b_2",
    },
)

POSITIONS = world(
    {"P": ("T", "T"), "X": ("T", "D"), "Phi": ("T", "D")},
    {"P": "permutation"},
    {"T": (2, 3), "D": (1, 2)},
    different=((r"P \Phi", r"\Phi"),),
)

APART = world(
    {
        "A": ("d", "p"),
        "B": ("d", "r"),
        "x": ("p", 1),
        "y": ("r", 1),
        "M": ("d", "d"),
        "a_*": ("d", 1),
        "b_*": ("d", 1),
    },
    {
        "A": "orthonormal columns",
        "B": "orthonormal columns",
        "A,B": "orthogonal ranges",
        "A,a_*": "columns",
        "B,b_*": "columns",
    },
    {"d": (2, 3, 4), "p": (1, 2), "r": (1, 2)},
    definitions={"v_a": "A x", "v_b": "B y"},
)

SINGULAR = world(
    {
        "A": ("n", "d"),
        "B": ("n", "d"),
        "U": ("n", "d"),
        "S": ("d", "d"),
        "V": ("d", "d"),
        "sigma_*": (1, 1),
        "u_*": ("n", 1),
        "v_*": ("d", 1),
        "k": (1, 1),
    },
    {
        "U": "orthonormal columns",
        "V": "orthogonal",
        "S": "diagonal",
        "S,sigma_*": "singular values",
        "U,u_*": "columns",
        "V,v_*": "columns",
    },
    {"n": (1, 2, 3), "d": (1, 2, 3)},
    definitions={"A": r"U S V^\top"},
    assume=(r"1 \le k \le d",),
)

FREE = world(
    {
        "A": ("n", "n"),
        "B": ("n", "n"),
        "M": ("n", "n"),
        "O": ("n", "n"),
        "P": ("n", "n"),
        "R": ("n", "n"),
        "D": ("n", "n"),
        "E": ("n", "n"),
        "F": ("n", "m"),
        "x": ("n", 1),
        "y": ("n", 1),
        "s": (1, 1),
        "t": (1, 1),
        "ones": ("n", 1),
    },
    {
        "O": "orthogonal",
        "P": "permutation",
        "R": "permutation",
        "D": "diagonal",
        "E": "diagonal",
        "t": "positive",
    },
    {"n": (2, 3), "m": (1, 2)},
)

"""Helpers for the tests of the formula language: the corpus, and a tree as a compact s-expression."""

from __future__ import annotations

from pathlib import Path

from headwright.formulas.spellings import FUNCTIONS
from headwright.formulas.tree import (
    BigCall,
    BigSum,
    Bond,
    Call,
    Cases,
    Derivative,
    Domain,
    Dots,
    Exists,
    Gap,
    Inner,
    Listing,
    Logic,
    Matrix,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quantified,
    Quotient,
    Relation,
    Sum,
    Transpose,
    walk,
)


def corpus() -> list[tuple[str, str]]:
    """Sources with their trees; a line break in a source is written as U+2424."""
    lines = (
        (Path(__file__).parent / "corpus.txt").read_text(encoding="utf-8").splitlines()
    )
    lines = [line for line in lines if not line.startswith("#")]
    return [
        (lines[at].replace("\u2424", "\n"), lines[at + 1].strip())
        for at in range(0, len(lines), 2)
    ]


# Words of the language, separated by spaces: what hostile sources are made of.
_PIECES = r"""
\frac \sqrt { } ( ) [ ] | || \| \left \right \langle \rangle < > <= >= = != ~ -> => <=> \\ &
\begin{pmatrix} \end{pmatrix} \partial \nabla_z [[1,2],[3,4]] 1{,}000
\begin{aligned} \end{aligned} , ; : . ' ^ _ ** * / + - 1 12 0.5 1e3 x y T k_a e
\lambda lambda λ \top .T ² ₁ ᵀ \sum \sum_{i=1}^n \lim_{x\to0} \text{for all} \text{and} for all when if then and
or not \quad \mathbf{1} \mathbf \hat{x} \hat \mathrm{T} \operatorname{tr} ln \ln sin log softmax max norm norm_F
\Pr \mathbb{E} \mathbb{P} \dots ... % $ @ # \ 漢 PQ QK^T \in \notin \mathbb{R} ℤ \perp \propto \not \begin{cases}
\end{cases} \text{otherwise} \text{since} (\text{since} \max_{i\ne1} \arg\max_i \prod_i \underbrace{ \overset{1}{=} ½
q^* k^{(1)} Z^{\text{perm}} \mathcal{N}(a,b) large integer \exists i=1,\dots,n \in[0,1) \quad(5) \newcommand{\a}{x} \a
"""
_CHAINS = r"x^ x_ a/ a= a, a=b; x<a, (x)' \text{$ i!=a, 0<a,b<1, x|a| [[1], \sqrt\frac"


def pieces() -> list[str]:
    """Words of the language."""
    return _PIECES.split()


def chains() -> list[str]:
    """Pieces that make long chains when they are repeated."""
    return [*_PIECES.split(), *_CHAINS.split(), "a\n", "a=b\n", "- "]


def names_of(tree: Node) -> set[str]:
    """The names of several letters, which plain text needs to be told of."""
    return {
        node.base
        for node in walk(tree)
        if isinstance(node, Name) and len(node.base) > 1
    } - FUNCTIONS.keys()


def compact(node: Node | None) -> str:
    """The tree as an s-expression."""
    match node:
        case None:
            return "-"
        case Number():
            return str(node.value)
        case Name():
            return (
                node.base
                + "'" * node.primes
                + ("" if node.index is None else f"_{compact(node.index)}")
            )
        case Listing():
            return f"[{_all(node.items)}]"
        case Relation():
            signs = (*node.comparisons, "")
            return (
                "("
                + " ".join(
                    f"{compact(t)} {s}" for t, s in zip(node.terms, signs, strict=True)
                ).strip()
                + ")"
            )
        case BigSum() | BigCall():
            bounds = (
                f"{compact(node.lower)} {compact(node.upper)} [{_all(node.conditions)}]"
            )
            word = node.word if isinstance(node, BigCall) else "sum"
            return f"({word} {node.index} {bounds} {compact(node.body)})"
        case Quantified() | Exists():
            scope = "some" if isinstance(node, Exists) else "for"
            return f"({scope} {compact(node.body)} | {_all(node.conditions)})"
        case Dots():
            return "..."
        case Gap():
            return "_"
        case Domain():
            return f"<{node.letter}>"
        case _:
            return f"({_head(node)} {_all(tuple(node.children()))})"


def _all(nodes: tuple[Node, ...]) -> str:
    return " ".join(compact(node) for node in nodes)


def _head(node: Node) -> str:
    match node:
        case Norm():
            return f"norm{node.kind}"
        case Call():
            return node.function
        case Logic() | Bond():
            return node.word
        case Cases():
            return "cases"
        case _:
            signs = {
                Sum: "+",
                Negative: "-",
                Product: "*",
                Quotient: "/",
                Power: "^",
                Transpose: "T",
                Inner: ".",
                Matrix: "matrix",
                Derivative: "D",
            }
            return signs[type(node)]

"""Whatever is given: a tree or a FormulaError, soon, and never anything else."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwright.formulas import FormulaError, latex, parse, plain
from headwright.formulas.errors import DEEPEST, LARGEST, LONGEST, TALLEST
from headwright.formulas.tree import Node, walk
from tests.effort import tried
from tests.formulas.reading import chains, corpus, names_of, pieces

PIECES = pieces()
SOURCES = [source for source, _ in corpus()]


def outcome(source: str) -> Node | None:
    """The tree, which can then be used in every way; or nothing, where a FormulaError was raised."""
    try:
        tree = parse(source)
    except FormulaError as error:
        assert 0 <= error.span.start <= error.span.stop <= max(1, len(error.source))
        assert (
            "^" in str(error).splitlines()[1]
            if error.source.strip()
            else not source.strip() or "\\" in source
        )
        return None
    assert sum(1 for _ in walk(tree)) <= LARGEST
    hash(tree)
    assert parse(latex(tree)) == tree
    assert parse(plain(tree), names=names_of(tree)) == tree
    return tree


@given(st.text())
@example(r"\not\approx v_j")  # it was read, and could not be read again as it is shown
def test_any_text(source: str) -> None:
    outcome(source)


@given(st.lists(st.sampled_from([*PIECES, " ", "\n", "\t"]), max_size=30).map("".join))
def test_any_words_of_the_language(source: str) -> None:
    outcome(source)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_any_words_of_the_language_with_spaces(source: str) -> None:
    outcome(source)


@settings(max_examples=400)
@given(st.data())
def test_formulas_with_mistakes_in_them(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(SOURCES))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(source)))
        cut = data.draw(st.integers(0, 3))
        source = (
            source[:at] + data.draw(st.sampled_from([*PIECES, ""])) + source[at + cut :]
        )
    outcome(source)


UNITS = 160
A_LITTLE = 10_000  # calls, whatever the length


@pytest.mark.parametrize("unit", chains())
def test_the_work_is_linear_in_the_length(unit: str) -> None:
    for first in ("", "x"):
        short, long = (
            _least_calls(first + unit * times) for times in (UNITS // 2, UNITS)
        )
        assert long < 2.5 * short + A_LITTLE


@pytest.mark.parametrize("unit", chains())
def test_long_sources_are_read_or_refused(unit: str) -> None:
    try:
        parse((unit * LONGEST)[: tried(LONGEST)])
    except FormulaError as error:
        assert len(str(error)) < 1000


def _least_calls(source: str) -> int:
    """The calls of the quieter of two readings: a profile also sees what runs in between, such as finalizers."""
    return min(_calls(source) for _ in range(2))


def _calls(source: str) -> int:
    """How many functions are called to read or refuse a source."""
    count = 0

    def each(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()  # what other tests left behind is not the parser's work
    sys.setprofile(each)
    try:
        parse(source)
    except FormulaError:
        pass
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


NESTED: list[Callable[[int], str]] = [
    lambda n: "(" * n + "x" + ")" * n,
    lambda n: "{" * n + "x" + "}" * n,
    lambda n: "[" * n + "x" + "]" * n,
    lambda n: r"\sqrt{" * n + "x" + "}" * n,
    lambda n: r"\frac{1}{" * n + "x" + "}" * n,
    lambda n: "x^{" * n + "x" + "}" * n,
    lambda n: "x_{" * n + "x" + "}" * n,
    lambda n: r"\left|" * n + "x" + r"\right|" * n,
    lambda n: "softmax(" * n + "x" + ")" * n,
    lambda n: r"\langle a," * n + "x" + r"\rangle" * n,
    lambda n: r"\sum_{i=1}^n (" * n + "x" + ")" * n,
    lambda n: "| " * n + "x" + " |" * n,
    lambda n: "- " * n + "x",
    lambda n: r"\sqrt " * n + "x",
    lambda n: "x^" * n + "x",
    lambda n: r"\sum_i " * n + "x",
    lambda n: r"\frac1" * n + "x",
    lambda n: r"\ln " * n + "x",
    lambda n: "Pr(" * n + "x" + ")" * n,
    lambda n: "not (" * n + "x" + ")" * n,
    lambda n: "(x for (" * n + "x" + "))" * n,
    lambda n: "2((1 + " * n + "x" + "))" * n,
]


@pytest.mark.parametrize("make", NESTED)
@pytest.mark.parametrize("depth", [5, 29, DEEPEST, DEEPEST + 1, 10_000])
def test_nesting_is_bounded(make: Callable[[int], str], depth: int) -> None:
    source = make(depth)
    tree = outcome(source)
    if depth == 5:
        assert tree is not None
    if depth > DEEPEST:
        assert tree is None


@pytest.mark.parametrize("chain", ["/x", "\\cdot x", "'", ".T"])
def test_chains_that_grow_the_tree_are_bounded(chain: str) -> None:
    assert outcome("(x y)" + chain * (TALLEST - 2)) is not None
    with pytest.raises(FormulaError, match="levels high"):
        parse("(x y)" + chain * TALLEST)


def _said(depth: int, indices: str = "ijklmnopqrs") -> str:
    """A statement said of 20 values of an index, again and again."""
    source = f"x_{{{','.join(indices)}}} = 1"
    for index in indices[:depth]:
        source = f"({source} for {index} in {{{', '.join(str(value) for value in range(20))}}})"
    return source


MULTIPLIED = [
    _said(8),
    "".join(
        rf"\sum_{{{index} \in \{{1,2,3,4,5,6,7,8,9\}}}} " for index in "ijklmnopqrs"
    )
    + "x_{i,j,k,l,m,n,o,p,q,r,s}",
    ", ".join("a" * 1000) + r" \perp " + ", ".join("b" * 1000),
    " + ".join("x" * 2000)
    + r" = \begin{cases}"
    + r"1 & c = 1 \\" * 900
    + r"\end{cases}",
    "(since " * 3000,
    "x_i = 1, " + "i, " * 3000 + r"i \in S",
    r"\underbrace{" * 50 + "x" + "}_{y}" * 50,
]


@pytest.mark.parametrize(
    "source", MULTIPLIED, ids=[source[:20] for source in MULTIPLIED]
)
def test_what_is_written_out_stays_small(source: str) -> None:
    try:
        tree = parse(source)
    except FormulaError:
        return
    assert sum(1 for _ in walk(tree)) <= LARGEST


def test_powers_of_powers_are_read_and_not_evaluated() -> None:
    assert outcome("9^{9^{9^{9^9}}}") is not None


def test_a_source_that_is_too_long_is_refused() -> None:
    with pytest.raises(FormulaError, match="20001 characters"):
        parse("x" * (LONGEST + 1))


def test_too_many_parts_are_refused() -> None:
    with pytest.raises(FormulaError, match="more than 5000 parts"):
        parse("x " * LARGEST + "x")
    with pytest.raises(FormulaError, match="more than 5000 parts"):
        parse("(" + "+ x" * 500 + ") != " + "a, " * 500 + "b")


def test_the_stack_of_the_caller_may_be_nearly_full() -> None:
    def dig(depth: int) -> Node:
        return parse("(" * 50 + "x" + ")" * 50) if depth == 0 else dig(depth - 1)

    assert dig(100) == parse("x")
    with pytest.raises(FormulaError, match="too deeply"):
        dig(_room() - 150)


def _room() -> int:
    """The calls that are left before the stack is full."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return sys.getrecursionlimit() - depth

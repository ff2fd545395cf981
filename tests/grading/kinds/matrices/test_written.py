"""What a formula says as it is written: signs, brackets and numbers do not matter, other algebra does."""

from __future__ import annotations

import pytest

from headwright.formulas import parse
from headwright.formulas import tree as t
from headwright.formulas.shapes import SCALAR, Shape
from headwright.grading.kinds.matrices.known import Given, Known
from headwright.grading.kinds.matrices.written import Written, in_span, is_multiple

SQUARE = Shape("T", "T")
GIVEN = Given(
    {"A": SQUARE, "B": SQUARE, "x": Shape("T", 1), "c": SCALAR}, {"C": parse("A + B")}
)
WRITTEN = Written(Known(GIVEN), GIVEN.definitions)


def relation(source: str) -> t.Relation:
    found = parse(source)
    assert isinstance(found, t.Relation)
    return found


@pytest.mark.parametrize(
    ("equation", "alike"),
    [
        ("A + B = B + A", True),
        ("2 A = A + A", True),
        ("-(A - B) = B - A", True),
        ("A I B = A B", True),
        ("A + 0 = A", True),
        ("0 A = 0", True),
        (r"\frac{A}{2} = \frac12 A", True),
        (r"\frac{c A}{c} = A", True),
        ("A c B = c A B", True),
        (r"(A^\top)^\top = A", True),
        (r"\|x\|^2 = \|x\| \|x\|", True),
        ("C = A + B", True),
        (r"\operatorname{softmax}(B + A) = \operatorname{softmax}(C)", True),
        ("A B = B A", False),
        (r"(A B)^\top = B^\top A^\top", False),
        ("A (A + B) = A A + A B", False),
        (r"\|x\|^2 = x^\top x", False),
        (r"\operatorname{softmax}(2 A) = 2 \operatorname{softmax}(A)", False),
        ("A = 2 A", False),
        ("A = 0", False),
    ],
)
def test_two_sides_are_written_alike_or_not(equation: str, alike: bool) -> None:
    assert (not WRITTEN.difference(relation(equation))) == alike


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        ("A = B", "B = A", True),
        ("A - B = 0", "A = B", True),
        ("3 A = 3 B", "A = B", True),
        ("A = 2 B", "A = B", False),
        ("A = A", "A = B", False),
        ("A = B", "A = A", False),
    ],
)
def test_an_equation_is_a_multiple_of_another(
    one: str, other: str, result: bool
) -> None:
    first, second = (WRITTEN.difference(relation(source)) for source in (one, other))
    assert is_multiple(first, second) == result


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        (["A = A B", "A B = B"], True),
        (["A B = B", "A B = A"], True),
        (["A - B = A A", "A A = 0"], True),
        (["A = A B"], False),
        (["A = A B", "B A = B"], False),
        ([], False),
    ],
)
def test_steps_add_up_as_they_are_written(steps: list[str], result: bool) -> None:
    whole = WRITTEN.difference(relation("A = B"))
    assert (
        in_span(whole, [WRITTEN.difference(relation(step)) for step in steps]) == result
    )

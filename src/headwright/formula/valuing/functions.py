"""Functions of values: norms, softmax, relu, trace, and those of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from flint import arb, arb_mat

from headwright.formula.valuing import balls
from headwright.formula.valuing.balls import Budget, NoValue

_OF_NUMBERS: Mapping[str, Callable[[arb], arb]] = {
    "exp": balls.exponential,
    "ln": balls.logarithm,
    "sqrt": balls.root,
    "sin": arb.sin,
    "cos": arb.cos,
    "abs": abs,
}


def norm(value: arb_mat | None, kind: str, budget: Budget) -> arb_mat:
    """Frobenius, spectral, or the length of a vector."""
    if value is None:
        return balls.scalar(0)
    budget.spend(value.nrows() * value.ncols())
    if kind == "F" or 1 in (value.nrows(), value.ncols()):
        return balls.scalar(balls.frobenius(value))
    budget.spend(50 * min(value.nrows(), value.ncols()) ** 3)
    return balls.scalar(balls.spectral(value))


def call(function: str, values: Sequence[arb_mat | None], budget: Budget) -> arb_mat | None:
    """A function of values; None is a zero of unknown shape."""
    if function in _OF_NUMBERS:
        number = arb(0) if values[0] is None else single(values[0])
        return balls.scalar(_OF_NUMBERS[function](number))
    if function == "trace":
        return None if values[0] is None else balls.scalar(values[0].trace())
    if function == "relu":
        return None if values[0] is None else _entrywise(values[0], balls.positive_part)
    if function in ("max", "min"):
        numbers = [entry for value in values for entry in ([arb(0)] if value is None else value.entries())]
        sign = 1 if function == "max" else -1
        return balls.scalar(sign * balls.larger([sign * number for number in numbers]))
    if function == "diag" and all(value is not None for value in values):
        numbers = [entry for value in values if value is not None for entry in value.entries()]
        budget.spend(len(numbers) ** 2)
        return arb_mat([[entry if i == j else arb(0) for j in range(len(numbers))] for i, entry in enumerate(numbers)])
    if function == "softmax" and values[0] is not None:
        budget.spend(2 * values[0].nrows() * values[0].ncols())
        if values[0].ncols() == 1 and values[0].nrows() > 1:
            raise NoValue("the softmax of a column: type the formula first, which tells columns from matrices")
        return balls.softmax(values[0].tolist())
    raise NoValue(f"{function} has no value here")


def matrix(rows: Sequence[Sequence[arb_mat | None]]) -> arb_mat:
    """Numbers in rows, or columns side by side."""
    blocks = [[balls.scalar(0) if value is None else value for value in row] for row in rows]
    if len(blocks) == 1:  # columns side by side, or a row of numbers
        columns = [value.entries() for value in blocks[0]]
        if len({len(column) for column in columns}) != 1:
            raise NoValue("the columns of a matrix differ in length")
        return arb_mat([list(row) for row in zip(*columns, strict=True)])
    entries = [[entry for value in row for entry in value.entries()] for row in blocks]
    if any(len(a) != len(b) for a, b in pairwise(entries)):
        raise NoValue("the rows of a matrix differ in length")
    return arb_mat(entries)


def single(value: arb_mat) -> arb:
    """The only entry of what must be a number."""
    if value.nrows() != 1 or value.ncols() != 1:
        raise NoValue(f"a matrix of {value.nrows()} x {value.ncols()} stands where a number is needed")
    return value[0, 0]


def _entrywise(value: arb_mat, function: Callable[[arb], arb]) -> arb_mat:
    return arb_mat([[function(entry) for entry in row] for row in value.tolist()])

"""Formulas with derivatives: exact arrays in open variables, differentiated entry by entry.

The derivative of a number by an array has the shape of the array; that of a vector by a vector is the Jacobian matrix,
one row for each entry of what is differentiated. By a name that is itself a function of variables the derivative is
taken as if it were a variable, and its value is put in afterwards: partial L / partial p, where L depends on z through
p.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading import scalars
from headwright.grading.exact_arrays import ArrayReader, ExactArray
from headwright.grading.scalars import Range, Scalar


def open_array(name: str, shape: tuple[int, int], known: Range) -> ExactArray:
    """An array whose entries are parameters of their own.

    >>> open_array("z", (2, 1), scalars.REAL).entries
    (<z_1>, <z_2>)
    """
    rows, columns = shape
    if shape == (1, 1):
        return ExactArray.number(scalars.parameter(name, known))
    if columns == 1:
        names = [f"{name}_{row + 1}" for row in range(rows)]
        return ExactArray.column([scalars.parameter(one, known) for one in names])
    entries = [
        [
            scalars.parameter(f"{name}_{row + 1}{column + 1}", known)
            for column in range(columns)
        ]
        for row in range(rows)
    ]
    return ExactArray.of_rows(entries)


def parameter_names(array: ExactArray) -> list[str]:
    """The names of the entries of an open array."""
    return [min(entry.names()) for entry in array.entries]


@dataclass(frozen=True)
class GradientReader(ArrayReader):
    """What names are, with derivatives."""

    def _value(self, node: t.Node) -> ExactArray:
        if isinstance(node, t.Derivative):
            return self.derivative(node)
        return super()._value(node)

    def derivative(self, node: t.Derivative) -> ExactArray:
        """A derivative by a variable, or by a function of variables."""
        by = node.by
        if not isinstance(by, t.Name):
            raise an.MisfitError("by what this is differentiated is not a name", by)
        if by.index is not None and an.full_name(by) not in self.arrays:
            raise an.MisfitError("write the derivative by all of it", by)
        full = an.full_name(by)
        if full in self.arrays:
            return differentiated(self.value(node.body), self.arrays[full], node)
        if full not in self.definitions:
            raise an.MisfitError(f"{full} is not a name of this exercise", by)
        value = self.value(by)
        stand_in = open_array(f"{full}_free", value.shape, scalars.REAL)
        definitions = {
            name: formula for name, formula in self.definitions.items() if name != full
        }
        arrays = {**self.arrays, full: stand_in}
        freed = replace(self, definitions=definitions, arrays=arrays, memory={})
        slopes = differentiated(freed.value(node.body), stand_in, node)
        values = dict(zip(parameter_names(stand_in), value.entries, strict=True))
        return slopes.mapped(lambda entry: entry.put(values))


def differentiated(body: ExactArray, by: ExactArray, node: t.Derivative) -> ExactArray:
    """Every entry by every entry."""
    names = parameter_names(by)
    if body.is_number:
        slopes = iter([scalars.derivative(body.entries[0], name) for name in names])
        return by.mapped(lambda _: next(slopes))
    if by.is_number:
        return body.mapped(lambda entry: scalars.derivative(entry, names[0]))
    if body.is_vector and by.is_vector:
        rows = [
            [scalars.derivative(entry, name) for name in names]
            for entry in body.entries
        ]
        return ExactArray.of_rows(rows)
    raise an.MisfitError("the derivative of a matrix by an array is not read", node)


def on_the_simplex(
    arrays: Mapping[str, ExactArray], distributions: tuple[str, ...]
) -> dict[str, Scalar]:
    """The last entry of each distribution in terms of the others: 1 minus their sum."""
    last_entries = {}
    for name in distributions:
        names = parameter_names(arrays[name])
        rest = scalars.number(1)
        for entry in arrays[name].entries[:-1]:
            rest = rest - entry
        last_entries[names[-1]] = rest
    return last_entries

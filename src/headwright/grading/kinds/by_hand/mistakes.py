"""Which slip turns the right value into the one that was given: each is a change of one step of the computation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.exact_arrays import ArrayReader, ExactArray
from headwright.grading.exact_arrays.array import total_of

BITS = 128
Change = Callable[[t.Node], t.Node | None]


@dataclass(frozen=True)
class Slip:
    """One step, computed wrongly."""

    words: str
    step: str
    formula: t.Node


def slips(steps: Mapping[str, t.Node]) -> Iterator[Slip]:
    """Every slip in every step, in the order of the steps."""
    for step, formula in steps.items():
        for words, change in CHANGES:
            for changed in changed_once(formula, change):
                yield Slip(words, step, changed)
        for words, changed in swapped_operands(formula):
            yield Slip(words, step, changed)


def changed_once(node: t.Node, change: Change) -> Iterator[t.Node]:
    """The formula with the change made at one place, for every place where it can be made."""
    new = change(node)
    if new is not None:
        yield new
    children = list(node.children())
    for place in range(len(children)):
        for changed in changed_once(children[place], change):
            yield with_child(node, place, changed)


def with_child(node: t.Node, place: int, new: t.Node) -> t.Node:
    """The node with another child at a place."""
    count = -1

    def put(child: t.Node) -> t.Node:
        nonlocal count
        count += 1
        return new if count == place else child

    return t.mapped(node, put)


def without_scale(node: t.Node) -> t.Node | None:
    """x / sqrt(d) as x."""
    match node:
        case t.Quotient(over, t.Call("sqrt", _)):
            return over
    return None


def scaled_by_the_width(node: t.Node) -> t.Node | None:
    """x / sqrt(d) as x / d."""
    match node:
        case t.Quotient(_, t.Call("sqrt", (width,))):
            return replace(node, under=width)
    return None


def multiplied_by_scale(node: t.Node) -> t.Node | None:
    """x / sqrt(d) as x sqrt(d)."""
    match node:
        case t.Quotient(over, t.Call("sqrt", _) as root):
            return t.Product((over, root))
    return None


def over_columns(node: t.Node) -> t.Node | None:
    """The softmax of rows as one of columns."""
    match node:
        case t.Call("softmax" | "causal", (body,)):
            return t.Transpose(replace(node, arguments=(t.Transpose(body),)))
    return None


def without_softmax(node: t.Node) -> t.Node | None:
    """The scores as weights."""
    match node:
        case t.Call("softmax" | "causal", (body,)):
            return body
    return None


def without_exponentials(node: t.Node) -> t.Node | None:
    """The scores, divided by their sum."""
    match node:
        case t.Call("softmax", (body,)):
            return t.Call("shares", (body,))
    return None


def without_mask(node: t.Node) -> t.Node | None:
    """The softmax of all keys."""
    match node:
        case t.Call("causal", arguments):
            return t.Call("softmax", arguments)
    return None


def with_other_mask(node: t.Node) -> t.Node | None:
    """The mask on the other side of the diagonal."""
    match node:
        case t.Call("causal", arguments):
            return t.Call("anticausal", arguments)
    return None


def unnormalised(node: t.Node) -> t.Node | None:
    """The exponentials, not divided by their sum."""
    match node:
        case t.Call("softmax", (body,)):
            return t.Call("exp", (body,))
    return None


CHANGES: tuple[tuple[str, Change], ...] = (
    ("forgets the scale", without_scale),
    ("divides by the width, not by its root", scaled_by_the_width),
    ("multiplies by the scale", multiplied_by_scale),
    ("forgets the mask", without_mask),
    ("masks the keys before a query, not those after it", with_other_mask),
    ("takes the softmax over the wrong axis", over_columns),
    ("leaves out the softmax", without_softmax),
    ("divides the scores by their sum, without exponentials", without_exponentials),
    ("does not divide the exponentials by their sum", unnormalised),
)


def swapped_operands(node: t.Node) -> Iterator[tuple[str, t.Node]]:
    """Products with a factor transposed, or in the other order: Q K^T as K Q^T, A V as A^T V."""
    for part in t.walk(node):
        match part:
            case t.Product((left, t.Transpose(right))):
                new = t.Product((right, t.Transpose(left)))
                yield f"takes {plain(new)} for {plain(part)}", _put(node, part, new)
            case t.Product((left, right)) if not _is_scalar(left):
                new = t.Product((t.Transpose(left), right))
                yield f"takes {plain(new)} for {plain(part)}", _put(node, part, new)


def _is_scalar(node: t.Node) -> bool:
    return isinstance(node, t.Number | t.Quotient | t.Power)


def _put(node: t.Node, old: t.Node, new: t.Node) -> t.Node:
    if node is old:
        return new
    return t.mapped(node, lambda child: _put(child, old, new))


def is_near(left: ExactArray, right: ExactArray, within: Fraction) -> bool:
    """Whether every entry is certainly that near."""
    if left.is_vector and right.is_vector and left.shape != right.shape:
        right = right.transposed()
    if left.shape != right.shape:
        return False
    for x, y in zip(left.entries, right.entries, strict=True):
        gap = (x - y).value(bits=BITS)
        if not abs(gap) <= within.numerator / within.denominator:
            return False
    return True


def name_slip(
    wrong: ExactArray,
    goal: t.Node,
    steps: Mapping[str, t.Node],
    reader: ArrayReader,
    within: Fraction,
) -> str:
    """The slip that gives this value, in words; '' where none of them does."""
    for slip in slips(steps):
        instead = {**reader.definitions, slip.step: slip.formula}
        changed = replace(reader, definitions=instead, memory={})
        try:
            value = changed.value(goal)
        except InputError:  # shapes that do not fit
            continue
        if is_near(wrong, value, within):
            return f"this {slip.words}"
    right = reader.value(goal)
    is_matrix = not right.is_number and not right.is_vector
    if is_matrix and is_near(wrong, right.transposed(), within):
        return "this is the transpose"
    return ""


def shares(value: ExactArray) -> ExactArray:
    """Each row divided by its sum."""
    rows = []
    for row in value.rows:
        total = total_of(row)
        if total == 0:
            raise InputError("a row whose sum is 0 cannot be divided by it")
        rows.append([entry / total for entry in row])
    return ExactArray.of_rows(rows)


__all__ = ["is_near", "name_slip", "shares", "slips"]

"""What functions take and give: softmax keeps a shape, trace makes a number, exp wants one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwright.formula.shaping.products import product
from headwright.formula.shaping.sizes import Term, misfit, unfit
from headwright.formula.tree import Call, Name, Norm, Transpose

if TYPE_CHECKING:
    from headwright.formula.shaping.meaning import Typer

_OF_NUMBERS = ("exp", "ln", "sqrt", "sin", "cos", "abs", "Var")


def typed_call(node: Call, typer: Typer) -> Term:
    """A call with its arguments typed; P(X) is a product where P is a known matrix."""
    name = Name(node.function, span=node.span)
    if node.function in ("P", "E") and typer.known(name) is not None and len(node.arguments) == 1:
        return product([typer.name(name), typer.term(node.arguments[0])], typer, node)
    if node.function == "P":
        return Term(Call("P", tuple(typer.statement(part) for part in node.arguments), span=node.span), 1, 1)
    terms = [typer.term(part) for part in node.arguments]
    if node.function in ("max", "min") or (node.function == "diag" and len(terms) > 1):
        return _several(node, terms, typer)
    if len(terms) != 1:
        raise misfit(f"{node.function} takes one argument, {len(terms)} given", span=node.span)
    return _single(node, terms[0], typer)


def _several(node: Call, terms: list[Term], typer: Typer) -> Term:
    new = Call(node.function, tuple(term.node for term in terms), span=node.span)
    vector = len(terms) == 1 and 1 in (terms[0].rows, terms[0].columns)
    if not terms or not (vector or all(typer.is_scalar(term) for term in terms)):
        raise misfit(f"{node.function} takes numbers, or one vector", span=node.span)
    return Term(new, len(terms), len(terms)) if node.function == "diag" else Term(new, 1, 1)


def _single(node: Call, body: Term, typer: Typer) -> Term:
    new = Call(node.function, (body.node,), span=node.span)
    scalar = typer.is_scalar(body)
    vector = 1 in (body.rows, body.columns)
    match node.function:
        case "abs" if vector and not scalar:
            return Term(Norm(body.node, span=node.span), 1, 1)
        case function if function in _OF_NUMBERS:
            if not scalar:
                fix = "write softmax(...) if that is meant" if function == "exp" else ""
                raise misfit(f"{function} takes a number, not {typer.text(body)}", span=node.span, fix=fix)
        case "softmax":
            if scalar:
                raise misfit("softmax takes a vector or a matrix, not a number", span=node.span)
            if body.columns == 1:  # over the entries of a column; a matrix of one column would be taken row by row
                row = Transpose(body.node, span=body.node.span)
                return Term(Transpose(Call("softmax", (row,), span=node.span), span=node.span), body.rows, 1)
            return Term(new, body.rows, body.columns)
        case "relu" | "E":
            return Term(new, body.rows, body.columns)
        case "trace":
            if not typer.sizes.same(body.rows, body.columns):
                raise unfit(f"{typer.text(body)} is not square and has no trace", span=node.span)
        case "diag":
            if not vector:
                raise misfit(f"diag takes a vector, not {typer.text(body)}", span=node.span)
            return Term(new, typer.length(body), typer.length(body))
    return Term(new, 1, 1)

"""Rules for heads in a TOML file; docs/guides/heads.md describes the fields.

A vector may be written as a combination of named vectors, such as '2 b - 0.5 c + a'. It is parsed exactly, and never
evaluated as code.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field, ValidationError

from headwright.errors import InputError, typed_errors
from headwright.files import parse_file
from headwright.head_design.head import Table, Vector
from headwright.head_design.rules import (
    MOST_NUMBERS,
    MOST_TOKENS,
    TOLERANCE,
    Rule,
    Rules,
    check_bias,
    check_mask,
    check_sizes,
)
from headwright.query_design.targets import average, exact
from headwright.validation import StrictModel, sentence

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_TERM = re.compile(
    r"\s*(?P<sign>[+-])?\s*(?P<factor>\d+(?:\.\d+)?(?:/[1-9]\d*)?)?\s*\*?\s*"
    r"(?P<name>token\s+\d+|[A-Za-z_][A-Za-z_0-9]*)?\s*"
)
Index = Annotated[int, Field(ge=0)]
Places = Index | list[Index] | Literal["*"]
Written = str | list[float]  # a vector: an expression, or its numbers
Number = float | str


def read_vector(text: str, vectors: Mapping[str, Vector], dimension: int) -> Vector:
    """The vector that an expression means; '0' is the zero vector."""
    total, place = [Fraction(0)] * dimension, 0
    while place < len(text) or place == 0:
        term = _TERM.match(text, place)
        if (
            term is None
            or term.end() == place
            or (term["factor"] is None and term["name"] is None)
        ):
            raise _unreadable(text)
        if place > 0 and term["sign"] is None:
            raise _unreadable(text)
        factor = Fraction(term["factor"] or 1) * (-1 if term["sign"] == "-" else 1)
        place = term.end()
        if term["name"] is None:
            if factor != 0:
                raise InputError(
                    f"{text!r} holds the bare number {factor}: expected a direction after it, or 0 alone"
                )
            continue
        vector = _named(" ".join(term["name"].split()), vectors, text)
        total = [t + factor * x for t, x in zip(total, vector, strict=True)]
    return tuple(total)


def _named(name: str, vectors: Mapping[str, Vector], text: str) -> Vector:
    if name not in vectors:
        some = list(vectors)
        known = ", ".join(some[:12]) + (", ..." if len(some) > 12 else "")
        raise InputError(
            f"{text!r} names {name!r}: expected one of {known or 'directions, and there are none'}"
        )
    return vectors[name]


def _unreadable(text: str) -> InputError:
    return InputError(
        f"{text!r} is not a combination of directions: expected one such as '2 b - 0.5 c + a'"
    )


class _TokenUncertaintyEntry(StrictModel):
    ball: Number = 0.0
    scale: list[Number] = Field([1.0, 1.0], min_length=2, max_length=2)


class _RuleEntry(StrictModel):
    token: Places
    sequence: Places = 0
    head: Index | Literal["sum"] = 0
    attend: dict[str, Number] | None = None
    at_most: dict[str, Number] | None = None
    copy_: Index | Literal["previous", "first", "self"] | None = Field(
        None, alias="copy"
    )
    average: list[Index] | Literal["all"] | None = None
    eps: Number | None = None
    output: Written | None = None
    tolerance: Number | None = None


class _RulesFile(StrictModel):
    dimension: Annotated[int, Field(ge=1, le=MOST_NUMBERS)] | None = None
    directions: dict[str, Number] = Field({})
    tokens: list[Written] | None = None
    sequences: list[list[Written]] | None = None
    mask: Literal["none", "causal"] | list[str] = "none"
    window: Annotated[int, Field(ge=1)] | None = None
    biases: bool = False
    bias: list[list[Number]] | None = None
    alibi: Number | list[Number] | None = None
    positions: Literal["none", "sinusoidal"] | list[Written] = "none"
    uncertainty: _TokenUncertaintyEntry | None = None
    rule: list[_RuleEntry] = Field([])


@typed_errors
def read_rules(path: str | Path) -> Rules:
    """The rules in a TOML file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rules.toml"
    >>> _ = path.write_text("tokens = [[1.0, 0.0], [0.0, 1.0]]\\n[[rule]]\\ntoken = 0\\ncopy = 1")
    >>> read_rules(path).rules[0].attend
    {1: Fraction(100, 101)}
    """
    return parse_file(path, parse_rules, "rules")


def document(text: str) -> dict[str, Any]:
    """The TOML document in a text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}") from error
    except RecursionError as error:
        raise InputError(
            "is nested too deeply: expected rules as docs/guides/heads.md describes them"
        ) from error


@typed_errors
def parse_rules(text: str) -> Rules:
    """The rules in TOML text.

    >>> rules = parse_rules('''
    ... dimension = 4
    ... directions = { a = 2.0, b = 2.0 }
    ... tokens = ["a", "a + b"]
    ... [[rule]]
    ... token = 0
    ... output = "b - a"
    ... ''')
    >>> rules.sequences[0].tolist(), [float(x) for x in rules.rules[0].output]
    ([[2.0, 0.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0]], [-2.0, 2.0, 0.0, 0.0])
    """
    return rules_from(document(text))


def rules_from(given_document: dict[str, Any]) -> Rules:
    """The rules in a TOML file that has been read."""
    try:
        given = _RulesFile.model_validate(given_document)
    except ValidationError as error:
        raise InputError(sentence(error, _RulesFile)) from error
    written = _sequences(given)
    D = _dimension(given, written)
    axes = _axes(given.directions, D)
    if (T := sum(map(len, written))) > MOST_TOKENS:
        raise InputError(f"there are {T} tokens: expected at most {MOST_TOKENS}")
    sequences = [[_vector(token, axes, D) for token in tokens] for tokens in written]
    causal, mask = _mask(given, max(map(len, sequences)))
    rules = tuple(
        _rule(entry, token, sequence, axes, sequences, causal=causal, mask=mask)
        for entry in given.rule
        for sequence in _places(entry.sequence, len(sequences))
        for token in _tokens_of(
            entry, len(sequences[sequence]) if sequence < len(sequences) else 0
        )
    )
    arrays = tuple(_placed(X, given.positions, axes) for X in sequences)
    uncertainty = given.uncertainty or _TokenUncertaintyEntry.model_validate({})
    low, high = (
        exact(end, "an end of the uncertainty's scale") for end in uncertainty.scale
    )
    names = tuple(
        tuple(x if isinstance(x, str) else f"token {i}" for i, x in enumerate(X))
        for X in written
    )
    heads = 1 + max((rule.head for rule in rules if rule.head is not None), default=0)
    bias = _bias(given, max(map(len, sequences)), heads)
    ball = exact(uncertainty.ball, "the uncertainty's ball")
    return Rules(
        arrays, rules, causal, ball, (low, high), names, mask, given.biases, bias
    )


def _bias(given: _RulesFile, T: int, heads: int) -> tuple[Table, ...]:
    """A table for each head of what is added to scores: as it is written, or minus a slope for each place between."""
    if given.bias is not None and given.alibi is not None:
        raise InputError("bias and alibi: expected one of the two")
    if given.bias is not None:
        rows = tuple(tuple(exact(x, "a bias") for x in row) for row in given.bias)
        check_bias((rows,), T, 1)
        return (rows,) * heads
    if given.alibi is None:
        return ()
    slopes = given.alibi if isinstance(given.alibi, list) else [given.alibi] * heads
    if len(slopes) != heads:
        raise InputError(
            f"alibi has {len(slopes)} slopes, and there are {heads} heads: expected one for each, or one"
        )
    exactly = [exact(slope, "a slope of alibi") for slope in slopes]
    return tuple(
        tuple(tuple(-slope * abs(i - j) for j in range(T)) for i in range(T))
        for slope in exactly
    )


def _mask(given: _RulesFile, T: int) -> tuple[bool, tuple[str, ...]]:
    """Whether it is causal; or its rows, for a window or one that is written out."""
    if isinstance(given.mask, list):
        if given.window is not None:
            raise InputError(
                "a window beside a mask that is written out: expected one of the two"
            )
        check_mask(rows := tuple(given.mask), T, causal=False)
        return False, rows
    causal = given.mask == "causal"
    if given.window is None:
        return causal, ()
    near = [
        [abs(i - j) < given.window and not (causal and j > i) for j in range(T)]
        for i in range(T)
    ]
    return False, tuple("".join(str(int(x)) for x in row) for row in near)


def _sequences(given: _RulesFile) -> list[list[Written]]:
    if (given.tokens is None) == (given.sequences is None):
        raise InputError(
            "expected tokens, or sequences of them: exactly one of the two"
        )
    sequences = given.sequences if given.tokens is None else [given.tokens]
    if not sequences or not all(sequences):
        raise InputError("a sequence without tokens: expected at least one")
    return sequences


def _dimension(given: _RulesFile, sequences: list[list[Written]]) -> int:
    numbers = [
        len(token)
        for tokens in sequences
        for token in tokens
        if not isinstance(token, str)
    ]
    D = given.dimension or (numbers[0] if numbers else len(given.directions))
    if len(given.directions) > D:
        raise InputError(
            f"dimension = {D} is too small for {len(given.directions)} orthogonal directions: "
            f"expected at least {len(given.directions)}"
        )
    if D == 0:
        raise InputError(
            "there are neither directions nor numbers: expected tokens made of one or the other"
        )
    return D


def _axes(directions: Mapping[str, Number], D: int) -> dict[str, Vector]:
    """Each direction is its length times a coordinate axis, in the order of the file."""
    axes = {}
    for place, (name, length) in enumerate(directions.items()):
        if not NAME.fullmatch(name) or name == "token":
            raise InputError(
                f"direction {name!r}: expected a name of letters and digits, other than 'token'"
            )
        size = exact(length, f"the length of direction {name}")
        if size <= 0:
            raise InputError(
                f"direction {name} has the length {float(size):g}: expected more than 0"
            )
        axes[name] = tuple(size if i == place else Fraction(0) for i in range(D))
    return axes


def _vector(written: Written, vectors: Mapping[str, Vector], D: int) -> Vector:
    if isinstance(written, str):
        vector = read_vector(written, vectors, D)
    elif len(written) != D:
        raise InputError(
            f"a vector has {len(written)} numbers, and the dimension is {D}: expected as many"
        )
    else:
        vector = tuple(exact(x, "a number of a vector") for x in written)
    check_sizes(vector, "a token or position")
    return vector


def _placed(
    X: list[Vector], positions: str | list[Written], axes: Mapping[str, Vector]
) -> Float[np.ndarray, "T D"]:
    """The tokens with what their places add to them, as the nearest float64: rounded once, at the end."""
    if isinstance(positions, list):
        if len(positions) < len(X):
            raise InputError(
                f"{len(positions)} positions for a sequence of {len(X)} tokens: expected one for each"
            )
        rows = [_vector(row, axes, len(X[0])) for row in positions[: len(X)]]
        X = [tuple(map(add, x, row)) for x, row in zip(X, rows, strict=True)]
    found: Float[np.ndarray, "T D"] = np.array(X, dtype=object).astype(np.float64)
    if positions == "sinusoidal":
        from headwright.positions import Sinusoidal

        found = Sinusoidal(found.shape[1]).embed(found)
    return found


def _places(given: int | list[int] | str, n: int) -> list[int]:
    return (
        list(range(n))
        if given == "*"
        else [given]
        if isinstance(given, int)
        else [int(i) for i in given]
    )


def _tokens_of(entry: _RuleEntry, T: int) -> list[int]:
    tokens = _places(entry.token, T)
    every = not isinstance(entry.token, int | list)
    return tokens[1:] if every and entry.copy_ == "previous" else tokens


def _rule(
    entry: _RuleEntry,
    token: int,
    sequence: int,
    axes: dict[str, Vector],
    sequences: list[list[Vector]],
    *,
    causal: bool,
    mask: tuple[str, ...],
) -> Rule:
    X = sequences[sequence] if sequence < len(sequences) else []
    output = entry.output
    wanted: Vector | None = None
    if isinstance(output, str):
        rows = {f"token {i}": x for i, x in enumerate(X)}
        wanted = read_vector(output, {**axes, **rows}, len(X[0]) if X else 0)
    elif output is not None:
        wanted = tuple(exact(x, "a number of an output") for x in output)
    if entry.tolerance is not None and wanted is None:
        raise InputError(
            f"the rule of token {token} has a tolerance and no output: expected both, or eps"
        )
    tolerance = (
        TOLERANCE
        if entry.tolerance is None
        else exact(entry.tolerance, f"the tolerance of token {token}")
    )
    row = mask[token] if token < len(mask) else "1" * (token + 1 if causal else len(X))
    seen = [j for j, digit in enumerate(row[: len(X)]) if digit == "1"]
    head, at_most = (
        (None if entry.head == "sum" else entry.head),
        _weights(entry.at_most, "at_most"),
    )
    return Rule(
        token, sequence, head, _attend(entry, token, seen), wanted, tolerance, at_most
    )


def _weights(given: dict[str, Number] | None, what: str) -> dict[int, Fraction] | None:
    for key in given or ():
        if not key.isascii() or not key.isdigit():
            raise InputError(
                f"{what} names {key!r}: expected tokens by index, such as {{ 0 = 0.5, 2 = 0.4 }}"
            )
    return (
        None
        if given is None
        else {
            int(key): exact(p, f"the weight of token {key}") for key, p in given.items()
        }
    )


def _attend(
    entry: _RuleEntry, token: int, seen: list[int]
) -> dict[int, Fraction] | None:
    kinds = [
        name
        for name in ("attend", "copy_", "average")
        if getattr(entry, name) is not None
    ]
    if len(kinds) > 1:
        names = " and ".join(name.strip("_") for name in kinds)
        raise InputError(f"the rule of token {token} has {names}: expected one of them")
    if entry.eps is not None and kinds not in (["copy_"], ["average"]):
        raise InputError(
            f"the rule of token {token} has eps without copy or average: expected it beside one of them"
        )
    if entry.attend is not None:
        return _weights(entry.attend, "attend")
    if not kinds:
        return None
    targets: list[int] = []
    if entry.copy_ is not None:
        named = {"first": 0, "self": token, "previous": token - 1}
        targets = [named[entry.copy_] if isinstance(entry.copy_, str) else entry.copy_]
        if targets[0] < 0:
            raise InputError(
                "token 0 has no previous token to copy: expected a rule for tokens from 1"
            )
    elif entry.average is not None:
        targets = seen if entry.average == "all" else entry.average
        if not targets:
            raise InputError(
                f"the rule of token {token} averages no tokens: expected at least one"
            )
    return average(
        targets, Fraction(1, 100) if entry.eps is None else exact(entry.eps, "eps")
    ).least

"""Rules for heads in a TOML file; docs/guides/heads.md describes the fields.

A vector may be written as a combination of named vectors, such as '2 b - 0.5 c + a'. It is parsed exactly, and never
evaluated as code.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field, ValidationError

from headwright.argument_types import check_argument
from headwright.errors import InputError
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
MOST_SHOWN = 12  # names in a message
Index = Annotated[int, Field(ge=0)]
Places = Index | list[Index] | Literal["*"]
Written = str | list[float]  # a vector: an expression, or its numbers
Number = float | str


def read_vector(text: str, vectors: Mapping[str, Vector], dimension: int) -> Vector:
    """The vector that an expression means; '0' is the zero vector."""
    total = [Fraction(0)] * dimension
    place = 0
    while place < len(text) or place == 0:
        term = _TERM.match(text, place)
        if term is None or not _is_term(term, is_first=place == 0):
            raise InputError(
                f"{text!r} is not a combination of directions: expected one such as '2 b - 0.5 c + a'"
            )
        place = term.end()
        factor = Fraction(term["factor"] or 1)
        if term["sign"] == "-":
            factor = -factor
        if term["name"] is not None:
            name = " ".join(term["name"].split())
            vector = _vector_of_name(name, vectors, text)
            total = [t + factor * x for t, x in zip(total, vector, strict=True)]
        elif factor != 0:
            raise InputError(
                f"{text!r} holds the bare number {factor}: expected a direction after it, or 0 alone"
            )
    return tuple(total)


def _is_term(term: re.Match[str], *, is_first: bool) -> bool:
    """It holds something, and a sign stands between it and the term before."""
    if term["factor"] is None and term["name"] is None:
        return False
    return is_first or term["sign"] is not None


def _vector_of_name(name: str, vectors: Mapping[str, Vector], text: str) -> Vector:
    if name in vectors:
        return vectors[name]
    known = ", ".join(list(vectors)[:MOST_SHOWN])
    if len(vectors) > MOST_SHOWN:
        known += ", ..."
    raise InputError(
        f"{text!r} names {name!r}: expected one of {known or 'directions, and there are none'}"
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


def read_rules(path: str | Path) -> Rules:
    """The rules in a TOML file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rules.toml"
    >>> _ = path.write_text("tokens = [[1.0, 0.0], [0.0, 1.0]]\\n[[rule]]\\ntoken = 0\\ncopy = 1")
    >>> read_rules(path).rules[0].attend
    {1: Fraction(100, 101)}
    """
    check_argument("path", path, str | Path)
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
    check_argument("text", text, str)
    return rules_from(document(text))


def rules_from(fields: dict[str, Any]) -> Rules:
    """The rules in a TOML file that has been read."""
    try:
        file = _RulesFile.model_validate(fields)
    except ValidationError as error:
        raise InputError(sentence(error, _RulesFile)) from error
    written = _sequences(file)
    D = _dimension(file, written)
    axes = _axes(file.directions, D)
    T = sum(map(len, written))
    if T > MOST_TOKENS:
        raise InputError(f"there are {T} tokens: expected at most {MOST_TOKENS}")
    sequences = []
    for tokens in written:
        sequences.append([_vector(token, axes, D) for token in tokens])
    longest = max(map(len, sequences))
    causal, mask = _mask(file, longest)
    rules = _rules(file, _RuleContext(axes, sequences, causal, mask))
    heads = 1 + max((rule.head for rule in rules if rule.head is not None), default=0)
    uncertainty = file.uncertainty or _TokenUncertaintyEntry.model_validate({})
    low, high = uncertainty.scale
    return Rules(
        sequences=tuple(_placed(X, file.positions, axes) for X in sequences),
        rules=rules,
        causal=causal,
        ball=exact(uncertainty.ball, "the uncertainty's ball"),
        scale=(
            exact(low, "an end of the uncertainty's scale"),
            exact(high, "an end of the uncertainty's scale"),
        ),
        names=tuple(map(_token_names, written)),
        mask=mask,
        biases=file.biases,
        bias=_bias(file, longest, heads),
    )


def _token_names(written: list[Written]) -> tuple[str, ...]:
    """An expression names its token; numbers do not."""
    names = []
    for number, token in enumerate(written):
        names.append(token if isinstance(token, str) else f"token {number}")
    return tuple(names)


def _bias(file: _RulesFile, T: int, heads: int) -> tuple[Table, ...]:
    """A table for each head of what is added to scores: as it is written, or minus a slope for each place between."""
    if file.bias is not None and file.alibi is not None:
        raise InputError("bias and alibi: expected one of the two")
    if file.bias is not None:
        rows = tuple(tuple(exact(x, "a bias") for x in row) for row in file.bias)
        check_bias((rows,), T, 1)
        return (rows,) * heads
    if file.alibi is None:
        return ()
    slopes = file.alibi if isinstance(file.alibi, list) else [file.alibi] * heads
    if len(slopes) != heads:
        raise InputError(
            f"alibi has {len(slopes)} slopes, and there are {heads} heads: expected one for each, or one"
        )
    tables = []
    for written in slopes:
        slope = exact(written, "a slope of alibi")
        rows = tuple(tuple(-slope * abs(i - j) for j in range(T)) for i in range(T))
        tables.append(rows)
    return tuple(tables)


def _mask(file: _RulesFile, T: int) -> tuple[bool, tuple[str, ...]]:
    """Whether it is causal; or its rows, for a window or one that is written out."""
    if isinstance(file.mask, list):
        if file.window is not None:
            raise InputError(
                "a window beside a mask that is written out: expected one of the two"
            )
        rows = tuple(file.mask)
        check_mask(rows, T, causal=False)
        return False, rows
    causal = file.mask == "causal"
    if file.window is None:
        return causal, ()
    rows_of_digits = []
    for i in range(T):
        digits = ""
        for j in range(T):
            is_hidden = causal and j > i
            is_near = abs(i - j) < file.window
            digits += "1" if is_near and not is_hidden else "0"
        rows_of_digits.append(digits)
    return False, tuple(rows_of_digits)


def _sequences(file: _RulesFile) -> list[list[Written]]:
    if (file.tokens is None) == (file.sequences is None):
        raise InputError(
            "expected tokens, or sequences of them: exactly one of the two"
        )
    sequences = file.sequences if file.tokens is None else [file.tokens]
    if not sequences or not all(sequences):
        raise InputError("a sequence without tokens: expected at least one")
    return sequences


def _dimension(file: _RulesFile, sequences: list[list[Written]]) -> int:
    """As it is written; else that of the first token of numbers; else as many as there are directions."""
    D = file.dimension or len(file.directions)
    if file.dimension is None:
        for token in chain.from_iterable(sequences):
            if not isinstance(token, str):
                D = len(token)
                break
    if len(file.directions) > D:
        raise InputError(
            f"dimension = {D} is too small for {len(file.directions)} orthogonal directions: "
            f"expected at least {len(file.directions)}"
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
    tokens: Float[np.ndarray, "T D"] = np.array(X, dtype=object).astype(np.float64)
    if positions == "sinusoidal":
        from headwright.positions import Sinusoidal

        tokens = Sinusoidal(tokens.shape[1]).embed(tokens)
    return tokens


@dataclass(frozen=True)
class _RuleContext:
    """What the rules of a file are about."""

    axes: dict[str, Vector]
    sequences: list[list[Vector]]
    causal: bool
    mask: tuple[str, ...]  # rows of digits, or none

    def tokens(self, sequence: int) -> list[Vector]:
        """None for a sequence that is not there, which is refused later."""
        return self.sequences[sequence] if sequence < len(self.sequences) else []

    def seen(self, sequence: int, token: int) -> list[int]:
        """The tokens that a token sees."""
        T = len(self.tokens(sequence))
        if token < len(self.mask):
            digits = self.mask[token][:T]
            return [j for j, digit in enumerate(digits) if digit == "1"]
        return list(range(min(T, token + 1) if self.causal else T))


def _rules(file: _RulesFile, context: _RuleContext) -> tuple[Rule, ...]:
    """An entry of the file makes a rule for each of its tokens in each of its sequences."""
    rules = []
    for entry in file.rule:
        for sequence in _indices(entry.sequence, len(context.sequences)):
            for token in _tokens_of(entry, len(context.tokens(sequence))):
                rules.append(_rule(entry, token, sequence, context))
    return tuple(rules)


def _indices(written: int | list[int] | str, n: int) -> list[int]:
    """'*' stands for all."""
    if isinstance(written, int):
        return [written]
    if isinstance(written, str):
        return list(range(n))
    return written


def _tokens_of(entry: _RuleEntry, T: int) -> list[int]:
    """The first token has no previous one: where all tokens copy theirs, it has no rule."""
    tokens = _indices(entry.token, T)
    if isinstance(entry.token, str) and entry.copy_ == "previous":
        return tokens[1:]
    return tokens


def _rule(entry: _RuleEntry, token: int, sequence: int, context: _RuleContext) -> Rule:
    output = _output(entry.output, context.tokens(sequence), context.axes)
    tolerance = TOLERANCE
    if entry.tolerance is not None:
        if output is None:
            raise InputError(
                f"the rule of token {token} has a tolerance and no output: expected both, or eps"
            )
        tolerance = exact(entry.tolerance, f"the tolerance of token {token}")
    at_most = None
    if entry.at_most is not None:
        at_most = _weights(entry.at_most, "at_most")
    return Rule(
        token=token,
        sequence=sequence,
        head=None if entry.head == "sum" else entry.head,
        attend=_attend(entry, token, context.seen(sequence, token)),
        output=output,
        tolerance=tolerance,
        at_most=at_most,
    )


def _output(
    written: Written | None, X: list[Vector], axes: dict[str, Vector]
) -> Vector | None:
    """In an expression, 'token 3' is the token of that place."""
    if written is None:
        return None
    if isinstance(written, str):
        rows = {f"token {i}": x for i, x in enumerate(X)}
        return read_vector(written, {**axes, **rows}, len(X[0]) if X else 0)
    return tuple(exact(x, "a number of an output") for x in written)


def _weights(written: dict[str, Number], what: str) -> dict[int, Fraction]:
    weights = {}
    for key in written:
        if not key.isascii() or not key.isdigit():
            raise InputError(
                f"{what} names {key!r}: expected tokens by index, such as {{ 0 = 0.5, 2 = 0.4 }}"
            )
    for key, p in written.items():
        weights[int(key)] = exact(p, f"the weight of token {key}")
    return weights


def _attend(
    entry: _RuleEntry, token: int, seen: list[int]
) -> dict[int, Fraction] | None:
    """The least weights that an entry asks for: written out, or those of copying or averaging."""
    kinds = []
    for name in ("attend", "copy_", "average"):
        if getattr(entry, name) is not None:
            kinds.append(name.strip("_"))
    if len(kinds) > 1:
        raise InputError(
            f"the rule of token {token} has {' and '.join(kinds)}: expected one of them"
        )
    if entry.eps is not None and kinds not in (["copy"], ["average"]):
        raise InputError(
            f"the rule of token {token} has eps without copy or average: expected it beside one of them"
        )
    if entry.attend is not None:
        return _weights(entry.attend, "attend")
    if entry.copy_ is not None:
        targets = [_copied_token(entry.copy_, token)]
    elif entry.average is not None:
        targets = seen if entry.average == "all" else entry.average
        if not targets:
            raise InputError(
                f"the rule of token {token} averages no tokens: expected at least one"
            )
    else:
        return None
    eps = Fraction(1, 100) if entry.eps is None else exact(entry.eps, "eps")
    return average(targets, eps).least


def _copied_token(written: int | str, token: int) -> int:
    if isinstance(written, int):
        return written
    copied = {"first": 0, "self": token, "previous": token - 1}[written]
    if copied < 0:
        raise InputError(
            "token 0 has no previous token to copy: expected a rule for tokens from 1"
        )
    return copied

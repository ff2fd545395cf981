"""Contracts: which roundings an implementation of attention may make.

A contract is data. The theorem of docs/explanation/conform.md turns it into a bound on
the error of each element of the output. To write one, change a field of another:

    >>> from dataclasses import replace
    >>> polynomial_exp = replace(FUSED, name="polynomial exp", exp_ulps=1000)
    >>> polynomial_exp.weight_format
    'input'
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from headwright.errors import InputError
from headwright.numerics.float_formats import (
    E4M3,
    FLOAT32,
    FLOAT64,
    INPUT_FORMATS,
    TF32,
    FloatFormat,
)

NAMED_FORMATS = {**INPUT_FORMATS, "tf32": TF32, "float8_e4m3": E4M3}
FormatName = Literal["input", "working", "tf32", "float8_e4m3", "float16", "bfloat16"]


@dataclass(frozen=True)
class Contract:
    """What may be rounded, and how far off functions may be.

    'working' is the type that sums are kept in: float32, or float64 for inputs in
    float64. Every operation in it may err by one unit in the last place: rounded to
    nearest, truncated as in tensor cores, or a fast division. 'input' is the type of q.

    >>> FUSED.score_format, EAGER.score_format
    ('working', 'input')
    """

    name: str
    summary: str
    # The types of inputs that it is about; none is all of them.
    inputs: tuple[str, ...] = ()
    # Queries and keys may be rounded to this before their product (and be scaled then).
    operand_format: FormatName | None = None
    # Scores may be rounded to this after each operation on them.
    score_format: FormatName = "working"
    # Weights may be rounded to this before their product with the values.
    weight_format: FormatName = "input"
    # Values may be rounded to this before that product.
    value_format: FormatName | None = None
    # How far off exp and tanh may be, in units in the last place of the working type.
    exp_ulps: float = 20
    tanh_ulps: float = 8
    # tanh may be computed from exp: as far off as that, also where tanh is near 0.
    tanh_from_exp: bool = False
    # ALiBi may be added as the slope times the number of the key: the same weights,
    # from scores that are larger.
    alibi_by_key: bool = False
    # Keys of a tile: the weights of earlier tiles are rescaled once for each later one.
    tile: int = 16
    # The output is rounded to this, once and to nearest.
    output_format: FormatName = "input"
    # Sums over keys may be kept in a narrower type than all else.
    sum_format: Literal["working", "float16", "bfloat16"] = "working"
    # Sums of gradients may be rounded to the input type after so many rows or keys.
    gradient_tile: int | None = None
    # Weights may be rounded to the input type before dS is made of them.
    rounds_weights_of_gradients: bool = False

    def __post_init__(self) -> None:
        """Refuse formats that are not known, and numbers that allow nothing."""
        known = {"input", "working", *NAMED_FORMATS}
        for field in (
            "operand_format",
            "score_format",
            "weight_format",
            "value_format",
            "output_format",
            "sum_format",
        ):
            name = getattr(self, field)
            optional = field in ("operand_format", "value_format")
            if name not in known and not (optional and name is None):
                raise InputError(
                    f"{field} is {name!r}: expected one of {', '.join(sorted(known))}"
                )
        for field in ("tanh_from_exp", "alibi_by_key", "rounds_weights_of_gradients"):
            allowed = getattr(self, field)
            if not isinstance(allowed, bool):
                raise InputError(f"{field} is {allowed!r}: expected True or False")
        for field in ("exp_ulps", "tanh_ulps", "tile"):
            number = getattr(self, field)
            if not isinstance(number, int | float) or not 0 < number < math.inf:
                raise InputError(f"{field} is {number!r}: expected a number above 0")

    def working_format(self, inputs: FloatFormat) -> FloatFormat:
        """The type that sums are kept in."""
        if inputs is FLOAT64:
            return FLOAT64
        return FLOAT32

    def resolve(self, name: str, inputs: FloatFormat) -> FloatFormat:
        """The format that a field of this contract stands for."""
        if name == "input":
            return inputs
        if name == "working":
            return self.working_format(inputs)
        return NAMED_FORMATS[name]


GPU_TANH_ULPS = 4400  # a relative error of 2^-10.9, assumed of tanh.approx.f32

FUSED = Contract(
    "fused",
    "scores and sums in float32, in any order and tiling; weights perhaps rounded to "
    "the input type; one rounding of the output",
)
FAST_TANH = Contract(
    "fused, approximate tanh",
    "as fused, with a tanh in the softcap that is approximate, as that of GPUs, or made "
    "of exp",
    tanh_ulps=GPU_TANH_ULPS,
    tanh_from_exp=True,
)
ALIBI_BY_KEY = Contract(
    "fused, ALiBi by key",
    "as fused, with slope * number of the key for ALiBi, which gives the same weights",
    alibi_by_key=True,
)
EAGER = Contract(
    "eager",
    "as fused, and scores rounded to the input type after each operation",
    score_format="input",
    tanh_ulps=GPU_TANH_ULPS,
    tanh_from_exp=True,
)
PRESCALED = Contract(
    "prescaled",
    "as eager, and queries and keys scaled and rounded to the input type before their "
    "product",
    operand_format="input",
    score_format="input",
    tanh_ulps=GPU_TANH_ULPS,
    tanh_from_exp=True,
)
TENSOR_FLOAT = Contract(
    "tf32",
    "as fused, with both factors of both products rounded to tf32",
    inputs=("float32",),
    operand_format="tf32",
    weight_format="tf32",
    value_format="tf32",
)
FP8 = Contract(
    "fp8",
    "as fused, with weights and values rounded to float8_e4m3, the values with a scale",
    weight_format="float8_e4m3",
    value_format="float8_e4m3",
)

ROUNDED_SUMS = Contract(
    "fused, rounded sums of gradients",
    "as fused, and sums of gradients rounded to the input type after each tile of 32 "
    "rows or keys, and weights before dS is made of them",
    gradient_tile=32,
    rounds_weights_of_gradients=True,
)

CONTRACTS = {
    contract.name: contract
    for contract in (
        FUSED,
        FAST_TANH,
        ALIBI_BY_KEY,
        EAGER,
        PRESCALED,
        TENSOR_FLOAT,
        FP8,
        ROUNDED_SUMS,
    )
}


def contracts_to_try(
    named: str | Contract | None,
    inputs: FloatFormat,
    *,
    softcap: bool = False,
    alibi: bool = False,
) -> tuple[Contract, ...]:
    """The contract that was named, or all that are usual for inputs, strictest first.

    >>> from headwright.numerics.float_formats import BFLOAT16
    >>> [contract.name for contract in contracts_to_try(None, BFLOAT16)]
    ['fused', 'eager']
    """
    if isinstance(named, str):
        if named not in CONTRACTS:
            names = ", ".join(CONTRACTS)
            raise InputError(f"there is no contract {named!r}: expected one of {names}")
        named = CONTRACTS[named]
    if named is not None:
        if named.inputs and inputs.name not in named.inputs:
            raise InputError(
                f"the contract {named.name} is about inputs in "
                f"{' or '.join(named.inputs)}: it says nothing of {inputs.name}"
            )
        return (named,)
    usual = [FUSED]
    if softcap and inputs is not FLOAT64:
        usual.append(FAST_TANH)
    if alibi:
        usual.append(ALIBI_BY_KEY)
    if inputs is FLOAT32:
        usual.append(TENSOR_FLOAT)
    elif inputs is not FLOAT64:
        usual.append(EAGER)
    return tuple(usual)


def gradient_contracts(
    named: str | Contract | None, inputs: FloatFormat
) -> tuple[Contract, ...]:
    """Those under which gradients are judged: the theorem is about fused passes.

    >>> from headwright.numerics.float_formats import FLOAT32
    >>> [contract.name for contract in gradient_contracts(None, FLOAT32)]
    ['fused']
    """
    if named is None:
        return (FUSED, ROUNDED_SUMS) if inputs.precision < 24 else (FUSED,)
    (contract,) = contracts_to_try(named, inputs)
    narrow = contract.operand_format or contract.value_format
    if narrow or contract.score_format != "working":
        raise InputError(
            f"the contract {contract.name} says nothing of gradients: expected "
            f"{FUSED.name} or {ROUNDED_SUMS.name}"
        )
    return (contract,)

"""hw.conform and hw.assert_attention: is an output right, up to rounding?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from headwright.argument_types import checked_arguments
from headwright.conformance.arrays import Array, Progress, run_eagerly
from headwright.conformance.contracts import (
    Contract,
    contracts_to_try,
    gradient_contracts,
)
from headwright.conformance.gradient_judging import differentiate, judge_gradients
from headwright.conformance.hypotheses import fitting_hypotheses
from headwright.conformance.judging import Comparison, compare
from headwright.conformance.reading import (
    AttentionOptions,
    read_output,
    read_problem,
    read_rows,
)
from headwright.conformance.reference import AttentionProblem
from headwright.conformance.verdict import (
    ConformanceVerdict,
    ContractResult,
    FittingHypothesis,
    VerdictWord,
    decide,
    word_of,
)
from headwright.errors import HeadwrightError, InputError


@run_eagerly
@checked_arguments
def conform(
    attention: Callable[..., Any] | Any,
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float | None = None,
    causal: bool = False,
    corner: Literal["end", "start"] = "end",
    window: int | Sequence[int] | None = None,
    softcap: float | None = None,
    sinks: Any = None,
    bias: Any = None,
    alibi: Any = None,
    key_padding: Any = None,
    documents: Any = None,
    mask: Any = None,
    layout: Literal["bhtd", "bthd"] = "bhtd",
    contract: str | Contract | None = None,
    rows: int | Sequence[int] | None = None,
    gradients: bool | Mapping[str, Any] = False,
    dout: Any = None,
    explain: bool = True,
    progress: Progress | None = None,
) -> ConformanceVerdict:
    """Whether an implementation of attention is right, up to the roundings it may make.

    `attention` is a function of q, k and v, or an output. Every element is compared
    with float64, and with a bound on what rounding can do that is proved for any order
    of summation and any tiling (docs/explanation/conform.md).

    scale        factor of the scores; 1 / sqrt(dim) unless given
    causal       a row sees no later keys; `corner` says where the last row stands: at
                 the last key ('end'), or row i at key i ('start', as in PyTorch)
    window       keys that a row sees with its own, or (before, after) without it
    softcap      scores become softcap * tanh(score / softcap)
    sinks        for each head a score that takes weight and has no value
    bias         added to scores; -inf hides a key
    alibi        for each head a slope; -slope * distance is added
    key_padding  (batch, keys), True where a key is real; or lengths
    documents    ids of documents by key, or cumulative lengths: none sees another
    mask         True where a key is seen
    contract     which roundings are allowed; else the strictest that holds is reported
    rows         so many rows, evenly spread, or these; else all
    gradients    True: also dq, dk and dv, by PyTorch's autograd; or {"dq": ..., ...}
    dout         what was sent back; for True, seeded Gaussian numbers unless given

    >>> from headwright.conformance.inputs import attention_inputs
    >>> q, k, v = attention_inputs(rows=32, dim=16, dtype="float32")
    >>> def mean_of_values(q, k, v):
    ...     return v.cumsum(axis=2) / np.arange(1, 33, dtype=np.float32)[:, None]
    >>> conform(mean_of_values, q, k, v, causal=True, scale=0.0).word.value
    'within'
    """
    question = AttentionOptions(
        scale=scale,
        causal=causal,
        corner=corner,
        window=window,
        softcap=softcap,
        sinks=sinks,
        bias=bias,
        alibi=alibi,
        key_padding=key_padding,
        documents=documents,
        mask=mask,
        layout=layout,
    )
    problem = read_problem(q, k, v, question)
    result = attention
    derivatives: Mapping[str, Any] | None = None
    if dout is not None and gradients is not True and not gradients:
        raise InputError(
            "dout is given, and no gradients are judged: expected gradients=True, or "
            "gradients as a mapping"
        )
    if gradients is True:
        if not callable(attention) or hasattr(attention, "shape"):
            raise InputError(
                "gradients is True: expected a function of q, k and v, or gradients as "
                "a mapping"
            )
        result, dout, derivatives = _call(
            differentiate, attention, q, k, v, dout, name=_name(attention)
        )
    elif callable(attention) and not hasattr(attention, "shape"):
        result = _call(attention, q, k, v, name=_name(attention))
    if isinstance(gradients, Mapping):
        derivatives = gradients
    out = read_output(result, problem, question)
    chosen = contracts_to_try(
        contract,
        problem.input_format,
        softcap=softcap is not None,
        alibi=alibi is not None,
    )
    judged_rows = read_rows(rows, problem.shape.rows)
    verdict = judge(
        problem, out, chosen, judged_rows, explain=explain, progress=progress
    )
    if derivatives is None:
        return verdict
    if dout is None:
        raise InputError("dout is missing: expected what was sent back")
    allowed = gradient_contracts(contract, problem.input_format)
    of_inputs = judge_gradients(problem, out, dout, derivatives, allowed, question)
    return replace(verdict, gradients=of_inputs)


def assert_attention(
    out: Any,
    q: Any,
    k: Any,
    v: Any,
    *,
    contract: str | Contract = "fused",
    **described: Any,
) -> None:
    """Raise an AssertionError that explains, unless the output is within the bound.

    It takes what `conform` takes. The contract is `fused` unless another is named: a
    test must not pass because a more lenient one holds.

    >>> from headwright.conformance.inputs import attention_inputs
    >>> q, k, v = attention_inputs(rows=8, dim=4, dtype="float32")
    >>> assert_attention(v.cumsum(axis=2) * 0, q, k, v, causal=True)
    Traceback (most recent call last):
    AssertionError: outside: ... It is consistent with an output of zeros ...
    """
    verdict = conform(out, q, k, v, contract=contract, **described)
    if verdict.word is not VerdictWord.WITHIN:
        raise AssertionError(str(verdict))


def judge(
    problem: AttentionProblem,
    out: Array,
    contracts: Sequence[Contract],
    rows: np.ndarray,
    *,
    explain: bool = True,
    progress: Progress | None = None,
) -> ConformanceVerdict:
    """The verdict on an output, with hypotheses where the strictest contract fails."""
    comparisons = compare(problem, out, contracts[:1], rows, progress=progress)
    if word_of(comparisons[0]) is not VerdictWord.WITHIN and len(contracts) > 1:
        # The strictest contract settles most outputs: the others cost as much again.
        comparisons += compare(problem, out, contracts[1:], rows, progress=progress)
    looked_at = problem.shape.batch * problem.shape.heads * len(rows)
    if comparisons[0].empty_rows == looked_at:
        # An output of NaN would be 'within' here, since nothing was compared.
        raise InputError(
            "no row sees a key under this description, so that nothing can be judged: "
            "check mask, key_padding, documents and window"
        )
    word, shown = decide(comparisons)
    hypotheses: tuple[FittingHypothesis, ...] = ()
    if explain and word_of(comparisons[0]) is VerdictWord.OUTSIDE:
        tried = contracts
        if word is VerdictWord.WITHIN:
            tried = contracts[:1]  # a mistake that hides behind a lenient contract
        hypotheses = fitting_hypotheses(problem, out, tried, comparisons[0], rows)
    return ConformanceVerdict(
        output_word=word,
        contract=shown.contract.name,
        ratio=shown.ratio,
        worst=shown.worst,
        results=tuple(_result(comparison) for comparison in comparisons),
        hypotheses=hypotheses,
        number_type=problem.input_format.name,
        rows=rows,
        total_rows=problem.shape.rows,
        unjudged=shown.unjudged,
        empty_rows=shown.empty_rows,
        margin=shown.margin,
        ratio_array=shown.ratio_array,
    )


def _result(comparison: Comparison) -> ContractResult:
    return ContractResult(
        comparison.contract.name, word_of(comparison), comparison.ratio
    )


def _name(attention: Callable[..., Any]) -> str:
    return getattr(attention, "__name__", type(attention).__name__)


def _call(function: Callable[..., Any], *arguments: Any, name: str) -> Any:
    """What a function of a person returns; InputError where it raises."""
    try:
        return function(*arguments)
    except HeadwrightError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"{name}(q, k, v) raised {' '.join(reason.split())[:300]}"
        ) from error

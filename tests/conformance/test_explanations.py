"""What a verdict says: which mistake is named first, why nothing is proved, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import headwright as hw
from headwright.conformance.contracts import FUSED, TENSOR_FLOAT, Contract
from tests.conformance import implementations
from tests.conformance.catalogue import MISTAKES, Mistake

TOKENS = 128
CAUSAL = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()


def _inputs(**sizes: Any) -> tuple[Tensor, Tensor, Tensor]:
    given: dict[str, Any] = {"rows": TOKENS, "dim": 64, "framework": "torch", **sizes}
    q, k, v = hw.attention_inputs(**given)
    return q, k, v


def _attend(mask: Tensor, **sizes: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    q, k, v = _inputs(**sizes)
    return implementations.two_pass(q, k, v, mask, q.shape[3] ** -0.5), q, k, v


def _without(*, rows: Any = slice(None), heads: Any = slice(None), keys: Any) -> Tensor:
    mask = CAUSAL[None].repeat(2, 1, 1)
    own = torch.eye(TOKENS, dtype=torch.bool)
    part = mask[heads]
    part[..., rows, keys] = False
    mask[heads] = part
    return mask | own


LOST: dict[str, tuple[Tensor, str]] = {
    "a key": (_without(keys=17), "key 17 left out"),
    "a key of one row": (_without(keys=40, rows=100), "key 40 left out in row 100"),
    "a key of one head": (
        _without(keys=40, heads=1),
        "key 40 left out in head 1",
    ),
    "a tile": (
        _without(keys=slice(32, 48), rows=slice(48, TOKENS)),
        "keys 32 to 47 left out in rows 48 to 127",
    ),
    "a distance": (
        CAUSAL & (torch.arange(TOKENS)[:, None] - torch.arange(TOKENS) != 5),
        "the key 5 before each row's own left out",
    ),
    "a future key seen": (
        CAUSAL | (torch.arange(TOKENS) == 90),
        "key 90 seen, where hidden",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_key_is_named_and_not_eight_bits(name: str) -> None:
    mask, sentence = LOST[name]
    out, q, k, v = _attend(mask)
    verdict = hw.conform(out, q, k, v, causal=True, contract="fused")
    assert f"consistent with {sentence}" in verdict.explanation, str(verdict)
    assert not verdict.hypotheses[0].lenient
    assert "float" not in verdict.hypotheses[0].sentence


@pytest.mark.parametrize("seed", range(4))
def test_a_lost_key_that_had_all_the_weight_is_named(seed: int) -> None:
    """Beside it the weights of the others have no digit of 1 - weight."""
    mask = _without(keys=50)
    out, q, k, v = _attend(mask, kind="extreme scores", seed=seed)
    verdict = hw.conform(out, q, k, v, causal=True)
    assert verdict.word == "outside"
    assert "consistent with key 50 left out" in verdict.explanation, str(verdict)


@pytest.mark.parametrize("scale_error", [0.0, 2.0**-52, -(2.0**-52)])
def test_values_in_int8_are_named_however_halves_are_rounded(
    scale_error: float,
) -> None:
    """The largest value is 127 / 64, so that many values are half a step."""
    q, k, v = _inputs(heads=1)
    v = v.clamp(-127 / 64, 127 / 64)
    v[..., 0] = 127 / 64
    scale = v.double().abs().amax(-1, keepdim=True) / 127 * (1 + scale_error)
    rounded = (v.double() / scale).round() * scale
    scores = (q.double() @ k.double().mT / 8).masked_fill(~CAUSAL, -torch.inf)
    out = (scores.softmax(-1) @ rounded).bfloat16()
    verdict = hw.conform(out, q, k, v, causal=True)
    assert verdict.word == "outside"
    assert "values rounded to int8" in verdict.explanation, str(verdict)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_values_in_int8_are_named_where_a_reciprocal_makes_the_scale(
    dtype: torch.dtype,
) -> None:
    """Half of the largest value is between 63 and 64 steps, in each token.

    To which of them it is rounded depends on the last digit of the scale.
    """
    _, k, v = _inputs(heads=1)
    q = 8 * k  # so that each row sees little but its own key
    largest = v.abs().amax(-1, keepdim=True)
    v[..., :1], v[..., 1:2] = largest, largest / 2
    scale = v.to(dtype).abs().amax(-1, keepdim=True) * (1 / 127)
    rounded = ((v.to(dtype) / scale).round() * scale).double()
    scores = (q.double() @ k.double().mT / 8).masked_fill(~CAUSAL, -torch.inf)
    out = (scores.softmax(-1) @ rounded).bfloat16()
    verdict = hw.conform(out, q, k, v, causal=True)
    assert verdict.word == "outside"
    assert "values rounded to int8" in verdict.explanation, str(verdict)


def _attend_in_float64(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, sink: Tensor | None = None
) -> Tensor:
    scores = q.double() @ k.double().mT * q.shape[-1] ** -0.5
    weights = scores.masked_fill(~mask, -torch.inf).exp()
    total = weights.sum(-1, keepdim=True)
    if sink is not None:
        total = total + sink.exp()[:, None, None]
    return (weights @ v.double() / total).to(q.dtype)


IDS = torch.tensor([0] * 20 + [1] * 70 + [2] * 38)
SAME = IDS[:, None] == IDS
LAST_BEFORE = torch.zeros_like(SAME)
LAST_BEFORE[20:90, 19] = True
LAST_BEFORE[90:, 89] = True
PADDING = torch.arange(TOKENS) < torch.tensor([[100], [128]])


@pytest.mark.parametrize(
    ("wrong", "described", "sentence"),
    [
        (
            lambda q, k, v: _attend_in_float64(q, k, v, (SAME | LAST_BEFORE) & CAUSAL),
            {"causal": True, "documents": IDS},
            "documents that see the last key of the one before",
        ),
        (
            lambda q, k, v: _attend_in_float64(q, k, v, PADDING[:1, None, None]),
            {"key_padding": PADDING},
            "the padding of the first text for all",
        ),
        (
            lambda q, k, v: _attend_in_float64(q, k, v, CAUSAL, torch.zeros(2)),
            {"causal": True, "sinks": torch.tensor([2.0, -1.0])},
            "1 added to the sum of the exponentials",
        ),
        (
            lambda q, k, v: _attend_in_float64(q, k.roll(1, 2), v, CAUSAL),
            {"causal": True},
            "keys shifted by 1 beside their values",
        ),
        (
            lambda q, k, v: _attend_in_float64(k, q, v, CAUSAL),
            {"causal": True},
            "queries and keys that were exchanged",
        ),
    ],
    ids=["key before a document", "padding of text 0", "sink 0", "keys", "q and k"],
)
def test_more_mistakes_are_named(
    wrong: Callable[..., Tensor], described: dict[str, Any], sentence: str
) -> None:
    verdict = hw.conform(wrong, *_inputs(batch=2), **described)
    assert verdict.word == "outside"
    assert f"consistent with {sentence}" in verdict.explanation, str(verdict)


def test_errors_far_above_those_of_independent_roundings_are_no_narrow_sums() -> None:
    """The softmax runs over the rows: the bound of sums in float16 would allow it."""

    def over_rows(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        weights = (q.double() @ k.double().mT / 8).softmax(dim=-2)
        return (weights @ v.double()).to(q.dtype)

    verdict = hw.conform(over_rows, *_inputs(rows=96))
    assert verdict.word == "outside" and not verdict.hypotheses, str(verdict)


def test_what_widens_the_bound_is_not_added_to_a_lenient_contract() -> None:
    """Parts of a split are put together with a power of 2 in place of e."""

    def split(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q.double() @ k.double().mT / 8
        scores = scores.reshape(*scores.shape[:-1], 4, -1)
        weights = (scores.logsumexp(-1) * 1.4427).softmax(-1)
        joined = (scores.softmax(-1) * weights[..., None]).flatten(-2)
        return (joined @ v.double()).to(q.dtype)

    verdict = hw.conform(split, *_inputs(rows=96))
    assert verdict.word == "outside"
    assert all(each.contract == "fused" for each in verdict.hypotheses), str(verdict)


def test_a_key_counted_twice_is_named() -> None:
    q, k, v = _inputs()
    twice = [torch.cat((tensor, tensor[:, :, 20:21]), dim=2) for tensor in (k, v)]
    mask = torch.ones(TOKENS, TOKENS + 1, dtype=torch.bool)
    out = implementations.two_pass(q, twice[0], twice[1], mask, 0.125)
    verdict = hw.conform(out, q, k, v, contract="fused")
    assert "consistent with key 20 counted twice" in verdict.explanation


def test_a_hypothesis_that_widens_the_bound_says_so() -> None:
    q, k, v = _inputs(rows=64)
    scores = (q.float() @ k.float().mT * 0.125).masked_fill(
        ~CAUSAL[:64, :64], -torch.inf
    )
    weights = torch.softmax(scores, dim=-1).to(torch.float8_e4m3fn).float()
    out = (weights @ v.float()).to(q.dtype)
    verdict = hw.conform(out, q, k, v, causal=True, contract="fused")
    assert verdict.hypotheses[0].lenient, str(verdict)
    assert "widens the bound, so that other mistakes fit it as well" in str(verdict)
    assert verdict.to_json()["hypotheses"][0]["lenient"] is True


def test_a_row_that_a_hypothesis_empties_is_no_explanation() -> None:
    """A number in place of NaN or zeros is not explained by a row that sees nothing."""
    q, k, v = _inputs(rows=8)
    out = implementations.two_pass(q, k, v, CAUSAL[:8, :8], 0.125)
    out[0, 0, 0, 0] += 1
    verdict = hw.conform(out, q, k, v, causal=True, contract="fused")
    assert verdict.word == "outside"
    assert not verdict.hypotheses, str(verdict)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_no_explanation_is_given_twice(mistake: Mistake) -> None:
    q, k, v = mistake.tensors()
    verdict = hw.conform(mistake.kernel, q, k, v, contract="fused", **mistake.described)
    names = [hypothesis.name for hypothesis in verdict.hypotheses]
    assert len(set(names)) == len(names)
    strengths = {hypothesis.lenient for hypothesis in verdict.hypotheses}
    assert len(strengths) <= 1


# The other layout


def test_tensors_in_the_other_layout_are_named() -> None:
    """With queries, keys, values and output in the other layout every shape fits."""
    out, q, k, v = _attend(CAUSAL)
    tensors = [tensor.transpose(1, 2) for tensor in (out, q, k, v)]
    verdict = hw.conform(*tensors, causal=True, contract="fused")
    assert verdict.word == "outside"
    assert "say layout='bthd'" in verdict.explanation, str(verdict)
    right = hw.conform(*tensors, causal=True, contract="fused", layout="bthd")
    assert right.word == "within"


def test_an_output_in_the_other_layout_is_named_where_the_shapes_are_equal() -> None:
    out, q, k, v = _attend(CAUSAL[:4, :4], heads=4, rows=4)
    verdict = hw.conform(out.transpose(1, 2), q, k, v, causal=True, contract="fused")
    assert "heads and tokens are exchanged" in verdict.explanation, str(verdict)


def test_an_output_whose_heads_are_joined_is_refused_with_the_remedy() -> None:
    out, q, k, v = _attend(CAUSAL)
    joined = out.transpose(1, 2).flatten(2)
    with pytest.raises(hw.InputError, match="heads and dim are joined; reshape it to"):
        hw.conform(joined, q, k, v, causal=True)


# Why nothing is proved


def test_a_bias_of_the_least_number_hides_keys() -> None:
    out, q, k, v = _attend(CAUSAL)
    least = torch.zeros(TOKENS, TOKENS).masked_fill(
        ~CAUSAL, torch.finfo(torch.float32).min
    )
    verdict = hw.conform(out, q, k, v, bias=least)
    assert (verdict.word, verdict.contract) == ("within", "fused"), str(verdict)
    wrong = least.clone()
    wrong[60, 3] = torch.finfo(torch.float32).min
    assert hw.conform(out, q, k, v, bias=wrong, contract="fused").word == "outside"


def test_the_advice_is_about_what_is_too_large() -> None:
    out, q, k, v = _attend(CAUSAL, dtype="float32")
    everything = torch.full((TOKENS, TOKENS), torch.finfo(torch.float32).min)
    bias = hw.conform(out, q, k, v, bias=everything)
    assert bias.word == "undecided"
    assert "the bias is so large" in str(bias) and "mask=" in str(bias)
    assert "smaller scores" not in str(bias)
    moderate = hw.conform(out, q, k, v, bias=torch.full((TOKENS, TOKENS), 1e7))
    assert "the bias is so large" in str(moderate)

    half = [tensor.half() for tensor in (q, k, v)]
    values = hw.conform(half[2] * 0 + 65504, half[0], half[1], half[2] * 0 + 65504)
    assert values.word == "undecided"
    assert "may overflow its type" in str(values) and "smaller values" in str(values)
    tiny = hw.conform(out * 0, q, k, v * 1e-41, causal=True)
    assert "flushed to zero; use larger values" in str(tiny)

    scores = hw.conform(out, q * 1e5, k, v)
    assert "smaller scores" in str(scores)
    overflowing = hw.conform(out, q * 1e30, k * 1e30, v)
    assert "a score may overflow" in str(overflowing)
    counts = scores.to_json()["reasons_not_judged"]
    assert counts == {"large scores": scores.unjudged_elements}


def test_within_says_what_it_does_not_exclude() -> None:
    """Sums in bfloat16 over tiles can be within the bound: the verdict says how wide it is."""
    q, k, v = _inputs(rows=64)
    mask = CAUSAL[:64, :64]
    scores = (q.float() @ k.float().mT * 0.125).masked_fill(~mask, -torch.inf)
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    sums = torch.zeros_like(q)
    for start in range(0, 64, 32):
        part = slice(start, start + 32)
        sums = sums + (weights[..., part] @ v[:, :, part].float()).bfloat16()
    out = (sums.float() / weights.sum(-1, keepdim=True)).bfloat16()
    verdict = hw.conform(out, q, k, v, causal=True, contract="fused")
    assert verdict.word == "within"
    assert 0.002 < verdict.margin < 0.02
    assert "a mistake that changes less than the bound, on average 0." in str(verdict)
    assert verdict.to_json()["margin"] == verdict.margin


# What is refused

Q, K, V = hw.attention_inputs(rows=6, dim=8, dtype="float32")
WRONG_TYPES: dict[str, tuple[dict[str, Any], str]] = {
    "causal as text": ({"causal": "no"}, "causal is 'no': expected True or False"),
    "causal as an object": ({"causal": object()}, "causal is <object .* expected True"),
    "causal as a number": ({"causal": 1}, "causal is 1: expected True or False"),
    "scale as text": ({"scale": "0.5"}, "scale is '0.5': expected a number or None"),
    "scale as True": ({"scale": True}, "scale is True: expected a number"),
    "softcap as text": ({"softcap": "no"}, "softcap is 'no': expected a number"),
    "window as text": ({"window": "all"}, "window is 'all': expected a whole number"),
    "window as True": ({"window": True}, "window is True: expected a whole number"),
    "window of fractions": ({"window": 2.5}, "window is 2.5: expected a whole number"),
    "window of texts": ({"window": ("a", "b")}, "window is .* expected a whole"),
    "corner as a list": ({"corner": []}, "corner is .*: expected 'end' or 'start'"),
    "layout as a list": ({"layout": []}, "layout is .*: expected 'bhtd' or 'bthd'"),
    "contract as a list": ({"contract": ["fused"]}, "contract is .* expected text or"),
    "contract as a number": ({"contract": 3}, "contract is 3: expected text or"),
    "rows as True": ({"rows": True}, "rows is True: expected a whole number"),
    "rows as text": ({"rows": "all"}, "rows is 'all': expected a whole number"),
    "rows as fractions": ({"rows": np.array([0.5])}, "expected whole numbers"),
    "explain as text": ({"explain": "no"}, "explain is 'no': expected True or False"),
    "progress as text": ({"progress": "yes"}, "progress is 'yes': expected a function"),
    "sinks as text": ({"sinks": ["a", "b"]}, "sinks holds .*: expected a number for"),
    "alibi as text": ({"alibi": "steep"}, "alibi holds .*: expected a number for"),
    "bias as text": ({"bias": "none"}, "bias holds .*: expected numbers"),
    "bias as an object": ({"bias": object()}, "bias is object: expected an array"),
    "mask as text": ({"mask": "causal"}, "mask holds .* expected True where"),
    "padding as text": ({"key_padding": ["a"] * 6}, "key_padding holds .* expected"),
    "padding as fractions": ({"key_padding": [0.5] * 6}, "key_padding holds float64"),
    "documents as text": ({"documents": ["a"] * 6}, "expected whole numbers"),
    "documents as a dict": ({"documents": {}}, "documents is dict: expected an array"),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_descriptions_of_another_type_are_refused(name: str) -> None:
    described, sentence = WRONG_TYPES[name]
    for judge in (hw.conform, hw.assert_attention):
        with pytest.raises(hw.InputError, match=sentence) as refusal:
            judge(V, Q, K, V, **described)
        assert "\n" not in str(refusal.value)


def test_numbers_of_numpy_are_numbers() -> None:
    q, k, v = _inputs(rows=6, dtype="float32")
    mask = CAUSAL[:6, :6].triu(-3)
    out = implementations.two_pass(q, k, v, mask, 0.5)
    described: dict[str, Any] = {"causal": np.True_, "scale": np.float32(0.5)}
    windows: list[Any] = [np.int64(4), np.array([3, 0]), [3, 0], torch.tensor([3, 0])]
    for window in windows:
        verdict = hw.conform(out, q, k, v, window=window, **described)
        assert verdict.word == "within", str(verdict)
    three: Any = np.int64(3)
    assert len(hw.conform(out, q, k, v, window=4, rows=three, **described).rows) == 3


OTHER_FUNCTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "probes, leaks": (
        lambda: hw.visible_keys(lambda q, k, v: v, rows=4, leaks="no"),  # type: ignore[arg-type]
        "leaks is 'no': expected True or False",
    ),
    "probes, expected": (
        lambda: hw.visible_keys(lambda q, k, v: v, rows=4, expected=np.ones((3, 3))),
        "expected holds float64 numbers: expected True where",
    ),
    "probes, expected shape": (
        lambda: hw.visible_keys(
            lambda q, k, v: v, rows=4, expected=np.ones((3, 3), dtype=bool)
        ),
        r"expected has shape \(3, 3\): expected one that broadcasts to",
    ),
    "inputs, type": (
        lambda: hw.attention_inputs(dtype="float8"),  # type: ignore[arg-type]
        "dtype is 'float8': expected 'float32' or",
    ),
    "inputs, seed": (lambda: hw.attention_inputs(seed=-1), "seed is -1: expected 0"),
    "models, rows": (
        lambda: hw.conforming(torch.nn.Linear(1, 1), rows="all"),  # type: ignore[arg-type]
        "rows is 'all': expected a whole number",
    ),
    "models, causal": (
        lambda: hw.expect(torch.nn.Linear(1, 1), {}, causal="yes"),  # type: ignore[arg-type]
        "causal is 'yes': expected True or False",
    ),
    "contracts, format": (
        lambda: replace(FUSED, score_format="half"),  # type: ignore[arg-type]
        "score_format is 'half': expected one of",
    ),
    "contracts, ulps": (
        lambda: replace(FUSED, exp_ulps=-1),
        "exp_ulps is -1: expected a number above 0",
    ),
}


@pytest.mark.parametrize("name", OTHER_FUNCTIONS)
def test_other_functions_refuse_them_too(name: str) -> None:
    call, sentence = OTHER_FUNCTIONS[name]
    with pytest.raises(hw.InputError, match=sentence):
        call()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
@pytest.mark.parametrize("contract", ["tf32", TENSOR_FLOAT])
def test_tf32_is_about_float32(dtype: Any, contract: str | Contract) -> None:
    q, k, v = hw.attention_inputs(rows=6, dim=8, dtype=dtype)
    with pytest.raises(hw.InputError, match="tf32 is about inputs in float32: it says"):
        hw.conform(v, q, k, v, contract=contract)

"""What cannot be judged is refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import headwright as hw

Q, K, V = hw.attention_inputs(heads=4, rows=6, keys=10, dim=8, dtype="float32")
OUT = np.zeros_like(Q)
NAN = np.full_like(Q, np.nan)


def _with(array: Any, value: float) -> Any:
    changed = array.copy()
    changed[0, 1, 2, 3] = value
    return changed


def _fails(q: Any, k: Any, v: Any) -> Any:
    raise RuntimeError("out of memory\non this device")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "NaN": (
        lambda: hw.conform(OUT, _with(Q, np.nan), K, V),
        r"q is nan at .*\(0, 1, 2, 3\): expected finite",
    ),
    "infinity": (
        lambda: hw.conform(OUT, Q, _with(K, np.inf), V),
        r"k is inf at .* expected finite",
    ),
    "dout that nothing uses": (
        lambda: hw.conform(OUT, Q, K, V, dout=OUT),
        "dout is given, and no gradients are judged",
    ),
    "no keys": (
        lambda: hw.conform(OUT, Q, K[:, :, :0], V[:, :, :0]),
        "expected at least one of each",
    ),
    "one axis": (lambda: hw.conform(OUT, Q[0, 0, 0], K, V), "q has 1 axes: expected 4"),
    "other dim": (
        lambda: hw.conform(OUT, Q[..., :4], K, V),
        "expected q and k of the same dim",
    ),
    "other batch": (
        lambda: hw.conform(OUT, np.concatenate((Q, Q)), K, V),
        "expected the same batch",
    ),
    "keys without values": (
        lambda: hw.conform(OUT, Q, K, V[:, :, :5]),
        "as many heads and tokens in k and v",
    ),
    "layout of inputs": (
        lambda: hw.conform(OUT, Q, np.swapaxes(K, 1, 2), np.swapaxes(V, 1, 2)),
        "4 query heads cannot share 10 key heads; if heads and tokens are exchanged, say layout='bthd'",
    ),
    "layout of the output": (
        lambda: hw.conform(np.swapaxes(OUT, 1, 2), Q, K, V),
        "heads and rows are exchanged, as in the layout bthd",
    ),
    "shape of the output": (
        lambda: hw.conform(OUT[:, :, :5], Q, K, V),
        r"expected \(1, 4, 6, 8\)",
    ),
    "unknown layout": (
        lambda: hw.conform(OUT, Q, K, V, layout="tbhd"),  # type: ignore[arg-type]
        "layout is 'tbhd': expected 'bhtd' or 'bthd'",
    ),
    "types differ": (
        lambda: hw.conform(OUT, Q, K.astype(np.float16), V),
        "k holds float16 numbers and q float32",
    ),
    "whole numbers": (
        lambda: hw.conform(OUT, Q.astype(int), K, V),
        "q holds numbers of type int64: expected",
    ),
    "a kernel that raises": (
        lambda: hw.conform(_fails, Q, K, V),
        r"_fails\(q, k, v\) raised RuntimeError: out of",
    ),
    "a kernel that returns None": (
        lambda: hw.conform(lambda q, k, v: None, Q, K, V),
        "the output is NoneType",
    ),
    "a kernel that returns a dict": (
        lambda: hw.conform(lambda q, k, v: {}, Q, K, V),
        "the output is dict",
    ),
    "a kernel that returns text": (
        lambda: hw.conform(lambda q, k, v: "no", Q, K, V),
        "the output is str",
    ),
    "a kernel that returns a number": (
        lambda: hw.conform(lambda q, k, v: 1.0, Q, K, V),
        r"the output has shape \(\)",
    ),
    "a list of lists": (
        lambda: hw.conform(OUT, object(), K, V),
        "q is object: expected an array",
    ),
    "window 0": (
        lambda: hw.conform(OUT, Q, K, V, window=0),
        "window is 0: expected at least 1",
    ),
    "window of three": (
        lambda: hw.conform(OUT, Q, K, V, window=(1, 2, 3)),
        "window has 3 numbers",
    ),
    "scale": (
        lambda: hw.conform(OUT, Q, K, V, scale=np.inf),
        "scale is inf: expected a finite number",
    ),
    "softcap": (
        lambda: hw.conform(OUT, Q, K, V, softcap=0.0),
        "softcap is 0.0: expected a finite number above 0",
    ),
    "corner": (
        lambda: hw.conform(OUT, Q, K, V, corner="top"),  # type: ignore[arg-type]
        "expected 'end' or 'start'",
    ),
    "sinks": (
        lambda: hw.conform(OUT, Q, K, V, sinks=[1.0]),
        "sinks has 1 numbers: expected 4",
    ),
    "alibi": (
        lambda: hw.conform(OUT, Q, K, V, alibi=[np.nan] * 4),
        "alibi holds a number that is not finite",
    ),
    "mask of numbers": (
        lambda: hw.conform(OUT, Q, K, V, mask=np.ones((6, 10))),
        "numbers that are added .* as bias=",
    ),
    "bias of booleans": (
        lambda: hw.conform(OUT, Q, K, V, bias=np.ones((6, 10), dtype=bool)),
        "give them as mask=",
    ),
    "bias of NaN": (
        lambda: hw.conform(OUT, Q, K, V, bias=np.full((6, 10), np.nan)),
        "bias holds NaN",
    ),
    "mask of another shape": (
        lambda: hw.conform(OUT, Q, K, V, mask=np.ones((5, 10), dtype=bool)),
        "broadcasts to",
    ),
    "padding": (
        lambda: hw.conform(OUT, Q, K, V, key_padding=np.ones((3, 10), dtype=bool)),
        "key_padding has shape",
    ),
    "negative lengths": (
        lambda: hw.conform(OUT, Q, K, V, key_padding=[-3]),
        "lengths outside 0 to 10",
    ),
    "no key is real": (
        lambda: hw.conform(OUT, Q, K, V, key_padding=[0]),
        "no row sees a key under this description",
    ),
    "no key is seen": (
        lambda: hw.assert_attention(NAN, Q, K, V, mask=np.zeros((6, 10), dtype=bool)),
        "no row sees a key under this description",
    ),
    "documents": (
        lambda: hw.conform(OUT, Q, K, V, documents=[0, 3, 7]),
        "cumulative lengths from 0 to 10",
    ),
    "documents as numbers": (
        lambda: hw.conform(OUT, Q, K, V, documents=[0.5] * 10),
        "expected whole numbers",
    ),
    "contract": (
        lambda: hw.conform(OUT, Q, K, V, contract="fast"),
        "there is no contract 'fast': expected one of",
    ),
    "rows": (
        lambda: hw.conform(OUT, Q, K, V, rows=[6]),
        "rows names rows outside 0 to 5",
    ),
    "no rows": (
        lambda: hw.conform(OUT, Q, K, V, rows=0),
        "rows is 0: expected at least 1",
    ),
    "kind of inputs": (
        lambda: hw.attention_inputs("cauchy"),  # type: ignore[arg-type]
        "kind is 'cauchy': expected 'gaussian' or 'outliers' or",
    ),
    "size of inputs": (
        lambda: hw.attention_inputs(rows=0),
        "expected at least 1 of each",
    ),
    "a probe that raises": (
        lambda: hw.visible_keys(_fails, rows=4),
        "the attention raised RuntimeError",
    ),
    "a probe of another shape": (
        lambda: hw.visible_keys(lambda q, k, v: v[:, :, :2], rows=4),
        "the output has shape",
    ),
    "a probe without an array": (
        lambda: hw.visible_keys(lambda q, k, v: 1, rows=4),
        "the output is int",
    ),
    "tensors without numbers": (
        lambda: hw.conform(OUT, torch.zeros(Q.shape, device="meta"), K, V),
        "q is a tensor on meta with layout torch.strided: expected one that holds all",
    ),
    "sparse tensors": (
        lambda: hw.conform(OUT, torch.from_numpy(Q).to_sparse(), K, V),
        "q is a tensor on cpu with layout torch.sparse_coo: expected one that holds",
    ),
    "a contract that allows 'yes'": (
        lambda: replace(
            hw.conformance.CONTRACTS["fused"],
            alibi_by_key="yes",  # type: ignore[arg-type]
        ),
        "alibi_by_key is 'yes': expected True or False",
    ),
    "a device that is not there": (
        lambda: hw.attention_inputs(rows=4, framework="torch", device="xpu:7"),
        "device is 'xpu:7': ",
    ),
    "no model": (
        lambda: hw.conforming(3).__enter__(),  # type: ignore[arg-type]
        "the model is int: expected a torch.nn.Module",
    ),
    "no tokens": (
        lambda: hw.expect(torch.nn.Linear(1, 1), {}),
        "batch has no input_ids",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_a_sentence(name: str) -> None:
    call, sentence = REFUSED[name]
    with pytest.raises(hw.InputError, match=sentence) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_one_key_and_one_row() -> None:
    q, k, v = hw.attention_inputs(rows=1, dim=3, heads=1, dtype="float16")
    assert hw.conform(v, q, k, v, causal=True).word == "within"


def test_a_nan_in_the_output_is_outside_and_shown() -> None:
    q, k, v = hw.attention_inputs(rows=4, dim=4, heads=1, dtype="float32")
    out = v.copy()
    out[0, 0, 2, 1] = np.nan
    verdict = hw.conform(out, q, k, v)
    assert (
        verdict.word == "outside"
        and "The output is nan at batch 0, head 0, row 2, column 1" in str(verdict)
    )
    assert verdict.to_json()["ratio"] is None


def test_fewer_axes_and_other_libraries() -> None:
    import array_api_strict

    q, k, v = hw.attention_inputs(rows=12, dim=8, heads=1, dtype="float32")
    exact = hw.attend(k[0, 0], q[0, 0], scale=8**-0.5).pattern @ v[0, 0]
    out = np.asarray(exact, dtype=np.float32)
    assert hw.conform(out, q[0, 0], k[0, 0], v[0, 0]).word == "within"
    strict = [array_api_strict.asarray(array[0]) for array in (q, k, v)]
    assert hw.conform(out[None], *strict).word == "within"
    assert hw.conform(out.astype(float).tolist(), q, k, v).word == "within"


def test_inputs_are_the_same_for_the_same_seed() -> None:
    first, second = (
        hw.attention_inputs(seed=4, rows=8),
        hw.attention_inputs(seed=4, rows=8),
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    tensors = hw.attention_inputs(seed=4, rows=8, framework="torch")
    assert np.array_equal(tensors[0].float().numpy(), first[0].astype(np.float32))


def test_kernels_may_change_their_inputs() -> None:
    q, k, v = hw.attention_inputs(rows=16, dim=8, dtype="float64", framework="torch")

    def kernel(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        q.zero_()
        return out

    assert hw.conform(kernel, q, k, v).word == "within"


@pytest.mark.filterwarnings("error")
def test_hypotheses_that_overflow_are_silent() -> None:
    q, k, v = hw.attention_inputs(rows=5, dim=3, dtype="float64")
    verdict = hw.conform(v, q, k, v, softcap=1e-320)
    assert verdict.word in ("outside", "undecided")

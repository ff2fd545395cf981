"""Functions of flash_attn and xformers are seen: here functions of their names, which compute attention plainly."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import headwright as hw
from headwright.errors import InputError

NAMES = ("entropy", "largest", "winner")
PATTERNS: list[Tensor] = []


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float | None,
    causal: bool = False,
    window: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    slopes: Tensor | None = None,
    added: Tensor | None = None,
) -> Tensor:
    """Of (batch, tokens, heads, d), place by place, as the documentation of flash_attn has it."""
    batch, rows, heads, d = q.shape
    count, shared = k.shape[1], heads // k.shape[2]
    scores = torch.full((batch, heads, rows, count), -torch.inf)
    for text in range(batch):
        for head in range(heads):
            for row in range(rows):
                own = row + count - rows
                for key in range(count):
                    left, right = window
                    hidden = causal and key > own
                    hidden = hidden or (left >= 0 and key < own - left)
                    hidden = hidden or (right >= 0 and key > own + right)
                    if hidden:
                        continue
                    score = q[text, row, head] @ k[text, key, head // shared]
                    score = score * (d**-0.5 if scale is None else scale)
                    if softcap:
                        score = softcap * torch.tanh(score / softcap)
                    if slopes is not None:
                        score = score - slopes.expand(batch, heads)[text, head] * abs(
                            own - key
                        )
                    scores[text, head, row, key] = score
    if added is not None:
        scores = scores + added
    pattern = scores.softmax(-1)
    PATTERNS.append(pattern.detach())
    mixed = pattern @ v.repeat_interleave(shared, 2).transpose(1, 2)
    return mixed.transpose(1, 2)


def flash_attn_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    del dropout_p, deterministic
    scoring = softmax_scale, causal, window_size, softcap, alibi_slopes
    output = _attend(q, k, v, *scoring)
    return (output, None, None) if return_attn_probs else output


def flash_attn_qkvpacked_func(qkv: Tensor, causal: bool = False, **_: Any) -> Tensor:
    query, key, value = qkv.unbind(2)
    return _attend(query, key, value, None, causal)


def flash_attn_kvpacked_func(
    q: Tensor, kv: Tensor, causal: bool = False, **_: Any
) -> Tensor:
    key, value = kv.unbind(2)
    return _attend(q, key, value, None, causal)


def flash_attn_varlen_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    causal: bool = False,
    block_table: Tensor | None = None,
) -> Tensor:
    del max_seqlen_q, max_seqlen_k, block_table
    outputs = []
    ends = zip(cu_seqlens_q.tolist(), cu_seqlens_k.tolist(), strict=True)
    start, key_start = next(ends)
    for stop, key_stop in ends:
        query = q[None, start:stop]
        key, value = k[None, key_start:key_stop], v[None, key_start:key_stop]
        outputs.append(_attend(query, key, value, None, causal)[0])
        start, key_start = stop, key_stop
    return torch.cat(outputs)


def flash_attn_with_kvcache(q: Tensor, k_cache: Tensor, v_cache: Tensor) -> Tensor:
    return _attend(q, k_cache, v_cache, None)


def memory_efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Any = None,
    p: float = 0.0,
    scale: float | None = None,
    *,
    op: Any = None,
) -> Tensor:
    del p, op
    if attn_bias is not None and not isinstance(attn_bias, Tensor):
        shape = (*query.transpose(1, 2).shape[:3], key.shape[1])
        attn_bias = attn_bias.materialize(shape)
    return _attend(query, key, value, scale, added=attn_bias)


class LowerTriangular:
    """A bias that is no tensor."""

    def materialize(
        self, shape: tuple[int, ...], dtype: Any = torch.float32, device: Any = "cpu"
    ) -> Tensor:
        return torch.full(shape, -torch.inf, dtype=dtype, device=device).triu(1)


@pytest.fixture
def code(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The code of a model, which has imported the functions."""
    flash, ops = types.ModuleType("flash_attn"), types.ModuleType("xformers.ops")
    model_code: Any = types.ModuleType("code_of_a_model")
    for function in (
        flash_attn_func,
        flash_attn_qkvpacked_func,
        flash_attn_kvpacked_func,
        flash_attn_varlen_func,
        flash_attn_with_kvcache,
        memory_efficient_attention,
    ):
        package = ops if function is memory_efficient_attention else flash
        setattr(package, function.__name__, function)
        setattr(model_code, function.__name__, function)
    for module in (flash, ops, model_code):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    PATTERNS.clear()
    yield model_code
    assert model_code.flash_attn_func is flash_attn_func
    assert flash.flash_attn_func is flash_attn_func


class Calls(nn.Module):
    """A layer that calls a function of the model's code."""

    def __init__(self, code: Any, name: str, options: dict[str, Any]) -> None:
        super().__init__()
        self.code, self.name, self.options = code, name, options

    def forward(self, *tensors: Tensor) -> Any:
        return getattr(self.code, self.name)(*tensors, **self.options)


def _tensor(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator)


def _check(seen: Any, pattern: Tensor) -> None:
    layer = seen.layer("0")
    logs = torch.where(pattern > 0, pattern, 1.0).log()
    np.testing.assert_allclose(layer.entropy, -(pattern * logs).sum(-1), atol=1e-5)
    np.testing.assert_allclose(layer.largest, pattern.amax(-1), atol=1e-5)
    np.testing.assert_array_equal(layer.winner, pattern.argmax(-1))


QKV = (_tensor(2, 5, 4, 8), _tensor(2, 7, 2, 8), _tensor(2, 7, 2, 6))
SLOPES = torch.tensor([0.5, 0.25, 0.1, 2.0])
FLASH: list[dict[str, Any]] = [
    {},
    {"causal": True, "softmax_scale": 0.7, "return_attn_probs": True},
    {"causal": True, "window_size": (2, 3)},
    {"window_size": (1, 1)},
    {"window_size": (1, 2)},
    {"window_size": (-1, 0), "dropout_p": 0.0},
    {"causal": True, "softcap": 1.5, "deterministic": True},
    {"causal": True, "alibi_slopes": SLOPES},
    {"alibi_slopes": torch.stack([SLOPES, 3 * SLOPES])},
]


@pytest.mark.parametrize("options", FLASH)
def test_flash_attention_is_seen(code: Any, options: dict[str, Any]) -> None:
    model = nn.ModuleList([Calls(code, "flash_attn_func", options)])
    with hw.watch(model, NAMES) as seen:
        model[0](*QKV)
    _check(seen, PATTERNS[0])
    assert len(PATTERNS) == 1


def test_what_is_packed_is_seen(code: Any) -> None:
    query, key, value = (_tensor(2, 6, 4, 8) + n for n in range(3))
    kinds = {
        "flash_attn_qkvpacked_func": (torch.stack([query, key, value], 2),),
        "flash_attn_kvpacked_func": (query, torch.stack([key, value], 2)),
    }
    for name, tensors in kinds.items():
        model = nn.ModuleList([Calls(code, name, {"causal": True})])
        with hw.watch(model, NAMES) as seen:
            model[0](*tensors)
        _check(seen, PATTERNS.pop())


def test_texts_one_behind_the_other_do_not_see_each_other(code: Any) -> None:
    ends = torch.tensor([0, 3, 4, 9], dtype=torch.int32)
    options = {"cu_seqlens_q": ends, "cu_seqlens_k": ends, "causal": True}
    options |= {"max_seqlen_q": 5, "max_seqlen_k": 5}
    model = nn.ModuleList([Calls(code, "flash_attn_varlen_func", options)])
    tensors = [_tensor(9, 2, 8) + n for n in range(3)]
    with hw.watch(model, NAMES) as seen:
        model[0](*tensors)
    together = torch.zeros(1, 2, 9, 9)
    for pattern, start in zip(PATTERNS, (0, 3, 4), strict=True):
        stop = start + pattern.shape[2]
        together[:, :, start:stop, start:stop] = pattern
    _check(seen, together)


@pytest.mark.parametrize("bias", [None, "tensor", "object"])
def test_attention_of_xformers_is_seen(code: Any, bias: str | None) -> None:
    kinds = {None: None, "tensor": _tensor(2, 4, 5, 7), "object": LowerTriangular()}
    options = {"attn_bias": kinds[bias], "scale": 0.4}
    model = nn.ModuleList([Calls(code, "memory_efficient_attention", options)])
    query, key, value = QKV
    tensors = query, key.repeat_interleave(2, 2), value.repeat_interleave(2, 2)
    with hw.watch(model, NAMES) as seen:
        model[0](*tensors)
    _check(seen, PATTERNS[0])


def test_it_is_no_call_of_the_model_outside_of_it_or_of_the_block(code: Any) -> None:
    model = nn.ModuleList([Calls(code, "flash_attn_func", {})])
    with hw.watch(model, NAMES) as seen:
        code.flash_attn_func(*QKV)
        with hw.watch(nn.ModuleList([model[0]]), NAMES) as inner:
            model[0](*QKV)
    model[0](*QKV)
    for recording in (seen, inner):
        assert recording.layer("0").entropy.shape == (2, 4, 5)
        assert len(recording.parts["model"].runs) == 1


def test_what_is_not_known_is_refused_by_name(code: Any) -> None:
    ends = torch.tensor([0, 3, 9], dtype=torch.int32)
    others = torch.tensor([0, 4, 9], dtype=torch.int32)
    lengths: dict[str, Any] = {"max_seqlen_q": 6, "max_seqlen_k": 6}
    lengths |= {"cu_seqlens_q": ends, "cu_seqlens_k": others}
    paged = lengths | {"cu_seqlens_k": ends, "block_table": torch.ones(1)}
    flat = [_tensor(9, 2, 8)] * 3
    cases: list[tuple[str, dict[str, Any], Any, str]] = [
        ("flash_attn_with_kvcache", {}, QKV, "calls flash_attn_with_kvcache"),
        ("flash_attn_varlen_func", lengths, flat, "keys of other lengths"),
        ("flash_attn_varlen_func", paged, flat, "passes block_table"),
    ]
    for name, options, tensors, words in cases:
        model = nn.ModuleList([Calls(code, name, options)])
        with pytest.raises(InputError, match=words), hw.watch(model, NAMES):
            model[0](*tensors)

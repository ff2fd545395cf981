"""A forward pass hands its layers to a visitor: one at a time, and nothing left behind."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from transformers import AttentionInterface, AttentionMaskInterface

from headwright.errors import InputError
from headwright.models import LayerActivations, load_model
from headwright.models.attention_calls import AttentionCall
from headwright.models.kernel_arguments import BLOCKWISE
from headwright.models.model import layer_at
from headwright.models.transformers_calls import transformers_calls
from tests.models.tiny import CONFIGS, saved, some_tokens


@pytest.fixture
def model(tmp_path: Path) -> Any:
    return load_model(saved("llama", tmp_path))


def _registered() -> tuple[set[str], set[str]]:
    attention = set(AttentionInterface._global_mapping)
    return attention, set(AttentionMaskInterface._global_mapping)


def _ran_layers(model: Any) -> list[int]:
    """A list that grows by the number of each layer that the network has begun."""
    ran: list[int] = []
    for number, layer in enumerate(model.network.layers):
        layer.register_forward_pre_hook(lambda *_, number=number: ran.append(number))
    return ran


def test_a_layer_is_visited_before_the_next_one_is_run(model: Any) -> None:
    ran = _ran_layers(model)
    ran_when_visited: list[list[int]] = []
    model.visit_layers(some_tokens(), lambda _: ran_when_visited.append(list(ran)))
    assert ran_when_visited == [[0], [0, 1]]


def test_layers_behind_the_last_one_that_is_wanted_are_not_run(model: Any) -> None:
    ran, before = _ran_layers(model), _registered()
    assert layer_at(model, some_tokens(), 0).index == 0
    assert ran == [0]
    assert _registered() == before
    with pytest.raises(InputError, match=r"layer 2, and .* has 2: expected 0 to 1"):
        layer_at(model, some_tokens(), 2)


@pytest.mark.parametrize("error", [ValueError("broken"), InputError("refused")])
def test_an_error_of_a_visitor_is_raised_as_it_is(error: Exception, model: Any) -> None:
    before = _registered()

    def fail(_: LayerActivations) -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        model.visit_layers(some_tokens(), fail)
    assert raised.value is error
    assert _registered() == before
    assert model.network.config._attn_implementation == BLOCKWISE


def test_threads_that_run_one_model_see_their_own_layers(model: Any) -> None:
    """Each waits for the others in every layer, so that the calls of all are mixed."""
    lengths = (5, 8, 13)
    together = threading.Barrier(len(lengths), timeout=60)
    visited: dict[int, list[tuple[int, ...]]] = {length: [] for length in lengths}

    def work(length: int) -> None:
        def visit(layer: LayerActivations) -> None:
            visited[length].append((layer.index, layer.queries.shape[1]))
            together.wait()

        model.visit_layers(np.arange(length), visit)

    threads = [threading.Thread(target=work, args=(length,)) for length in lengths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert visited == {length: [(0, length), (1, length)] for length in lengths}


@pytest.mark.parametrize(
    ("family", "kernel"), [("mistral", "sdpa"), ("gemma2", "eager")]
)
def test_a_call_has_all_that_the_output_depends_on(family: str, kernel: str) -> None:
    """The output again from the call: scale, softcap, window, shared keys, padding."""
    torch.manual_seed(0)
    make: Any = hf.AutoModelForCausalLM.from_config
    model = make(CONFIGS[family](), attn_implementation=kernel).eval()
    padding = torch.ones(2, 12, dtype=torch.long)
    padding[0, :4] = 0
    calls: list[AttentionCall] = []
    with torch.no_grad(), transformers_calls(model, calls.append):
        model(input_ids=torch.arange(24).reshape(2, 12), attention_mask=padding)
    assert [call.layer_index for call in calls] == [0, 1]
    for call in calls:
        groups = call.queries.shape[1] // call.keys.shape[1]
        keys = call.keys.repeat_interleave(groups, 1)
        scores = call.scale * call.queries @ keys.mT
        if call.softcap is not None:
            scores = call.softcap * torch.tanh(scores / call.softcap)
        assert call.mask is not None and call.output is not None
        mask = call.mask
        if mask.dtype == torch.bool:
            mask = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
        scores = scores + mask
        values = call.values.repeat_interleave(groups, 1)
        output = scores.softmax(-1) @ values
        # A row of padding sees nothing, and what a kernel makes of that differs.
        real = padding.bool()[:, None, :, None].expand_as(output)
        torch.testing.assert_close(output[real], call.output[real])

"""A watched model computes what it did before, and what was seen is what eager attention stores."""

from __future__ import annotations

import gc
import re
import threading
import weakref
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from transformers import AttentionInterface, AttentionMaskInterface

from headwright.errors import InputError
from headwright.statistics.table import TABLE
from headwright.watching import register, watch
from headwright.watching import seen as standing
from headwright.watching.statistics_queue import MOST_STEPS
from tests.models.tiny import CONFIGS
from tests.watching.eager import (
    CAUSAL,
    FULL,
    SPECIAL,
    batch,
    compare,
    from_pattern,
    stored,
    tiny,
)

register()
HOW: dict[str, Any] = {"ends": (2, 3), "top": 3, "last_rows": 4, "keys": (1, 5, 9)}
ROWS = tuple(name for name in tuple(TABLE) if not name.startswith("received"))


def _check(
    seen: Any,
    patterns: Any,
    inputs: dict[str, torch.Tensor],
    *,
    tokens: Any = None,
    how: dict[str, Any] = HOW,
) -> None:
    counted = inputs["attention_mask"].bool().numpy()
    ids = inputs["input_ids"] if tokens is None else tokens
    for index, pattern in enumerate(patterns):
        truth = from_pattern(pattern, counted, ids.numpy(), counted.argmax(1), **how)
        compare(seen.layer(index), truth)


def _patterns(
    model: Any, inputs: dict[str, torch.Tensor], **more: Any
) -> list[np.ndarray]:
    with stored(model) as patterns:
        model(**inputs, **more)
    return patterns


def _registered() -> tuple[set[str], set[str]]:
    return set(AttentionInterface._global_mapping), set(
        AttentionMaskInterface._global_mapping
    )


@pytest.mark.parametrize("padding", [None, "left", "right"])
@pytest.mark.parametrize("family", [*CAUSAL, *FULL])
def test_statistics_are_those_of_the_stored_patterns(
    family: str, padding: str | None
) -> None:
    model, inputs = tiny(family), batch(padding)
    if padding == "left" and family == "roberta":
        inputs["input_ids"][inputs["attention_mask"] == 0] = (
            1  # its positions are counted from the padding token on
        )
    more = {} if family in FULL else {"use_cache": False}
    before = _registered()
    with torch.no_grad():
        plain = model(**inputs, **more)[0]
        with watch(model, tuple(TABLE), special=SPECIAL, **HOW) as seen:
            watched = model(**inputs, **more)[0]
    assert torch.equal(plain.nan_to_num(7.0), watched.nan_to_num(7.0))
    assert _registered() == before
    _check(seen, _patterns(model, inputs, **more), inputs)
    rows = int(inputs["attention_mask"].sum())
    summary = seen.summary()
    assert summary["head"].tolist() == [0, 1, 2, 3] * 2 and set(summary["rows"]) == {
        rows
    }


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("family", CAUSAL)
def test_decode_steps_extend_the_prefill(family: str, cache: str) -> None:
    model, inputs = tiny(family), batch("left")
    how: dict[str, Any] = {
        "max_new_tokens": 5,
        "do_sample": False,
        "pad_token_id": 0,
        "eos_token_id": 49,
        "min_new_tokens": 5,
    }
    if cache == "static":
        how["cache_implementation"] = "static"
    plain = model.generate(**inputs, **how)
    with watch(model, ROWS, special=SPECIAL, **HOW) as seen:
        watched = model.generate(**inputs, **how)
    assert torch.equal(plain, watched)
    assert len(next(iter(seen.parts.values())).runs) == 1
    tokens = watched[:, :-1]
    mask = torch.cat(
        [inputs["attention_mask"], torch.ones(2, 4, dtype=torch.long)], dim=1
    )
    extended = {"input_ids": tokens, "attention_mask": mask}
    positions = (
        {}
        if family in ("opt",)
        else {"position_ids": (mask.cumsum(1) - 1).clamp_min(0)}
    )
    _check(seen, _patterns(model, extended, use_cache=False, **positions), extended)


def test_many_decode_steps_are_computed_together_and_can_be_read_between_them() -> None:
    model, inputs = tiny("llama"), batch("left")
    read: list[int] = []

    class Read(hf.StoppingCriteria):
        def __call__(self, ids: torch.Tensor, *_: Any, **__: Any) -> Any:
            if ids.shape[1] in (14, 100):
                read.append(seen.layer(1).entropy.shape[2])
            return torch.zeros(len(ids), dtype=torch.bool)

    new = MOST_STEPS + 20
    how = {
        "max_new_tokens": new,
        "min_new_tokens": new,
        "do_sample": False,
        "pad_token_id": 0,
    }
    with watch(model, ROWS, special=SPECIAL, **HOW) as seen:
        tokens = model.generate(
            **inputs, **how, stopping_criteria=hf.StoppingCriteriaList([Read()])
        )[:, :-1]
    assert read == [13, 99]
    mask = torch.cat(
        [inputs["attention_mask"], torch.ones(2, new - 1, dtype=torch.long)], dim=1
    )
    extended = {"input_ids": tokens, "attention_mask": mask}
    positions = {"position_ids": (mask.cumsum(1) - 1).clamp_min(0)}
    _check(seen, _patterns(model, extended, use_cache=False, **positions), extended)


def test_a_cache_that_is_changed_between_steps_does_not_change_what_was_seen() -> None:
    model, inputs = tiny("llama"), batch(None)
    step = {"input_ids": torch.tensor([[5], [7]])}

    def watched(read: bool) -> list[np.ndarray]:
        with torch.no_grad(), watch(model, ("entropy", "received")) as seen:
            cache = hf.DynamicCache()
            model(**inputs, past_key_values=cache)
            model(**step, past_key_values=cache)
            if read:
                assert seen.layer(0).entropy.shape[2] == 13
            cache.reorder_cache(torch.LongTensor([1, 0]))
            model(**step, past_key_values=cache)
        return [getattr(seen.layer(1), name) for name in ("entropy", "received")]

    for late, now in zip(watched(read=False), watched(read=True), strict=True):
        np.testing.assert_allclose(late, now, rtol=1e-9)


@pytest.mark.parametrize("keep", ["rows", "both"])
def test_steps_after_a_cache_that_was_filled_before_are_one_run(keep: str) -> None:
    model, inputs = tiny("llama"), batch(None)
    cache = hf.DynamicCache()
    with torch.no_grad():
        model(**inputs, past_key_values=cache)
        with watch(model, ("entropy", "received"), keep=keep) as seen:
            for token in (5, 6, 7):
                model(input_ids=torch.full((2, 1), token), past_key_values=cache)
    assert len(seen.parts["model"].runs) == 1 and seen.layer(1).entropy.shape == (
        2,
        4,
        3,
    )
    assert (
        seen.layer(1).first_position == 12
        and np.isclose(seen.layer(1).received.sum(2), 3).all()
    )


def test_caches_that_are_used_in_turn_have_a_run_each() -> None:
    model, inputs = tiny("llama"), batch(None)
    caches = hf.DynamicCache(), hf.DynamicCache()
    with torch.no_grad(), watch(model, ("entropy",)) as seen:
        for cache in caches:
            model(**inputs, past_key_values=cache)
        for token in (5, 6, 7):
            for cache in caches:
                model(input_ids=torch.full((2, 1), token), past_key_values=cache)
    assert [seen.layer(1, run).entropy.shape[2] for run in range(2)] == [15, 15]
    np.testing.assert_allclose(seen.layer(1, 0).entropy, seen.layer(1, 1).entropy)


def _beams(model: Any, inputs: dict[str, torch.Tensor]) -> None:
    model.generate(
        **inputs, num_beams=3, max_new_tokens=8, min_new_tokens=8, pad_token_id=0
    )


def _filled(model: Any, inputs: dict[str, torch.Tensor]) -> None:
    cache = hf.DynamicCache()
    for layer in range(2):
        cache.update(
            torch.ones(2, 2, 3, 8, dtype=model.dtype),
            torch.ones(2, 2, 3, 8, dtype=model.dtype),
            layer,
        )
    model(input_ids=inputs["input_ids"], past_key_values=cache)


def _in_place(model: Any, inputs: dict[str, torch.Tensor]) -> None:
    cache = hf.DynamicCache()
    for tokens in (
        inputs["input_ids"],
        torch.ones(2, 1, dtype=torch.long),
        torch.ones(2, 1, dtype=torch.long),
    ):
        model(input_ids=tokens, past_key_values=cache)
        layer: Any = cache.layers[0]
        layer.keys.mul_(-1)


def _early_exit(model: Any, inputs: dict[str, torch.Tensor]) -> None:
    model.generate(
        **inputs,
        assistant_early_exit=1,
        max_new_tokens=4,
        do_sample=False,
        pad_token_id=0,
    )


@pytest.mark.parametrize(
    ("run", "words", "many"),
    [
        (_beams, "beam search has moved them", True),
        (_filled, "tokens .* of all keys", True),
        (_in_place, "changed in place", True),
        (_early_exit, "fewer layers", False),
    ],
)
def test_what_is_not_known_is_refused_while_it_runs(
    run: Any, words: str, many: bool
) -> None:
    model, inputs = tiny("llama"), batch(None)
    inputs = inputs if many else {name: value[:1] for name, value in inputs.items()}
    with (
        torch.no_grad(),
        pytest.raises(InputError, match=words),
        watch(model, ("special",), special=SPECIAL),
    ):
        run(model, inputs)


def test_a_cache_that_is_emptied_and_used_again_starts_a_run_and_no_model_is_kept() -> (
    None
):
    model, inputs = tiny("llama"), batch(None)
    cache = hf.DynamicCache()
    with torch.no_grad(), watch(model, ("entropy",)) as seen:
        model(**inputs, past_key_values=cache)
        model(input_ids=torch.ones(2, 1, dtype=torch.long), past_key_values=cache)
        cache.layers.clear()
        model(**inputs, past_key_values=cache)
    assert [seen.layer(0, run).entropy.shape[2] for run in range(2)] == [13, 12]
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None and seen.layer(1).entropy.shape == (2, 4, 12)


def test_a_family_that_calls_attention_twice_a_layer_is_refused() -> None:
    library: Any = hf
    config = library.DiffLlamaConfig(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=4,
        vocab_size=50,
    )
    model = library.DiffLlamaForCausalLM(config)
    with pytest.raises(InputError, match="more than once a layer"), watch(model):
        model(input_ids=torch.arange(6)[None])


@pytest.mark.parametrize("family", ["bart-encoder", "t5"])
@pytest.mark.parametrize("padding", [None, "right"])
def test_encoder_decoder_and_cross_attention_are_told_apart(
    family: str, padding: str | None
) -> None:
    model, inputs = tiny(family, loader=hf.AutoModelForSeq2SeqLM), batch(padding)
    answer = torch.tensor([[2, 7, 9, 11, 4], [2, 8, 8, 5, 3]])
    with torch.no_grad():
        plain = model(**inputs, decoder_input_ids=answer).logits
        with watch(model, tuple(TABLE), special=SPECIAL, **HOW) as seen:
            watched = model(**inputs, decoder_input_ids=answer).logits
    assert torch.equal(plain, watched)
    patterns = _patterns(model, inputs, decoder_input_ids=answer)
    counted, full = inputs["attention_mask"].bool().numpy(), np.ones((2, 5), dtype=bool)
    ids = inputs["input_ids"].numpy()
    assert [pattern.shape[2:] for pattern in patterns] == [(12, 12)] * 2 + [
        (5, 5),
        (5, 12),
    ] * 2
    for layer in range(2):
        compare(
            seen.encoder.layer(layer),
            from_pattern(patterns[layer], counted, ids, counted.argmax(1), **HOW),
        )
        mine = from_pattern(
            patterns[2 + 2 * layer], full, answer.numpy(), full.argmax(1), **HOW
        )
        compare(seen.decoder.layer(layer), mine)
        cross = from_pattern(
            patterns[3 + 2 * layer], full, ids, counted.argmax(1), **HOW
        )
        compare(seen.cross.layer(layer), cross)
        assert not hasattr(seen.cross.layer(layer), "distance")
    with pytest.raises(
        InputError,
        match=r"encoder.layer\(0\) or decoder.layer\(0\) or cross.layer\(0\)",
    ):
        seen.layer(0)
    assert set(seen.summary()["part"]) == {"encoder", "decoder", "cross"}


def test_generate_of_an_encoder_decoder_extends_decoder_and_cross() -> None:
    model, inputs = (
        tiny("bart-encoder", loader=hf.AutoModelForSeq2SeqLM),
        batch("right"),
    )
    how = {"max_new_tokens": 4, "min_new_tokens": 4, "num_beams": 1, "do_sample": False}
    with watch(
        model, ("largest", "margin", "winner", "special"), special=SPECIAL
    ) as seen:
        out = model.generate(**inputs, **how)
    patterns = _patterns(model, inputs, decoder_input_ids=out[:, :-1])
    for layer in range(2):
        for part, at in ((seen.decoder, 2 + 2 * layer), (seen.cross, 3 + 2 * layer)):
            np.testing.assert_allclose(
                part.layer(layer).largest, patterns[at].max(-1), atol=1e-5
            )
        assert seen.encoder.layer(layer).largest.shape == (2, 4, 12)


def test_beams_are_recorded_in_the_places_of_the_batch_that_they_had() -> None:
    model, inputs = tiny("llama"), batch("left")
    how = {
        "max_new_tokens": 4,
        "num_beams": 3,
        "do_sample": False,
        "pad_token_id": 0,
        "eos_token_id": 49,
    }
    plain = model.generate(**inputs, **how)
    with watch(model, ("largest",)) as seen:
        assert torch.equal(plain, model.generate(**inputs, **how))
    with stored(model) as patterns:
        model.generate(**inputs, **how)
    for layer in range(2):
        got = seen.layer(layer).largest
        steps = [pattern.max(-1) for pattern in patterns[layer::2]]
        truth = np.concatenate(steps, axis=2)
        truth[:3, :, :4] = np.nan  # padding
        assert got.shape == (6, 4, 12 + len(steps) - 1)
        np.testing.assert_allclose(got, truth, atol=1e-5)


def test_assisted_decoding_takes_rejected_rows_back() -> None:
    model, helper = tiny("llama"), tiny("qwen3")
    inputs = {name: value[1:] for name, value in batch(None).items()}
    how = {
        "max_new_tokens": 8,
        "do_sample": False,
        "pad_token_id": 0,
        "eos_token_id": 49,
    }
    plain = model.generate(**inputs, **how)
    with watch(model, ROWS, special=SPECIAL, **HOW) as seen:
        out = model.generate(**inputs, **how, assistant_model=helper)
    assert torch.equal(plain, out)
    tokens = out[:, : seen.layer(0).largest.shape[2]]
    assert tokens.shape[1] in (out.shape[1] - 1, out.shape[1])
    _check(
        seen,
        _patterns(model, {"input_ids": tokens}),
        {"input_ids": tokens, "attention_mask": tokens * 0 + 1},
    )
    for refused in ({"keep": "means"}, {"statistics": ("received",)}):
        with (
            pytest.raises(InputError, match="assisted decoding"),
            watch(model, **refused),
        ):
            model.generate(**inputs, **how, assistant_model=helper)
        assert model.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("again", [True, False])
def test_training_with_checkpoints_records_each_row_once_and_the_same_gradients(
    again: bool,
) -> None:
    model, inputs = tiny("llama").train(), batch(None)
    model.gradient_checkpointing_enable({"use_reentrant": again})

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        model(**inputs, labels=inputs["input_ids"], use_cache=False).loss.backward()
        return [
            parameter.grad.clone()
            for parameter in model.parameters()
            if parameter.grad is not None
        ]

    plain = gradients()
    with watch(model, ("entropy", "received"), keep="both") as seen:
        watched = gradients()
    assert len(plain) == len(watched)
    assert all(
        torch.equal(one, other) for one, other in zip(plain, watched, strict=True)
    )
    assert seen.layer(1).entropy.shape == (2, 4, 12)
    np.testing.assert_allclose(seen.layer(0).received.sum(-1), 12.0)
    assert set(seen.summary()["rows"]) == {24}


def test_means_are_those_of_the_rows_and_runs_add_up() -> None:
    model = tiny("llama")
    names = ("largest", "entropy", "margin", "largest_score", "winner", "start")
    kept = {}
    for keep in ("rows", "means", "both"):
        with watch(model, names, keep=keep) as seen:
            for padding in ("left", None):
                model(**batch(padding))
        kept[keep] = seen
    summaries = [each.summary() for each in kept.values()]
    for other in summaries[1:]:
        assert list(other) == list(summaries[0])
        for name, value in other.items():
            if name != "part":
                np.testing.assert_allclose(value, summaries[0][name], err_msg=name)
    assert (
        kept["rows"].layer(0, run=0).largest.shape
        == kept["both"].layer(0).largest.shape
        == (2, 4, 12)
    )
    assert np.isnan(kept["rows"].layer(0, run=0).largest).sum() == 16
    assert not np.isnan(kept["both"].layer(0).largest).any()
    with pytest.raises(InputError, match="run 1"):
        kept["both"].layer(0, run=1)
    with pytest.raises(AttributeError, match="largest was not kept: no statistic was"):
        _ = kept["means"].layer(0).largest


def test_a_thread_two_models_and_nested_blocks_do_not_interfere() -> None:
    one, two, inputs = tiny("llama"), tiny("llama"), batch(None)
    how = {
        "max_new_tokens": 3,
        "do_sample": False,
        "pad_token_id": 0,
        "eos_token_id": 49,
    }
    with watch(one, ("largest",)) as outer, watch(two) as other:
        thread = threading.Thread(target=lambda: one.generate(**inputs, **how))
        thread.start()
        thread.join()
        with watch(one, ("entropy",)) as inner:
            one(**inputs)
        one(**inputs)
    assert len(outer.parts["model"].runs) == 3
    assert outer.layer(0, run=0).largest.shape == (2, 4, 14)
    assert len(inner.parts["model"].runs) == 1
    assert not other.parts
    assert inner.layer(0).names == ("entropy",)


def test_blocks_may_end_in_any_order_and_after_an_exception() -> None:
    model, before = tiny("llama"), _registered()
    first, second = watch(model), watch(model)
    seen, later = first.__enter__(), second.__enter__()
    first.__exit__(None, None, None)
    model(**batch(None))
    second.__exit__(None, None, None)
    assert not seen.parts
    assert later.layer(0).largest.shape == (2, 4, 12)

    class Stop(hf.StoppingCriteria):
        def __call__(self, *_: Any, **__: Any) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watch(model) as seen:
        model.generate(
            **batch(None), max_new_tokens=3, stopping_criteria=[Stop()], pad_token_id=0
        )
    assert seen.layer(0).largest.shape == (2, 4, 12)
    assert (model.config._attn_implementation, _registered()) == ("sdpa", before)
    assert not any(module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_the_implementation_by_name_keeps_means_and_the_last_run(family: str) -> None:
    model, inputs = tiny(family, implementation="headwright"), batch("left")
    plain = tiny(family)
    how = {
        "max_new_tokens": 4,
        "do_sample": False,
        "pad_token_id": 0,
        "eos_token_id": 49,
    }
    with watch(plain) as truth:
        out = plain.generate(**inputs, **how)
    assert torch.equal(out, model.generate(**inputs, **how))
    for layer in range(2):
        for name in truth.wanted.names:
            named = getattr(standing(model).layer(layer), name)
            np.testing.assert_allclose(
                named, getattr(truth.layer(layer), name), rtol=1e-12
            )
    with watch(model, ("entropy",)) as seen:
        model(**inputs)
    assert seen.layer(0).entropy.shape == (2, 4, 12)
    with pytest.raises(InputError, match="use watch"):
        standing(plain)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"statistics": ("entropi",)}, "there is no statistic entropi"),
        ({"statistics": ()}, "at least one statistic"),
        ({"keep": "all"}, "keep = all"),
        ({"top": 0}, "top = 0"),
        ({"ends": (1,)}, "ends = (1,): expected two whole numbers"),
    ],
)
def test_what_cannot_be_watched_is_refused_before_anything_runs(
    how: dict[str, Any], words: str
) -> None:
    model = tiny("llama")
    with pytest.raises(InputError, match=re.escape(words)), watch(model, **how):
        pass
    assert model.config._attn_implementation == "sdpa"


def _compiled() -> Any:
    model = tiny("llama")
    model.model.layers[0].compile()
    return model


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
def test_a_compiled_model_runs_uncompiled_in_its_blocks_and_compiled_after_them() -> (
    None
):
    model = tiny("llama")
    torch._dynamo.reset()
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        del inputs
        graphs.append(graph)
        return graph.forward

    compiled: Any = torch.compile(model, backend=backend)
    tokens = torch.tensor([[1, 2, 3, 4]])
    with watch(model, ("entropy",)) as truth:
        model(input_ids=tokens, use_cache=False)
    first = watch(compiled, ("entropy",))
    second = watch(compiled, ("entropy",))
    seen, also_seen = first.__enter__(), second.__enter__()
    compiled(input_ids=tokens, use_cache=False)
    first.__exit__(None, None, None)
    compiled(input_ids=tokens, use_cache=False)
    second.__exit__(None, None, None)
    assert not graphs
    compiled(input_ids=tokens, use_cache=False)
    assert graphs
    for layer in range(2):
        entropy = truth.layer(layer).entropy
        np.testing.assert_array_equal(seen.layer(layer).entropy, entropy)
        np.testing.assert_array_equal(also_seen.layer(layer, run=1).entropy, entropy)


class Adapted(torch.nn.Module):
    """As the adapters of other libraries are: a model of transformers inside of a module of their own."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def get_base_model(self) -> Any:
        return self.model


def _several_gpus() -> Any:
    wrapped: Any = torch.nn.DataParallel(tiny("llama"))
    wrapped.device_ids = [0, 1]
    return wrapped


def _quantised() -> Any:
    model = tiny("llama")
    model.is_quantized = True
    return model


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # torch's own, as it loads its compiler
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_compiled, "holds a compiled module"),
        (
            lambda: Adapted(tiny("llama")),
            r"the model is Adapted, .*watch\(model.get_base_model\(\)\)",
        ),
        (_several_gpus, "DataParallel on several GPUs"),
        (_quantised, "is quantised"),
        (lambda: tiny("bloom"), "in a way of its own"),
        (lambda: "gpt2", "the model is str"),
    ],
)
def test_models_that_cannot_be_watched_are_refused_by_name(
    make: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words), watch(make()):
        pass


@pytest.mark.parametrize(
    ("how", "call", "words"),
    [
        (
            {},
            {"output_attentions": True},
            "output_attentions=True stores every pattern",
        ),
        ({"memory": 100}, {}, r"need .* GiB, and 9.31e-08 GiB are free"),
        (
            {"statistics": ("special",)},
            {"inputs_embeds": True},
            "was not given the tokens",
        ),
    ],
)
def test_a_run_that_cannot_be_watched_is_refused_and_the_model_restored(
    how: dict[str, Any], call: dict[str, Any], words: str
) -> None:
    model, inputs = tiny("llama"), batch(None)
    if "inputs_embeds" in call:
        call = {"inputs_embeds": model.get_input_embeddings()(inputs.pop("input_ids"))}
    with pytest.raises(InputError, match=words), watch(model, **how):
        model(**inputs, **call)
    assert model.config._attn_implementation == "sdpa"
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_masks_of_any_kind_are_read_as_the_model_reads_them() -> None:
    model = tiny("llama", implementation="eager")
    inputs = {"input_ids": batch(None)["input_ids"]}
    packed = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6]] * 2)
    mine = torch.zeros(2, 1, 12, 12, dtype=torch.float64)
    mine[:, :, :, 8:] = -1e9
    for more in ({"position_ids": packed}, {"attention_mask": mine}):
        with watch(model, ROWS, special=SPECIAL, **HOW) as seen:
            model(**inputs, **more, use_cache=False)
        whole = {"input_ids": inputs["input_ids"], "attention_mask": torch.ones(2, 12)}
        _check(seen, _patterns(model, inputs, **more, use_cache=False), whole)
    chunked = tiny("llama4", loader=hf.AutoModelForCausalLM)
    with watch(chunked, ROWS, special=SPECIAL, **HOW) as seen:
        chunked(**batch("right"), use_cache=False)
    _check(seen, _patterns(chunked, batch("right"), use_cache=False), batch("right"))


def _flash(
    module: Any, query: Any, key: Any, value: Any, mask: Any, **more: Any
) -> Any:
    """What flash attention makes of a mask of two dimensions, without its kernel."""
    assert (
        module.config._attn_implementation == "flash_test"
    )  # it asks the configuration which kernel it is
    keys, rows = key.shape[2], query.shape[2]
    apart = torch.arange(keys - rows, keys)[:, None] - torch.arange(keys)
    seen = apart >= 0 if module.is_causal else torch.ones_like(apart, dtype=torch.bool)
    window = more.get("sliding_window")
    seen = seen if window is None else seen & (apart.abs() < window)
    seen = seen[None, None] if mask is None else seen & mask[:, None, None].bool()
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    mixed = torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=seen | ~seen.any(-1, keepdim=True),
        scale=more["scaling"],
    )
    return mixed.transpose(1, 2).contiguous(), None


@pytest.fixture
def flash() -> Any:
    AttentionInterface.register("flash_test", _flash)
    AttentionMaskInterface.register(
        "flash_test",
        AttentionMaskInterface._global_mapping["flash_attention_2"],  # type: ignore[arg-type]
    )
    yield "flash_test"
    AttentionInterface._global_mapping.pop("flash_test")
    AttentionMaskInterface._global_mapping.pop("flash_test")


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen3"])
@pytest.mark.parametrize("padding", [None, "left"])
def test_flash_attention_is_watched_with_its_mask_of_two_dimensions(
    family: str, padding: str | None, flash: str
) -> None:
    model, inputs = tiny(family), batch(padding)
    model.config._attn_implementation_internal = flash
    how = {
        "max_new_tokens": 3,
        "do_sample": False,
        "pad_token_id": 0,
        "eos_token_id": 49,
    }
    with watch(model, ROWS, special=SPECIAL, **HOW) as seen:
        out = model.generate(**inputs, **how)
    mask = torch.cat(
        [inputs["attention_mask"], torch.ones(2, 2, dtype=torch.long)], dim=1
    )
    extended = {"input_ids": out[:, :-1], "attention_mask": mask}
    places = (mask.cumsum(1) - 1).clamp_min(0)
    model.config._attn_implementation_internal = "eager"
    _check(
        seen, _patterns(model, extended, use_cache=False, position_ids=places), extended
    )


def test_masks_that_flash_attention_does_not_read_are_refused(flash: str) -> None:
    model = tiny("llama")
    model.config._attn_implementation_internal = flash
    packed = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6]] * 2)
    with (
        pytest.raises(InputError, match="packed, chunked or with a prefix"),
        watch(model),
    ):
        model(input_ids=batch(None)["input_ids"], position_ids=packed, use_cache=False)
    assert model.config._attn_implementation == flash


def test_an_attention_of_someone_elses_is_refused_by_its_name() -> None:
    def other(*args: Any, **more: Any) -> Any:
        return AttentionInterface._global_mapping["sdpa"](*args, **more)

    AttentionInterface.register("someone", other)
    try:
        model = tiny("llama", implementation="someone")
        with (
            pytest.raises(InputError, match="uses the attention someone"),
            watch(model),
        ):
            model(**batch(None))
    finally:
        AttentionInterface._global_mapping.pop("someone")


@pytest.mark.parametrize("padding", [None, "left", "right"])
@pytest.mark.parametrize("family", ["llama", "mistral", "gpt-oss", "bert"])
def test_the_compiled_code_agrees_on_many_rows(
    family: str, padding: str | None
) -> None:
    model, inputs = tiny(family).float(), batch(padding, rows=90)
    inputs["input_ids"] = inputs["input_ids"] % 47 + 3
    how = HOW | {"last_rows": 40}
    names = tuple(name for name in tuple(TABLE) if not name.startswith("top"))
    with watch(model, names, special=SPECIAL, **how) as seen:
        model(**inputs)
    double = model.double()
    patterns = _patterns(double, inputs)
    counted, ids = inputs["attention_mask"].bool().numpy(), inputs["input_ids"].numpy()
    truth = from_pattern(patterns[0], counted, ids, counted.argmax(1), **how)
    compare(seen.layer(0), truth, 2e-4)


def test_a_configuration_with_hooks_is_a_config_again() -> None:
    config = CONFIGS["llama"]()
    model = hf.AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    with watch(model):
        pass
    assert "headwright" not in model.config.to_json_string()

"""What a training loop does to a watched model: NaN, resets, copies, wrappers, threads, autocast."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch.nn import functional

from headwright.errors import InputError
from headwright.watching import watch
from headwright.watching.names import DEFAULT
from tests.watching import own_models as own
from tests.watching.eager import batch, tiny

NUMBERS = tuple(name for name in DEFAULT if name != "winner")


@contextmanager
def _spoilt_key(model: Any, text: int, position: int) -> Iterator[None]:
    """While it lasts, the key of one token of one text is NaN in the first layer."""

    def spoil(_module: Any, _inputs: Any, output: torch.Tensor) -> torch.Tensor:
        output = output.clone()
        output[text, position] = torch.nan
        return output

    handle = model.model.layers[0].self_attn.k_proj.register_forward_hook(spoil)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize("rows", [12, 90])  # by torch, and by the compiled code
@pytest.mark.parametrize("keep", ["rows", "means", "both"])
def test_rows_that_are_nan_are_nan_and_so_are_means_and_the_largest_score(
    keep: str, rows: int
) -> None:
    model, inputs = tiny("llama").float(), batch("left", rows=rows)
    inputs["input_ids"] = inputs["input_ids"] % 47 + 3
    with torch.no_grad(), watch(model, (*DEFAULT, "received"), keep=keep) as seen:
        with _spoilt_key(model, 1, 8):
            model(**inputs, use_cache=False)
        summary = seen.summary()
        seen.reset()
        model(**inputs, use_cache=False)
        clean = seen.summary()
    for name in NUMBERS:
        assert np.isnan(summary[name]).all(), name
        assert np.isfinite(clean[name]).all(), name
    assert set(summary["rows"]) == set(clean["rows"]) == {2 * rows - 4}


def test_only_the_rows_that_see_a_key_that_is_nan_are_nan() -> None:
    model, inputs = tiny("llama"), batch("left")
    with (
        torch.no_grad(),
        watch(model, (*DEFAULT, "received")) as seen,
        _spoilt_key(model, 1, 8),
    ):
        model(**inputs, use_cache=False)
    layer = seen.layer(0)
    for name in NUMBERS:
        values = getattr(layer, name)
        assert (
            np.isnan(values[0, :, :4]).all() and np.isfinite(values[0, :, 4:]).all()
        )  # padding, and text
        assert np.isfinite(values[1, :, :8]).all() and np.isnan(values[1, :, 8:]).all()
    assert (layer.winner[1, :, 8:] == -1).all() and (layer.winner[1, :, :8] >= 0).all()
    assert np.isfinite(layer.received[0]).all() and np.isnan(layer.received[1]).all()


@pytest.mark.parametrize("keep", ["rows", "means", "both"])
def test_after_a_reset_what_is_seen_is_that_of_later_runs_alone(keep: str) -> None:
    model, first, second = tiny("llama"), batch(None), batch("left")
    with torch.no_grad(), watch(model, keep=keep) as seen:
        model(**first)
        seen.reset()
        assert not seen.parts and seen.summary()["head"].tolist() == []
        model(**second)
    with torch.no_grad(), watch(model, keep=keep) as alone:
        model(**second)
    for name, values in alone.summary().items():
        np.testing.assert_array_equal(seen.summary()[name], values, err_msg=name)
    seen.reset()
    assert not seen.parts


def test_a_text_goes_on_after_a_reset() -> None:
    model, inputs = tiny("llama"), batch(None)
    cache, step = hf.DynamicCache(), {"input_ids": torch.tensor([[5], [7]])}
    with torch.no_grad(), watch(model, ("entropy",)) as seen:
        model(**inputs, past_key_values=cache)
        model(**step, past_key_values=cache)
        whole = seen.layer(1).entropy
        seen.reset()
        model(**step, past_key_values=cache)
    assert (
        whole.shape[2],
        seen.layer(1).entropy.shape[2],
        seen.layer(1).first_position,
    ) == (13, 1, 13)


def _saved(model: Any) -> Any:
    file = io.BytesIO()
    torch.save(model, file)
    assert (
        b"headwright" not in file.getvalue()
    )  # it can be read where there is no Headwright
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
        _saved,
        lambda model: torch.optim.swa_utils.AveragedModel(model).module,
    ],
    ids=["deepcopy", "pickle", "torch.save", "AveragedModel"],
)
def test_a_copy_of_a_watched_model_is_a_model_that_is_not_watched(
    copied: Callable[[Any], Any],
) -> None:
    model, inputs = tiny("llama"), batch(None)
    with torch.no_grad(), watch(model) as seen:
        twin = copied(model)
        expected = model(**inputs).logits
        assert torch.equal(twin(**inputs).logits, expected)
        assert len(seen.parts["model"].runs) == 1
    assert twin.config._attn_implementation == "sdpa"
    with torch.no_grad(), watch(twin) as seen:
        assert torch.equal(twin(**inputs).logits, expected)
    assert seen.layer(1).largest.shape == (2, 4, 12)


def test_a_checkpoint_of_a_watched_model_names_its_own_attention(
    tmp_path: Path,
) -> None:
    model = tiny("llama")
    with watch(model):
        model.save_pretrained(tmp_path)
    assert "headwright" not in (tmp_path / "config.json").read_text()


def _ddp(model: Any) -> Any:
    distributed: Any = torch.distributed
    distributed.init_process_group(
        "gloo", store=distributed.HashStore(), rank=0, world_size=1
    )
    return torch.nn.parallel.DistributedDataParallel(model)


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "compiled": lambda model: torch.compile(model, backend="eager"),
    "DistributedDataParallel": _ddp,
    "DataParallel": torch.nn.DataParallel,
    "compiled DistributedDataParallel": lambda model: torch.compile(
        _ddp(model), backend="eager"
    ),
}


@pytest.mark.filterwarnings("ignore")  # Dynamo's, of what it does not trace
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_model_in_a_wrapper_is_watched_as_it_is_inside(wrapper: str) -> None:
    model, inputs = tiny("llama"), batch("left")
    with torch.no_grad(), watch(model) as truth:
        expected = model(**inputs, use_cache=False).logits
    try:
        wrapped = WRAPPERS[wrapper](model)
        with torch.no_grad(), watch(wrapped) as seen:
            found = wrapped(**inputs, use_cache=False).logits
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    torch.testing.assert_close(found, expected)
    for layer in range(2):
        for name in DEFAULT:
            mine, theirs = (getattr(each.layer(layer), name) for each in (seen, truth))
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, err_msg=name)
    assert model.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("keep", ["rows", "both"])
@pytest.mark.parametrize("steps", [1, 6])
def test_threads_that_run_one_model_at_once_have_a_run_each(
    keep: str, steps: int
) -> None:
    """Each thread waits for the others before each layer, so that their calls are mixed in every run."""
    model, threads = tiny("llama"), 3
    together = threading.Barrier(threads, timeout=60)
    inputs = [
        batch("left" if number else None, rows=12 + number) for number in range(threads)
    ]
    for number, each in enumerate(inputs):
        each["input_ids"] = (each["input_ids"] + 5 * number) % 47 + 3
    truth = []
    for each in inputs:
        with torch.no_grad(), watch(model, ("entropy",)) as alone:
            _run(model, each, steps)
        truth.append([alone.layer(layer).entropy for layer in range(2)])

    def wait(*_: Any) -> None:
        together.wait()

    for layer in model.model.layers:
        layer.register_forward_pre_hook(wait)

    def work(number: int) -> None:
        try:
            with torch.no_grad():
                _run(model, inputs[number], steps)
            together.wait()  # so that no thread ends before the others
        except BaseException:
            together.abort()
            raise

    with (
        watch(model, ("entropy",), keep=keep) as seen,
        ThreadPoolExecutor(threads) as pool,
    ):
        list(pool.map(work, range(threads)))
    runs = len(seen.parts["model"].runs)
    assert runs == threads
    found = [
        [seen.layer(layer, run).entropy for layer in range(2)] for run in range(runs)
    ]
    for expected in truth:
        same = [each for each in found if each[0].shape == expected[0].shape]
        assert len(same) == 1
        for mine, theirs in zip(same[0], expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def _run(model: Any, inputs: dict[str, torch.Tensor], steps: int) -> None:
    """A prompt, and decode steps with a cache."""
    cache = hf.DynamicCache()
    model(**inputs, past_key_values=cache)
    mask = inputs["attention_mask"]
    for _ in range(steps - 1):
        mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
        model(
            input_ids=torch.full((2, 1), 7), attention_mask=mask, past_key_values=cache
        )


def test_scores_are_not_rounded_to_the_type_of_autocast() -> None:
    model, inputs = tiny("llama").float(), batch(None)
    autocast = torch.autocast("cpu", dtype=torch.bfloat16)
    with torch.no_grad(), autocast, watch(model, ("largest_score",)) as seen:
        model(**inputs, use_cache=False)
    scores = torch.from_numpy(seen.layer(0).largest_score)
    assert (scores != scores.bfloat16()).any()


def test_a_part_that_cannot_be_seen_is_named() -> None:
    library: Any = hf
    config = library.LongT5Config(
        vocab_size=50,
        d_model=32,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=4,
        local_radius=3,
    )
    model = library.LongT5ForConditionalGeneration(config).eval()
    warned = pytest.warns(
        UserWarning,
        match="the attention of encoder of LongT5ForConditionalGeneration was not seen",
    )
    with torch.no_grad(), warned, watch(model, ("entropy",)) as seen:
        model(**batch(None), decoder_input_ids=torch.tensor([[2, 3], [2, 4]]))
    assert seen.unseen == ("encoder",) and "encoder: cannot be seen" in repr(seen)
    with pytest.raises(
        InputError, match="encoder computes its attention in a way of its own"
    ):
        _ = seen.encoder
    assert seen.decoder.layer(0).entropy.shape == (2, 4, 2)


def test_a_plain_loop_logs_every_other_step_and_learns_the_same() -> None:
    """As in nanoGPT: accumulated gradients, clipping, AdamW; three lines log it."""

    def train(every: int) -> tuple[list[float], list[dict[str, np.ndarray]]]:
        torch.manual_seed(0)
        model = own.NanoGPT()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses, logged = list[float](), list[dict[str, np.ndarray]]()
        for step in range(6):
            # The three lines: a block, and what it has seen.
            watched = every and step % every == 0
            block = watch(model, ["entropy", "largest_score"], keep="means")
            with block if watched else nullcontext() as seen:
                for part in range(2):
                    tokens = (torch.arange(24).reshape(2, 12) * (step + part + 1)) % 50
                    logits = model(tokens[:, :-1])
                    loss = functional.cross_entropy(
                        logits.flatten(0, 1), tokens[:, 1:].flatten()
                    )
                    (loss / 2).backward()  # type: ignore[no-untyped-call]
            if seen is not None:
                logged.append(seen.summary())
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        return losses, logged

    losses, nothing = train(0)
    watched_losses, logged = train(2)
    assert watched_losses == losses
    assert nothing == []
    assert len(logged) == 3
    # The first step again, from the stored patterns.
    torch.manual_seed(0)
    model = own.NanoGPT()
    with torch.no_grad(), own.stored_patterns() as patterns:
        for part in range(2):
            model(((torch.arange(24).reshape(2, 12) * (part + 1)) % 50)[:, :-1])
    for layer in range(2):
        pattern = np.stack([patterns[layer], patterns[layer + 2]])
        logs = np.log(np.where(pattern > 0, pattern, 1.0))
        entropy = -(pattern * logs).sum(-1).mean((0, 1, 3))
        of_layer = logged[0]["layer"] == layer
        np.testing.assert_allclose(logged[0]["entropy"][of_layer], entropy, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_model_of_transformers_is_one_graph_if_it_is_a_module() -> None:
    model, inputs = tiny("llama").train(), batch("left")

    def step(call: Any) -> list[torch.Tensor]:
        model.zero_grad()
        loss = call(**inputs, labels=inputs["input_ids"], use_cache=False).loss
        loss.backward()
        gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
        return [loss.detach(), *gradients]

    with watch(model, NUMBERS) as truth:
        step(model)
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    unwatched = step(compiled)
    for _ in range(2):
        with watch(compiled, NUMBERS, as_module=True) as seen:
            watched = step(compiled)
        for plain, beside in zip(unwatched, watched, strict=True):
            assert torch.equal(plain, beside)
    assert seen.modules == ("model.layers.0.self_attn", "model.layers.1.self_attn")
    for layer in range(2):
        for name in ("largest", "entropy", "largest_score"):
            expected = getattr(truth.layer(layer), name)
            text = ~np.isnan(expected)  # rows of padding are not known of a module
            actual = getattr(seen.layer(layer), name)
            np.testing.assert_allclose(actual[text], expected[text], atol=1e-6)

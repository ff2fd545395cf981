"""Any PyTorch model is watched: what was seen is what matrices in float64 say, and nothing is changed."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import headwright as hw
from headwright.errors import InputError
from headwright.statistics.table import TABLE
from tests.watching import own_models as own
from tests.watching.eager import compare, from_pattern

HOW: dict[str, Any] = {"ends": (2, 3), "top": 3, "last_rows": 4, "keys": (1, 5, 9)}
NAMES = tuple(name for name in TABLE if name != "special")
X = torch.randn(2, 12, own.WIDTH, generator=torch.Generator().manual_seed(3))
TOKENS = torch.arange(24).reshape(2, 12)
PADDING = torch.tensor([[True] * 12, [True] * 7 + [False] * 5])


def _made(make: Callable[[], nn.Module]) -> Any:
    torch.manual_seed(0)
    model = make().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return model


def _check_layer(seen: Any, pattern: np.ndarray) -> None:
    """What a module saw is what its pattern says; a row that sees nothing is NaN."""
    counted = ~np.isnan(pattern).any((1, 3))
    first = np.zeros(len(pattern), dtype=int)
    truth = from_pattern(np.nan_to_num(pattern), counted, None, first, **HOW)
    compare(seen, truth)


CASES: list[tuple[str, Callable[[], nn.Module], tuple[Any, ...], tuple[str, ...]]] = [
    ("nanogpt", own.NanoGPT, (TOKENS,), ("h.0.attn", "h.1.attn")),
    ("vit", own.VisionTransformer, (torch.ones(2, 3, 12, 12),), ("blocks.0", "blocks.1")),
    ("denoiser", own.Denoiser, (X, X[:, 3:] + 1, PADDING[:, 3:]), ("attn1", "attn2")),
    (
        "titan",
        own.Titan,
        (X,),
        ("layers.0.inner_attention", "layers.1.inner_attention"),
    ),
    (
        "packed",
        own.Titan,
        (X, own.documents((5, 4, 3))),
        ("layers.0.inner_attention", "layers.1.inner_attention"),
    ),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("make", "inputs", "names"), [case[1:] for case in CASES])
def test_statistics_are_those_of_the_stored_patterns(
    make: Callable[[], nn.Module],
    inputs: tuple[Any, ...],
    names: tuple[str, ...],
    compiled: bool,
) -> None:
    model = _made(make)
    call: Any = model
    if compiled:
        torch._dynamo.reset()
        call = torch.compile(model, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        plain = call(*inputs)
        with hw.watch(model, NAMES, **HOW) as seen:
            watched = call(*inputs)
        with own.stored_patterns() as patterns:
            model(*inputs)
    assert torch.equal(plain, watched)
    assert seen.modules == names
    assert set(seen.summary()["module"]) == set(names)
    assert len(patterns) == len(names)
    for name, pattern in zip(names, patterns, strict=True):
        _check_layer(seen.layer(name), pattern)
    assert not any(module._forward_pre_hooks for module in model.modules())
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize("added", [False, True])
def test_masks_of_every_shape_and_axes_are_read(added: bool) -> None:
    class Own(nn.Module):
        def forward(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
            return own.attend(q, k, k, mask)

    model = Own()
    # Which the truth knows where all heads have one mask, and where hidden rows are padding.
    unknown = ("start", "middle", "recent", "received_last")
    names = [name for name in NAMES if name not in unknown]
    q, k = torch.randn(2, 4, 6, 8), torch.randn(2, 4, 9, 8)
    mask = torch.rand(2, 4, 6, 9) > 0.3
    mask[0, :, 2] = False  # a row that sees nothing
    for shape in [(6, 9), (4, 6, 9), (2, 4, 6, 9), (2, 1, 6, 9), (1, 9)]:
        part = mask[tuple(slice(0, 1) if n == 1 else slice(n) for n in (2, 4, 6, 9))]
        part = part.reshape(-1)[: int(np.prod(shape))].reshape(shape)
        if added:
            part = torch.where(part, torch.rand(shape), -torch.inf)
        with torch.no_grad():
            with hw.watch(model, names, **HOW) as seen:
                model(q, k, part)
            with own.stored_patterns() as patterns:
                model(q, k, part)
        _check_layer(seen.layer(0), patterns[0])
    # All texts, or all heads, may have the same queries or the same keys.
    for queries, keys in [((1, 4), (2, 4)), ((2, 1), (2, 4)), ((2, 4), (1, 1))]:
        with torch.no_grad():
            q, k = torch.randn(*queries, 6, 8), torch.randn(*keys, 9, 8)
            with hw.watch(model, names, **HOW) as seen:
                model(q, k, None)
            with own.stored_patterns() as patterns:
                model(q.expand(2, 4, -1, -1), k.expand(2, 4, -1, -1), None)
        _check_layer(seen.layer(0), patterns[0])
    # One axis before rows, none, or three: they are the batch, and there is one head.
    for axes in [(), (3,), (2, 3, 2)]:
        with torch.no_grad():
            q, k = torch.randn(*axes, 6, 8), torch.randn(*axes, 9, 8)
            with hw.watch(model, names, **HOW) as seen:
                model(q, k, torch.rand(*axes, 6, 9) > -1)
            with own.stored_patterns() as patterns:
                model(q, k, None)
        _check_layer(seen.layer(0), patterns[0].reshape(-1, 1, 6, 9))


def test_a_cache_goes_on_where_it_stands() -> None:
    model = _made(own.NanoGPT)
    with torch.no_grad(), own.stored_patterns() as patterns:
        model(TOKENS)
    for block in model.h:
        block.attn.cached = True
    with torch.no_grad(), hw.watch(model, ("entropy", "winner", "margin")) as seen:
        model(TOKENS[:, :10])
        model(TOKENS[:, 10:11])
        model(TOKENS[:, 11:])
    runs = [seen.layer("h.1.attn", run=run) for run in range(3)]
    assert [run.first_position for run in runs] == [0, 10, 11]
    entropy = np.concatenate([run.entropy for run in runs], axis=2)
    safe = np.where(patterns[1] > 0, patterns[1], 1.0)
    truth = -(safe * np.log(safe)).sum(-1)
    np.testing.assert_allclose(entropy, truth, atol=1e-5)


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("padded", [False, True])
def test_transformer_encoder_of_torch(mode: str, padded: bool) -> None:
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    model = _made(lambda: nn.TransformerEncoder(layer, 2)).double()
    model.train(mode == "train")
    options = {"src_key_padding_mask": ~PADDING} if padded else {}
    inputs: list[Tensor] = []
    weights: list[np.ndarray] = []
    for part in model.layers:
        part.self_attn.register_forward_pre_hook(
            lambda _, args: inputs.append(args[0].detach())
        )
    with torch.no_grad(), hw.watch(model, NAMES, **HOW) as seen:
        model(X.double(), **options)
    with torch.no_grad():
        for part, x in zip(model.layers, inputs, strict=True):
            ignored = ~PADDING if padded else None
            _, pattern = part.self_attn.forward(
                x, x, x, key_padding_mask=ignored, average_attn_weights=False
            )
            weights.append(pattern.numpy())
    assert seen.modules == ("layers.0.self_attn", "layers.1.self_attn")
    for number, pattern in enumerate(weights):
        _check_layer(seen.layer(number), pattern)


@pytest.mark.parametrize("weights", [False, True])
def test_multihead_attention_with_and_without_weights(weights: bool) -> None:
    model = _made(lambda: nn.MultiheadAttention(16, 4, batch_first=True, bias=True))
    causal = nn.Transformer.generate_square_subsequent_mask(12)
    options = {"need_weights": weights, "attn_mask": causal, "is_causal": True}
    state = torch.get_rng_state()
    with torch.no_grad():
        plain = model.train()(X, X, X, average_attn_weights=False, **options)
        with hw.watch(model, NAMES, **HOW) as seen:
            watched = model(X, X, X, average_attn_weights=False, **options)
        truth = model(X, X, X, average_attn_weights=False, attn_mask=causal)[1]
    assert torch.equal(plain[0], watched[0])
    assert torch.equal(state, torch.get_rng_state())
    assert (plain[1] is None) == (watched[1] is None) == (not weights)
    _check_layer(seen.layer(0), truth.double().numpy())


def test_dropout_of_multihead_attention_is_drawn_as_before() -> None:
    model = nn.MultiheadAttention(16, 4, dropout=0.5, batch_first=True).train()
    for weights in (False, True):
        torch.manual_seed(5)
        plain = model(X, X, X, need_weights=weights)[0]
        torch.manual_seed(5)
        with hw.watch(model):
            assert torch.equal(model(X, X, X, need_weights=weights)[0], plain)


def test_a_decoder_of_torch_attends_to_both_texts() -> None:
    model = _made(lambda: nn.Transformer(16, 4, 1, 1, 32, batch_first=True))
    with torch.no_grad(), hw.watch(model) as seen:
        model(X, X[:, :5])
    assert seen.modules == (
        "encoder.layers.0.self_attn",
        "decoder.layers.0.self_attn",
        "decoder.layers.0.multihead_attn",
    )
    shapes = [seen.layer(name).entropy.shape for name in seen.modules]
    assert shapes == [(2, 4, 12), (2, 4, 5), (2, 4, 5)]


def test_what_is_not_seen_is_said() -> None:
    model = nn.Sequential(
        own.EagerAttention(), own.TitanAttention(), own.EagerAttention()
    )
    words = r"no attention call was seen in 2 of 3 modules of attention \(0, 2\)"
    with torch.no_grad():
        with pytest.warns(UserWarning, match=words), hw.watch(model) as seen:
            model(X)
        assert seen.unseen == ("0", "2")
        assert "seen in 2 of 3" in repr(seen)
        plain = nn.Sequential(nn.Linear(16, 16))
        words = "no attention call was seen in Sequential"
        with pytest.warns(UserWarning, match=words), hw.watch(plain):
            plain(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with hw.watch(model) as seen:
            pass  # nothing was run, and so nothing is missing
    assert repr(seen) == "Recording(nothing yet)"


def test_parts_that_are_called_on_their_own_are_seen() -> None:
    model = _made(own.VisionTransformer)
    with torch.no_grad(), hw.watch(model) as seen:
        for _ in range(3):
            model.forward_features(torch.ones(2, 3, 12, 12))
    assert repr(seen) == "Recording(model: 2 layers, 3 runs)"


def test_a_module_that_calls_twice_has_two_layers() -> None:
    class Twice(own.NanoGPT):
        def forward(self, tokens: Tensor) -> Tensor:
            x = self.wte(tokens)
            for _ in range(2):
                x = self.h[0](x)
            return self.head(self.h[1](x))

    model = _made(Twice)
    with torch.no_grad(), hw.watch(model, NAMES, **HOW) as seen:
        model(TOKENS)
        model(TOKENS)
    with torch.no_grad(), own.stored_patterns() as patterns:
        model(TOKENS)
    assert seen.modules == ("h.0.attn", "h.0.attn (call 2)", "h.1.attn")
    _check_layer(seen.layer("h.0.attn (call 2)", run=1), patterns[1])


def test_other_models_of_the_thread_are_not_seen() -> None:
    model, other = _made(own.NanoGPT), _made(own.NanoGPT)
    with torch.no_grad(), hw.watch(model) as seen, hw.watch(other) as seen_there:
        model(TOKENS)
        other(TOKENS)
        other(TOKENS)
        own.attend(X[None], X[None], X[None])
    assert len(seen.parts["model"].runs) == 1
    assert len(seen_there.parts["model"].runs) == 2


def test_blocks_inside_each_other_and_one_after_another() -> None:
    cases: list[tuple[Callable[[], nn.Module], tuple[Tensor, ...]]] = [
        (own.NanoGPT, (TOKENS,)),
        (lambda: nn.MultiheadAttention(16, 4, batch_first=True), (X, X, X)),
    ]
    for make, inputs in cases:
        model = _made(make)
        with torch.no_grad(), hw.watch(model) as outer:
            model(*inputs)
            with hw.watch(model, ["entropy"]) as inner:
                model(*inputs)
            with hw.watch(model, ["entropy"]) as again:
                model(*inputs)
        assert len(outer.parts["model"].runs) == 3
        for seen in (inner, again):
            np.testing.assert_array_equal(
                seen.layer(0).entropy, outer.layer(0, run=1).entropy
            )


def test_threads_have_runs_of_their_own() -> None:
    model = _made(own.NanoGPT)
    together = threading.Barrier(3, timeout=60)

    def wait(*_: Any) -> None:
        together.wait()

    model.h[1].register_forward_pre_hook(wait)

    def work(count: int) -> None:
        with torch.no_grad():
            model(TOKENS[:, :count])

    threads = [threading.Thread(target=work, args=(count,)) for count in (4, 6, 9)]
    with hw.watch(model) as seen:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    shapes = {seen.layer(1, run=run).entropy.shape[2] for run in range(3)}
    assert shapes == {4, 6, 9}


def test_an_exception_leaves_the_model_as_it_was() -> None:
    model = _made(own.NanoGPT)

    def fail(*_: Any) -> None:
        raise ValueError("broken")

    handle = model.h[1].mlp.register_forward_pre_hook(fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"), hw.watch(model) as seen:
            model(TOKENS)
        assert seen.layer("h.0.attn").entropy.shape == (2, 4, 12)
        assert not model._forward_pre_hooks and not model._forward_hooks
    handle.remove()
    stack: Any = torch.overrides._get_current_function_mode_stack
    assert not stack()


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_training_step_with_checkpointing_is_what_it_was(reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(own.NanoGPT):
        def forward(self, tokens: Tensor) -> Tensor:
            x = self.wte(tokens)
            for block in self.h:
                x = checkpoint(block, x, use_reentrant=reentrant)
            return self.head(x)

    model = _made(Checkpointed).train()

    def gradients() -> list[Tensor]:
        model.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(TOKENS).flatten(0, 1)
            loss: Any = functional.cross_entropy(logits, TOKENS.flatten())
            loss.backward()
        return [parameter.grad.clone() for parameter in model.parameters()]

    plain = gradients()
    with hw.watch(model, keep="means") as seen:
        for _ in range(2):
            assert all(map(torch.equal, gradients(), plain))
    assert seen.summary()["rows"].tolist() == [48] * 8


def test_copies_inside_the_block_are_not_watched() -> None:
    model = _made(own.NanoGPT)
    file = io.BytesIO()
    with torch.no_grad(), hw.watch(model) as seen:
        copied = copy.deepcopy(model)
        torch.save(model, file)
        pickle.dumps(model)
        copied(TOKENS)
    assert repr(seen) == "Recording(nothing yet)"
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False)(TOKENS), model(TOKENS))


def _called(model: Any) -> Any:
    """A function that calls it."""

    def call(tokens: Tensor) -> Any:
        return model(tokens)

    return call


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "when", ["before", "inside", "layers", "watched before", "one graph", "function"]
)
def test_a_compiled_model_is_seen(when: str) -> None:
    model = _made(own.NanoGPT)
    with own.stored_patterns() as patterns, torch.no_grad():
        model(TOKENS)
    torch._dynamo.reset()
    compiled: Any = model
    if when == "before":
        compiled = torch.compile(model, backend="aot_eager")
        with torch.no_grad():
            compiled(TOKENS)
    if when == "watched before":
        with torch.no_grad(), hw.watch(model, NAMES, **HOW):
            model(TOKENS)
        compiled = torch.compile(model, backend="aot_eager")
    if when == "one graph":
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    watched = compiled
    if when == "function":
        compiled = torch.compile(_called(model), backend="aot_eager")
        with torch.no_grad():
            compiled(TOKENS)
    with torch.no_grad(), hw.watch(watched, NAMES, **HOW) as seen:
        if when == "inside":
            compiled = torch.compile(model, backend="aot_eager")
        if when == "layers":
            for block in model.h:
                block.compile(backend="aot_eager")
        for _ in range(2):
            compiled(TOKENS)
    assert seen.modules == ("h.0.attn", "h.1.attn")
    for run in range(2):
        _check_layer(seen.layer(1, run=run), patterns[1])


def _without_operators(graph: Any, inputs: Any) -> Any:
    """A compiler that leaves out what has no result."""
    for node in list(graph.graph.nodes):
        if "headwright" in str(node.target):
            graph.graph.erase_node(node)
    graph.recompile()
    return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)


def _without_places(graph: Any, inputs: Any) -> Any:
    """A compiler that takes what a module's place was before it was called for what it is."""
    for node in list(graph.graph.nodes):
        if "headwright.see_attention" in str(node.target):
            with graph.graph.inserting_before(node):
                outside = graph.graph.call_function(torch.full, ((), -1))
            node.update_arg(len(node.args) - 1, outside)
    graph.recompile()
    return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("backend", [_without_operators, _without_places])
def test_calls_that_a_compiler_loses_are_not_lost_silently(
    backend: Any, in_place: bool
) -> None:
    model = _made(own.NanoGPT)
    torch._dynamo.reset()
    with torch.no_grad():
        truth = model(TOKENS)
        compiled: Any = model
        if in_place:
            model.compile(backend=backend)
        else:
            compiled = torch.compile(model, backend=backend)
        impl = model._compiled_call_impl
        with (
            pytest.warns(UserWarning, match="compiled the model without what tells"),
            hw.watch(compiled, NAMES, **HOW) as seen,
        ):
            torch.testing.assert_close(compiled(TOKENS), truth)
    assert not seen.modules and model._compiled_call_impl is impl
    assert "no attention call was seen in 2 of 2 modules" in repr(seen)


def _training_step(model: nn.Module, call: Any) -> list[Tensor]:
    """The loss and all gradients."""
    model.zero_grad()
    loss = call(TOKENS).square().mean()
    loss.backward()
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    return [loss.detach(), *gradients]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("what", "backend"),
    [
        ("model", "aot_eager"),
        ("layers", "aot_eager"),
        ("function", "aot_eager"),
        pytest.param("model", "inductor", marks=pytest.mark.slow),
    ],
)
def test_a_compiled_training_step_stays_one_graph(what: str, backend: str) -> None:
    model = _made(own.NanoGPT)
    with hw.watch(model, NAMES, **HOW) as truth:
        expected = _training_step(model, model)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    call: Any = model
    if what == "model":
        call = torch.compile(model, fullgraph=True, backend=backend)
    elif what == "layers":  # which share one graph
        for block in model.h:
            block.compile(fullgraph=True, backend=backend)
    else:

        def function(tokens: Tensor) -> Tensor:
            return model(tokens)

        call = torch.compile(function, fullgraph=True, backend=backend)
    unwatched = _training_step(model, call)
    for _ in range(3):  # blocks: what the first has compiled serves the others
        with hw.watch(model, NAMES, **HOW) as seen:
            for _ in range(2):
                watched = _training_step(model, call)
        assert seen.modules == truth.modules
        assert len(seen.parts["model"].runs) == 2
        for name in truth.modules:
            for statistic in seen.layer(name).names:
                np.testing.assert_allclose(
                    getattr(seen.layer(name), statistic),
                    getattr(truth.layer(name), statistic),
                    atol=1e-5,
                    err_msg=statistic,
                )
        for plain, beside, eager in zip(unwatched, watched, expected, strict=True):
            assert torch.equal(plain, beside)
            torch.testing.assert_close(plain, eager)
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    # One that is watched and one that is not, and the hooks of a model on their own.
    assert graphs <= 2 + 4 * (what == "model")
    _training_step(model, call)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == graphs
    assert not any(module._forward_pre_hooks for module in model.modules())
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.filterwarnings("ignore")
def test_blocks_inside_each_other_see_a_graph_once_each() -> None:
    model = _made(own.NanoGPT)
    torch._dynamo.reset()
    compiled: Any = torch.compile(model, fullgraph=True, backend="aot_eager")
    with torch.no_grad(), hw.watch(model) as outer:
        compiled(TOKENS)
        with hw.watch(compiled) as inner:
            compiled(TOKENS)
        compiled(TOKENS)
    assert len(outer.parts["model"].runs) == 3
    assert len(inner.parts["model"].runs) == 1
    np.testing.assert_array_equal(inner.layer(1).entropy, outer.layer(1).entropy)


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_is_exported_inside_the_block_holds_no_operator_of_ours() -> None:
    model = _made(own.NanoGPT)
    with torch.no_grad(), hw.watch(model) as seen:
        exported = torch.export.export(model, (TOKENS,))
    assert "headwright" not in str(exported.graph)
    assert repr(seen) == "Recording(nothing yet)"


def test_calls_of_no_rows_have_no_statistics() -> None:
    class Own(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return functional.scaled_dot_product_attention(x, x, x)

    model = Own()
    with hw.watch(model) as seen:
        model(torch.randn(0, 2, 5, 4))
        model(torch.randn(1, 2, 0, 4))
        model(torch.randn(1, 2, 5, 4))
    assert seen.layer(0).entropy.shape == (1, 2, 5)


def _scripted() -> Any:
    return torch.jit.script(nn.Linear(2, 2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("make", "names", "words"),
    [
        (_scripted, ("entropy",), "whose code is not Python"),
        (own.NanoGPT, ("special",), "the tokens that a module reads are not known"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    make: Any, names: tuple[str, ...], words: str
) -> None:
    with pytest.raises(InputError, match=words), hw.watch(make(), names):
        pass


@pytest.mark.filterwarnings("ignore")
def test_calls_that_cannot_be_watched_are_refused() -> None:
    class Own(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return functional.scaled_dot_product_attention(x, x, x)

    model = Own()
    with hw.watch(model):
        with pytest.raises(InputError, match=r"within torch.func \(vmap, grad\)"):
            torch.func.vmap(model)(torch.randn(2, 3, 1, 4, 8))
        lengths = [torch.randn(2, 3, 4), torch.randn(5, 3, 4)]
        nested = torch.nested.nested_tensor(lengths, layout=torch.jagged)
        with pytest.raises(InputError, match="nested tensor"):
            model(nested.transpose(1, 2))
        with pytest.raises(InputError, match="without numbers"):
            model(torch.randn(2, 3, 4, 8, device="meta"))
    with pytest.raises(InputError, match="are free"), hw.watch(model, memory=10):
        model(torch.randn(2, 3, 4, 8))


def test_a_layer_is_found_by_its_name_or_refused() -> None:
    model = _made(own.NanoGPT)
    with torch.no_grad(), hw.watch(model) as seen:
        model(TOKENS)
    assert seen.layer("1.attn").entropy.shape == (2, 4, 12)
    with pytest.raises(InputError, match=r"'attn': expected one of h.0.attn, h.1.attn"):
        seen.layer("attn")


def test_modules_are_watched_without_transformers() -> None:
    code = """
import sys
sys.modules["transformers"] = None
import torch, headwright as hw
encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)
with hw.watch(encoder) as seen:
    encoder(torch.randn(2, 6, 16))
print(seen.modules)
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout == "('layers.0.self_attn', 'layers.1.self_attn')\n", ran.stderr

"""A trained model of the transformers library: its tokens, its layers, its parameters.

Layers come from the hook into attention: a pass through the network, whose kernel is
`blockwise_attention`, hands each call to a visitor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headwright.errors import InputError
from headwright.models.attention_calls import (
    AttentionCall,
    CallVisitor,
    StopForwardError,
    calls_of_this_thread,
)
from headwright.models.circuits import circuits_of, output_of
from headwright.models.float64 import InFloat64
from headwright.models.kernel_arguments import BLOCKWISE
from headwright.models.model import (
    Circuits,
    LayerActivations,
    LayerVisitor,
    Tokens,
    all_layers,
    checked_tokens,
)
from headwright.models.transformers_calls import transformers_calls
from headwright.models.vocabulary import Vocabulary
from headwright.statistics.attention_config import checked_mask

KeyMask = Bool[np.ndarray, " keys"]
BROKEN = (
    AttributeError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, eq=False)
class HuggingFaceModel:
    """Made by `of`, which has seen every layer call its attention."""

    name: str
    digest: str
    network: Any  # the part that reads tokens: a decoder, or an encoder
    vocabulary: Vocabulary
    layers: int
    heads: int
    max_length: int | None

    def __repr__(self) -> str:
        """The name and the sizes, not the weights."""
        return f"{self.name}: {self.layers} layers of {self.heads} heads"

    @classmethod
    def of(
        cls, name: str, digest: str, network: Any, vocabulary: Vocabulary
    ) -> HuggingFaceModel:
        """A network whose attention is blockwise; refused if a layer computes its own."""
        network.config.use_cache = False
        config = network.config.get_text_config()
        model = cls(
            name,
            digest,
            network,
            vocabulary,
            layers=int(config.num_hidden_layers),
            heads=0,
            max_length=max_positions(network),
        )
        calls = model._probe()
        if len(calls) != model.layers:
            raise _missing_calls(
                name, network.config.model_type, len(calls), model.layers
            )
        return replace(model, heads=calls[0].queries.shape[1])

    def encode(self, text: str) -> Tokens:
        """The tokens of a text, with the special ones that the tokenizer adds."""
        return self.vocabulary.encode(text)

    def token_strings(self, tokens: Tokens) -> Sequence[str]:
        """Each token as the tokenizer spells it, spaces visible; its number where there is no tokenizer."""
        tokens = checked_tokens(tokens, self.vocabulary.count, None)
        return [self.vocabulary.token_string(int(token)) for token in tokens]

    def regular_tokens(self) -> Tokens:
        """All tokens but the special and unused ones, and those that the embedding has but the tokenizer has not."""
        return self.vocabulary.regular_tokens

    def unknown_tokens(self) -> Tokens:
        """The token for what the tokenizer cannot spell, unless it can spell every byte."""
        return self.vocabulary.unknown_tokens

    def bos_tokens(self) -> Tokens:
        """The special tokens that the tokenizer puts before a text."""
        return self.vocabulary.bos_tokens

    def visit_layers(
        self,
        tokens: Tokens,
        visit: LayerVisitor,
        last: int | None = None,
        key_mask: KeyMask | None = None,
    ) -> None:
        """Run the model. On a CPU arrays are NumPy's, in float32 or float64; on a GPU torch's.

        With a key mask, tokens that are False there (padding) are not seen.
        """
        tokens = checked_tokens(tokens, self.vocabulary.count, self.max_length)
        if key_mask is not None:
            key_mask = checked_mask(key_mask, len(tokens), "tokens")
        count = 0

        def visit_call(call: AttentionCall) -> None:
            nonlocal count
            visit(self._layer_of(call, count))
            if count == last:
                raise StopForwardError
            count += 1

        ended = self._visit_calls(tokens, visit_call, key_mask)
        if not ended and count != self.layers:
            family = self.network.config.model_type
            raise _missing_calls(self.name, family, count, self.layers)

    def run(
        self, tokens: Tokens, key_mask: KeyMask | None = None
    ) -> list[LayerActivations]:
        """All layers in order, all of them in memory; `visit_layers` holds one at a time."""
        if key_mask is None:
            return all_layers(self, tokens)
        layers: list[LayerActivations] = []
        self.visit_layers(tokens, layers.append, key_mask=key_mask)
        return layers

    def first_layer_in_float64(self, tokens: Tokens) -> LayerActivations:
        """The first layer, computed in float64 from the weights as they are: nothing is rounded on the way.

        A run in the network's own type comes first: what it makes once for a length (rotary frequencies) is its own.
        """
        tokens = checked_tokens(tokens, self.vocabulary.count, self.max_length)
        self._first_call(tokens)
        return self._layer_of(self._first_call(tokens, wide=True), 0)

    def own_pattern(self, tokens: Tokens) -> Float[np.ndarray, "heads rows keys"]:
        """The pattern of the first layer as the network's own attention makes it, without the hook; in float64.

        It is held whole in memory: for a text of a few hundred tokens.
        """
        tokens = checked_tokens(tokens, self.vocabulary.count, self.max_length)
        module = self._first_call(tokens).module  # as in `first_layer_in_float64`
        patterns: list[Tensor | None] = []

        def keep(_: nn.Module, __: object, output: tuple[Tensor, ...]) -> None:
            patterns.append(output[1])
            raise StopForwardError

        handle = module.register_forward_hook(keep)
        self.network.set_attn_implementation("eager")
        try:
            with torch.no_grad(), InFloat64(), suppress(StopForwardError):
                token_ids = torch.as_tensor(tokens[None], device=self.network.device)
                self.network(input_ids=token_ids, output_attentions=True)
        except BROKEN as error:
            raise InputError(
                f"{self.name}: its own attention cannot be run ({type(error).__name__}: {error})"
            ) from error
        finally:
            handle.remove()
            self.network.set_attn_implementation(BLOCKWISE)
        pattern = patterns[0] if patterns else None
        if pattern is None:
            raise InputError(
                f"{self.name}: its own attention does not say what its pattern is"
            )
        return np.asarray(pattern[0].cpu().numpy())

    def _layer_of(self, call: AttentionCall, index: int) -> LayerActivations:
        scoring = call.scoring()
        if scoring.heads != self.heads:
            raise InputError(
                f"layer {index} of {self.name} has {scoring.heads} heads and others have "
                f"{self.heads}: not known here"
            )
        queries = _plain(call.queries[0])
        keys = _plain(call.keys[0])
        values = _plain(call.values[0])
        return LayerActivations(index, queries, keys, values, scoring)

    def circuits(self, layer: int) -> Circuits:
        """The matrices of a layer's heads. They act on what the attention reads: the residual stream after its norm."""
        if not 0 <= layer < self.layers:
            raise InputError(
                f"layer {layer} of {self.name}: expected 0 to {self.layers - 1}"
            )
        calls = self._probe()
        module = calls[layer].module
        output = output_of(module, self._around(module))
        # Layers may share a module (ALBERT): its calls are told apart by their order.
        with (
            _inputs_of({call.module for call in calls}) as inputs,
            _inputs_of({output}) as mixed,
        ):
            calls = self._probe()
        of_module = [k for k, call in enumerate(calls) if call.module is module]
        read_by_output = mixed[of_module.index(layer)]
        return circuits_of(calls[layer], inputs[layer], output, read_by_output)

    def _around(self, inner: nn.Module) -> nn.Module | None:
        """The module that holds a module."""
        modules = dict(self.network.named_modules())
        name = next(name for name, module in modules.items() if module is inner)
        return modules.get(name.rpartition(".")[0])

    @property
    def settings(self) -> str:
        """The configuration but for the folder it came from, the number type and the device."""
        config = {
            name: value
            for name, value in self.network.config.to_dict().items()
            if name != "_name_or_path"
        }
        return f"{json.dumps(config, sort_keys=True, default=str)} {self.network.dtype} {self.network.device}"

    def _probe(self) -> list[AttentionCall]:
        """The calls on two tokens: enough to record every layer."""
        calls: list[AttentionCall] = []
        self._visit_calls(self.regular_tokens()[:2], calls.append)
        return calls

    def _first_call(self, tokens: Tokens, wide: bool = False) -> AttentionCall:
        calls: list[AttentionCall] = []

        def keep(call: AttentionCall) -> None:
            calls.append(call)
            raise StopForwardError

        self._visit_calls(tokens, keep, wide=wide)
        return calls[0]

    def _visit_calls(
        self,
        tokens: Tokens,
        visit: CallVisitor,
        key_mask: KeyMask | None = None,
        wide: bool = False,
    ) -> bool:
        """Run the network; True if a visitor has ended the pass before its end."""
        failures: list[Exception] = []

        def visit_or_stop(call: AttentionCall) -> None:
            # The visitor's own errors are not taken for those of the network.
            try:
                visit(call)
            except Exception as error:
                failures.append(error)
                raise StopForwardError from error

        visit_own = calls_of_this_thread(visit_or_stop)
        stopped = False
        try:
            with transformers_calls(self.network, visit_own):
                self._forward(tokens, key_mask, wide)
        except StopForwardError:
            stopped = True
        if failures:
            raise failures[0]
        return stopped

    def _forward(self, tokens: Tokens, key_mask: KeyMask | None, wide: bool) -> None:
        device = self.network.device
        more = {}
        if key_mask is not None:
            mask = torch.as_tensor(key_mask[None], device=device).long()
            more = {"attention_mask": mask}
        try:
            with torch.no_grad(), InFloat64() if wide else nullcontext():
                token_ids = torch.as_tensor(tokens[None], device=device)
                self.network(input_ids=token_ids, **more)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from error
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise out_of_memory(self.name, device, len(tokens)) from error
        except BROKEN as error:
            if "allocate memory" in str(error):
                raise out_of_memory(self.name, device, len(tokens)) from error
            family = self.network.config.model_type
            raise InputError(
                f"{self.name}: its family ({family}) does not let its attention be read "
                f"({type(error).__name__}: {error})"
            ) from error


@contextmanager
def _inputs_of(modules: set[nn.Module]) -> Iterator[list[Tensor]]:
    """What these modules read while it lasts, in the order of their calls."""
    inputs: list[Tensor] = []

    def keep(_: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor]) -> None:
        inputs.append((args[0] if args else kwargs["hidden_states"])[0])

    handles = [
        module.register_forward_pre_hook(keep, with_kwargs=True) for module in modules
    ]
    try:
        yield inputs
    finally:
        for handle in handles:
            handle.remove()


def max_positions(network: Any) -> int | None:
    """How many positions a model has; a table that keeps rows for padding (RoBERTa's) has fewer than its rows."""
    for name, module in network.named_modules():
        if (
            name.endswith("position_embeddings")
            and getattr(module, "padding_idx", None) is not None
        ):
            return int(module.num_embeddings) - int(module.padding_idx) - 1
    config = network.config.get_text_config()
    count = getattr(config, "max_position_embeddings", None)
    return None if count is None or count <= 0 else int(count)


def _plain(rows: Tensor) -> Any:
    """NumPy's array on a CPU, where bfloat16 becomes float32 and stays what it is; torch's on a GPU."""
    if rows.device.type != "cpu":
        return rows
    if rows.dtype not in (torch.float32, torch.float64):
        rows = rows.float()
    return rows.numpy()


def _missing_calls(name: str, family: str, count: int, layers: int) -> InputError:
    calls = (
        "none of its layers calls"
        if count == 0
        else f"{count} calls for {layers} layers came through"
    )
    return InputError(
        f"{name}: {calls} the hook for attention, so that a report would miss heads. The family ({family}) computes "
        "its attention in a way of its own, or has layers without attention"
    )


def out_of_memory(name: str, device: object, tokens: int) -> InputError:
    """The sentence for a model or a text that does not fit."""
    text = f" for a text of {tokens} tokens" if tokens else ""
    return InputError(
        f"{name}: out of memory on {device}{text}. Take a shorter text, a narrower dtype (bfloat16) or another device"
    )

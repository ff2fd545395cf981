"""A trained model of the transformers library, read through the hook in its attention."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headwright.errors import InputError
from headwright.models.loading.attention_hook import HOOK, AttentionCall, recording
from headwright.models.loading.circuits import circuits_of, output_of
from headwright.models.loading.float64 import InFloat64
from headwright.models.loading.model import Circuits, Layer, Tokens, checked_tokens
from headwright.models.rows.scoring import checked_mask

Item = TypeVar("Item")
UNUSED = re.compile(r"[\[<]\|?((unused|reserved|extra_id|dummy)[^\]>]*|pad|unk|cls|sep|mask)\|?[\]>]", re.IGNORECASE)
UNKNOWN = re.compile(r"[\[<]\|?unk\|?[\]>]", re.IGNORECASE)
BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))
BYTE_SPACE, PIECE_SPACE = "Ġ", "▁"
BROKEN = (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError)


class _AbandonedError(BaseException):
    """The consumer has stopped. Not an Exception, so that no model catches it."""


def streamed(produce: Callable[[Callable[[Item], None]], None]) -> Iterator[Item]:
    """What `produce(give)` gives, one after the other; it waits inside `give` until the next is asked for."""
    asked: SimpleQueue[bool] = SimpleQueue()
    handed: SimpleQueue[list[Item]] = SimpleQueue()  # of one thing; an empty list is the end
    failed: list[BaseException] = []

    def give(item: Item) -> None:
        handed.put([item])
        del item
        if not asked.get():
            raise _AbandonedError

    def work() -> None:
        try:
            if asked.get():
                produce(give)
        except _AbandonedError:
            pass
        except BaseException as error:  # noqa: BLE001  (raised again, where it is asked for)
            failed.append(error)
        handed.put([])

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            asked.put(True)
            found = handed.get()
            if failed:
                raise failed.pop()
            if not found:
                return
            yield found.pop()
    finally:
        asked.put(False)
        thread.join()


@dataclass(frozen=True, eq=False)
class HuggingFaceModel:
    """Made by `of`, which has seen every layer call the hook."""

    name: str
    digest: str
    network: Any  # the part that reads tokens: a decoder, or an encoder
    tokenizer: Any  # None if there is none that can be read
    no_tokenizer: str  # why
    spelling: tuple[str, ...]  # the tokens as a list beside the model spells them; empty if there is none
    layers: int
    heads: int
    longest: int | None

    def __repr__(self) -> str:
        """The name and the sizes, not the weights."""
        return f"{self.name}: {self.layers} layers of {self.heads} heads"

    @classmethod
    def of(
        cls, name: str, digest: str, network: Any, tokenizer: Any, no_tokenizer: str = "", spelling: Sequence[str] = ()
    ) -> HuggingFaceModel:  # fmt: skip
        """A network that transformers made with the hook for its attention; refused if a layer does not call it."""
        network.config.use_cache = False
        config = network.config.get_text_config()
        layers, longest = int(config.num_hidden_layers), _longest(network)
        model = cls(name, digest, network, tokenizer, no_tokenizer, tuple(spelling), layers, 0, longest)
        heads = [call.scoring.heads for call in model._calls(model._probe())]
        if len(heads) != model.layers:
            raise _missing_calls(name, network.config.model_type, len(heads), model.layers)
        return replace(model, heads=heads[0])

    def encode(self, text: str) -> Tokens:
        """The tokens of a text, with the special ones that the tokenizer adds."""
        return np.array(self._tokenizer()(text, truncation=False, verbose=False)["input_ids"], dtype=np.int64)

    def words(self, tokens: Tokens) -> Sequence[str]:
        """Each token as the tokenizer spells it, spaces visible; its number where there is no tokenizer."""
        numbers = [int(token) for token in checked_tokens(tokens, self.vocabulary, None)]
        if self.tokenizer is None:
            return [self.spelling[number] if self.spelling else f"#{number}" for number in numbers]
        return [self._word(number) for number in numbers]

    def ordinary(self) -> Tokens:
        """All tokens but the special and unused ones, and those that the embedding has but the tokenizer has not."""
        return self._ordinary

    @cached_property
    def _ordinary(self) -> Tokens:
        if self.tokenizer is None:
            unused = [number for number, word in enumerate(self.spelling) if UNUSED.fullmatch(word)]
            return np.setdiff1d(np.arange(self.vocabulary), unused)
        special = {int(number) for number in self.tokenizer.all_special_ids}
        special |= {number for number, token in self.tokenizer.added_tokens_decoder.items() if token.special}
        spelt = self.tokenizer.get_vocab()
        kept = {number for word, number in spelt.items() if not UNUSED.fullmatch(word)} - special
        return np.array(sorted(number for number in kept if number < self.vocabulary), dtype=np.int64)

    def unknown(self) -> Tokens:
        """The token for what the tokenizer cannot spell, unless it can spell every byte."""
        return self._unknown

    @cached_property
    def _unknown(self) -> Tokens:
        if self.tokenizer is None:
            found = [number for number, word in enumerate(self.spelling) if UNKNOWN.fullmatch(word)]
            return np.array(found[:1], dtype=np.int64)
        number, spelt = self.tokenizer.unk_token_id, self.tokenizer.get_vocab()
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is not None:  # its own model decides, whatever the list of special tokens says
            inner = backend.model
            if getattr(inner, "byte_fallback", False) and spelt.keys() >= BYTES:
                number = None
            elif hasattr(inner, "unk_token"):
                number = None if inner.unk_token is None else spelt.get(inner.unk_token)
        kept = [] if number is None or number >= self.vocabulary else [int(number)]
        return np.array(kept, dtype=np.int64)

    def opening(self) -> Tokens:
        """The special tokens that the tokenizer puts before a text."""
        if self.tokenizer is None:
            return np.array([], dtype=np.int64)
        special = set(self.tokenizer.all_special_ids)
        given = self.tokenizer("a", return_special_tokens_mask=True, verbose=False)
        tokens, added = given["input_ids"], given["special_tokens_mask"]
        # What was added is special; the one for what is unknown is special too, and stands for the "a".
        stands = [place for place, token in enumerate(tokens) if not (added[place] and token in special)]
        return np.array(tokens[: stands[0] if stands else 0], dtype=np.int64)

    def run(self, tokens: Tokens, key_mask: Bool[np.ndarray, " keys"] | None = None) -> Iterator[Layer]:
        """The layers in order. On a CPU the arrays are NumPy's, in float32 or float64; on a GPU torch's.

        With a key mask, tokens that are False there (padding) are not seen.
        """
        return self._run(tokens, key_mask)

    def run_in_float64(self, tokens: Tokens) -> Iterator[Layer]:
        """The layers in order, computed in float64 from the weights as they are: nothing is rounded on the way.

        A run in the network's own type comes first: what it makes once for a length (rotary frequencies) is its own.
        """
        next(self._run(tokens, None))
        return self._run(tokens, None, wide=True)

    def own_pattern(self, tokens: Tokens) -> Float[np.ndarray, "heads rows keys"]:
        """The pattern of the first layer as the network's own attention makes it, without the hook; in float64.

        It is held whole in memory: for a text of a few hundred tokens.
        """
        next(self._run(tokens, None))  # as in `run_in_float64`
        module, found = self._layer_call(0).module, []

        def keep(_: nn.Module, __: object, made: tuple[Tensor, ...]) -> None:
            found.append(made[1][0])
            raise _SeenError

        handle = module.register_forward_hook(keep)
        self.network.set_attn_implementation("eager")
        try:
            with torch.no_grad(), InFloat64(), suppress(_SeenError):
                given = torch.as_tensor(tokens[None], device=self.network.device)
                self.network(input_ids=given, output_attentions=True)
        except BROKEN as error:
            raise InputError(
                f"{self.name}: its own attention cannot be run ({type(error).__name__}: {error})"
            ) from error
        finally:
            handle.remove()
            self.network.set_attn_implementation(HOOK)
        if not found or found[0] is None:
            raise InputError(f"{self.name}: its own attention does not say what its pattern is")
        return np.asarray(found[0].cpu().numpy())

    def _run(self, tokens: Tokens, key_mask: Bool[np.ndarray, " keys"] | None, wide: bool = False) -> Iterator[Layer]:
        given = checked_tokens(tokens, self.vocabulary, self.longest)
        key_mask = None if key_mask is None else checked_mask(key_mask, len(given), "tokens")
        count = 0
        for call in self._calls(given, key_mask, wide):
            if call.scoring.heads != self.heads:
                raise InputError(f"layer {count} of {self.name} has {call.scoring.heads} heads and others have "
                                 f"{self.heads}: not known here")  # fmt: skip
            queries, keys, values = map(_plain, (call.queries, call.keys, call.values))
            yield Layer(count, queries, keys, values, call.scoring)
            del call, queries, keys, values
            count += 1
        if count != self.layers:
            raise _missing_calls(self.name, self.network.config.model_type, count, self.layers)

    def circuits(self, layer: int) -> Circuits:
        """The matrices of a layer's heads. They act on what the attention reads: the residual stream after its norm."""
        if not 0 <= layer < self.layers:
            raise InputError(f"layer {layer} of {self.name}: expected 0 to {self.layers - 1}")
        modules = dict(self.network.named_modules())
        asking = {call.module for call in self._calls(self._probe())}
        with _inputs_of(asking) as inputs:
            call = self._layer_call(layer)
        names = [name for name, module in modules.items() if module is call.module]
        output = output_of(call.module, modules.get(names[0].rpartition(".")[0]))
        with _inputs_of({output}) as mixed:
            calls = [number for number, each in enumerate(self._calls(self._probe())) if each.module is call.module]
        return circuits_of(call, inputs[layer], output, mixed[calls.index(layer)])

    @property
    def settings(self) -> str:
        """The configuration but for the folder it came from, the number type and the device."""
        config = {name: value for name, value in self.network.config.to_dict().items() if name != "_name_or_path"}
        return f"{json.dumps(config, sort_keys=True, default=str)} {self.network.dtype} {self.network.device}"

    @property
    def vocabulary(self) -> int:
        """How many tokens the embedding has."""
        return int(self.network.get_input_embeddings().weight.shape[0])

    def _layer_call(self, layer: int) -> AttentionCall:
        return next(call for number, call in enumerate(self._calls(self._probe())) if number == layer)

    def _probe(self) -> Tokens:
        """Two tokens: enough to record every layer."""
        return self.ordinary()[:2]

    def _tokenizer(self) -> Any:
        if self.tokenizer is None:
            raise InputError(
                f"{self.name} has no tokenizer that can be read ({self.no_tokenizer}): give it tokens, or measure on "
                "random ones (--tokens N)"
            )
        return self.tokenizer

    def _word(self, number: int) -> str:
        word = self.tokenizer.convert_ids_to_tokens(number)
        if word is None:
            return f"#{number}"
        if PIECE_SPACE in word:
            return str(word.replace(PIECE_SPACE, "␣"))
        if number in self.tokenizer.all_special_ids or not self._spells_bytes:
            return str(word)
        shown = self.tokenizer.decode([number])
        return str(word) if "�" in shown else shown.replace(" ", "␣").replace("\n", "⏎")

    @cached_property
    def _spells_bytes(self) -> bool:
        return any(word.startswith(BYTE_SPACE) for word in self.tokenizer.get_vocab())

    def _calls(
        self, tokens: Tokens, key_mask: Bool[np.ndarray, " keys"] | None = None, wide: bool = False
    ) -> Iterator[AttentionCall]:
        return streamed(lambda give: self._forward(tokens, key_mask, wide, give))

    def _forward(
        self,
        tokens: Tokens,
        key_mask: Bool[np.ndarray, " keys"] | None,
        wide: bool,
        give: Callable[[AttentionCall], None],
    ) -> None:
        device = self.network.device
        more = {} if key_mask is None else {"attention_mask": torch.as_tensor(key_mask[None], device=device).long()}
        try:
            with torch.no_grad(), recording(give), InFloat64() if wide else nullcontext():
                self.network(input_ids=torch.as_tensor(tokens[None], device=device), **more)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from error
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise out_of_memory(self.name, device, len(tokens)) from error
        except BROKEN as error:
            if "allocate memory" in str(error):
                raise out_of_memory(self.name, device, len(tokens)) from error
            family = self.network.config.model_type
            raise InputError(f"{self.name}: its family ({family}) does not let its attention be read "
                             f"({type(error).__name__}: {error})") from error  # fmt: skip


class _SeenError(BaseException):
    """What was asked for is there, and the rest of the network need not run. Not an Exception, so none catches it."""


@contextmanager
def _inputs_of(modules: set[nn.Module]) -> Iterator[list[Tensor]]:
    """What these modules read while it lasts, in the order of their calls."""
    inputs: list[Tensor] = []

    def keep(_: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor]) -> None:
        inputs.append((args[0] if args else kwargs["hidden_states"])[0])

    handles = [module.register_forward_pre_hook(keep, with_kwargs=True) for module in modules]
    try:
        yield inputs
    finally:
        for handle in handles:
            handle.remove()


def _longest(network: Any) -> int | None:
    """How many positions a model has; a table that keeps rows for padding (RoBERTa's) has fewer than its rows."""
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(module.num_embeddings) - int(module.padding_idx) - 1
    longest = getattr(network.config.get_text_config(), "max_position_embeddings", None)
    return None if longest is None or longest <= 0 else int(longest)


def _plain(rows: Tensor) -> Any:
    """NumPy's array on a CPU, where bfloat16 becomes float32 and stays what it is; torch's on a GPU."""
    if rows.device.type != "cpu":
        return rows
    return (rows if rows.dtype in (torch.float32, torch.float64) else rows.float()).numpy()


def _missing_calls(name: str, family: str, count: int, layers: int) -> InputError:
    calls = "none of its layers calls" if count == 0 else f"{count} calls for {layers} layers came through"
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

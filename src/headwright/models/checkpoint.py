"""A checkpoint in a folder, loaded by transformers: its classes, its readers, never the checkpoint's own code."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import logging
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel
from transformers.utils import logging as talk

from headwright.errors import InputError
from headwright.extras import require
from headwright.models.blockwise_attention import register_blockwise
from headwright.models.huggingface import HuggingFaceModel, out_of_memory
from headwright.models.kernel_arguments import BLOCKWISE
from headwright.models.vocabulary import (
    NumberedVocabulary,
    TokenizerVocabulary,
    Vocabulary,
)

BROKEN = (
    AttributeError,
    ImportError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SafetensorError,
    TypeError,
    UnpicklingError,
    ValueError,
    EOFError,
    IndexError,
    ArithmeticError,
    struct.error,
)
# What a config may ask for, by the names that families have for it: no model has as much.
SIZES = {
    **dict.fromkeys(
        ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"),
        4096,
    ),
    **dict.fromkeys(
        (
            "num_attention_heads",
            "n_head",
            "n_heads",
            "num_heads",
            "num_key_value_heads",
        ),
        2**16,
    ),
    **dict.fromkeys(
        ("hidden_size", "n_embd", "d_model", "head_dim", "vocab_size"), 2**26
    ),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 2**16),
}
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers")
FEWEST_LAYERS = 64  # that may share parameters
LEAST_LAYER = 64  # bytes of a layer that has parameters of its own, at the least
A_BYTE = 8  # parameters: of 2 bits, and as many again that a file may leave out
BESIDE = 2**22  # and a few more
BUFFERS = 2**28  # numbers that are made and not read, such as a mask
# Parameters that a checkpoint may lack: no attention depends on them.
IDLE = ("pooler.",)


def from_folder(
    name: str,
    folder: Path,
    digest: str,
    *,
    device: str,
    dtype: str,
    held: int,
    gguf: str | None = None,
) -> HuggingFaceModel:
    """The model in a folder, or in a GGUF file there, ready to be run; its files of parameters have `held` bytes."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "device cuda: there is no GPU that torch can use here; take cpu"
        )
    where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    if gguf is not None:
        require("audit", "a .gguf file", "gguf")
        where["gguf_file"] = gguf
    else:
        _check_sizes(name, folder)
    with _quiet():
        config = _load_or_refuse(
            name, lambda: AutoConfig.from_pretrained(folder, **where)
        )
        _load_or_refuse(name, lambda: _check_fits(name, config, held))
        network = _load_or_refuse(
            name, lambda: _network(name, folder, config, dtype, where)
        )
        try:
            network = network.to(device)
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise out_of_memory(name, device, 0) from error
        vocabulary = _vocabulary(name, folder, where, network)
        return HuggingFaceModel.of(name, digest, network.eval(), vocabulary)


def from_memory(model: Any, tokenizer: Any = None) -> HuggingFaceModel:
    """A model that is in memory: a copy of its modules that shares its parameters, so that the model stays as it is."""
    if not isinstance(model, PreTrainedModel):
        raise InputError(
            f"the model is {type(model).__name__}: expected a name, or a model of the transformers library"
        )
    name = str(getattr(model.config, "_name_or_path", "") or type(model).__name__)
    digest = hashlib.sha256()
    for key, numbers in model.state_dict().items():
        digest.update(key.encode())
        digest.update(
            numbers.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data
        )
    # What `deepcopy` finds here, by its id, it takes as it is.
    shared: dict[int, Any] = {
        id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())
    }
    network: Any = copy.deepcopy(model.base_model, shared)
    with _quiet():
        network = (
            network.get_encoder() if network.config.is_encoder_decoder else network
        )
        _load_or_refuse(
            name, lambda: network.set_attn_implementation(register_blockwise())
        )
        count = _token_count(network)
        vocabulary: Vocabulary = NumberedVocabulary(name, "none was given", count)
        if tokenizer is not None:
            vocabulary = TokenizerVocabulary(tokenizer, count)
        return HuggingFaceModel.of(name, digest.hexdigest(), network.eval(), vocabulary)


def _check_sizes(name: str, folder: Path) -> None:
    """Refuse a config.json whose numbers no model has, before a library makes as many layers."""
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError):
        return  # transformers says what is wrong with it
    inner = config.get("text_config") if isinstance(config, dict) else None
    for settings in (config, inner):
        if not isinstance(settings, dict):
            continue
        for key, most in SIZES.items():
            size = settings.get(key)
            if isinstance(size, int) and not 1 <= size <= most:
                raise InputError(
                    f"{name}: its config.json has {key} {size}: expected 1 to {most}"
                )


def _check_fits(name: str, config: Any, held: int) -> None:
    """Refuse a configuration that asks for far more than the files hold, before as much memory is asked for.

    The network is made without its numbers, which takes next to nothing, and they are counted.
    """
    inner = config.get_text_config()
    layers = max(
        (n for key in LAYERS if isinstance(n := getattr(inner, key, None), int)),
        default=0,
    )
    if layers > max(FEWEST_LAYERS, held // LEAST_LAYER):
        raise InputError(
            f"{name}: its configuration asks for {layers} layers, and its files have {held} bytes"
        )
    with torch.device("meta"):
        network = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
    asked = sum(parameter.numel() for parameter in network.parameters())
    if asked > A_BYTE * held + BESIDE:
        raise InputError(
            f"{name}: its configuration asks for {asked} parameters, and its files have {held} bytes"
        )
    buffered = sum(buffer.numel() for buffer in network.buffers())
    if buffered > BUFFERS:
        raise InputError(
            f"{name}: its configuration asks for {buffered} numbers beside its parameters: expected {BUFFERS} "
            "or less"
        )


def _network(
    name: str, folder: Path, config: Any, dtype: str, where: dict[str, Any]
) -> Any:
    network, loading = AutoModel.from_pretrained(
        folder,
        config=config,
        dtype=getattr(torch, dtype),
        attn_implementation=register_blockwise(),
        weights_only=True,
        output_loading_info=True,
        ignore_mismatched_sizes=True,
        **where,
    )
    alone = any(
        kind.endswith("EncoderModel") for kind in config.architectures or ()
    ) and hasattr(network, "decoder")
    encodes = network.config.is_encoder_decoder or alone  # of these the encoder is read
    idle = (*IDLE, "decoder.") if encodes else IDLE
    absent = sorted(key for key in loading["missing_keys"] if not key.startswith(idle))
    if absent:
        raise InputError(
            f"{name}: its files lack {len(absent)} of the parameters that its config.json asks for "
            f"({absent[0]}): a random one would stand in for each"
        )
    for key, held, asked in sorted(loading["mismatched_keys"], key=str):
        raise InputError(
            f"{name}: {key} has the shape {tuple(held)} in its files, and config.json asks for "
            f"{tuple(asked)}"
        )
    if encodes:
        network = network.get_encoder()
    for key, numbers in network.named_parameters():
        if not torch.isfinite(numbers).all():
            count = int((~torch.isfinite(numbers)).sum())
            raise InputError(
                f"{name}: {key} holds {count} numbers that are not finite (NaN or infinity), of "
                f"{numbers.numel()}: expected finite weights"
            )
    if network.main_input_name != "input_ids":
        raise InputError(
            f"{name} reads {network.main_input_name}, not tokens: an audit reads text"
        )
    return network


def _load_or_refuse(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except InputError:
        raise
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise out_of_memory(name, "this machine", 0) from error
    except BROKEN as error:
        raise InputError(_why_not_loaded(name, error)) from error


def _why_not_loaded(name: str, error: Exception) -> str:
    """What an error of a library means for a user."""
    message = " ".join(str(error).split())
    if isinstance(error, KeyError) and BLOCKWISE in message:
        return f"{name}: its family has no hook for attention in transformers, and cannot be audited"
    if "weights_only" in message:  # torch's advice is to run what is in the file
        return (
            f"{name} cannot be loaded: its pickle holds more than plain tensors, and nothing else is "
            "ever read from one; expected safetensors, or tensors only"
        )
    # What transformers takes a GGUF file for whose head it cannot read.
    if ".gguf" in message and "valid JSON" in message:
        return f"{name} cannot be loaded: it is not a whole GGUF file"
    if "trust_remote_code" in message:
        return (
            f"{name} brings code of its own, which is never run: expected a model of a family that "
            "transformers knows"
        )
    return f"{name} cannot be loaded ({type(error).__name__}: {message[:300]})"


def _vocabulary(
    name: str, folder: Path, where: dict[str, Any], network: Any
) -> Vocabulary:
    """With a tokenizer that fits the model, or without. A model without one still reads tokens."""
    count = _token_count(network)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **where)
    except BROKEN as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    else:
        known = len(tokenizer)
        regular = set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids)
        if not count / 2 <= known <= count + 8:
            reason = f"it knows {known} tokens, the model {count}"
        elif not regular:
            reason = "it knows special tokens alone"
        else:
            return TokenizerVocabulary(tokenizer, count)
    return NumberedVocabulary(name, reason, count, _spellings(folder, count))


def _token_count(network: Any) -> int:
    return int(network.get_input_embeddings().weight.shape[0])


def _spellings(folder: Path, count: int) -> tuple[str, ...]:
    """The lines of vocab.txt, one a token, if there are as many as tokens: words for a model without a tokenizer."""
    try:
        lines = (folder / "vocab.txt").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(lines) if len(lines) == count else ()


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither bars nor advice while a model loads: what matters comes back as an error."""
    logger = logging.getLogger("transformers")
    bars = talk.is_progress_bar_enabled()
    level = logger.level
    logger.setLevel(logging.ERROR)
    talk.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        # The reader of GGUF files draws its bar all the same.
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)
        if bars:
            talk.enable_progress_bar()  # type: ignore[no-untyped-call]

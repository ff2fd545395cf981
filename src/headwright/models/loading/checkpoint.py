"""A checkpoint in a folder, loaded by transformers: its classes, its readers, never the checkpoint's own code."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import logging
import struct
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel
from transformers.utils import logging as talk

from headwright.errors import InputError, install_line
from headwright.models.loading.attention_hook import HOOK, recording
from headwright.models.loading.huggingface import HuggingFaceModel, out_of_memory

BROKEN = (
    AttributeError, ImportError, KeyError, NotImplementedError, OSError, RuntimeError, SafetensorError, TypeError,
    UnpicklingError, ValueError, EOFError, IndexError, ArithmeticError, struct.error,
)  # fmt: skip
# What a config may ask for, by the names that families have for it: no model has as much.
SIZES = {
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"), 4096),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "num_key_value_heads"), 2**16),
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "head_dim", "vocab_size"), 2**26),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 2**16),
}
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers")
FEWEST_LAYERS, LEAST_LAYER = 64, 64  # layers that may share parameters; bytes that one of its own has, at the least
A_BYTE, BESIDE = 8, 2**22  # parameters of 2 bits, and as many again that a file may leave out; and a few more
BUFFERS = 2**28  # numbers that are made and not read, such as a mask
IDLE = ("pooler.",)  # parameters that a checkpoint may lack: no attention depends on them


def from_folder(
    name: str, folder: Path, digest: str, *, device: str, dtype: str, held: int, gguf: str | None = None
) -> HuggingFaceModel:
    """The model in a folder, or in a GGUF file there, ready to be run; its files of parameters have `held` bytes."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda: there is no GPU that torch can use here; take cpu")
    where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    if gguf is not None:
        if find_spec("gguf") is None:
            raise InputError(f"a .gguf file needs gguf, which is not installed: {install_line('audit')}")
        where["gguf_file"] = gguf
    else:
        _sized(name, folder)
    with _quiet(), recording(lambda _: None):
        config = _tried(name, lambda: AutoConfig.from_pretrained(folder, **where))
        _tried(name, lambda: _fits(name, config, held))
        network = _tried(name, lambda: _network(name, folder, config, dtype, where))
        try:
            network = network.to(device)
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise out_of_memory(name, device, 0) from error
        tokenizer, why_not = _tokenizer(folder, where, network)
        return HuggingFaceModel.of(name, digest, network.eval(), tokenizer, why_not, _spelling(folder, network))


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
        digest.update(numbers.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    shared: dict[int, Any] = {id(each): each for each in (*model.parameters(), *model.buffers())}
    network: Any = copy.deepcopy(model.base_model, shared)
    with _quiet(), recording(lambda _: None):
        network = network.get_encoder() if network.config.is_encoder_decoder else network
        _tried(name, lambda: network.set_attn_implementation(HOOK))
        return HuggingFaceModel.of(name, digest.hexdigest(), network.eval(), tokenizer, "none was given")


def _sized(name: str, folder: Path) -> None:
    """Refuse a config.json whose numbers no model has, before a library makes as many layers."""
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError):
        return  # transformers says what is wrong with it
    inner = config.get("text_config") if isinstance(config, dict) else None
    for part in (each for each in (config, inner) if isinstance(each, dict)):
        for key, most in SIZES.items():
            size = part.get(key)
            if isinstance(size, int) and not 1 <= size <= most:
                raise InputError(f"{name}: its config.json has {key} {size}: expected 1 to {most}")


def _fits(name: str, config: Any, held: int) -> None:
    """Refuse a configuration that asks for far more than the files hold, before as much memory is asked for.

    The network is made without its numbers, which takes next to nothing, and they are counted.
    """
    inner = config.get_text_config()
    layers = max((n for key in LAYERS if isinstance(n := getattr(inner, key, None), int)), default=0)
    if layers > max(FEWEST_LAYERS, held // LEAST_LAYER):
        raise InputError(f"{name}: its configuration asks for {layers} layers, and its files have {held} bytes")
    with torch.device("meta"):
        network = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
    asked = sum(each.numel() for each in network.parameters())
    if asked > A_BYTE * held + BESIDE:
        raise InputError(f"{name}: its configuration asks for {asked} parameters, and its files have {held} bytes")
    made = sum(each.numel() for each in network.buffers())
    if made > BUFFERS:
        raise InputError(f"{name}: its configuration asks for {made} numbers beside its parameters: expected {BUFFERS} "
                         "or less")  # fmt: skip


def _network(name: str, folder: Path, config: Any, dtype: str, where: dict[str, Any]) -> Any:
    network, told = AutoModel.from_pretrained(
        folder, config=config, dtype=getattr(torch, dtype), attn_implementation=HOOK, weights_only=True,
        output_loading_info=True, ignore_mismatched_sizes=True, **where,
    )  # fmt: skip
    alone = any(kind.endswith("EncoderModel") for kind in config.architectures or ()) and hasattr(network, "decoder")
    encodes = network.config.is_encoder_decoder or alone  # of these the encoder is read
    idle = (*IDLE, "decoder.") if encodes else IDLE
    absent = sorted(key for key in told["missing_keys"] if not key.startswith(idle))
    if absent:
        raise InputError(f"{name}: its files lack {len(absent)} of the parameters that its config.json asks for "
                         f"({absent[0]}): a random one would stand in for each")  # fmt: skip
    for key, held, asked in sorted(told["mismatched_keys"], key=lambda each: str(each[0])):
        raise InputError(f"{name}: {key} has the shape {tuple(held)} in its files, and config.json asks for "
                         f"{tuple(asked)}")  # fmt: skip
    if encodes:
        network = network.get_encoder()
    for key, numbers in network.named_parameters():
        if not torch.isfinite(numbers).all():
            count = int((~torch.isfinite(numbers)).sum())
            raise InputError(f"{name}: {key} holds {count} numbers that are not finite (NaN or infinity), of "
                             f"{numbers.numel()}: expected finite weights")  # fmt: skip
    if network.main_input_name != "input_ids":
        raise InputError(f"{name} reads {network.main_input_name}, not tokens: an audit reads text")
    return network


def _tried(name: str, load: Any) -> Any:
    try:
        return load()
    except InputError:
        raise
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise out_of_memory(name, "this machine", 0) from error
    except BROKEN as error:
        said = " ".join(str(error).split())
        if isinstance(error, KeyError) and HOOK in said:
            raise InputError(f"{name}: its family has no hook for attention in transformers, and cannot be audited"
                             ) from error  # fmt: skip
        if "weights_only" in said:  # torch's advice is to run what is in the file
            raise InputError(f"{name} cannot be loaded: its pickle holds more than plain tensors, and nothing else is "
                             "ever read from one; expected safetensors, or tensors only") from error  # fmt: skip
        if ".gguf" in said and "valid JSON" in said:  # what transformers takes a file for whose head it cannot read
            raise InputError(f"{name} cannot be loaded: it is not a whole GGUF file") from error
        if "trust_remote_code" in said:
            raise InputError(f"{name} brings code of its own, which is never run: expected a model of a family that "
                             "transformers knows") from error  # fmt: skip
        raise InputError(f"{name} cannot be loaded ({type(error).__name__}: {said[:300]})") from error


def _tokenizer(folder: Path, where: dict[str, Any], network: Any) -> tuple[Any, str]:
    """A tokenizer that fits the model, or why there is none. A model without one still reads tokens."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **where)
    except BROKEN as error:
        return None, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    count, known = network.get_input_embeddings().weight.shape[0], len(tokenizer)
    if not count / 2 <= known <= count + 8:
        return None, f"it knows {known} tokens, the model {count}"
    if not set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids):
        return None, "it knows special tokens alone"
    return tokenizer, ""


def _spelling(folder: Path, network: Any) -> tuple[str, ...]:
    """The lines of vocab.txt, one a token, if there are as many as tokens: words for a model without a tokenizer."""
    try:
        lines = (folder / "vocab.txt").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(lines) if len(lines) == network.get_input_embeddings().weight.shape[0] else ()


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither bars nor advice while a model loads: what matters comes back as an error."""
    logger, bars = logging.getLogger("transformers"), talk.is_progress_bar_enabled()
    level = logger.level
    logger.setLevel(logging.ERROR)
    talk.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with redirect_stderr(io.StringIO()):  # the reader of GGUF files draws its bar all the same
            yield
    finally:
        logger.setLevel(level)
        if bars:
            talk.enable_progress_bar()  # type: ignore[no-untyped-call]

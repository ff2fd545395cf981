"""Write a layer in every format, with a README.md that says how each is run, and check each by reading it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import Float

from headwright.errors import ContradictionError, InputError
from headwright.files import write_whole
from headwright.head_design.export.arrays import load_layer, write_arrays
from headwright.head_design.export.huggingface import FOLDER, write_huggingface
from headwright.head_design.export.numbers import FloatError, float_error, runs_in
from headwright.head_design.export.onnx_model import ONNX, write_onnx
from headwright.head_design.export.torch_layer import (
    TORCH,
    load_torch,
    run_torch,
    torch_shape,
    write_torch,
)
from headwright.head_design.head import HeadLayer, outputs, patterns
from headwright.head_design.heads_result import HeadsResult
from headwright.numerics.enclosure import TOLERANCE, assert_within

Pattern = Float[np.ndarray, "heads T T"]
Output = Float[np.ndarray, "T m"]
FORMATS = ("arrays", "torch", "onnx", "huggingface")
Tokens = Float[np.ndarray, "T D"] | Sequence[Float[np.ndarray, "T D"]]


def read_back(
    name: str,
    layer: HeadLayer,
    folder: Path,
    sequences: Sequence[Float[np.ndarray, "T D"]],
) -> None:
    """Raise a ContradictionError unless a format in a folder holds the layer.

    Arrays are compared bit for bit. What torch and ONNX make of the sequences is compared with what the layer does, up
    to the proven bound of what their arithmetic may lose; torch is asked only where it is installed. The Hugging Face
    folder is not run here: loading transformers takes seconds.
    """
    if name == "arrays" and not _same(layer, load_layer(folder)):
        raise ContradictionError("arrays: what was written is not the layer, read back")
    if name == "torch" and find_spec("torch") is not None:
        # The file's own numbers, and nothing lost.
        module, shape = load_torch(folder / TORCH, "float64")
        for X in sequences:
            output, pattern = run_torch(module, shape, X)
            _agree(name, layer, X, pattern, output, float_error(layer, X, "float64"))
    if name == "onnx":
        from onnx.reference import ReferenceEvaluator

        dtype = runs_in(layer.dtype)
        model = ReferenceEvaluator(str(folder / ONNX))
        for sequence in sequences:
            X = sequence.astype(dtype)
            batch_output, batch_pattern = model.run(None, {"tokens": X[None]})
            output = np.asarray(batch_output)[0]
            pattern = np.asarray(batch_pattern)[0]
            _agree(name, layer, X, pattern, output, float_error(layer, X, dtype))


def _agree(
    name: str,
    layer: HeadLayer,
    X: Float[np.ndarray, "T D"],
    pattern: Pattern,
    output: Output,
    lost: FloatError,
) -> None:
    """What the file computes is what the layer does, up to the bound of its rounding."""
    for what, expected, computed, bound in (
        ("pattern", patterns(layer, X), pattern, lost.pattern),
        ("output", outputs(layer, X), output, lost.output),
    ):
        if not bound < np.inf:
            continue
        difference = float(np.abs(expected - computed).max())
        assert_within(
            difference,
            f"{name}: how far a {what} is from the layer's",
            most=bound,
            tolerance=TOLERANCE,
        )


def _same(layer: HeadLayer, other: HeadLayer) -> bool:
    """Both have the same numbers, bit for bit."""
    if _without_weights(layer) != _without_weights(other):
        return False
    for head, other_head in zip(layer.heads, other.heads, strict=True):
        for name in ("W_Q", "W_K", "W_V", "b_Q", "b_V"):
            if not _equal(getattr(head, name), getattr(other_head, name)):
                return False
    return True


def _without_weights(layer: HeadLayer) -> tuple[object, ...]:
    return layer.causal, layer.dtype, layer.mask, layer.bias, len(layer.heads)


def _equal(array: np.ndarray | None, other: np.ndarray | None) -> bool:
    """The same numbers, or none in both."""
    if array is None or other is None:
        return array is None and other is None
    return np.array_equal(array, other)


def export(
    built_or_layer: HeadsResult | HeadLayer,
    directory: str | Path,
    *,
    tokens: Tokens | None = None,
    formats: Sequence[str] | None = None,
) -> tuple[Path, ...]:
    """Write a layer, or what build returned, into a directory; the files and folders that were written.

    Without `formats` every format is written that can be; README.md says which was left out, and why. With `formats`
    each of them is written, or the first that cannot be is an InputError. Tokens (one sequence, or several; those of
    the rules unless given) make the vocabulary of the Hugging Face model.

    >>> import tempfile
    >>> from headwright.head_design.head import Head
    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), causal=True, dtype="float32")
    >>> [path.name for path in export(layer, tempfile.mkdtemp(), tokens=np.eye(2), formats=["torch", "huggingface"])]
    ['torch.safetensors', 'huggingface', 'README.md']
    """
    layer = _layer_of(built_or_layer)
    if tokens is None and isinstance(built_or_layer, HeadsResult):
        tokens = built_or_layer.rules.sequences
    unknown = [name for name in formats or () if name not in FORMATS]
    if unknown or (formats is not None and not formats):
        raise InputError(
            f"formats: {', '.join(unknown) or 'none'}; expected some of {', '.join(FORMATS)}"
        )
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"export to {folder}: {error.strerror}; expected a folder that can be written"
        ) from error
    written: list[Path] = []
    left_out: dict[str, str] = {}
    sequences = _sequences(layer, tokens)
    for name in FORMATS:
        if formats is not None and name not in formats:
            continue
        try:
            written += _WRITERS[name](layer, folder, tokens)
            read_back(name, layer, folder, sequences)
        except InputError as error:
            if formats is not None:
                raise
            left_out[name] = str(error)
    readme = folder / "README.md"
    write_whole(
        readme, _readme(layer, [path.name for path in written], left_out).encode()
    )
    return (*written, readme)


def _layer_of(built_or_layer: HeadsResult | HeadLayer) -> HeadLayer:
    """The layer to export, or an InputError that says why there is none."""
    layer: object = built_or_layer
    if isinstance(built_or_layer, HeadsResult):
        layer = built_or_layer.layer
        if layer is None:
            raise InputError(
                f"there is no layer to export: the verdict is {built_or_layer.word}, expected designed"
            )
    if not isinstance(layer, HeadLayer):
        raise InputError(
            f"a {type(layer).__name__} cannot be exported: expected a layer, or what build returned"
        )
    return layer


def _sequences(
    layer: HeadLayer, tokens: Tokens | None
) -> list[Float[np.ndarray, "T D"]]:
    """The tokens as sequences; without any, a random one that the layer's mask and biases have room for."""
    if tokens is not None:
        several = (
            [tokens]
            if isinstance(tokens, np.ndarray) and tokens.ndim == 2
            else list(tokens)
        )
        return [np.asarray(X, dtype=np.float64) for X in several]
    lengths = [len(table) for table in (layer.mask, *layer.bias) if table]
    shape = (min([4, *lengths]), layer.heads[0].W_V.shape[1])
    return [np.random.default_rng(0).normal(size=shape)]


def _huggingface(
    layer: HeadLayer, folder: Path, tokens: Tokens | None
) -> tuple[Path, ...]:
    if tokens is None:
        raise InputError(
            "a Hugging Face model has a table of its tokens, and none were given: expected tokens=..."
        )
    return (write_huggingface(layer, folder, _sequences(layer, tokens)),)


_WRITERS: dict[str, Callable[[HeadLayer, Path, Tokens | None], tuple[Path, ...]]] = {
    "arrays": lambda layer, folder, _: write_arrays(layer, folder),
    "torch": lambda layer, folder, _: (write_torch(layer, folder),),
    "onnx": lambda layer, folder, _: (write_onnx(layer, folder),),
    "huggingface": _huggingface,
}


def _attn_mask_in_words(layer: HeadLayer) -> str:
    if layer.mask or layer.bias:
        return (
            " Pass an `attn_mask`: the module has none of its own. `headwright.head_design.export.run_torch` makes it "
            "from the file's metadata (mask, bias)."
        )
    return " Pass a causal `attn_mask`." if layer.causal else ""


def _readme(layer: HeadLayer, names: list[str], left_out: dict[str, str]) -> str:
    shape = torch_shape(layer)
    heads = "1 head" if shape.num_heads == 1 else f"{shape.num_heads} heads"
    if layer.causal:
        mask = "causal"
    elif layer.mask:
        mask = f"the mask {' '.join(layer.mask)}"
    else:
        mask = "no mask"
    if layer.biases:
        mask += ", with biases"
    if layer.bias:
        mask += ", with biases of places"
    parts = [
        f"# An attention layer\n\n{heads}, tokens of {shape.width} numbers, outputs of {shape.outputs}, {mask}, "
        f"weights in {layer.dtype}.\nEvery file holds the same weights, exactly; they differ only by zeros and powers "
        "of two."
        + (
            " They run in float32: bfloat16's own arithmetic is too coarse."
            if layer.dtype == "bfloat16"
            else ""
        )
    ]
    about = {
        "weights.safetensors": "`weights.safetensors` + `weights.json`: the matrices and their conventions\n\n"
        "```python\nfrom headwright.head_design.export import load_layer\n\nlayer = load_layer('.')\n```",
        TORCH: f"`{TORCH}`: the state dict of torch's own `nn.MultiheadAttention`\n\n"
        "```python\nimport torch\nfrom safetensors.torch import load_file\n\n"
        f"module = torch.nn.MultiheadAttention({shape.embed_dim}, {shape.num_heads}, bias={shape.biases}, "
        f"batch_first=True, dtype=torch.{runs_in(layer.dtype)})\n"
        f"module.load_state_dict(load_file('{TORCH}'))\n```\n\n"
        f"Pad tokens with zeros from {shape.width} to {shape.embed_dim} numbers; the first {shape.outputs} numbers of "
        "what comes out are the output." + (_attn_mask_in_words(layer)),
        ONNX: f"`{ONNX}`: tokens (batch, T, {shape.width}) in, output and pattern out\n\n"
        f"```python\nimport onnxruntime\n\noutput, pattern = onnxruntime.InferenceSession('{ONNX}').run(None, "
        "{'tokens': tokens})\n```",
        FOLDER: f"`{FOLDER}/`: a stock OPT of one layer (transformers 5 or newer)\n\n"
        "```python\nimport json\nimport torch\nfrom transformers import AutoModel\n\n"
        f"model = AutoModel.from_pretrained('{FOLDER}')\n"
        f"about = json.load(open('{FOLDER}/headwright.json'))\n"
        "run = model(input_ids=torch.tensor(about['input_ids'][:1]), output_attentions=True)\n"
        "pattern = run.attentions[0][0]  # (heads, T, T)\n"
        "output = run.last_hidden_state[0, :, slice(*about['output'])]  # (T, m)\n```",
    }
    parts += [f"## {text}" for name, text in about.items() if name in names]
    if left_out:
        parts.append(
            "## Left out\n\n"
            + "\n".join(f"- {name}: {why}" for name, why in left_out.items())
        )
    return "\n\n".join(parts) + "\n"

"""Export a designed layer: arrays, torch, ONNX, Hugging Face. docs/guides/exports.md says what is exact in each.

arrays        weights.safetensors + weights.json, read back bit for bit
torch_layer   torch.nn.MultiheadAttention, as torch.safetensors
onnx_model    model.onnx
huggingface   huggingface/: a stock OPT of one layer, for AutoModel.from_pretrained
write_all     all of these in one call, with a README.md; each is read back and run
numbers       numbers as an export stores them, and the rounding error of running it
"""

from headwright.head_design.export.arrays import load_layer, write_arrays
from headwright.head_design.export.huggingface import write_huggingface
from headwright.head_design.export.numbers import float_error
from headwright.head_design.export.onnx_model import onnx_model, write_onnx
from headwright.head_design.export.torch_layer import (
    TorchShape,
    load_torch,
    run_torch,
    to_torch,
    torch_shape,
    write_torch,
)
from headwright.head_design.export.write_all import FORMATS, export

__all__ = [
    "FORMATS",
    "TorchShape",
    "export",
    "float_error",
    "load_layer",
    "load_torch",
    "onnx_model",
    "run_torch",
    "to_torch",
    "torch_shape",
    "write_arrays",
    "write_huggingface",
    "write_onnx",
    "write_torch",
]

"""Models: tokens in; queries, keys and values of each layer out.

model         the interface of a model
load          from a name to a model: one that is built in, a folder, a file, a hub id
attention_only  what models of attention and nothing else have in common
induction     a model that is built in: two layers, NumPy only, with known heads
induction16   the smaller one: 16 tokens, one head a layer, learned positions
source        where a worker process gets a model from, and whether it is the expected one
checkpoint    a folder loaded by transformers, without ever running code that came with it
huggingface   what was loaded, as a model: its tokens, its layers, its parameters
vocabulary    its tokens, with a tokenizer or without
float64       a network run in float64, whatever type it asks for on the way
circuits      the parameters of an attention module as matrices, one for each head

The hook into attention, for all that look at a model while it runs (audit, watch, conform):

attention_calls      a call of attention, as its kernel gets it, and who visits it
transformers_calls   visits the calls of a model of transformers, whatever its kernel
key_gradients        how keys change with embeddings: what a search for texts climbs
sdpa_calls           visits the calls of torch's scaled_dot_product_attention
compiled_calls       hands on those in code that torch.compile traces
flex_calls           and those of FlexAttention
packaged_kernels     tells of calls of functions of flash_attn and xformers
module_paths         the modules of a model with their paths, quickly
kernel_arguments     which scores a kernel makes of its arguments
blockwise_attention  a kernel in blocks of rows, which stores no pattern and no mask
"""

from headwright.models.load import load_model
from headwright.models.model import Circuits, LayerActivations, Model

__all__ = ["Circuits", "LayerActivations", "Model", "load_model"]

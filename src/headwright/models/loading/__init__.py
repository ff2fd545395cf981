"""Models: tokens in; queries, keys and values of each layer out.

model         the interface of a model
load          from a name to a model: one that is built in, a folder, a file, a hub id
induction     a model that is built in: two layers, NumPy only, with known heads
induction16   the smaller one: 16 tokens, one head a layer, learned positions
checkpoint    a folder loaded by transformers, without ever running code that came with it
huggingface   what was loaded, as a model: tokens and words, a run, its parameters
attention_hook  the attention function that transformers calls; it records what it saw
float64       a network run in float64, whatever type it asks for on the way
circuits      the parameters of an attention module as matrices, one for each head
"""

from headwright.models.loading.load import load_model
from headwright.models.loading.model import Circuits, Layer, Model

__all__ = ["Circuits", "Layer", "Model", "load_model"]

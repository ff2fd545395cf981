"""Models as an audit sees them: tokens in; queries, keys and values of each layer out.

model         what is asked of a model, whatever it was loaded from
load          from a name to a model: the one that is built in, a folder, a file, a hub id
induction     the model that is built in: two layers, NumPy only, its truth known
checkpoint    a folder loaded by transformers, without ever running code that came with it
huggingface   what was loaded, as a model: tokens and words, a run, its parameters
hook          attention as transformers calls it: it mixes the values and tells what it saw
float64       a network run in float64, whatever type it asks for on the way
streaming     a forward pass as an iterator, one layer alive at a time
circuits      the parameters of an attention module as matrices, one for each head
"""

from headwright.models.loading.load import load_model
from headwright.models.loading.model import Circuits, Layer, Model

__all__ = ["Circuits", "Layer", "Model", "load_model"]

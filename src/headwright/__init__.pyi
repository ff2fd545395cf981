from . import formula, lowrank, noise, pictures, positions, weights
from .attention import Attention, attend, causal, output, pattern, scores
from .check import check
from .conformance.checking import assert_attention, conform
from .conformance.inputs import attention_inputs
from .conformance.models import conforming, expect
from .conformance.probes import visible_keys
from .enclosure import Enclosure
from .errors import FullyMaskedError, HeadwrightError, InputError
from .layer import Defect, Layer, equivariance_defect, permute, random_layer
from .lowrank import LowRank, spectral_norm_upper_bound, truncate
from .models.auditor import audit
from .models.loading import load_model
from .models.rows import attention_map, row_statistics
from .models.texts.every_text import every_text
from .models.watching import seen, watch
from .noise import Noise, Simulation, World, read_world, simulate
from .positions import Alibi, Learned, Precision, Rotary, Scheme, Sinusoidal, closest_pair, separation
from .queries.designer import Design, design
from .queries.wish import Wish, at_least, average, copy
from .verification import verify
from .weights.circuit import heads

__version__: str
__all__ = [
    "Alibi",
    "Attention",
    "Defect",
    "Design",
    "Enclosure",
    "FullyMaskedError",
    "HeadwrightError",
    "InputError",
    "Layer",
    "Learned",
    "LowRank",
    "Noise",
    "Precision",
    "Rotary",
    "Scheme",
    "Simulation",
    "Sinusoidal",
    "Wish",
    "World",
    "assert_attention",
    "at_least",
    "attend",
    "attention_inputs",
    "attention_map",
    "audit",
    "average",
    "causal",
    "check",
    "closest_pair",
    "conform",
    "conforming",
    "copy",
    "design",
    "equivariance_defect",
    "every_text",
    "expect",
    "formula",
    "heads",
    "load_model",
    "lowrank",
    "noise",
    "output",
    "pattern",
    "permute",
    "pictures",
    "positions",
    "random_layer",
    "read_world",
    "row_statistics",
    "scores",
    "seen",
    "separation",
    "simulate",
    "spectral_norm_upper_bound",
    "truncate",
    "verify",
    "visible_keys",
    "watch",
    "weights",
]

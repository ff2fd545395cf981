from . import check, design, formula, weights
from .attention import Attention, attend, causal, output, pattern, scores
from .enclosure import Enclosure
from .errors import FullyMaskedError, HeadwrightError, InputError
from .layer import Defect, Layer, equivariance_defect, permute, random_layer
from .lowrank import LowRank, spectral_norm_upper_bound, truncate
from .noise import Noise, Simulation, World, read_world, simulate
from .positions import Alibi, Learned, Precision, Rotary, Scheme, Sinusoidal, closest_pair, separation

__version__: str
__all__ = [
    "Alibi",
    "Attention",
    "Defect",
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
    "World",
    "attend",
    "causal",
    "check",
    "closest_pair",
    "design",
    "equivariance_defect",
    "formula",
    "output",
    "pattern",
    "permute",
    "random_layer",
    "read_world",
    "scores",
    "separation",
    "simulate",
    "spectral_norm_upper_bound",
    "truncate",
    "weights",
]

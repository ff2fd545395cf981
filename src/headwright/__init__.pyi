from . import (  # noqa: I001
    conformance,
    formulas,
    head_design,
    lowrank,
    pictures,
    positions,
    simulation,
    uncertainty,
    watching,
)
from .attention import Attention, attend, causal, output, pattern, scores
from .auditing.auditor import Audit, audit
from .verification.verify import verify
from .conformance.checking import assert_attention, conform
from .conformance.inputs import attention_inputs
from .conformance.models import conforming, expect
from .conformance.probes import visible_keys
from .errors import FullyMaskedError, HeadwrightError, InputError
from .grading import check
from .extras import MissingExtraError
from .head_design.circuit import heads
from .layer import Defect, Layer, equivariance_defect, permute, random_layer
from .lowrank import LowRank, spectral_norm_upper_bound, truncate
from .models import Model, load_model
from .numerics.enclosure import Enclosure
from .positions import (
    Alibi,
    Learned,
    Precision,
    Rotary,
    Scheme,
    Sinusoidal,
    closest_pair,
    separation,
)
from .query_design.designer import Design, design
from .query_design.targets import Targets, at_least, average, copy
from .simulation import Simulation, simulate
from .statistics import AttentionMap, RowStatistics, attention_map, row_statistics
from .text_bounds.every_text import every_length, every_text
from .value_ranges import Ranges, ranges
from .uncertainty import Noise, Uncertainty, read_uncertainty
from .watching import attention_with_statistics, rows, seen, watch
from .watching.qk_clip import qk_clip_
from .watching.training import AttentionCallback

__version__: str
__all__ = [
    "Alibi",
    "Attention",
    "AttentionCallback",
    "AttentionMap",
    "Audit",
    "Defect",
    "Design",
    "Enclosure",
    "FullyMaskedError",
    "HeadwrightError",
    "InputError",
    "Layer",
    "Learned",
    "LowRank",
    "MissingExtraError",
    "Model",
    "Noise",
    "Precision",
    "Ranges",
    "Rotary",
    "RowStatistics",
    "Scheme",
    "Simulation",
    "Sinusoidal",
    "Targets",
    "Uncertainty",
    "assert_attention",
    "at_least",
    "attend",
    "attention_inputs",
    "attention_map",
    "attention_with_statistics",
    "audit",
    "average",
    "causal",
    "check",
    "closest_pair",
    "conform",
    "conformance",
    "conforming",
    "copy",
    "design",
    "equivariance_defect",
    "every_length",
    "every_text",
    "expect",
    "formulas",
    "head_design",
    "heads",
    "load_model",
    "lowrank",
    "output",
    "pattern",
    "permute",
    "pictures",
    "positions",
    "qk_clip_",
    "random_layer",
    "ranges",
    "read_uncertainty",
    "row_statistics",
    "rows",
    "scores",
    "seen",
    "separation",
    "simulate",
    "simulation",
    "spectral_norm_upper_bound",
    "truncate",
    "uncertainty",
    "verify",
    "visible_keys",
    "watch",
    "watching",
]

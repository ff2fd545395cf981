from .exact_probability import Exact, exact, probability_met, why_not_exact
from .intervals import clopper_pearson, mean_interval
from .result import TargetWeight
from .sampling import sample_weights
from .simulation import Simulation, simulate
from .targets_met import TargetsMet, targets_met

__all__ = [
    "Exact",
    "Simulation",
    "TargetWeight",
    "TargetsMet",
    "clopper_pearson",
    "exact",
    "mean_interval",
    "probability_met",
    "sample_weights",
    "simulate",
    "targets_met",
    "why_not_exact",
]

from .exact_probability import Exact, exact, probability_met, why_not_exact
from .sampling import sample_weights
from .simulation import (
    Simulation,
    TargetsMet,
    TargetWeight,
    clopper_pearson,
    mean_interval,
    simulate,
    targets_met,
)

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

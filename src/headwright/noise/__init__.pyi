from .granted import Granted, granted
from .intervals import clopper_pearson, mean_interval
from .proven import Exact, exact, probability_granted, why_not_exact
from .sampling import sample_scores, sample_weights
from .scales import Between, Normal, OneOf, Scale
from .simulation import Simulation, TargetWeight, simulate
from .spreads import Ball, Covariance, Ellipsoid, Isotropic, Spread
from .toml import parse_world, read_world
from .world import Noise, World

__all__ = [
    "Ball",
    "Between",
    "Covariance",
    "Ellipsoid",
    "Exact",
    "Granted",
    "Isotropic",
    "Noise",
    "Normal",
    "OneOf",
    "Scale",
    "Simulation",
    "Spread",
    "TargetWeight",
    "World",
    "clopper_pearson",
    "exact",
    "granted",
    "mean_interval",
    "parse_world",
    "probability_granted",
    "read_world",
    "sample_scores",
    "sample_weights",
    "simulate",
    "why_not_exact",
]

from .exact_probability import Exact, exact, probability_granted, why_not_exact
from .sampling import sample_weights
from .scales import Between, Normal, OneOf, Scale
from .simulation import Granted, Simulation, TargetWeight, clopper_pearson, granted, mean_interval, simulate
from .spreads import Ball, Covariance, Ellipsoid, Isotropic, Spread
from .world import Noise, World
from .world_file import parse_world, read_world

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
    "sample_weights",
    "simulate",
    "why_not_exact",
]

"""Uncertain keys: what they may be, and what then becomes of a pattern.

scales      the kinds of scale: normal, between, one of several
spreads     the kinds of spread: isotropic, of a covariance, in a ball, in an ellipsoid
world       what the keys may be, as data
toml        the same as a file
sampling    scores in many draws of a world, without ever drawing a key
proven      probabilities and moments from both sides, where one random number (or none) decides
onescale    that one number: the pattern as a function of it, and its law, in ball arithmetic
granted     how often a wish is granted: sampled, and proven where possible
simulation  all of it, summed up for the targets of a head
intervals   what a sample says, and how surely
"""

from headwright.noise.granted import Granted, granted
from headwright.noise.intervals import clopper_pearson, mean_interval
from headwright.noise.proven import Exact, exact, probability_granted, why_not_exact
from headwright.noise.sampling import sample_scores, sample_weights
from headwright.noise.scales import Between, Normal, OneOf, Scale
from headwright.noise.simulation import Simulation, TargetWeight, simulate
from headwright.noise.spreads import Ball, Covariance, Ellipsoid, Isotropic, Spread
from headwright.noise.toml import parse_world, read_world
from headwright.noise.world import Noise, World

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

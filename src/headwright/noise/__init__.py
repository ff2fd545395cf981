"""Uncertain keys: what they may be (a world), and the distribution of the pattern that follows.

scales             the kinds of scale: normal, between, one of several
spreads            the kinds of spread: isotropic, of a covariance, in a ball, in an ellipsoid
world              what the keys may be, as data; world_file: as a TOML file
sampling           scores in many draws of a world, without drawing keys
exact_probability  probabilities and moments from both sides, where one random number (or none) decides
random_scale       that one number: the pattern as a function of it, and its law, in ball arithmetic
simulation         how often a wish is met, and the weights of targets, with intervals; wire: as JSON
"""

from headwright.noise.exact_probability import Exact, exact, probability_granted, why_not_exact
from headwright.noise.sampling import sample_scores, sample_weights
from headwright.noise.scales import Between, Normal, OneOf, Scale
from headwright.noise.simulation import (
    Granted,
    Simulation,
    TargetWeight,
    clopper_pearson,
    granted,
    mean_interval,
    simulate,
)
from headwright.noise.spreads import Ball, Covariance, Ellipsoid, Isotropic, Spread
from headwright.noise.world import Noise, World
from headwright.noise.world_file import parse_world, read_world

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

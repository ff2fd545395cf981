from .scales import Between, Normal, OneOf, Scale
from .spreads import Ball, Covariance, Ellipsoid, Isotropic, Spread
from .uncertainty import Noise, Uncertainty
from .uncertainty_file import parse_uncertainty, read_uncertainty

__all__ = [
    "Ball",
    "Between",
    "Covariance",
    "Ellipsoid",
    "Isotropic",
    "Noise",
    "Normal",
    "OneOf",
    "Scale",
    "Spread",
    "Uncertainty",
    "parse_uncertainty",
    "read_uncertainty",
]

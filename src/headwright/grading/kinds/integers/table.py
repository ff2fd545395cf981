"""The table [integers] of an exercise: integers and angles."""

from __future__ import annotations

from headwright.grading.fields import Source, Strict


class Integers(Strict):
    """Integers and angles: position embeddings at integer places."""

    integers: tuple[str, ...]
    different: tuple[
        tuple[str, str], ...
    ] = ()  # where a difference is claimed, these are different integers
    also: tuple[
        tuple[str, str], ...
    ] = ()  # other names for the first two different ones, where these do not occur
    given: tuple[
        Source, ...
    ] = ()  # conditions, where a statement speaks of all their names
    rows: str = "Phi"  # Phi_t is the vector of sin(w t), cos(w t) over all frequencies w, the first of which is 1

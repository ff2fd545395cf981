"""How large is large enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwright.check.scalars import Scalar, Where, parameter, prove
from headwright.check.scalars.where import Hypothesis


@dataclass(frozen=True)
class Threshold:
    """From which values of large names on a comparison holds; where the condition is not met, it holds anyway.

    >>> from headwright.check.scalars import POSITIVE, ln, number
    >>> n = parameter("n")
    >>> print(Threshold({"lambda": ln(parameter("m", POSITIVE))}, (n - 2, ">", number(0))))
    lambda >= ln(m), for n > 2
    """

    least: Mapping[str, Scalar]
    condition: Hypothesis | None = None

    def __str__(self) -> str:
        """For people: 'lambda >= ln((n - 2)/epsilon), for n > 2'."""
        said = " and ".join(f"{name} >= {value}" for name, value in self.least.items())
        return said if self.condition is None else f"{said}, for {_isolated(self.condition)}"

    def covers(self, other: Threshold, where: Where) -> bool:
        """Whether this one certainly asks for at least as much."""
        return self.least.keys() == other.least.keys() and all(
            prove(value, ">=", other.least[name], where) is not None for name, value in self.least.items()
        )


def _isolated(condition: Hypothesis) -> str:
    """n - 2 > 0 as n > 2."""
    left, comparison, right = condition
    for name in sorted(left.names()):
        free = parameter(name)  # as if nothing were known of it: only the form matters
        rest = free - left.put({name: free})
        if (rest + right).rational is not None:
            return f"{name} {comparison} {rest + right}"
    return f"{left} {comparison} {right}"

"""Which atoms are never negative."""

from __future__ import annotations

from headwright.check.rooms.matrices.forms import Applied, Atom, Member, Partial, Prime, Root, Symbol, Traced
from headwright.check.rooms.matrices.integers import Integers
from headwright.check.rooms.matrices.known import Known
from headwright.check.rooms.matrices.words import turned


def nonnegative(item: Atom, known: Known, integers: Integers) -> bool:
    """Whether an atom is never negative, where it is defined."""
    match item:
        case Symbol(name):
            return name in ("pi", "e") or known.fact(name, "positive") or integers.is_nonnegative(name)
        case Member(family):
            return _family(family, known)
        case Partial(powers):
            return all(power % 2 == 0 or _family(family, known) for family, power in powers)
        case Traced(word):  # trace(W W^T) is a sum of squares
            half = len(word) // 2
            rotations = (word[place:] + word[:place] for place in range(len(word)))
            return len(word) % 2 == 0 and any(part[half:] == turned(part[:half], known) for part in rotations)
        case Applied(function, _):
            return function in ("exp", "norm", "rank", "abs")
        case Prime():
            return True
        case Root():
            return False


def _family(base: str, known: Known) -> bool:
    family = known.families.get(base)
    return (family is not None and family.kind == "singular values") or known.fact(f"{base}_*", "positive")

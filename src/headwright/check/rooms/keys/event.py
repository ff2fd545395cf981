"""Statements about probabilities: Pr(c ~ ...) where the length of a key is random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb, fmpq

from headwright.check.answer import label
from headwright.check.decision import Decision
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.chance import Chances, chances
from headwright.check.rooms.keys.classes import ZERO, Vec
from headwright.check.rooms.keys.meaning import Reader, scalars_in
from headwright.check.scalars import Where, number
from headwright.formula.tree import Call, Comparison, Name, Node, Relation, walk

if TYPE_CHECKING:
    from headwright.check.rooms.keys.deciding import Decider

NEAR = fmpq(1, 100)  # how near a probability is that is written with 'approximately'


def decide_event(decider: Decider, event: Call, sign: Comparison, right: Node) -> Decision:
    """Decide what is said of the probability of an event, in the limit of long queries."""
    found, wanted = chances_of(decider, event)
    if found is None:
        return Decision("undecided", "the probability could not be found exactly")
    p = Reader(decider.scene, {}).scalar(right)
    if p.names():
        return Decision("undecided", f"the probability is compared with {p}, which is not a number")
    if p == number(1) and sign in ("=", "~", "->") and found.always(wanted):
        return Decision("proved", "it holds for every length of the key that counts", used="limits")
    if p == ZERO and sign in ("=", "~", "->") and found.never(wanted):
        return Decision("proved", "it holds for no length of the key, but for single values", used="limits")
    value, target = found.probability(wanted), p.value({})
    if value is None:
        return Decision("undecided", "the probability depends on the number of keys")
    true = _compared(value, sign, target)
    if true is None:
        return Decision("undecided", f"the probability is {value.str(10)}")
    if true:
        return Decision("proved", f"the probability is {value.str(6, radius=False)}", used="the normal law in balls")
    return Decision("refuted", "", left=value, right=target)


def _compared(value: arb, sign: Comparison, target: arb) -> bool | None:
    """The comparison of two balls, where it is certain."""
    tolerance = arb(NEAR) if sign == "~" else arb(0)
    if sign in ("=", "~", "->"):
        gap = abs(value - target)
        return False if gap > tolerance else True if sign == "~" and gap < tolerance else None
    if value < target:
        return sign in ("<", "<=", "!=")
    return sign in (">", ">=", "!=") if value > target else None


def chances_of(decider: Decider, event: Call) -> tuple[Chances | None, Vec]:
    """The regions of the random length, and the output that an event speaks of."""
    match event.arguments:
        case (Relation((left, right), ("~" | "->" | "=",)),):
            pass
        case _:
            raise MisfitError("this event is not understood", event, fix="write \\Pr(c \\approx ...)")
    scene = decider.scene
    reader = Reader(scene, {})
    if not is_output(left):
        left, right = right, left
    if not is_output(left) or speaks_of_output(right):
        raise MisfitError("this event is not understood", event, fix="write \\Pr(c \\approx ...)")
    output, wanted = reader.value(left), reader.value(right)
    if not (isinstance(output, Vec) and isinstance(wanted, Vec) and isinstance(left, Name)):
        raise MisfitError("an event about outputs was expected", event)
    heads = scene.queries if left.index is None else (f"q_{label(left.index)}",)
    random = [scale for scale in scene.setting.scales.values() if scale.normal is not None]
    if len(random) != 1 or random[0].normal is None:
        raise MisfitError("nothing is random in this exercise but vanishing noise", event)
    scale = random[0].name
    # What is said of other names than the random one restricts nothing here: the rest is shown for all of them.
    given = [one for one in decider.given(reader) or [] if scale in one[0].names() | one[2].names()]
    where, large = decider.where(scalars_in(output), given)
    return chances(reader, heads, scale, random[0].normal, large, Where(where.ranges), given), wanted


def is_output(node: Node) -> bool:
    """c, or c_1."""
    return isinstance(node, Name) and node.base == "c"


def speaks_of_output(node: Node) -> bool:
    """Whether an output or a weight occurs."""
    return any(isinstance(part, Name) and part.base in ("c", "alpha") for part in walk(node))

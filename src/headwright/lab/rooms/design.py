"""Design: keys in a space, a wish, and the shortest query that grants it, or the proof that there is none."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.asking import Tell
from headwright.lab.room import Call, RequestBody, Room
from headwright.lab.rooms.worlds import MOST_ENTRIES, Noisy, world_of

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.queries import Design, Wish

MOST_KEYS, MOST_NUMBERS, MOST_HEADS = 2000, 20_000, 8
Number = Annotated[str, Field(max_length=60)]  # exact: "0.01" is 1/100, and "1/8" is what it says
Index = Annotated[int, Field(ge=0, lt=MOST_KEYS)]
Row = Annotated[list[float], Field(min_length=1, max_length=256)]


class DesignRequest(RequestBody):
    """The options of `headwright design`, with the keys themselves in place of a file.

    >>> DesignRequest(keys=[[1.0, 0.0], [0.0, 1.0]], copy=0).eps
    '0.01'
    """

    keys: list[Row] = Field(min_length=1, max_length=MOST_KEYS, description="The keys, one a row.")
    copy_: Index | None = Field(None, alias="copy", description="The wish: attend to this key.")
    average: list[Index] | None = Field(None, max_length=64, description="The wish: attend evenly to these keys.")
    at_least: dict[Annotated[str, Field(pattern=r"^[0-9]{1,4}$")], Number] | None = Field(
        None, max_length=64, description="The wish: least weights, by key."
    )
    eps: Number = Field(
        "0.01", description="Tolerance, with copy or average: each target gets at least 1/(targets + eps)."
    )
    scale: Number = Field("1", description="Factor of the scores.")
    heads: int = Field(1, ge=1, le=MOST_HEADS)
    world: list[Noisy] = Field([], max_length=MOST_ENTRIES, description="Uncertainty model for the keys.")
    confidence: Number | None = Field(
        None, description="Where keys are random: grant the wish with this probability, 0.95 unless given."
    )


def design(asked: DesignRequest, progress: Tell | None = None) -> dict[str, Any]:
    """What `headwright design --json` says, with the certificate itself in place of the name of its file.

    >>> found = design(DesignRequest(keys=[[1.0, 0.0], [0.0, 1.0]], copy=0))
    >>> found["verdict"], found["checkers"]
    ('designed', ['exact', 'float'])
    """
    return answered(find(asked, progress))


def find(asked: DesignRequest, progress: Tell | None = None) -> Design:
    """The design that is asked for, verified by both checkers.

    >>> find(DesignRequest(keys=[[1.0, 0.0], [0.0, 1.0]], copy=0)).word
    'designed'
    """
    from headwright.queries import design as designed

    keys = matrix(asked.keys, "keys")
    return designed(
        keys, wish_of(asked), world=world_of(asked.world), scale=asked.scale, heads=asked.heads,
        confidence=asked.confidence, progress=progress,
    )  # fmt: skip


def answered(found: Design) -> dict[str, Any]:
    """A design as the page is told it.

    >>> answered(find(DesignRequest(keys=[[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]], copy=2)))["mixing"]["of"]
    {'0': 0.75, '1': 0.25}
    """
    return {**found.to_json(found.certificate), "mixing": _mixing(found)}


def matrix(rows: list[list[float]], what: str) -> Float[np.ndarray, "n d"]:
    """Rows as an array; `what` begins the sentence if they are not one.

    >>> matrix([[1.0, 2.0]], "keys").shape
    (1, 2)
    """
    import numpy as np

    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{what}: rows of different lengths, expected as many numbers in each")
    found = np.array(rows, dtype=float)
    if found.size > MOST_NUMBERS:
        raise InputError(f"{what}: {found.size} numbers; the lab takes {MOST_NUMBERS}, the command line any number")
    return found


def wish_of(asked: DesignRequest) -> Wish:
    """The wish that is asked for.

    >>> wish_of(DesignRequest(keys=[[1.0], [2.0]], average=[0, 1])).targets
    [0, 1]
    """
    from headwright.queries import at_least, average, copy

    given = [name for name in ("copy_", "average", "at_least") if getattr(asked, name) is not None]
    if len(given) != 1:
        raise InputError("expected one wish: copy, average or at_least")
    if asked.copy_ is not None:
        return copy(asked.copy_, asked.eps)
    if asked.average is not None:
        return average(asked.average, asked.eps)
    wanted = asked.at_least or {}
    if len({int(key) for key in wanted}) < len(wanted):
        raise InputError(f"at_least names a key twice ({', '.join(wanted)}): expected each once")
    return at_least({int(key): least for key, least in wanted.items()})


def _mixing(found: Design) -> dict[str, Any] | None:
    """Why nothing grants the wish, where that is because a mean of targets is a mixture of keys too; for the eye.

    Both are read out of the certificate that the checker has just verified, and are compared exactly.
    """
    import json

    question = found.question
    if found.word != "impossible" or found.certificate is None or not question.world.fixed or question.heads > 1:
        return None
    bound = json.loads(found.certificate)["evidence"]["bound"]
    constraints = [one for part in bound["parts"] for one in part["constraints"]] if bound else []
    spread = [one["distribution"] for one in constraints]
    if not spread or spread[0] is None or any(one != spread[0] for one in spread):
        return None
    targets = _shares({int(one["target"]): _number(one["multiplier"]) for one in constraints})
    weights = {int(key): _number(weight) for key, weight in spread[0].items()}
    of = _shares({key: weight for key, weight in weights.items() if len(targets) > 1 or key not in targets})
    if not of or _mean(question.keys[0], targets) != _mean(question.keys[0], of):
        return None
    return {
        name: {str(key): float(share) for key, share in shares.items()}
        for name, shares in (("targets", targets), ("of", of))
    }


def _shares(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items() if weight} if total else {}


def _mean(keys: Float[np.ndarray, "n d"], shares: dict[int, Fraction]) -> list[Fraction]:
    """The mean of keys, exactly."""
    rows = [[share * Fraction(x) for x in keys[key].tolist()] for key, share in shares.items()]
    return [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]


def _number(text: str) -> Fraction:
    """A number as certificates write it: hexadecimal, with or without a denominator."""
    top, slash, bottom = text.partition("/")
    if slash:
        return Fraction(int(top, 16), int(bottom, 16))
    return Fraction(float.fromhex(top))


ROOM = Room(
    "design",
    "Design",
    "Say which keys a head should attend to. See every query that does it, and the shortest one, with a proof.",
    (
        Call(
            "design",
            "The shortest query that grants a wish, or a proof that there is none.",
            DesignRequest,
            design,
            {
                "verdict": "designed, impossible, longer or undecided",
                "queries": "a row for each head; none unless designed",
                "norm": "the length of the longest query, rounded up",
                "norm_lower_bound": "no query shorter than this grants the wish: proven",
                "gap": "how much longer than the bound the longest query is, relatively",
                "pattern": "the weight that each target gets at least: proven",
                "heads": "which head serves which targets",
                "best_eps": "if impossible: an eps that can be had",
                "best_eps_interval": "if impossible: the best eps lies between these two: proven",
                "probability": "if keys are random: how often the wish is granted",
                "checkers": "who verified the certificate",
                "certificate": "the certificate, as text",
                "words": "what was proved, or why nothing was",
                "kinds": "what each number is: proven, sampled, floating-point, exact or given",
                "mixing": "if impossible because a mean of targets is a mixture of keys too: their shares in both",
            },
            tells=True,
        ),
    ),
)

"""The numbers of a head that are shown: in maps, in the table of the page and on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwright.models.findings.heads import Head
from headwright.models.report.sentences import ball


@dataclass(frozen=True)
class Column:
    """A number of a head: for a map, for the table, or both."""

    title: str
    short: str
    value: Callable[[Head], float | None]
    shown: str = ".2f"
    most: float | None = 1.0  # what has the full colour in a map; None: the largest value there is
    mapped: str = ""  # the caption of its map; no map if empty
    mean: str = ""  # the name of the mean that it is, if it is one


def _of_mean(
    name: str, title: str, short: str, shown: str = ".2f", most: float | None = 1.0, mapped: str = ""
) -> Column:  # fmt: skip
    return Column(title, short, lambda head: head.value(name), shown, most, mapped, name)


def _quantile(name: str) -> Callable[[Head], float | None]:
    def value(head: Head) -> float | None:
        held = head.quantiles.get(name)
        return None if held is None or held.values[0.5] == float("inf") else held.values[0.5]

    return value


def _tv(name: str) -> Callable[[Head], float | None]:
    return lambda head: head.rounding[name].tv.value if name in head.rounding else None


def _rank(name: str) -> Callable[[Head], float | None]:
    return lambda head: float(head.spectra[name].rank) if name in head.spectra else None


COLUMNS = (
    _of_mean("sink", "First token", "first", mapped="mean weight of the first token"),
    _of_mean("previous_away", "Previous token", "prev.", mapped="mean weight of the token before*"),
    _of_mean("self_away", "Own token", "self", mapped="mean weight of the row's own token*"),
    _of_mean("duplicate_away", "Equal tokens", "equal", mapped="mean weight of earlier equal tokens*"),
    _of_mean("induction_away", "Induction", "induct.",
           mapped="on repeated random tokens: what followed the same token before*"),
    _of_mean("copying_away", "Copying", "copies", mapped="rows that give one key 10/11 or more*"),
    _of_mean("averaging_away", "Averaging", "avg.", mapped="rows that are even over 3 keys or more*"),
    _of_mean("largest_away", "Largest weight", "largest", mapped="mean of the largest weight*"),
    _of_mean("entropy_away", "Entropy", "entropy", most=None, mapped="mean entropy of a row, nats*"),
    _of_mean("distance_away", "Distance", "dist.", ".1f", None, "mean places back*"),
    Column("Margin", "margin", _quantile("margin_away"), ".2f", None, ""),
    Column("Key ball", "ball", ball, ".2%", None,
           "how far all keys may move, of their length, before half of the rows may change their winner"),
    Column("int8 a token", "int8", _tv("int8 a token"), ".3f", None, ""),
    Column("int4 a token", "int4", _tv("int4 a token"), ".3f", None, "total variation when keys are rounded to int4"),
    Column("QK rank", "QK", _rank("qk"), ".0f", None, "smallest rank that keeps 90 % of QK (proven)"),
    Column("OV rank", "OV", _rank("ov"), ".0f", None, "smallest rank that keeps 90 % of OV (proven)"),
    Column("Written", "written", lambda head: head.share, ".2f", 1.0, "share of what the layer writes"),
)  # fmt: skip

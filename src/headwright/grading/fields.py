"""What the tables of an exercise file are made of: formulas, exact numbers, labels, and numbers with a range."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from headwright.errors import InputError
from headwright.formulas import FormulaError, parse
from headwright.formulas.tree import Node
from headwright.grading.scalars import Range


@lru_cache(maxsize=4096)
def parsed(source: str) -> Node:
    """The tree of a formula of an exercise, read once."""
    return parse(source)


def _formula(source: str) -> str:
    try:
        parsed(source)
    except FormulaError as error:
        remedy = f" ({error.fix})" if error.fix else ""
        raise ValueError(
            f"a formula that can be read, but {error.message}{remedy}"
        ) from None
    return source


def _fraction(given: object) -> Fraction:
    try:
        return Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        raise ValueError("a number such as 2, 0.5 or '1/3'") from None


Source = Annotated[
    str, Field(max_length=5000), AfterValidator(_formula)
]  # a formula, as written
Ratio = Annotated[Fraction, BeforeValidator(_fraction)]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9]+$", max_length=12)]


class Strict(BaseModel):
    """Unknown fields are refused: a misspelt one would silently change the exercise."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Parameter(Strict):
    """A number that the exercise leaves open, and where it lies."""

    integer: bool = False
    at_least: Ratio | None = None
    above: Ratio | None = None
    at_most: Ratio | None = None
    below: Ratio | None = None
    large: bool = False  # it goes to infinity: statements are about its large values
    small: bool = False  # a tolerance: 'approximately' is about its going to 0

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        try:
            self.range()
        except InputError:
            raise ValueError("a range that holds a number") from None
        return self

    def range(self) -> Range:
        """The same for the prover."""
        lower = self.at_least if self.above is None else self.above
        upper = self.at_most if self.below is None else self.below
        lower_open, upper_open = self.above is not None, self.below is not None
        return Range(
            lower,
            upper,
            lower_open=lower_open,
            upper_open=upper_open,
            integer=self.integer,
        )

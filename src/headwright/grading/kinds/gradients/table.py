"""The table [gradients]: what is differentiated by what."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from headwright.grading.fields import Source, Strict

Size = Annotated[int, Field(ge=1, le=6)]


class DerivativeOf(Strict):
    """A derivative: of what, by what."""

    of: Source
    by: Source


class Gradients(Strict):
    """Open variables with their sizes, functions of them, and derivatives that have a name."""

    variables: dict[str, tuple[Size, Size]]  # rows and columns; a vector has one column
    functions: dict[str, Source] = Field(
        default_factory=dict
    )  # in terms of variables and of one another
    wanted: dict[str, DerivativeOf] = Field(
        default_factory=dict
    )  # what is asked for: names of the answer
    known: dict[str, DerivativeOf] = Field(
        default_factory=dict
    )  # derivatives that an answer may use
    in_terms_of: tuple[str, ...] | None = None  # names that a value may be written in
    positive: tuple[str, ...] = ()  # variables whose entries are positive
    distributions: tuple[str, ...] = ()  # variables whose entries sum to 1
    mistakes: dict[str, dict[str, Source]] = Field(
        default_factory=dict
    )  # words: the wrong value of a name

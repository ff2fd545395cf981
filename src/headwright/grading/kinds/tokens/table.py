"""The table [tokens] of an exercise: self-attention on tokens made of orthogonal directions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headwright.grading.fields import Label, Source, Strict


class Tokens(Strict):
    """Tokens made of orthogonal directions of one length; self-attention with given or wanted weights."""

    directions: tuple[Label, ...] = Field(min_length=1)
    letter: str = "u"
    length: str = "beta"
    tokens: dict[str, Source]
    weights: dict[Literal["Q", "K", "V"], Source] = Field(default_factory=dict)
    mask: Literal["none", "causal"] = (
        "none"  # causal: a token attends to itself and to those before it
    )

"""Verify a certificate about ranges: the weights decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headwright.errors import InputError
from headwright.value_ranges.checker.verify import RejectedClaimError, check_statement
from headwright.value_ranges.open_model import open_model
from headwright.value_ranges.read_layers import read_layers
from headwright.value_ranges.statement import read_statement
from headwright.value_ranges.tensors import TYPES

Progress = Callable[[float], None]


def verify_ranges(
    text: str, model: Any, progress: Progress | None = None
) -> tuple[str, str, int]:
    """'verified', 'rejected' or 'unreadable', with what was proved or why not; the model is not run."""
    try:
        statement = read_statement(text)
    except InputError as error:
        return "unreadable", str(error), 0
    if statement.arithmetic not in TYPES:
        words = f"nothing is known about computing in {statement.arithmetic}"
        return "rejected", words, 0
    opened = open_model(model)
    reader = opened.reader(statement.arithmetic)
    try:
        check_statement(statement, read_layers(opened.description, reader), progress)
    except RejectedClaimError as error:
        return "rejected", str(error), 0
    except InputError as error:
        raise InputError(f"{opened.name}: {error}") from error
    if reader.digest != statement.digest:
        words = (
            f"it is about other weights: these have the digest {reader.digest[:16]}..."
        )
        return "rejected", words, 0
    return "verified", statement.words(), 0

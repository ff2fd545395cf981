"""Why a statement is not accepted."""

from __future__ import annotations

from headwright.errors import InputError


class DoubtError(InputError):
    """The statement is not certainly true of these weights; the message says why."""

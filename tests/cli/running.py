"""Running the command line in the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.out)
        return result


Headwright = Callable[..., Ran]

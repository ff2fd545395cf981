"""Connections that ask nothing are closed: uvicorn waits for a first line for ever, and has room for 500."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 15.0  # between two looks: who has begun no request from one to the next is not waited for


class Impatient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's own protocol, which looks from time to time whether it is being asked anything."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Somebody is there."""
        super().connection_made(transport)
        self._look(None)

    def _look(self, before: Any, first: bool = True) -> None:
        """Close if nothing was asked since the last look, and nothing is being answered."""
        idle = self.cycle is None or self.cycle.response_complete
        if not first and idle and self.cycle is before:
            self.transport.close()
        if not self.transport.is_closing():
            self.loop.call_later(SECONDS, self._look, self.cycle, False)

"""Close connections that send no request: uvicorn waits for the first line without limit."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 15.0  # between two checks: a connection without a new request since the last check is closed


class IdleClosingProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol, with a periodic check for idle connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Start the periodic check."""
        super().connection_made(transport)
        self._check_idle(None)

    def _check_idle(self, before: Any, first: bool = True) -> None:
        """Close if no request came since the last check, and none is being answered."""
        idle = self.cycle is None or self.cycle.response_complete
        if not first and idle and self.cycle is before:
            self.transport.close()
        if not self.transport.is_closing():
            self.loop.call_later(SECONDS, self._check_idle, self.cycle, False)

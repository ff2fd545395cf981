"""Access control, and the headers that every reply carries.

A page of another site must not use a visitor's lab: Host must be one of ours (this prevents DNS rebinding), and so must
Origin, where there is one.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-cache",
}
PAGE = '<!doctype html><html lang="en"><title>Access refused</title><h1>Access refused</h1><p>{}</p></html>'
OTHER_SITE = "requests from other sites are refused"


class Guard:
    """Accepts requests from our own pages, or from no page at all; adds the security headers to every reply."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        """The hosts are names with ports, as browsers write them."""
        self._app = app
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        reason = self._reason_to_refuse(headers, scope["method"])
        app = self._app if reason is None else _refusal(reason, headers)
        await app(scope, receive, send_with_headers)

    def _reason_to_refuse(self, headers: Headers, method: str) -> str | None:
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return "unknown host name: use the address that 'headwright lab' printed"
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}":
            return OTHER_SITE
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and method != "GET":
            return OTHER_SITE
        return None


def _refusal(reason: str, headers: Headers) -> Response:
    """403 with the reason: as a page where a browser asks for one, else as JSON."""
    accepted = ",".join(headers.getlist("accept"))
    if "text/html" in accepted:
        return HTMLResponse(PAGE.format(html.escape(reason)), 403)
    return JSONResponse({"error": reason, "where": None}, 403)

"""Access control, and the headers that every reply carries.

A page of another site must not use a visitor's lab: Host must be one of ours (this prevents DNS rebinding), and so must
Origin, where there is one. When the lab is bound to another address than this machine's loopback, a token is required:
it is in the address that is printed, and is kept as a cookie.
"""

from __future__ import annotations

import hmac
import html
import json
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "headwright-lab"
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


class Guard:
    """Accepts requests from our own pages, or from no page at all; adds the security headers to every reply."""

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], token: str | None = None
    ) -> None:
        """The hosts are names with ports, as browsers write them."""
        self._app, self._hosts, self._token = (
            app,
            {host.lower() for host in hosts},
            token,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        cookie: list[str] = []

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                extra = [
                    (n.encode(), v.encode())
                    for n, v in HEADERS.items()
                    if n.encode() not in present
                ]
                extra += [(b"set-cookie", text.encode()) for text in cookie]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        why = self._why_not(scope, cookie)
        if why is None:
            await self._app(scope, receive, sending)
        else:
            await _refuse(sending, why, scope)

    def _why_not(self, scope: Scope, cookie: list[str]) -> str | None:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return "unknown host name: use the address that 'headwright lab' printed"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (
            f"http://{host}",
            f"https://{host}",
        ):
            return "requests from other sites are refused"
        if (
            headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
            and scope["method"] != "GET"
        ):
            return "requests from other sites are refused"
        if self._token is None or hmac.compare_digest(
            _token(headers).encode(), self._token.encode()
        ):
            return None
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(
            "token", [""]
        )[0]
        if hmac.compare_digest(given.encode(), self._token.encode()):
            cookie.append(f"{COOKIE}={self._token}; Path=/; HttpOnly; SameSite=Strict")
            return None
        return "a token is required: use the address that 'headwright lab' printed"


def _token(headers: dict[str, str]) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


async def _refuse(send: Send, why: str, scope: Scope) -> None:
    """403 with the reason: as a page where a browser asks for one, else as JSON."""
    accepted = b",".join(
        value for name, value in scope["headers"] if name.lower() == b"accept"
    )
    if b"text/html" in accepted:
        kind, body = b"text/html; charset=utf-8", PAGE.format(html.escape(why)).encode()
    else:
        kind, body = (
            b"application/json",
            json.dumps({"error": why, "where": None}).encode(),
        )
    await send(
        {
            "type": "http.response.start",
            "status": 403,
            "headers": [(b"content-type", kind)],
        }
    )
    await send({"type": "http.response.body", "body": body})

"""Run the application on a port of this machine, or on another address with a token."""

from __future__ import annotations

import errno
import ipaddress
import secrets
import socket
from collections.abc import Callable

from headwright.errors import InputError
from headwright.lab.pool import Pool

PORT = 8417


def serve(host: str, port: int | None, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` is called with the address, including the token if there is one."""
    listening = _socket(host, port)
    chosen = listening.getsockname()[1]
    token = None if loopback(host) else secrets.token_urlsafe(24)
    names = {host, "127.0.0.1", "localhost", "::1"} if loopback(host) else _names(host)
    hosts = [
        f"[{name}]:{chosen}" if ":" in name else f"{name}:{chosen}" for name in names
    ]
    shown = f"[{host}]" if ":" in host else host
    pool = Pool()
    pool.begin()
    ready(f"http://{shown}:{chosen}/" + (f"?token={token}" if token else ""))

    import uvicorn

    from headwright.lab.app import create_app
    from headwright.lab.idle_connections import IdleClosingProtocol

    config = uvicorn.Config(
        create_app(hosts, token, pool=pool),
        http=IdleClosingProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=2,
        limit_concurrency=500,
    )
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> loopback("127.0.0.1"), loopback("localhost"), loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _names(host: str) -> set[str]:
    """The names by which an address of this machine is called."""
    names = {host}
    if host in ("0.0.0.0", "::"):  # noqa: S104  (requested explicitly, and protected by a token)
        names |= {socket.gethostname(), "127.0.0.1", "localhost"}
        names |= {
            str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)
        }
    return names


def _socket(host: str, port: int | None) -> socket.socket:
    """A listening socket; if no port was given and the default one is in use, any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in [PORT, 0] if port is None else [port]:
        try:
            return socket.create_server((host, number), family=family)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and port is None and number:
                continue
            raise InputError(
                f"{host} port {number}: cannot listen here ({error.strerror})"
            ) from error
    raise InputError(f"{host}: no free port")

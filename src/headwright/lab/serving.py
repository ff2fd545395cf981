"""Run the application on a port of this machine."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

from headwright.errors import InputError
from headwright.lab.pool import Pool

ADDRESS = "127.0.0.1"  # no other machine reaches it
NAMES = (ADDRESS, "localhost")
PORT = 8417


def serve(port: int | None, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` is called with the address."""
    listening = _socket(port)
    chosen = listening.getsockname()[1]
    pool = Pool()
    pool.begin()
    ready(f"http://{ADDRESS}:{chosen}/")

    import uvicorn

    from headwright.lab.app import create_app

    config = uvicorn.Config(
        create_app([f"{name}:{chosen}" for name in NAMES], pool=pool),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=2,
        limit_concurrency=500,
    )
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _socket(port: int | None) -> socket.socket:
    """A listening socket; if no port was given and the default one is in use, any free port."""
    for number in [PORT, 0] if port is None else [port]:
        try:
            return socket.create_server((ADDRESS, number))
        except OSError as error:
            if error.errno == errno.EADDRINUSE and port is None and number:
                continue
            raise InputError(
                f"port {number}: cannot listen here ({error.strerror})"
            ) from error
    raise InputError("no free port")

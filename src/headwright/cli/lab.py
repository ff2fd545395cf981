"""headwright lab."""

from __future__ import annotations

from typing import Annotated

import typer

from headwright.cli.console import say, show_line
from headwright.errors import InputError, install_line

SHORT = "All of it in a browser: see it, drag it, break it."
EXAMPLES = ("headwright lab",)


def lab(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.", show_default="8417")
    ] = None,
    host: Annotated[str, typer.Option(help="The address; other machines reach it only with a token.")] = "127.0.0.1",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:
    """The lab: see it, drag it, break it, share it. A page on this machine, until Ctrl-C."""
    try:
        from headwright.lab.serving import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise InputError(f"the lab needs {error.name}: {install_line('lab')}") from error

    def ready(address: str) -> None:
        show_line(address)
        say("The lab is open; Ctrl-C closes it.")
        if not no_open:
            import threading
            import webbrowser

            threading.Timer(0.3, webbrowser.open, [address]).start()

    try:
        serve(host, port, ready)
    except KeyboardInterrupt:  # the way to close it, and no failure
        say("The lab is closed.")

"""headwright lab."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from headwright.cli.console import say, show_json, show_line
from headwright.cli.options import Json
from headwright.extras import require

SHORT = "Open the interactive lab in a browser."
EXAMPLES = ("headwright lab", "headwright lab --port 0 --no-open --json")


def lab(
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port; 0 for any that is free.", show_default="8417"
        ),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open a browser.")
    ] = False,
    json: Json = False,
) -> None:
    """Open the interactive lab: a page served on this machine until Ctrl-C."""
    require("lab", "the lab")
    from headwright.lab.serving import serve

    def ready(address: str) -> None:
        if json:
            show_json({"address": address})
        else:
            show_line(address)
        sys.stdout.flush()
        say("The lab is open; Ctrl-C closes it.")
        if not no_open:
            import threading
            import webbrowser

            threading.Timer(0.3, webbrowser.open, [address]).start()

    try:
        serve(port, ready)
    except KeyboardInterrupt:  # the way to close it, and no failure
        say("The lab is closed.")

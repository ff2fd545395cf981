"""The command, and python -m headwright: Ctrl-C ends it quietly while it is still being loaded, too."""

import os
import signal

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    heard = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # a shell may have told us not to listen
    if heard:
        signal.signal(signal.SIGINT, _end)
    from headwright.cli import main as run

    if heard:  # from here on there may be something to put away
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _end(*_: object) -> None:
    os.write(2, b"error: interrupted; nothing was written\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()

"""Starting the lab: where it listens, who may use it, and what it says when it cannot."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

CODE = "from headwright.cli import main; main()"


@contextlib.contextmanager
def running(*options: str) -> Iterator[str]:
    command = [sys.executable, "-c", CODE, "lab", "--no-open", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=20)


def status(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, headers=headers)
        ) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_it_listens_on_this_machine_only_and_answers_to_its_own_names() -> None:
    with running("--port", "0") as address:
        port = address.rstrip("/").rpartition(":")[2]
        assert address == f"http://127.0.0.1:{port}/"
        assert status(address) == 200
        assert status(f"http://localhost:{port}/design") == 200
        assert status(address, host="evil.example") == 403
        assert status(address, host=f"127.0.0.1:{int(port) - 1}") == 403
        # From beyond the loopback address nobody is connected.
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward,
            contextlib.suppress(OSError),
        ):
            outward.connect(("192.0.2.1", 9))  # sends nothing: it chooses an interface
            own = outward.getsockname()[0]
            if not own.startswith("127."):
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection((own, int(port)), timeout=5)


def test_a_port_that_is_taken_is_said_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-c", CODE, "lab", "--no-open", "--port", port]
        ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 2
    assert f"port {port}: cannot listen here" in ran.stderr


def test_without_a_port_another_is_found_when_the_usual_one_is_taken() -> None:
    from headwright.lab.serving import PORT

    with (
        contextlib.suppress(OSError),
        socket.create_server(("127.0.0.1", PORT)),
        running() as address,
    ):
        assert status(address) == 200
        assert f":{PORT}/" not in address

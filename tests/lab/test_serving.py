"""Starting the lab: where it listens, who may use it, and what it says when it cannot."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator

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


def test_a_connection_that_asks_nothing_is_closed_and_one_that_asks_is_not() -> None:
    code = (
        "from headwright.lab import idle_connections; idle_connections.SECONDS = 0.3; "
        + CODE
    )
    command = [sys.executable, "-c", code, "lab", "--no-open", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        port = int(address.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as silent:
            assert silent.recv(1) == b""
        with socket.create_connection(("127.0.0.1", port), timeout=20) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0")
            assert slow.recv(1) == b""
        body = b'{"keys": [[1.0, 0.0], [0.0, 1.0]], "copy": 0}'
        request = urllib.request.Request(
            f"{address}api/design", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(
            request
        ) as reply:  # the workers are starting: it takes longer than a look
            assert reply.status == 200
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_bound_to_other_addresses_it_asks_for_its_token() -> None:
    with running("--host", "0.0.0.0", "--port", "0") as address:
        port, token = (
            address.split(":")[2].split("/")[0],
            address.partition("?token=")[2],
        )
        here = f"http://127.0.0.1:{port}/"
        assert len(token) >= 32
        assert status(here) == 403
        assert status(f"{here}?token={token[:-1]}x") == 403
        assert status(f"{here}design", cookie="headwright-lab=wrong") == 403
        assert status(f"{here}?token={token}") == 200
        assert status(f"{here}design", cookie=f"headwright-lab={token}") == 200
        assert status(f"{here}design", authorization=f"Bearer {token}") == 200
        assert (
            status(
                f"{here}design", authorization=f"Bearer {token}", host="evil.example"
            )
            == 403
        )


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

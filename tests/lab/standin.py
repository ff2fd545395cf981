"""A worker that does what it is told, to see what becomes of workers that go wrong."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

from headwright.subprocesses.worker import listen

COUNT = [0]


def handle(job: dict[str, Any]) -> dict[str, Any]:
    COUNT[0] += 1
    match job["call"]:
        case "exit":
            os._exit(7)
        case "soon":
            threading.Timer(0.1, os._exit, [7]).start()
            return {"answer": "soon"}
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "eat":
            kept = []
            try:
                while True:
                    kept.append(bytearray(2**24))
            except MemoryError:
                return {
                    "error": "this ran out of memory",
                    "kind": "memory",
                    "where": None,
                }
        case "sleep":
            time.sleep(60)
        case "nap":
            time.sleep(0.5)
        case "pid":
            return {"answer": os.getpid()}
        case "count":
            return {"answer": COUNT[0]}
    return {"answer": job["call"]}


if __name__ == "__main__":
    listen(lambda: handle, int(sys.argv[1]))

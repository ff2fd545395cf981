"""A worker whose check does what the formula says: to see what becomes of checks that go wrong."""

from __future__ import annotations

import os
import signal
import sys
import time

from headwright.grading.markdown import Written
from headwright.grading.running import serve
from headwright.grading.verdict import AskedPart, Curve, Formula, Verdict


def check(exercise: str, answer: Written, seed: int) -> Verdict:
    text, line = answer.text, answer.line
    match text.split():
        case ["sleep", seconds]:
            time.sleep(float(seconds))
        case ["spin"]:
            while True:
                pass
        case ["eat"]:
            return Verdict("proved", str(len(bytearray(2**40))))
        case ["eat", "slowly"]:
            kept = []
            while True:
                kept.append(bytearray(2**24))
        case ["crash"]:
            os.kill(os.getpid(), signal.SIGSEGV)
        case ["exit"]:
            os._exit(7)
        case ["raise"]:
            raise ZeroDivisionError("oops")
        case ["print"]:
            sys.stdout.write("noise\n" * 1000)
            sys.stdout.flush()
            os.write(1, b"more noise\n")
        case ["garble"]:
            return Verdict("perhaps", "so")  # type: ignore[arg-type]
        case ["pid"]:
            return Verdict("proved", str(os.getpid()))
        case ["huge"]:
            return Verdict("proved", "x" * 2**25)
        case ["full"]:
            part = AskedPart(
                "q", "refuted", 2, "a = b", "no", {"n": 10, "x": float("nan")}
            )
            formula = Formula(2, "a = b", "true", "claim", True, used="z3")
            curve = Curve(
                "n", (2.0, 3.0), {"a": (0.5, float("nan"))}, {"wanted": 0.5}, "falls"
            )
            return Verdict(
                "refuted", "no", (part,), (formula,), (), "t >= 1", "do", "why", curve
            )
    return Verdict("proved", f"{exercise} {text} line {line} seed {seed}")


if __name__ == "__main__":
    serve(lambda: check, int(sys.argv[1]))

"""Settings for all tests: properties are not timed, since timings never go into tests; kernels without a GPU."""

import os
from pathlib import Path

from hypothesis import settings

from tests.effort import tried

if not any(Path("/dev").glob("nvidia[0-9]*")):
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before anything imports a kernel

# Where the tests decide whether a change is taken, the same cases are tried each time; elsewhere new ones.
settings.register_profile("headwright", deadline=None, derandomize="CI" in os.environ, max_examples=tried(100))
settings.load_profile("headwright")

"""Settings for all tests: properties are not timed, since timings never go into tests; Triton runs without a GPU."""

import os

from hypothesis import settings

os.environ.setdefault("TRITON_INTERPRET", "1")  # before anything imports a kernel

settings.register_profile("headwright", deadline=None)
settings.load_profile("headwright")

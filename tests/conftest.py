"""Settings for all tests: properties are not timed, since timings never go into tests; kernels without a GPU."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.effort import tried

if not any(Path("/dev").glob("nvidia[0-9]*")):
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before anything imports a kernel

# Where the tests decide whether a change is taken, the same cases are tried each time; elsewhere new ones.
settings.register_profile(
    "headwright", deadline=None, derandomize="CI" in os.environ, max_examples=tried(100)
)
settings.load_profile("headwright")

# Workers take file after file: the longest come first and the examples of src last, so that all workers end at once.
LONGEST = (
    "tests/page/test_check.py",
    "tests/lab/test_pages.py",
    "tests/referee/test_attack.py",
    "tests/docs/test_pages.py",
    "tests/lab/test_copied_code.py",
    "tests/page/test_assignment.py",
    "tests/lab/test_connection.py",
)


@pytest.hookimpl(trylast=True)  # after pytest has put together what shares a browser
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST)}

    def place(item: pytest.Item) -> int:
        name = item.nodeid.partition("::")[0]
        return places.get(name, len(places) + name.startswith("src/"))

    items.sort(key=place)

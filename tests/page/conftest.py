"""The page and its browser are a plugin, as the lab's are."""

from __future__ import annotations

import pytest

from tests.lab import browser
from tests.page import served


def pytest_configure(config: pytest.Config) -> None:
    for module, name in (
        (browser, "headwright-lab-in-a-browser"),
        (served, "headwright-page-in-a-browser"),
    ):
        if not config.pluginmanager.is_registered(module):
            config.pluginmanager.register(module, name)

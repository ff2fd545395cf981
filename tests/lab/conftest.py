"""The lab and its browser are a plugin: pytest 9.1 loses a conftest's fixtures where its folder is collected twice."""

from __future__ import annotations

import pytest

from tests.lab import browser


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.is_registered(browser):
        config.pluginmanager.register(browser, "headwright-lab-in-a-browser")

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.head_design.export.running import Run, transformers_process


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with transformers_process(
        tmp_path_factory.mktemp("transformers") / "talk.txt"
    ) as ready:
        yield ready

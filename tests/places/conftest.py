"""The gazetteer built from the real packages, once a test run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from photocraft_local.places.gazetteer import Gazetteer


@pytest.fixture(scope="session")
def gazetteer(shared_cache: Path) -> Iterator[Gazetteer]:
    with Gazetteer.open(shared_cache) as opened:
        yield opened

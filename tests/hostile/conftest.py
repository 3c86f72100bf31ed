"""Both libraries, made once for all tests of a module that only read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from twins import Twin, make_twin


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Twin:
    return make_twin(tmp_path_factory.mktemp("twins") / "hostile", shared_cache, hostile=True)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Twin:
    return make_twin(tmp_path_factory.mktemp("twins") / "clean", shared_cache, hostile=False)

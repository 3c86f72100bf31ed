"""Both libraries, made once; a module has copies, whose photos and pages nobody writes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from twins import Twin, copy_of, make_twin


@pytest.fixture(scope="session")
def masters(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> dict[bool, Twin]:
    """By whether it is hostile; to be copied."""
    base = tmp_path_factory.mktemp("twins")
    return {
        is_hostile: make_twin(base / name, shared_cache, hostile=is_hostile)
        for name, is_hostile in (("hostile", True), ("clean", False))
    }


@pytest.fixture(scope="module")
def hostile(masters: dict[bool, Twin], tmp_path_factory: pytest.TempPathFactory) -> Twin:
    return copy_of(masters[True], tmp_path_factory.mktemp("copies") / "hostile")


@pytest.fixture(scope="module")
def clean(masters: dict[bool, Twin], tmp_path_factory: pytest.TempPathFactory) -> Twin:
    return copy_of(masters[False], tmp_path_factory.mktemp("copies") / "clean")

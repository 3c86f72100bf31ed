"""A library, an album and an indexer for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_album import Album, Indexer

from photocraft_local.library.library import Library
from photocraft_local.settings import Settings


@pytest.fixture
def album(tmp_path: Path) -> Album:
    return Album(tmp_path / "album")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    settings = Settings(library=tmp_path / "library", workers=2)
    with Library.open(settings.library, create=True, settings=settings) as opened:
        yield opened


@pytest.fixture
def index(library: Library, album: Album) -> Indexer:
    return Indexer(library, album)

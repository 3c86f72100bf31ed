"""Real photos for made-up pages, a reader, and a store in a folder of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from photocraft_local.knowledge.pages import Page
from photocraft_local.knowledge.reading import Reading
from photocraft_local.knowledge.store import KnowledgeStore
from photocraft_local.knowledge.worker import Gallery, read

Read = Callable[..., Page]


@pytest.fixture(scope="session")
def jpegs(shared: Path) -> list[Path]:
    """Photos of everyday life, by name; the first ones show different things."""
    return sorted((shared / "data/captioned/coco").glob("*.jpg"))


@pytest.fixture
def page_of(tmp_path: Path) -> Read:
    """Writes a file and reads it in this process: what the worker does, without a second one."""

    def made(name: str, content: str | bytes, root: Path | None = None) -> Page:
        path = tmp_path / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        return read(path, root or path.parent, Gallery(scratch, 300_000_000))

    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    library = tmp_path / "library"
    library.mkdir()
    made = KnowledgeStore.open(library, create=True)
    assert made is not None
    yield made
    made.close()


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reading]:
    """The true process that reads."""
    with Reading(tmp_path_factory.mktemp("reading") / "scratch") as one:
        yield one

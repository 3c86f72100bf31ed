"""A real library of the shared photos, indexed once for all tests of the tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tool_album import TODAY, Album, Call

from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.registry import make_encoder
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.records import Observation, ToolCall
from photocraft_local.search.catalog import Catalog
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.searcher import Searcher
from photocraft_local.settings import Settings
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools

FOLDERS = ("exif", "captioned/album", "captioned/rclip")


@pytest.fixture(scope="session")
def album(
    shared: Path, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Album]:
    """Real photos with times, places and cameras, indexed with the embedded default encoder."""
    settings = Settings(
        library=tmp_path_factory.mktemp("tools") / "library", cache=shared_cache, encoder="labels"
    )
    roots = [str(shared / "data" / folder).encode() for folder in FOLDERS]
    with (
        Gazetteer.open(shared_cache) as gazetteer,
        Library.open(settings.library, create=True, settings=settings) as library,
    ):
        sync(library, roots, places=gazetteer)
        encoder = make_encoder(settings)
        folder = library.spaces_folder / encoder.spec.space_id
        space = VectorSpace.open(folder, encoder.spec, create=True)
        index_pending(library, space, encoder)
        catalog = Catalog.from_columns(library.columns())
        searcher = Searcher(catalog, ExactIndex(space.vectors, space.photo_ids), encoder)
        uids = {
            Path(path.decode()).name: photo.uid
            for photo in library.photos()
            for path in photo.paths
        }
        yield Album(library, catalog, searcher, encoder, gazetteer, uids)


@pytest.fixture
def context(album: Album) -> ToolContext:
    """A fresh episode over the album."""
    return ToolContext(
        library=album.library,
        catalog=album.catalog,
        make_searcher=lambda: album.searcher,
        make_encoder=lambda: album.encoder,
        gazetteer=album.gazetteer,
        today=TODAY,
        settings=album.library.settings,
    )


@pytest.fixture
def registry(context: ToolContext) -> Registry:
    return Registry(standard_tools(), context)


@pytest.fixture
def call(registry: Registry) -> Call:
    """Call a tool by name as an agent does: through the registry, schema and all."""

    def run(tool: str, **arguments: object) -> Observation:
        return registry.call(ToolCall(tool, dict(arguments)))

    return run

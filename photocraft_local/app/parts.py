"""Builds the concrete parts, each once and on first use: library, encoder, gazetteer, search.

A command that only lists photos never loads a model. Knows how parts fit together, not what
they are asked.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from photocraft_local.errors import LibraryNotFound, NoVectors
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.app.backbones import Backbone
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.embeddings.space import VectorSpace
    from photocraft_local.imaging.decoded_cache import DecodedCache
    from photocraft_local.knowledge.store import KnowledgeStore
    from photocraft_local.library.library import Library
    from photocraft_local.library.progress import Progress
    from photocraft_local.places.atlas import Atlas
    from photocraft_local.places.gazetteer import Gazetteer
    from photocraft_local.places.visited import Visited
    from photocraft_local.search.catalog import Catalog
    from photocraft_local.search.index import ExactIndex
    from photocraft_local.search.searcher import Searcher
    from photocraft_local.timelang.habits import Habits


class Parts:
    """The parts of one ``PhotoSearch``. Not safe to share between threads."""

    def __init__(
        self, settings: Settings, backbone: Backbone | None = None, encoder: Encoder | None = None
    ) -> None:
        """``backbone``: one that is open already; ``encoder``: one that no setting names."""
        self.settings = settings
        self.notes: list[str] = []  # what could not be built, in words for the person
        self.preparing: Progress | None = None  # told while something is built once for all
        self._library: Library | None = None
        self._knowledge: KnowledgeStore | None = None
        self._encoder = encoder
        self._gazetteer: Gazetteer | None = None
        self._atlas: tuple[int, Atlas] | None = None
        self._catalog: tuple[int, Catalog] | None = None
        self._index: ExactIndex | None = None
        self._searcher: tuple[Catalog, Searcher] | None = None
        self._backbone = backbone
        self._decoded: DecodedCache | None = None

    @property
    def habits(self) -> Habits:
        """How the person counts seasons and weeks."""
        from photocraft_local.timelang.habits import Habits

        return Habits.named(self.settings.hemisphere, self.settings.first_weekday)

    def library(self, *, create: bool = False) -> Library:
        """Raises LibraryNotFound unless it exists or ``create`` is set."""
        if self._library is None:
            from photocraft_local.library.library import Library

            self._library = Library.open(
                self.settings.library, create=create, settings=self.settings
            )
            self._library.forget_hooks.append(lambda gone: self._forget_memories(gone.uid))
            self._library.forget_hooks.append(lambda gone: self._forget_copies(gone.photo_id))
        return self._library

    def knowledge(self, *, create: bool = False) -> KnowledgeStore | None:
        """The person's own pages; None if none was ever added and ``create`` is not set."""
        if self._knowledge is None:
            from photocraft_local.knowledge.store import KnowledgeStore

            self._knowledge = KnowledgeStore.open(self.library().path, create=create)
        return self._knowledge

    def decoded(self) -> DecodedCache:
        """Pictures that were looked at, kept for the next look."""
        if self._decoded is None:
            from photocraft_local.imaging.decoded_cache import DecodedCache

            self._decoded = DecodedCache(self.settings.decoded_megabytes << 20)
        return self._decoded

    def encoder(self) -> Encoder:
        """Raises EncoderError, or MissingExtraError if its engine is not installed."""
        if self._encoder is None:
            from photocraft_local.embeddings.registry import make_encoder

            self._encoder = make_encoder(self.settings)
        return self._encoder

    def gazetteer(self) -> Gazetteer:
        """Built on first use, which takes some 10 s of CPU once in a cache's life.

        Raises MissingExtraError if it must be built and the packages for it are absent.
        """
        if self._gazetteer is None:
            from photocraft_local.places.gazetteer import Gazetteer

            self._gazetteer = Gazetteer.open(self.settings.cache, progress=self._prepare)
        return self._gazetteer

    def atlas(self) -> Atlas:
        """The gazetteer, the person's own places and where the photos are, as the library is now.

        Nothing is opened before it is asked for; then as ``gazetteer``.
        """
        generation = self.library().generation()
        if self._atlas is None or self._atlas[0] != generation:
            from photocraft_local.places.atlas import Atlas

            named = self.library().named_places
            self._atlas = (generation, Atlas(self.gazetteer, named.list, self._visited))
        return self._atlas[1]

    def places(self) -> Atlas | None:
        """``atlas`` if names of places can be told. None, with a note, if the gazetteer could
        not be built."""
        from photocraft_local.places.build import gazetteer_path
        from photocraft_local.places.sources import absent_package

        if not gazetteer_path(self.settings.cache).is_file() and (missing := absent_package()):
            note = f"no place names: {missing.message}; {missing.hint}"
            self.notes += [] if note in self.notes else [note]
            return None
        return self.atlas()

    def own_places(self) -> Atlas | None:
        """``atlas`` where only the person's own names can be told; None if there are none."""
        return self.atlas() if self.atlas().named else None

    def cameras(self) -> tuple[str, ...]:
        """Their names, of the library's photos."""
        return tuple(filter(None, self.catalog().columns.words("camera").words))

    def _visited(self) -> Visited:
        from photocraft_local.places.visited import Visited

        columns = self.catalog().columns
        names = [columns.words(field) for field in ("city", "region", "country")]
        return Visited.of(
            columns.latitude,
            columns.longitude,
            [name.codes for name in names],
            [name.words for name in names],
        )

    def _prepare(self, what: str, share: float) -> None:
        del what
        if self.preparing:
            self.preparing("prepare", round(100 * share), 100)

    def space(self, *, create: bool = False) -> VectorSpace:
        """The vectors of the chosen encoder. Raises NoVectors if there are none yet."""
        from photocraft_local.embeddings.space import VectorSpace

        spec = self.encoder().spec
        folder = self.library().spaces_folder / spec.space_id
        if not create and not folder.is_dir():
            raise self._no_vectors(spec.encoder_id)
        try:
            return VectorSpace.open(folder, spec, create=create)
        except LibraryNotFound as exc:  # a run was killed before it had stored the first vector
            raise self._no_vectors(spec.encoder_id) from exc

    def catalog(self) -> Catalog:
        """The library's columns by time, read anew when the library has changed."""
        generation = self.library().generation()
        if self._catalog is None or self._catalog[0] != generation:
            from photocraft_local.search.catalog import Catalog

            self._catalog = (generation, Catalog.from_columns(self.library().columns()))
        return self._catalog[1]

    def searcher(self, catalog: Catalog | None = None) -> Searcher:
        """Over the photos of ``catalog``, by default those of now. Raises NoVectors,
        EncoderError, MissingExtraError."""
        catalog = catalog or self.catalog()
        if self._searcher is None or self._searcher[0] is not catalog:
            from photocraft_local.search.searcher import Searcher

            index, shift = self._index_of_now(), self.settings.cutoff_shift
            self._searcher = (catalog, Searcher(catalog, index, self.encoder(), shift))
        return self._searcher[1]

    def _index_of_now(self) -> ExactIndex:
        """By the vector store that was opened first: what it holds a copy of stays there."""
        from photocraft_local.search.index import ExactIndex

        space = self.space()
        vectors, ids = space.vectors, space.photo_ids
        grown = self._index.followed(vectors, ids) if self._index else None
        if grown is None:
            from photocraft_local.app.vector_stores import store_of

            grown = ExactIndex(vectors, ids, engine=store_of(self.settings, space))
        self._index = grown
        return grown

    def forget_searcher(self) -> None:
        """The next search opens the vectors anew."""
        self._searcher = self._index = None

    def backbone(self) -> Backbone:
        """The model that the settings choose. Starts nothing yet."""
        if self._backbone is None:
            from photocraft_local.app.backbones import make_backbone

            self._backbone = make_backbone(self.settings)
        return self._backbone

    def take_over(self, other: Parts) -> None:
        """Goes on with what ``other`` has opened that is of no library; it has none of it then."""
        self._encoder, other._encoder = other._encoder, None
        self._gazetteer, other._gazetteer = other._gazetteer, None
        self._backbone, other._backbone = other._backbone, None

    def close(self) -> None:
        for part in (self._gazetteer, self._library, self._knowledge, self._backbone):
            if part is not None:
                part.close()
        self._knowledge = self._library = self._gazetteer = self._catalog = self._searcher = None
        self._atlas = self._backbone = self._index = self._decoded = None

    def _forget_memories(self, uid: str) -> None:
        from photocraft_local.app.remembered import Remembered

        Remembered(self).forget_photo(uid)

    def _forget_copies(self, photo_id: int) -> None:
        from photocraft_local.app.vector_stores import forget_copies

        forget_copies(self.settings, photo_id)

    def _no_vectors(self, encoder_id: str) -> NoVectors:
        folders = [folder.name for folder in self.library().space_folders()]
        command = f"photocraft index --encoder {shlex.quote(self.settings.encoder)}"
        others = sorted({name.rpartition("-")[0] for name in folders})
        if encoder_id in others:
            return NoVectors(
                f"the vectors of this library are of another version of the encoder {encoder_id!r}",
                hint=f"run: {command}; it embeds the photos anew",
            )
        hint = f"run: {command}"
        if others:
            hint += f"; or search with an encoder that has its vectors here: {', '.join(others)}"
        return NoVectors(
            f"no photo of this library is embedded with the encoder {encoder_id!r}", hint=hint
        )

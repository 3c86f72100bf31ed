"""What tools work on: the parts that app.py builds, and the episode's own named sets.

One context lives for one episode. Knows nothing of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from photocraft_local.imaging.decoded_cache import DecodedCache
from photocraft_local.serving.judging import ANY, Left
from photocraft_local.timelang import Habits
from photocraft_local.tools.doubts import Doubts
from photocraft_local.tools.planning import Plan
from photocraft_local.tools.ports import Judging, MemoryPort, NoMemory
from photocraft_local.tools.sets import PhotoSets
from photocraft_local.tools.stated import Ledger, Stated
from photocraft_local.tools.viewing import Viewing

if TYPE_CHECKING:
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.imaging.geometry import Box
    from photocraft_local.knowledge.store import KnowledgeStore
    from photocraft_local.library.library import Library
    from photocraft_local.search.catalog import Catalog, PlaceLookup
    from photocraft_local.search.searcher import Searcher
    from photocraft_local.settings import Settings


@dataclass(slots=True)
class ToolContext:
    """``today`` is the day against which words like "last summer" are read.

    ``make_searcher`` and ``make_encoder`` are called when a look is first searched: what metadata
    decides needs neither vectors nor a model. ``pictures`` are the question's own pictures: an
    id that the model may use in ``like`` or ``fetch_image`` → absolute path; ``crops`` are parts
    of them, id → (the picture's id, its place there). ``viewing`` is how pictures are shown.
    ``open_knowledge`` gives what the person's own pages say, None if none was ever added.
    ``judge`` looks at photos, None where no model does; ``doubts`` is what it was told to doubt.
    ``plan`` is the one that the model has stated.
    ``is_last_turn``: the next submission is the answer, whatever it is; ``left`` is what a
    check may take of the question's budget. ``question`` is what the
    person asked, ``own_conditions`` what it says of time and place, once that was read;
    ``stated`` are the conditions of the calls so far. ``decoded`` keeps pictures for the next
    look, for all episodes of one process.
    """

    library: Library
    catalog: Catalog
    make_searcher: Callable[[], Searcher]
    make_encoder: Callable[[], Encoder]
    gazetteer: PlaceLookup | None
    today: date
    settings: Settings
    memory: MemoryPort = field(default_factory=NoMemory)
    sets: PhotoSets = field(default_factory=PhotoSets)
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    crops: dict[str, tuple[str, Box]] = field(default_factory=dict)
    viewing: Viewing = field(default_factory=Viewing)
    open_knowledge: Callable[[], KnowledgeStore | None] = lambda: None
    judge: Judging | None = None
    doubts: Doubts = field(default_factory=Doubts)
    plan: Plan = field(default_factory=Plan)
    is_last_turn: bool = False
    left: Left = ANY
    question: str = ""
    own_conditions: list[Stated] | None = None
    stated: Ledger = field(default_factory=Ledger)
    decoded: DecodedCache = field(default_factory=DecodedCache)

    @property
    def habits(self) -> Habits:
        """How the person counts seasons and weeks."""
        return Habits.named(self.settings.hemisphere, self.settings.first_weekday)

    @property
    def searcher(self) -> Searcher:
        """Raises NoVectors, EncoderError, MissingExtraError."""
        return self.make_searcher()

    @property
    def encoder(self) -> Encoder:
        """Raises EncoderError, MissingExtraError."""
        return self.make_encoder()

    @property
    def knowledge(self) -> KnowledgeStore | None:
        """Raises LibraryCorrupt and its kin: what is searched in the library does without it."""
        return self.open_knowledge()

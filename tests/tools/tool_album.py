"""What the tests of the tools share: the indexed album, and how a tool is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.library.library import Library
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.records import Observation
from photocraft_local.search.catalog import Catalog
from photocraft_local.search.searcher import Searcher

TODAY = date(2024, 6, 15)
Call = Callable[..., Observation]


@dataclass(frozen=True)
class Album:
    library: Library
    catalog: Catalog
    searcher: Searcher
    encoder: Encoder
    gazetteer: Gazetteer
    uids: dict[str, str]  # file name → UID

    def uid(self, name: str) -> str:
        return self.uids[name]


def as_text(seen: Observation) -> str:
    """All that a model gets to read of an observation, before the prompt escapes any of it."""
    return json.dumps({"result": seen.data, "error": seen.error}, ensure_ascii=False)

"""The libraries of a data set: one for each user, indexed with the data set's own metadata.

The Standard track is enforced here: nothing but an embedding index may be there before a question
is asked. Knows no question.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.indexing import index
from photocraft_local.app.parts import Parts
from photocraft_local.app.places import NamedPlaces
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.dataset import Album, Dataset
from photocraft_local.evaluation.person import Spot
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.evaluation.results import safe_name
from photocraft_local.library.given import GivenMetadata
from photocraft_local.records import Photo
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.library.library import Library

# What a Standard library may hold beside photos and vectors; by table or file.
_OFF = {
    "events": "SELECT count(*) FROM photos WHERE event_id IS NOT NULL OR trip_id IS NOT NULL",
    "named places": "SELECT count(*) FROM named_places",
    "crops": "SELECT count(*) FROM crops",
    # An address that is given has no country of its own (library/ledger.py).
    "place names of the gazetteer": "SELECT count(*) FROM photos JOIN places USING (place_id)"
    " WHERE country_code != ''",
}
_FILES = {"knowledge.db": "local knowledge", "memory/episodes.jsonl": "episodes"}


@dataclass(frozen=True, slots=True)
class Shelf:
    """One album's library. ``names``: UID → the data set's id; ``same``: id → the id that stands
    for all photos of the same bytes."""

    album: Album
    path: Path
    names: Mapping[str, str] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)

    def in_order(self, uids: Iterable[str]) -> tuple[str, ...]:
        """In the data set's terms; a UID that is no photo stays, so that it counts as wrong."""
        return tuple(dict.fromkeys(self.names.get(uid, uid) for uid in uids))

    def named(self, uids: Iterable[str]) -> set[str]:
        """In the data set's terms, without UIDs that are no photo."""
        return {self.names[uid] for uid in uids if uid in self.names}


def shelves(
    dataset: Dataset,
    settings: Settings,
    root: Path,
    *,
    standard: bool,
    on_album: Callable[[str, int], None] = lambda name, num: None,
) -> dict[str, Shelf]:
    """Indexes each album with what is not there yet, and leaves out of ``dataset`` the questions
    whose gold cannot be decoded. Raises EvaluationError where a library holds more than the
    Standard track allows, and what indexing raises."""
    made: dict[str, Shelf] = {}
    last: Parts | None = None
    try:
        for name, album in dataset.albums.items():
            if album.pictures:
                track = "standard" if standard else "open"
                path = root / f"{safe_name(name)}-{track}-{album.fingerprint}"
                parts = Parts(replace(settings, library=path))
                if last is not None:
                    parts.take_over(last)
                    last.close()
                last = parts
                made[name] = _shelf(parts, dataset, album, path, standard)
                on_album(name, len(made[name].names))
    finally:
        if last is not None:
            last.close()
    dataset.questions = [
        canonical(one, made[one.library].same)
        for one in dataset.questions
        if _is_there(one, made, dataset)
    ]
    return made


def canonical(question: EvalQuestion, same: Mapping[str, str]) -> EvalQuestion:
    """With one id for photos of the same bytes, which nothing could tell apart."""
    return replace(question, gold=frozenset(same.get(name, name) for name in question.gold))


def as_read(photos: Iterable[Photo]) -> dict[bytes, GivenMetadata]:
    """What a library read in the files themselves, as a data set would have given it."""
    return {
        path: GivenMetadata(photo.taken, photo.location, "", photo.camera)
        for photo in photos
        for path in photo.paths
    }


def name_places(parts: Parts, places: Mapping[str, Spot]) -> None:
    """As the person would have done; what has a name already keeps it."""
    own = NamedPlaces(parts)
    known = {place.name for place in own.list()}
    for name, (latitude, longitude, radius) in places.items():
        if name not in known:
            own.add(name, at=(latitude, longitude), radius_km=radius)


def check_standard(library: Library, num_addresses: int) -> None:
    """Raises EvaluationError naming what is more than an embedding index."""
    found = [what for what, sql in _OFF.items() if library.database.value(sql)]
    found += [what for file, what in _FILES.items() if (library.path / file).exists()]
    places = "SELECT count(*) FROM photos WHERE place_id IS NOT NULL"
    if int(library.database.value(places)) > num_addresses:
        found.append("place names that the data set does not give")
    if library.has_events:
        found.append("events, which the next indexing would compute")
    if found:
        raise EvaluationError(
            f"the library {library.path} holds {', '.join(found)}: that is no Standard track",
            hint="remove that folder, or use --track open",
        )


def _shelf(parts: Parts, dataset: Dataset, album: Album, path: Path, standard: bool) -> Shelf:
    summary = index(parts, [album.folder], None, given=album.given, standard=standard)
    pictures = set(map(bytes, album.pictures.values()))
    for skipped in (*summary.skipped, *summary.problems):
        if skipped.path in pictures:  # of others the loader has named what is wrong
            where = f"{album.name}/{Path(os.fsdecode(skipped.path)).name}"
            dataset.problems.add("unreadable-image", where, skipped.message)
    library = parts.library()
    if not standard:
        name_places(parts, album.places)
    if standard:
        _drop_crops(library)
        check_standard(library, sum(bool(one.address) for one in album.given.values()))
    return shelf_of(album, path, library.photos())


def shelf_of(album: Album, path: Path, photos: Iterable[Photo]) -> Shelf:
    """Of the photos that the album's library holds."""
    ids = {bytes(path): name for name, path in album.pictures.items()}
    names: dict[str, str] = {}
    same: dict[str, str] = {}
    for photo in photos:
        known = sorted(ids[path] for path in photo.paths if path in ids)
        if known:
            names[photo.uid] = known[0]
            same |= dict.fromkeys(known, known[0])
    return Shelf(album, path, names, same)


def _drop_crops(library: Library) -> None:
    """Crops that questions of an earlier run cut are no preparation; they go."""
    with library.write_lock(), library.changes() as database:
        database.execute("DELETE FROM crops")


def _is_there(question: EvalQuestion, made: Mapping[str, Shelf], dataset: Dataset) -> bool:
    shelf = made.get(question.library)
    missing = sorted(question.gold - set(shelf.same)) if shelf else ["every photo"]
    if missing:
        what = f"its picture cannot be decoded: {', '.join(missing)}"
        dataset.problems.add("unknown-answer", f"question {question.id}", what)
    return not missing

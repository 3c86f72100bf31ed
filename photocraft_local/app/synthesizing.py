"""A person's library as the proposals of questions are drawn from it: metadata, and what the
encoder sees of a list of everyday things. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.errors import EvaluationError, UsageError
from photocraft_local.evaluation.histories import wording
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.seeing import Seen
from photocraft_local.evaluation.synthesis import Proposal, proposals

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.search.catalog import Catalog

_EPOCH = datetime(1970, 1, 1)
_MOST_SHARE = 0.5  # of the photos: a thing that is seen in more tells nothing


def proposed(
    parts: Parts, dials: Dials, things: Path | None = None
) -> tuple[list[Proposal], dict[str, int]]:
    """``things``: a file of words, one a line, in place of the package's. Raises EvaluationError
    for a file that cannot be read, and what ``search`` raises."""
    catalog = parts.catalog()
    seen = _seen(parts, _things(things), len(catalog))
    return proposals(_view(catalog, seen), dials)


def _things(path: Path | None) -> Sequence[str]:
    if path is None:
        return wording.things()
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise EvaluationError(
            f"{path} cannot be read: {exc}", hint="a text file in UTF-8, one thing a line"
        ) from exc
    found = list(dict.fromkeys(line.strip().lower() for line in lines if line.strip()))
    if not found:
        raise EvaluationError(f"{path} names nothing", hint="one thing a line, such as: dog")
    return found


def _seen(parts: Parts, things: Sequence[str], total: int) -> dict[str, set[str]]:
    """UID → the things that the encoder finds in it. Words that it does not know are left out."""
    from photocraft_local.app.filters import Filters
    from photocraft_local.app.searching import Look, search

    found: dict[str, set[str]] = {}
    for thing in things:
        try:
            answer = search(parts, Look(thing, (), ()), Filters(), None, date.today())
        except UsageError:  # no word of it is known to the encoder
            continue
        if answer.not_understood or len(answer.photos) > _MOST_SHARE * total:
            continue
        for one in answer.photos:
            found.setdefault(one.photo.uid, set()).add(thing)
    return found


def _view(catalog: Catalog, seen: dict[str, set[str]]) -> list[Seen]:
    from photocraft_local.tools.units import journey_keys, unit_keys

    columns = catalog.columns
    events, trips = unit_keys(catalog, "event"), unit_keys(catalog, "trip")
    journeys = set(journey_keys(catalog).tolist())
    cities, countries, cameras = (columns.words(name) for name in ("city", "country", "camera"))
    makes = Counter(word.split(" ")[0] for word in cameras.words if word)
    found = []
    for row, uid in enumerate(catalog.everything().uids()):
        is_dated = row < columns.num_dated  # the undated ones stand last
        moment = _EPOCH + timedelta(seconds=int(columns.times[row])) if is_dated else None
        camera = cameras.words[cameras.codes[row]]
        trip = int(trips[row])
        located = bool(columns.located[row])
        found.append(
            Seen(
                uid,
                frozenset(seen.get(uid, ())),
                moment,
                (float(columns.latitude[row]), float(columns.longitude[row])) if located else None,
                cities.words[cities.codes[row]],
                countries.words[countries.codes[row]],
                "",
                camera if makes[camera.split(" ")[0]] == 1 else "",  # "the Canon" is one of them
                int(events[row]) + 1 if is_dated else 0,
                trip + 1 if trip in journeys else 0,
            )
        )
    return found

"""All that a library knows of places, as one object: the gazetteer, the person's own places, and
where the photos are.

Each part is opened on the first question that needs it: the person's own names never open the
gazetteer. It is the ``Places`` of the planner and the look-up of the filters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from photocraft_local.errors import PlaceNotFound
from photocraft_local.places import personal
from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.keys import fold
from photocraft_local.places.misspelt import find_misspelt
from photocraft_local.places.named import NamedPlace
from photocraft_local.places.nowhere import find_nowhere
from photocraft_local.places.phrase import PlacePhrase
from photocraft_local.places.phrases import find_places
from photocraft_local.places.visited import NOWHERE, Visited
from photocraft_local.records import PlaceName

if TYPE_CHECKING:
    from photocraft_local.places.gazetteer import Gazetteer

_KNOWN_TOWN = 50_000  # people


class Atlas:
    """Names → areas with the person's own first; the likeliest by population and by visits."""

    def __init__(
        self,
        opener: Callable[[], Gazetteer],
        named: Callable[[], Sequence[NamedPlace]] = lambda: (),
        visited: Callable[[], Visited] = lambda: NOWHERE,
    ) -> None:
        self._open = opener
        self._named = named
        self._visited = visited

    @cached_property
    def named(self) -> tuple[NamedPlace, ...]:
        """The person's own places."""
        return tuple(self._named())

    @cached_property
    def visited(self) -> Visited:
        """Where the library's photos are."""
        return self._visited()

    # positions → names

    def name(self, latitude: float, longitude: float) -> PlaceName | None:
        return self._open().name(latitude, longitude)

    def names(self, latitudes: npt.ArrayLike, longitudes: npt.ArrayLike) -> list[PlaceName | None]:
        return self._open().names(latitudes, longitudes)

    # names → areas

    def find(self, name: str, *, near_points: Any = None) -> list[Area]:
        """Areas of that name, the likeliest first. ``near_points`` count only if it is not known
        where the photos are. PlaceNotFound for "home" if the person has named no such place."""
        if own := personal.place_called(name, self.named):
            return [own.area()]
        if what := personal.kind_of(name):  # there are towns named Home; nobody means them
            problem, hint = personal.missing(what)
            raise PlaceNotFound(problem, hint=hint)
        return self._open().found(name, self.visited or Visited.at(near_points))

    def suggest(self, name: str, *, limit: int = 3) -> list[str]:
        """Names spelt nearly like it: the person's own, then those of known places."""
        key = fold(name)
        own = [place.name for place in self.named if key and key in place.key]
        return [*own, *self._open().suggest(name, limit=limit)][:limit]

    def find_in_text(self, text: str) -> list[PlaceMention]:
        """Places that a question names, none overlapping, each with its areas."""
        return [mention for mention in self.mentions(text) if not mention.problem]

    def find_places(self, text: str) -> list[PlacePhrase]:
        """What a question says about places; see ``phrases.find_places``."""
        return find_places(text, self, visited=self.visited)

    def mentions(self, text: str) -> list[PlaceMention]:
        """``find_in_text`` and, with a ``problem``, what is surely a place but not known."""
        found = personal.find_named(text, self.named)
        _add_free(found, self._open().mentioned(text, self.visited))
        for mention in find_nowhere(text):
            found = [other for other in found if not self._is_namesake(other, mention)]
            _add_free(found, [mention])
        _add_free(found, find_misspelt(text, self.visited, self._known))
        return sorted(found, key=lambda mention: mention.start)

    def _is_namesake(self, place: PlaceMention, nowhere: PlaceMention) -> bool:
        """A small town where no photo is, called like what is on no map: North Sea, New York."""
        inside = nowhere.start <= place.start and place.end <= nowhere.end
        best = place.areas[0] if place.areas and not place.own else None
        small = best is not None and best.kind == "city" and best.population < _KNOWN_TOWN
        return inside and small and best is not None and not self.visited.count(best)

    def _known(self, name: str) -> list[Area]:
        return self._open().found(name, self.visited)


def _add_free(found: list[PlaceMention], more: Sequence[PlaceMention]) -> None:
    """Add those that overlap nothing found before."""
    for mention in more:
        if all(mention.end <= other.start or other.end <= mention.start for other in found):
            found.append(mention)

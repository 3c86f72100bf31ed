"""What the meaning of an expression depends on besides its text: the day, the gazetteer, flags."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from photocraft_local.errors import PlaceNotFound
from photocraft_local.places.areas import Area
from photocraft_local.places.ranking import town_among
from photocraft_local.search.expression.errors import Mistake


class PlaceLookup(Protocol):
    """Names → areas, the likeliest first; places.Gazetteer is one."""

    def find(self, name: str, *, near_points: Any = None) -> list[Area]: ...

    def suggest(self, name: str, *, limit: int = 3) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Context:
    """``near_points`` gives (n, 2) degrees of photos, which tell one Paris from another.

    ``has_word(field, word)``: whether a photo of the library has that city, region or country.
    """

    given_today: date | None = None
    places: PlaceLookup | None = None
    near_points: Callable[[], Any] = field(default=lambda: None)
    flags: Collection[str] = ()
    has_word: Callable[[str, str], bool] = field(default=lambda field, word: True)

    @property
    def today(self) -> date:
        return self.given_today or date.today()

    def area(self, name: str, *, town: bool = False) -> Area:
        """The likeliest area of that name; with ``town``, a town that bears it rather than the
        region or country around it. Raises PlaceNotFound."""
        if not name.strip():
            raise Mistake("the name of the place is empty")
        if self.places is None:
            raise PlaceNotFound(
                f"the place {name!r} cannot be looked up: no gazetteer is at hand",
                hint='give coordinates: near("38.72,-9.14", 10) or box(38.6, -9.3, 38.8, -9.0)',
            )
        areas = self.places.find(name, near_points=self.near_points())
        if not areas:
            near = self.places.suggest(name)
            raise PlaceNotFound(
                f"no place named {name!r} is known",
                hint=f"did you mean {' or '.join(near)}?"
                if near
                else 'try a larger place near it, or coordinates: near("38.72,-9.14", 10)',
            )
        return town_among(areas) if town else areas[0]

"""What a question means, as data.

A rule's conditions all hold at once; a relation leans on the photos of another rule. Knows no words
of questions, no tools, and not how photos are found (``solving.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from photocraft_local.records import Json

Unit = Literal["hour", "event", "day", "week", "trip", "place"]
SAME_PLACE_KM = 0.5


class Ambiguous(ValueError):
    """A rule that may be read in two ways in this life, or leans on nothing."""


@dataclass(frozen=True, slots=True)
class Pick:
    by: Literal["first", "last"]
    count: int = 1


@dataclass(frozen=True, slots=True)
class Relation:
    """``shift`` 1 is the one after, -1 the one before. An hour has a shift of 1 or -1; a place
    is the same place in another year."""

    unit: Unit
    shift: int
    anchor: Rule


@dataclass(frozen=True, slots=True)
class Rule:
    """``looks``: all are shown; ``either``: at least one; ``lacks``: none. 0 and "" are no
    condition."""

    looks: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    town: str = ""
    country: str = ""
    spot: str = ""
    year: int = 0
    month: int = 0
    camera: str = ""
    relation: Relation | None = None
    pick: Pick | None = None

    @property
    def hops(self) -> int:
        """Steps to the answer: the photos themselves, and one for each that they lean on."""
        return 1 + (self.relation.anchor.hops if self.relation else 0)

    @property
    def kind(self) -> str:
        """Intra-event: inside one event, day or trip that a clue gives away."""
        inside = self.relation and self.relation.unit not in ("place", "week")
        return "intra-event" if inside else "inter-event"

    def to_json(self) -> Json:
        """Only what is a condition."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rule:
        """Raises TypeError, KeyError or ValueError for what is no rule."""
        fields = dict(data)
        for name in ("looks", "either", "lacks"):
            if name in fields:
                fields[name] = tuple(map(str, fields[name]))
        if relation := fields.get("relation"):
            anchor = cls.from_json(relation["anchor"])
            fields["relation"] = Relation(relation["unit"], int(relation["shift"]), anchor)
        if pick := fields.get("pick"):
            fields["pick"] = Pick(pick["by"], int(pick["count"]))
        return cls(**fields)

"""What a question asks for, as data: the plan that is shown, corrected and carried out.

A plan is a tree: what is wanted may lean on other photos ("the day after the wedding"), which
are described in the same way. Knows neither how a question is read nor how a plan is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from photocraft_local.agent.planner.conditions import Condition
from photocraft_local.agent.planner.draft import Unused

MAX_CHAIN = 6  # relations that lean on each other

RelationKind = Literal[
    "day", "week", "weekend", "month", "year",  # the anchor's calendar unit, moved by ``shift``
    "event", "trip",  # the anchor's own, or the ``shift``-th after (before, if negative) it
    "place",  # within ``km`` of the anchor
    "before", "after", "around",  # of the anchor's time, at most ``within`` away if that is set
]  # fmt: skip
Which = Literal["first", "last", "each"]
Apart = Literal["", "day", "month", "year", "trip"]
PickBy = Literal["first", "last", "north", "south", "east", "west", "nearest", "farthest", "best"]
AskKind = Literal["photos", "count", "exists", "when", "where", "camera", "span", "distance"]


@dataclass(frozen=True, slots=True)
class Look:
    """Something that is seen: any one of ``texts``. "cats or dogs" makes two texts."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        return " or ".join(f"'{text}'" for text in self.texts)


@dataclass(frozen=True, slots=True)
class Pick:
    """So many photos of a set, by an order: the first two, the northernmost, the best fitting.

    "nearest" and "farthest" are measured from ``place``, a name that the tools resolve."""

    by: PickBy
    count: int = 1
    words: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """Where a photo stands to those of ``anchor``.

    ``which`` of the anchor's photos count: the first or last in time, or each of them. ``shift``
    moves a calendar unit, event or trip: 1 is the one after. ``within`` bounds "before",
    "after" and "around"; ``km`` bounds "place". ``apart`` leaves out the photos of the anchor's
    own calendar unit: "at the same place in another year".
    """

    kind: RelationKind
    anchor: Wanted
    which: Which = "each"
    shift: int = 0
    within: timedelta | None = None
    km: float | None = None
    apart: Apart = ""
    negated: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A described set of photos. Every part that is given holds at once.

    ``either`` holds if one of its sets does: "dogs in Rome or cats in Paris". ``like`` are ids
    of pictures that came with the question. ``pick`` chooses last of all. With no part at all
    it is the whole library.
    """

    looks: tuple[Look, ...] = ()
    not_looks: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    relations: tuple[Relation, ...] = ()
    either: tuple[Wanted, ...] = ()
    but_not: tuple[Wanted, ...] = ()
    like: tuple[str, ...] = ()
    pick: Pick | None = None

    @property
    def is_empty(self) -> bool:
        return self == Wanted()

    @property
    def needs_looks(self) -> bool:
        """Whether vectors are needed to find it."""
        inner = [*self.parts(), *(relation.anchor for relation in self.relations)]
        seen = self.looks or self.not_looks or self.like
        return bool(seen) or any(part.needs_looks for part in inner)

    def depth(self) -> int:
        """How many relations lean on each other."""
        below = [1 + relation.anchor.depth() for relation in self.relations]
        return max([*below, *(part.depth() for part in self.parts())], default=0)

    def parts(self) -> Iterator[Wanted]:
        """The sets that it is made of, without the anchors."""
        yield from self.either
        yield from self.but_not


@dataclass(frozen=True, slots=True)
class Ask:
    """What the answer has to say beside the photos.

    ``unit`` narrows it: a count of "photos", "days", "months", "years", "trips", "events",
    "cities", "countries" or "cameras"; a when of "time", "day", "month" or "year"; a where of
    "city", "region" or "country". Empty: whatever fits.
    """

    kind: AskKind = "photos"
    unit: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """``other`` is the second set of a question about two ("how far apart are …").

    Words that matter but cannot be followed (``blocked``) make the answer empty; words that do
    not change the set (``unused``) are only named. ``namesakes`` are words of a look that a
    place bears too; ``notes`` say how something ambiguous was taken.
    """

    wanted: Wanted = field(default_factory=Wanted)
    ask: Ask = field(default_factory=Ask)
    other: Wanted | None = None
    everything: bool = False
    namesakes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unused: tuple[Unused, ...] = ()
    blocked: tuple[Unused, ...] = ()

    @property
    def needs_looks(self) -> bool:
        """Whether vectors are needed to carry it out."""
        sets = [self.wanted, *([self.other] if self.other else [])]
        return not self.blocked and any(part.needs_looks for part in sets)

"""Conditions that the calls of an episode stated, and which sets and photos came by them.

Made from calls and their results alone, so that an episode that goes on has the same ledger. Knows
nothing of answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from photocraft_local.records import Json, Observation, ToolCall
from photocraft_local.tools.sets import PhotoSets

FACTS = ("when", "where")
LOOKS = ("text", "any_text", "not_text")
_STATING = ("filter_photos", "search_photos", "around")


@dataclass(frozen=True, slots=True)
class Stated:
    """One argument of a call that looked for photos by it. ``step`` 0: the question's words."""

    check: str  # of FACTS or LOOKS
    value: str | tuple[str, ...]
    step: int
    found: frozenset[str] = frozenset()  # UIDs of the result, as far as they were told or saved
    is_exact: bool = True  # nothing that breaks it is in the result
    words: str = ""  # as the question has them, where it does not have the value itself

    @property
    def is_fact(self) -> bool:
        return self.check in FACTS

    @property
    def text(self) -> str:
        told = self.value if isinstance(self.value, str) else "; ".join(self.value)
        return self.words or told

    @property
    def key(self) -> str:
        return f"{self.check}: {self.text}"

    @property
    def checks(self) -> dict[str, Json]:
        """As an entry of an answer's evidence has it."""
        return {self.check: self.value if isinstance(self.value, str) else list(self.value)}


@dataclass(slots=True)
class Ledger:
    """``leaned_on`` are photos from which others were found; ``told`` are keys of conditions that
    an answer was refused for, since it did not mention them."""

    conditions: list[Stated] = field(default_factory=list)
    leaned_on: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    _of_sets: dict[str, frozenset[Stated]] = field(default_factory=dict)
    _calls: int = 0

    def observe(self, call: ToolCall, seen: Observation, sets: PhotoSets) -> None:
        """After each call, and again where an episode is put back together."""
        self._calls += 1
        if not seen.ok or call.name not in (*_STATING, "combine_sets", "compare_photos"):
            return
        given = call.arguments
        if call.name == "around":
            self.leaned_on |= named_photos(given, sets)
        self.leaned_on |= {str(uid) for uid in given.get("like") or given.get("anchors") or ()}
        stated = self._stated(call, seen, sets) if call.name in _STATING else []
        self.conditions += [one for one in stated if one not in self.conditions]
        if isinstance(saved := given.get("save_as"), str):
            self._of_sets[saved] = frozenset(stated).union(*map(self.of_set, _within(call)))

    def begin_anew(self) -> None:
        """For a fresh attempt, whose steps count from 1 again; what brought sets about stays."""
        self.conditions, self.told, self._calls = [], set(), 0

    def of_set(self, name: str) -> frozenset[Stated]:
        """What brought a set about, also by the sets inside which it was found."""
        return self._of_sets.get(name, frozenset())

    def _stated(self, call: ToolCall, seen: Observation, sets: PhotoSets) -> list[Stated]:
        given = call.arguments
        saved = given.get("save_as")
        kept = sets.get(saved).uids if isinstance(saved, str) and saved in sets else ()
        found = frozenset([*_told(seen.data.get("photos")), *kept])
        is_exact = bool(given.get("exact"))
        return [
            Stated(check, _frozen(given[check]), self._calls, found, check in FACTS or is_exact)
            for check in (*FACTS, *LOOKS)
            if given.get(check)
        ]


def named_photos(arguments: Mapping[str, Json], sets: PhotoSets) -> set[str]:
    """What ``photos`` or ``set`` of a relation name."""
    name = arguments.get("set")
    kept = sets.get(name).uids if isinstance(name, str) and name in sets else ()
    return {*map(str, arguments.get("photos", ())), *kept}


def _within(call: ToolCall) -> Iterator[str]:
    """Sets whose photos alone can be in the result; one that ``around`` leaned on passes nothing
    on."""
    given = call.arguments
    keys = ("within", "set") if call.name == "compare_photos" else ("within",)
    yield from (given[key] for key in keys if isinstance(given.get(key), str))
    if call.name == "combine_sets":
        names: list[str] = given["sets"]
        yield from names[:1] if given.get("op") == "minus" else names


def _told(rows: Json) -> Iterator[str]:
    for row in rows if isinstance(rows, list | tuple) else ():
        uid = row.get("uid") if isinstance(row, Mapping) else row
        if isinstance(uid, str):
            yield uid


def _frozen(value: Json) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else tuple(map(str, value))

"""Words of a look that are a known town's or country's whole name as well: "siena"."""

from __future__ import annotations

from photocraft_local.agent.planner.mentions import Places
from photocraft_local.agent.planner.plan import Wanted
from photocraft_local.places.cues import word_classes
from photocraft_local.places.keys import fold

_KNOWN_TOWN = 50_000  # people


def namesakes(wanted: Wanted, places: Places) -> tuple[str, ...]:
    """Of all looks of a set, each once."""
    found = [name for look in wanted.looks for text in look.texts for name in _in(text, places)]
    found += [name for part in wanted.parts() for name in namesakes(part, places)]
    return tuple(dict.fromkeys(found))


def _in(look: str, places: Places) -> tuple[str, ...]:
    parts = look.split()
    runs = [" ".join(parts[at : at + size]) for size in (2, 1) for at in range(len(parts))]
    return tuple(run for run in dict.fromkeys(runs) if _is_known_place(run, places))


def _is_known_place(name: str, places: Places) -> bool:
    plain = fold(name)
    if name == name.lower() and plain in word_classes()["never"] | word_classes()["cued"]:
        return False  # "man", "temple", "una": a word before it is a town
    return any(
        area.name.casefold() == name.casefold()
        and (area.kind == "country" or area.population >= _KNOWN_TOWN)
        for area in places.find(name)[:1]
    )

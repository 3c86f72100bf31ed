"""A tool's result brought down to the room that a prompt has: what was left out is said.

The trace keeps the whole result; only what the model reads is shortened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from photocraft_local.memory.text import shortened
from photocraft_local.records import Json, Observation

_LONGEST = 2000  # characters of one text
_HOW = "narrow the search, or save the result under a name and ask for parts of it"
_NOT_SHOWN = "not shown: the prompt has no room left for it; look at fewer pictures at once"


@dataclass(frozen=True, slots=True)
class Cut:
    """Of the result of ``step`` at most ``items`` of each list and ``pictures`` pictures stay;
    with 0 items only its brief does."""

    step: int
    items: int
    pictures: int

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cut:
        return cls(int(data["step"]), int(data["items"]), int(data["pictures"]))


def shown_data(seen: Observation, cut: Cut | None) -> dict[str, Json]:
    """``seen.data`` as the model reads it."""
    if cut is None:
        return seen.data
    if not cut.items:
        told = shortened(seen.brief or "the result")
        return {"left_out": f"all but this line, for want of room: {told}; {_HOW}"}
    lengths: list[int] = []
    kept: dict[str, Json] = {key: _kept(value, cut, lengths) for key, value in seen.data.items()}
    if lengths:
        kept["left_out"] = f"{sum(lengths)} entries of the lists, for want of room; {_HOW}"
    return kept


def shown_pictures(seen: Observation, cut: Cut | None) -> tuple[int, list[str]]:
    """How many of the pictures go into the prompt, and a line for each of the others."""
    most = len(seen.images) if cut is None else cut.pictures
    return most, [f"{uid}: {_NOT_SHOWN}" for uid, _ in seen.images[most:]]


def _kept(value: Json, cut: Cut, lengths: list[int]) -> Json:
    if isinstance(value, str):
        return shortened(value, _LONGEST)
    if isinstance(value, dict):
        items = list(value.items())
        if len(items) > 4 * cut.items:
            lengths.append(len(items) - 4 * cut.items)
        return {key: _kept(item, cut, lengths) for key, item in items[: 4 * cut.items]}
    if isinstance(value, list | tuple):
        if len(value) > cut.items:
            lengths.append(len(value) - cut.items)
        return [_kept(item, cut, lengths) for item in value[: cut.items]]
    return value

"""What each file of a life states of itself: the truth, or less than it, or something else.

Wrong are: a camera's clock that began anew in 2001, a clock left at home's time on a trip, the
position of a town where the person was not, and 0/0. Knows nothing of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.life import Shot
from photocraft_local.evaluation.histories.world import HOME, TOWNS

_NO_OFFSET = 0.2  # share of files that do not state the offset from UTC, as many cameras
_RESET = datetime(2001, 1, 1, 0, 0)
NULL_ISLAND = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Stated:
    """``defect``: "" or what is missing or wrong of it, for the counts of the card."""

    time: datetime | None
    offset_minutes: int | None
    position: tuple[float, float] | None
    camera: str
    defect: str = ""


def statements(life: Sequence[Shot], dials: Dials) -> list[Stated]:
    """Of each shot, in order; the same for the same life and dials."""
    rng = np.random.default_rng([dials.seed, dials.size, 2])
    found = []
    for number, shot in enumerate(life):
        chance = rng.random()
        plain = Stated(
            shot.time,
            None if rng.random() < _NO_OFFSET else shot.offset_minutes,
            None if shot.frame.is_screenshot else shot.position,
            shot.camera,
        )
        kind, other = float(rng.random()), int(rng.integers(len(TOWNS)))
        if chance < dials.missing:
            plain = _lacking(plain, kind)
        elif chance < dials.missing + dials.wrong:
            plain = _wrong(shot, plain, kind, other, number)
        found.append(plain)
    return found


def _lacking(plain: Stated, kind: float) -> Stated:
    if kind < 0.45:
        return Stated(plain.time, plain.offset_minutes, None, plain.camera, "no position")
    if kind < 0.8:
        return Stated(None, None, plain.position, plain.camera, "no time")
    return Stated(None, None, None, plain.camera, "neither time nor position")


def _wrong(shot: Shot, plain: Stated, kind: float, other: int, number: int) -> Stated:
    camera, offset = plain.camera, plain.offset_minutes
    if kind < 0.3 or shot.frame.is_screenshot:
        reset = _RESET + timedelta(minutes=number)
        return Stated(reset, None, plain.position, camera, "clock of 2001")
    if kind < 0.6 and shot.trip:
        moment = (shot.time - timedelta(minutes=shot.offset_minutes)).replace(tzinfo=UTC)
        at_home = moment.astimezone(ZoneInfo(HOME.zone))
        minutes = round((at_home.utcoffset() or timedelta()).total_seconds() / 60)
        time = at_home.replace(tzinfo=None)
        return Stated(time, minutes, plain.position, camera, "clock of home")
    if kind < 0.8:
        town = TOWNS[other] if TOWNS[other] is not shot.town else HOME
        return Stated(plain.time, offset, town.spots[0], camera, "position of another town")
    return Stated(plain.time, offset, NULL_ISLAND, camera, "position 0/0")

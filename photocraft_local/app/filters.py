"""From the separate options of a search to one expression of the filter language.

Owns what ``--after 2021-06`` or ``--near Porto`` mean; knows nothing of rows or vectors.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError

if TYPE_CHECKING:
    from photocraft_local.timelang import Habits

WHERE = "--where"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The exact conditions of one search; every one that is given must hold."""

    after: str | None = None  # not before the start of this date, month, year …
    before: str | None = None  # before its start
    when: str | None = None  # any words for time
    near: str | None = None  # a place name, or "latitude,longitude"
    km: float | None = None  # radius of ``near``; 10 km or the town's own, if not given
    place: str | None = None  # inside this city, region or country
    camera: str | None = None  # the camera's name contains these words
    where: str | None = None  # an expression of the filter language

    def expressions(self, today: date, habits: Habits) -> dict[str, str]:
        """Option → expression, one a condition; that of ``--where`` is the person's own text.

        Raises TimeWordsError or UsageError.
        """
        from photocraft_local.timelang import parse_when

        self._check()
        parts = self._bounds(today, habits)
        if self.when is not None:
            parts["--when"] = parse_when(self.when, today=today, habits=habits).to_expression()
        if self.near is not None:
            radius = "" if self.km is None else f", {self.km!r}"
            parts["--near"] = f"near({_quoted(self.near)}{radius})"
        elif self.km is not None:
            raise UsageError("--km needs --near", hint="say around what: --near PLACE --km 10")
        if self.place is not None:
            parts["--in"] = f"place({_quoted(self.place)})"
        if self.camera is not None:
            parts["--camera"] = f"camera == {_quoted(self.camera)}"
        if self.where is not None:
            parts[WHERE] = self.where
        return parts

    def _bounds(self, today: date, habits: Habits) -> dict[str, str]:
        parts = {}
        start = None if self.after is None else _start(self.after, today, habits)
        end = None if self.before is None else _start(self.before, today, habits)
        if start and end and start >= end:
            raise UsageError(
                f"no time is after {self.after!r} and before {self.before!r}",
                hint="--before names the later time: --after 2021 --before 2022 is the year 2021",
            )
        if start:
            parts["--after"] = f'time >= "{start.isoformat()}"'
        if end:
            parts["--before"] = f'time < "{end.isoformat()}"'
        return parts

    def _check(self) -> None:
        for name, text in asdict(self).items():
            if isinstance(text, str) and not text.strip():
                option = "in" if name == "place" else name
                raise UsageError(f"--{option} is empty", hint="give it a value or leave it out")
        if self.km is not None and not math.isfinite(self.km):
            raise UsageError(f"--km is {self.km}", hint="give a distance in km, e.g. --km 10")


def _start(words: str, today: date, habits: Habits) -> datetime:
    from photocraft_local.timelang import parse_bound

    return parse_bound(words, today=today, habits=habits)[0]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

"""The fields of the filter language and what a comparison with each of them means.

Every numeric field turns a value into the half-open interval that ``==`` stands for; all other
comparisons follow from it: ``date <= "2021-06"`` holds to the end of June, ``date > "2021-06"``
begins in July.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from photocraft_local.search.expression.context import Context
from photocraft_local.search.expression.dates import clock_interval, literal_interval, year_interval
from photocraft_local.search.expression.errors import Mistake, did_you_mean
from photocraft_local.search.expression.intervals import HIGHEST, LOWEST, Intervals, interval
from photocraft_local.search.expression.names import MONTHS, WEEKDAYS
from photocraft_local.search.expression.nodes import Has, Within, Words
from photocraft_local.search.expression.tree import Node

Value = str | int | float | bool

ORDERINGS = frozenset({"<", "<=", ">", ">="})
_MOST = 10**15


def compared(bounds: tuple[int, int], operator: str) -> Intervals:
    """The values that stand in that relation to the interval ``bounds``."""
    low, high = bounds
    if operator == ">=":
        return ((low, HIGHEST),)
    if operator == "<":
        return ((LOWEST, low),)
    if operator == "<=":
        return ((LOWEST, high),)
    if operator == ">":
        return ((high, HIGHEST),)
    return interval(low, high)


@dataclass(frozen=True, slots=True)
class TimeField:
    """``time`` and ``date``: the wall clock where the photo was taken."""

    name: str
    days_only: bool

    def compare(self, operator: str, value: Value, context: Context) -> Node:
        if type(value) is not str:
            raise Mistake(
                f"{self.name} is compared with a date in quotes, not {value!r}",
                f'write {self.name} {operator} "2021-06-14", or use the fields year, month, day',
            )
        bounds = literal_interval(value, context, self.days_only)
        node = Within("time", compared(bounds, operator))
        return node.negated() if operator == "!=" else node


@dataclass(frozen=True, slots=True)
class ClockField:
    """``clock``: the time of day to the minute."""

    name: str = "clock"

    def compare(self, operator: str, value: Value, context: Context) -> Node:
        if type(value) is not str:
            raise Mistake(
                f"{self.name} is compared with a time of day in quotes, not {value!r}",
                f'write {self.name} {operator} "18:30", or use the field hour',
            )
        node = Within(self.name, compared(clock_interval(value), operator))
        return node.negated() if operator == "!=" else node


@dataclass(frozen=True, slots=True)
class NumberField:
    """A whole-number field; ``words`` are names of values, ``low … high`` those that exist."""

    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()
    hint: str = ""

    def compare(self, operator: str, value: Value, context: Context) -> Node:
        number = self._number(value)
        whole = math.ceil(number)
        bounds = (whole, whole + (whole == number))
        if operator not in ORDERINGS and not self.low <= number <= self.high:
            raise Mistake(
                f"there is no {self.name} {value!r}",
                self.hint or f"{self.name} goes from {self.low} to {self.high}",
            )
        if self.name == "year":
            low, high = year_interval(whole)
            node = Within("time", compared((low, high if whole == number else low), operator))
        else:
            node = Within(self.name, compared(bounds, operator))
        return node.negated() if operator == "!=" else node

    def _number(self, value: Value) -> int | float:
        if isinstance(value, str):
            value = self._named(value.strip().casefold())
        if isinstance(value, bool) or not -_MOST < value < _MOST:
            raise Mistake(f"{self.name} cannot be compared with {value!r}", self.hint)
        return value

    def _named(self, word: str) -> int:
        for at, name in enumerate(self.words):
            if word == name or (len(word) >= 3 and name.startswith(word)):
                return at + self.low
        if word.isascii() and word.isdigit() and len(word) < 16:
            return int(word)
        if self.words:
            raise Mistake(f"there is no {self.name} {word!r}", did_you_mean(word, self.words))
        raise Mistake(
            f"{self.name} is compared with a number, not {word!r}",
            'for dates use the field date: date == "2021-06-14"',
        )


@dataclass(frozen=True, slots=True)
class TextField:
    """A text; case and accents do not count. ``contains``: whole words in it are enough."""

    name: str
    contains: bool = False

    def compare(self, operator: str, value: Value, context: Context) -> Node:
        if operator in ORDERINGS:
            raise Mistake(
                f"{self.name} is a text and has no order", f"use == or in with {self.name}"
            )
        if type(value) is not str:
            raise Mistake(f"{self.name} is compared with text in quotes, not {value!r}")
        if not value.strip():
            raise Mistake(f"{self.name} is compared with an empty text")
        return Words(
            self.name, (value,), self.contains, operator == "!=", self._meant(value, context)
        )

    def _meant(self, value: str, context: Context) -> tuple[str, ...]:
        """The library's own names for a place that was named otherwise: Lissabon, PT."""
        if self.contains or context.places is None or context.has_word(self.name, value):
            return ()
        names = [area.name for area in context.places.find(value) if area.kind == self.name]
        return tuple(name for name in dict.fromkeys(names) if context.has_word(self.name, name))


@dataclass(frozen=True, slots=True)
class FactField:
    """``has_time`` and its like: a condition by itself."""

    name: str

    def alone(self) -> Node:
        return Has(self.name.removeprefix("has_"))

    def compare(self, operator: str, value: Value, context: Context) -> Node:
        if type(value) is not bool or operator in ORDERINGS:
            raise Mistake(f"{self.name} is true or false", f"write {self.name} or not {self.name}")
        node = self.alone()
        return node if value == (operator == "==") else node.negated()


Field = TimeField | ClockField | NumberField | TextField | FactField

FIELDS: dict[str, Field] = {
    field.name: field
    for field in (
        TimeField("time", days_only=False),
        TimeField("date", days_only=True),
        NumberField("year", 1, 9999),
        NumberField("month", 1, 12, MONTHS),
        NumberField("day", 1, 31, hint='for a whole date use date == "2021-06-14"'),
        NumberField("weekday", 0, 6, WEEKDAYS, 'use names, or 0 for "monday" to 6 for "sunday"'),
        NumberField("hour", 0, 23),
        ClockField(),
        TextField("address", contains=True),
        TextField("city"),
        TextField("region"),
        TextField("country"),
        TextField("camera", contains=True),
        NumberField("event", 0, _MOST),
        NumberField("trip", 0, _MOST),
        NumberField("width", 0, _MOST),
        NumberField("height", 0, _MOST),
        FactField("has_time"),
        FactField("has_gps"),
        FactField("has_place"),
        FactField("has_camera"),
    )
}

"""The words of one line ↔ conditions, by the reader of questions itself, so that a line means
what it would mean in a question. A condition that its words do not bring back is written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from photocraft_local.agent.planner.conditions import (
    CameraCondition,
    Condition,
    FactCondition,
    PlaceCondition,
    TimeCondition,
)
from photocraft_local.agent.planner.mentions import Places
from photocraft_local.agent.planner.plan import Wanted
from photocraft_local.agent.planner.script.exact import exact_condition, exact_text
from photocraft_local.agent.planner.script.lines import (
    Line,
    as_words,
    items,
    listed,
    one,
    quoted,
    tree_of,
    with_words,
)
from photocraft_local.agent.planner.understand import understand
from photocraft_local.errors import PhotocraftError, QuestionNotUnderstood, UsageError
from photocraft_local.timelang import USUAL, Habits, parse_when

_CLASSES: dict[str, type] = {
    "time": TimeCondition,
    "place": PlaceCondition,
    "camera": CameraCondition,
    "fact": FactCondition,
}
_EXAMPLES = {
    "time": "write e.g. time: in June 2021, or time: last summer",
    "place": "write e.g. place: in Lisbon, or place: within 5 km of Porto",
    "camera": "write e.g. camera: Canon, or camera: Nikon | Sony",
    "fact": "write e.g. fact: screenshots, or fact: without a date",
}
_NOT = "not "
_EXACTLY = "exactly"
KEYS = (*_CLASSES, *(f"{_NOT}{key}" for key in _CLASSES if key != "fact"), _EXACTLY)


@dataclass(frozen=True, slots=True)
class Reader:
    """How words are read: as those of a question asked on ``today`` with ``pictures``, ids."""

    today: date
    places: Places
    pictures: tuple[str, ...] = ()
    habits: Habits = USUAL
    cameras: tuple[str, ...] = ()  # of the library

    def conditions(self, words: str, key: str) -> tuple[Condition, ...]:
        """The conditions that ``words`` are; none if they are anything else too. Raises
        UsageError with the cause for words that cannot be followed, TimeWordsError."""
        try:
            found = understand(
                words,
                today=self.today,
                places=self.places,
                habits=self.habits,
                cameras=self.cameras,
            )
        except QuestionNotUnderstood:
            return ()
        if found.blocked:
            raise UsageError("; ".join(map(str, found.blocked)), hint=_EXAMPLES[key])
        conditions = found.wanted.conditions
        fits = all(isinstance(condition, _CLASSES[key]) for condition in conditions)
        alone = found.wanted == Wanted(conditions=conditions) and not found.unused
        return conditions if fits and alone else ()


def conditions_of(line: Line, reader: Reader) -> tuple[Condition, ...]:
    """The conditions of a line with one of ``KEYS``. Raises UsageError that names the line."""
    if line.key == _EXACTLY:
        return (_exactly(line),)
    key = line.key.removeprefix(_NOT)
    bare, words = with_words(line)
    try:
        found = _cameras(bare, reader) if key == "camera" else _read(one(bare), key, reader)
    except PhotocraftError as error:
        if error.message.startswith(line.place):
            raise
        raise line.error(error.message, error.hint) from error
    if not found:
        raise line.error(f"this is no {key} that is known", _EXAMPLES[key])
    if line.key.startswith(_NOT):
        found = tuple(map(_turned, found))
    return found if words is None else tuple(_said(condition, words) for condition in found)


def _read(words: str, key: str, reader: Reader) -> tuple[Condition, ...]:
    """The key says what it is, so a bare name is a place, and "evening" is a time."""
    try:
        found = reader.conditions(words, key)
    except UsageError:
        if key != "place":
            raise
        found = ()
    if found or key not in ("time", "place"):
        return found
    if key == "place":
        return reader.conditions(f"in {words}", key)
    return (TimeCondition(words, (parse_when(words, today=reader.today, habits=reader.habits),)),)


def _cameras(line: Line, reader: Reader) -> tuple[Condition, ...]:
    """Words of a question ("taken with my Canon"), else bare names."""
    names = items(line)
    found: tuple[Condition, ...] = ()
    if len(names) == 1:
        try:
            found = reader.conditions(names[0], "camera")
        except PhotocraftError:
            found = ()
    return found or (CameraCondition(" or ".join(names), names),)


def _exactly(line: Line) -> Condition:
    try:
        return exact_condition(line.value)
    except ValueError as exc:
        raise line.error(
            f"it holds no condition as JSON: {exc}",
            "such a line is written by photocraft and not changed by hand; write time:, place:,"
            " camera: or fact: instead",
        ) from exc


def _turned(condition: Any) -> Condition:
    words = f"{_NOT}{condition.words}"
    return replace(condition, words=words, negated=not condition.negated)  # type: ignore[no-any-return]


def _said(condition: Any, words: str) -> Condition:
    """Called so by the answer; what was read for a time is not what the question says then."""
    if isinstance(condition, TimeCondition):
        whens = tuple(replace(when, text="") for when in condition.whens)
        return TimeCondition(words, whens, condition.negated)
    return replace(condition, words=words)  # type: ignore[no-any-return]


def line_of(condition: Condition, reader: Reader) -> str:
    """A line that ``conditions_of`` reads as this condition, in words if there are such."""
    for text in _in_words(condition):
        try:
            if conditions_of(tree_of(text).children[0], reader) == (condition,):
                return text
        except UsageError:
            continue
    return f"{_EXACTLY}: {exact_text(condition)}"


def _in_words(condition: Condition) -> Iterator[str]:
    key = next((key for key, kind in _CLASSES.items() if isinstance(condition, kind)), "")
    if not key:
        return
    words = condition.words
    if words.startswith(_NOT) and key != "fact":
        yield f"{_NOT}{key}: {quoted(words.removeprefix(_NOT))}"
    yield f"{key}: {quoted(words)}"
    if isinstance(condition, TimeCondition):
        meant = " or ".join(when.meaning for when in condition.whens)
        yield f"{_NOT * condition.negated}{key}: {quoted(meant)}{as_words(words)}"
    if isinstance(condition, PlaceCondition):
        names = " or ".join(spot.name for spot in condition.spots)
        yield f"{_NOT * condition.negated}{key}: {quoted(f'in {names}')}{as_words(words)}"
    if isinstance(condition, CameraCondition):
        yield f"{_NOT * condition.negated}camera: {listed(condition.names)}"


__all__ = ["KEYS", "Reader", "conditions_of", "line_of"]

"""Reads the tables of phrases beside it: what a phrase means, as data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from photocraft_local.timelang import AnchoredTime, When

_HERE = Path(__file__).parent
LANGUAGES = ("en", "de", "fr", "es", "zh")


def rows(name: str) -> Iterator[list[str]]:
    for line in (_HERE / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def phrases(language: str) -> list[tuple[str, When]]:
    """Phrase and meaning; the notes are those of the third column."""
    return [
        (text, meaning(data, tuple(notes.split(" / ")) if notes else ()))
        for text, data, notes in rows(f"phrases_{language}.tsv")
    ]


def meaning(data: str, notes: tuple[str, ...] = ()) -> When:
    """ "2021-06-01..2021-09-01; weekdays=5,6; not(months=8)" as a When."""
    fields: dict[str, tuple[object, ...]] = {}
    for part in data.split("; "):
        if part.startswith("not("):
            fields["without"] = (*fields.get("without", ()), meaning(part[4:-1]))
            continue
        name, _, value = part.rpartition("=")
        fields[_FIELDS[name]] = tuple(_READ[name](value))
    return When(**fields, notes=notes)  # type: ignore[arg-type]


def _spans(value: str) -> Iterator[tuple[str, str]]:
    for span in value.split("|"):
        low, _, high = span.partition("..")
        yield low, high


def _intervals(value: str) -> Iterator[tuple[datetime, datetime]]:
    for low, high in _spans(value):
        start = datetime.fromisoformat(low) if low else datetime.min
        yield start, datetime.fromisoformat(high) if high else datetime.max


def _numbers(value: str) -> Iterator[int]:
    yield from map(int, value.split(","))


def _days(value: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for low, high in _spans(value):
        yield (int(low[:2]), int(low[3:])), (int(high[:2]), int(high[3:]))


def _day_of_month(value: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for month in range(1, 13):
        yield (month, int(value)), (month, int(value))


def _minutes(value: str) -> Iterator[tuple[int, int]]:
    for low, high in _spans(value):
        yield int(low[:2]) * 60 + int(low[3:]), int(high[:2]) * 60 + int(high[3:])


_READ = {
    "": _intervals, "months": _numbers, "days": _days, "day": _day_of_month,
    "weekdays": _numbers, "hours": _minutes, "holidays": lambda value: value.split("|"),
}  # fmt: skip
_FIELDS = {"": "intervals", "days": "year_days", "day": "year_days"} | {
    name: name for name in ("months", "weekdays", "hours", "holidays")
}


def questions() -> list[tuple[str, list[tuple[str, When, bool]]]]:
    """A question and the times in it: words, meaning, negated ("!" before the meaning)."""
    table = []
    for text, *found in rows("questions.tsv"):
        times = [one.split(" => ") for one in found]
        table.append(
            (text, [(said, meaning(data.lstrip("!")), data[0] == "!") for said, data in times])
        )
    return table


def anchored() -> dict[str, list[tuple[str, ...]]]:
    """A question and its times beside an event, in the order of the columns of the table."""
    table: dict[str, list[tuple[str, ...]]] = {}
    for text, *found in rows("anchored.tsv"):
        table.setdefault(text, [])
        if found:
            table[text].append(tuple(found))
    return table


def as_row(text: str, time: AnchoredTime) -> tuple[str, ...]:
    """The columns of anchored.tsv behind the question."""
    hours = time.hours.meaning if time.hours else ""
    within = "" if time.within is None else str(time.within // timedelta(minutes=1))
    anchor = text[time.anchor_start : time.anchor_end]
    return (
        time.text, anchor, time.unit, time.side, str(time.shift), within, time.which, hours,
        "sure" if time.sure else "perhaps",
    )  # fmt: skip
